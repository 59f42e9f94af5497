"""Skipping what cannot have changed: bounds carried over a move of the means, and the table of what changed in them."""
