"""Polite polling: which feeds are due, how each is fetched, and what its answer means for the next time."""
