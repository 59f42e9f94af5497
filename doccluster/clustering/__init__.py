"""Matrix -> partition: seeding, iterations, estimators."""

from __future__ import annotations

from doccluster.clustering.assign import Assignment, assign_to_centroids
from doccluster.clustering.memory import MemoryPlan
from doccluster.clustering.spherical_k_means import SphericalKMeans
from doccluster.clustering.vmf_mixture import VonMisesFisherMixture

__all__ = ["Assignment", "MemoryPlan", "SphericalKMeans", "VonMisesFisherMixture", "assign_to_centroids"]
