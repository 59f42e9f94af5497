"""The store of a stream: articles taken in, put to stories batch by batch, corrected, checked, and read as tables."""
