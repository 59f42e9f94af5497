"""Spherical k-means: seeding, exact iterations, refinement, and the estimator."""
