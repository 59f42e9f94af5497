"""Shares of topics in long documents, beside those of other programs."""
