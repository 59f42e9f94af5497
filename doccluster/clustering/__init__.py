"""Matrix -> partition: seeding, iterations, estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.lazy import offer

# loaded when used: no command needs all of it
_HOMES = {
    "Assignment": "doccluster.clustering.assign",
    "AgglomerativeClustering": "doccluster.clustering.agglomerative",
    "BisectingSphericalKMeans": "doccluster.clustering.bisecting",
    "BisectionTree": "doccluster.clustering.bisection_tree",
    "CriterionClustering": "doccluster.clustering.criterion_clustering",
    "DocumentClustering": "doccluster.clustering.document_clustering",
    "MemoryPlan": "doccluster.clustering.memory",
    "MultinomialMixture": "doccluster.clustering.multinomial_mixture",
    "SphericalKMeans": "doccluster.clustering.spherical_k_means",
    "VonMisesFisherMixture": "doccluster.clustering.vmf_mixture",
    "LabelStability": "doccluster.clustering.label_stability",
    "Movement": "doccluster.clustering.label_stability",
    "assign_to_centroids": "doccluster.clustering.assign",
    "agglomerate": "doccluster.clustering.agglomeration",
    "buckshot_centroids": "doccluster.clustering.agglomerative",
    "consensus_labels": "doccluster.clustering.consensus",
    "learn_threshold": "doccluster.clustering.novelty",
    "leave_one_out_similarity": "doccluster.clustering.novelty",
    "measure_stability": "doccluster.clustering.label_stability",
    "movements": "doccluster.clustering.label_stability",
}

__all__ = [
    "AgglomerativeClustering",
    "Assignment",
    "BisectingSphericalKMeans",
    "BisectionTree",
    "CriterionClustering",
    "DocumentClustering",
    "LabelStability",
    "MemoryPlan",
    "Movement",
    "MultinomialMixture",
    "SphericalKMeans",
    "VonMisesFisherMixture",
    "agglomerate",
    "assign_to_centroids",
    "buckshot_centroids",
    "consensus_labels",
    "learn_threshold",
    "leave_one_out_similarity",
    "measure_stability",
    "movements",
]
__getattr__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.clustering.agglomeration import agglomerate as agglomerate
    from doccluster.clustering.agglomerative import AgglomerativeClustering as AgglomerativeClustering
    from doccluster.clustering.agglomerative import buckshot_centroids as buckshot_centroids
    from doccluster.clustering.assign import Assignment as Assignment
    from doccluster.clustering.assign import assign_to_centroids as assign_to_centroids
    from doccluster.clustering.bisecting import BisectingSphericalKMeans as BisectingSphericalKMeans
    from doccluster.clustering.bisection_tree import BisectionTree as BisectionTree
    from doccluster.clustering.consensus import consensus_labels as consensus_labels
    from doccluster.clustering.criterion_clustering import CriterionClustering as CriterionClustering
    from doccluster.clustering.document_clustering import DocumentClustering as DocumentClustering
    from doccluster.clustering.label_stability import LabelStability as LabelStability
    from doccluster.clustering.label_stability import Movement as Movement
    from doccluster.clustering.label_stability import measure_stability as measure_stability
    from doccluster.clustering.label_stability import movements as movements
    from doccluster.clustering.memory import MemoryPlan as MemoryPlan
    from doccluster.clustering.multinomial_mixture import MultinomialMixture as MultinomialMixture
    from doccluster.clustering.novelty import learn_threshold as learn_threshold
    from doccluster.clustering.novelty import leave_one_out_similarity as leave_one_out_similarity
    from doccluster.clustering.spherical_k_means import SphericalKMeans as SphericalKMeans
    from doccluster.clustering.vmf_mixture import VonMisesFisherMixture as VonMisesFisherMixture
