"""What the report costs and shows: the map of documents, the size of the page, its picture."""
