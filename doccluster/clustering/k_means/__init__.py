"""Spherical k-means: seeding, exact iterations, refinement, and the estimator.

One fit, in the order in which to read it:

- `spherical`: the parameters, and the function that runs the starts of a fit; `spherical_k_means` is its estimator
- `memory_plan`: what a fit may keep in memory
- `seeds`: the means at which starts begin
- `lloyd`: the loop, and the rule that refills empty clusters
- `lloyd_steps`: its two steps, assign and update, by sums that follow the documents that move; `sparse_means` where
  there are no such sums
- `unit_documents`, `term_places`: the rows and the columns of the matrix, as sweeps want them
- `sweep`: assign, the nearest centroid of each document
- `assign`: the nearest centroids of new documents
"""
