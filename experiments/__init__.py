"""Reproduced sources, quality figures and benchmarks: run from a checkout, never installed."""
