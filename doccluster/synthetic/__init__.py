"""Made corpora with a known truth."""
