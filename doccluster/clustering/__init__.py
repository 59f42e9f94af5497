"""Matrix -> partition: seeding, iterations, estimators."""

from __future__ import annotations

from doccluster.clustering.assign import Assignment, assign_to_centroids
from doccluster.clustering.spherical_k_means import SphericalKMeans

__all__ = ["Assignment", "SphericalKMeans", "assign_to_centroids"]
