"""Matrix -> partition: seeding, iterations, estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

# loaded when used: no command needs all of it
_HOMES = {
    "Assignment": "doccluster.clustering.k_means.assign",
    "AgglomerativeClustering": "doccluster.clustering.hierarchical.agglomerative",
    "BisectingSphericalKMeans": "doccluster.clustering.hierarchical.bisecting",
    "BisectionTree": "doccluster.clustering.hierarchical.bisecting",
    "CriterionClustering": "doccluster.clustering.criterion_clustering",
    "DocumentClustering": "doccluster.clustering.smoothed.document_clustering",
    "MemoryPlan": "doccluster.clustering.k_means.memory_plan",
    "MultinomialMixture": "doccluster.clustering.mixtures.multinomial_mixture",
    "SphericalKMeans": "doccluster.clustering.k_means.spherical_k_means",
    "VonMisesFisherMixture": "doccluster.clustering.mixtures.vmf_mixture",
    "assign_to_centroids": "doccluster.clustering.k_means.assign",
}

__all__ = [*_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.clustering.criterion_clustering import CriterionClustering as CriterionClustering
    from doccluster.clustering.hierarchical.agglomerative import AgglomerativeClustering as AgglomerativeClustering
    from doccluster.clustering.hierarchical.bisecting import BisectingSphericalKMeans as BisectingSphericalKMeans
    from doccluster.clustering.hierarchical.bisecting import BisectionTree as BisectionTree
    from doccluster.clustering.k_means.assign import Assignment as Assignment
    from doccluster.clustering.k_means.assign import assign_to_centroids as assign_to_centroids
    from doccluster.clustering.k_means.memory_plan import MemoryPlan as MemoryPlan
    from doccluster.clustering.k_means.spherical_k_means import SphericalKMeans as SphericalKMeans
    from doccluster.clustering.mixtures.multinomial_mixture import MultinomialMixture as MultinomialMixture
    from doccluster.clustering.mixtures.vmf_mixture import VonMisesFisherMixture as VonMisesFisherMixture
    from doccluster.clustering.smoothed.document_clustering import DocumentClustering as DocumentClustering
