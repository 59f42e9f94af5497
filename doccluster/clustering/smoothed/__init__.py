"""Smoothed and settled partitions: the default of a run."""
