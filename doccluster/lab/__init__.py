"""Studying methods: made corpora, comparisons, benchmarks, textbook criteria, tests of whether there are clusters."""
