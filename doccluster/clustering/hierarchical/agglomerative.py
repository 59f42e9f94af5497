"""The estimator of agglomerative clustering, and Buckshot: centroids for k-means from a sample that is agglomerated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doccluster.base.arrays import Integers, Matrix
from doccluster.base.parameter_fields import described_by, parameter
from doccluster.base.progress import checked_progress
from doccluster.clustering.centroid_estimator import CentroidEstimator
from doccluster.clustering.hierarchical.agglomeration import LINKAGES, agglomerate, cut_tree
from doccluster.clustering.task import ClusteringParameters
from doccluster.geometry import Documents


@dataclass(kw_only=True, eq=False, repr=False)
class AgglomerativeParameters(ClusteringParameters):
    """The parameters of `AgglomerativeClustering`."""

    linkage: str = parameter(
        "average",
        "'average' is CLUTO's UPGMA, the mean of 1 - cosine over all pairs of documents; 'single' and 'complete' take "
        "the least and the largest; 'ward' is Euclidean, on the unit rows.",
        choices=LINKAGES,
    )
    max_memory: str | int = parameter(
        "2G", "The most that the distances may take (2 bytes times the square of the number of documents)."
    )


@described_by(AgglomerativeParameters)
class AgglomerativeClustering(AgglomerativeParameters, CentroidEstimator):
    """Clusters that come of joining the two nearest until `n_clusters` are left; for up to some 20,000 documents.

    Attributes
    ----------
    labels_ : int64 array of shape (n_documents,)
        Numbered by their first document.
    linkage_ : float64 array of shape (n_documents - 1, 4)
        The whole tree, as `scipy.cluster.hierarchy` takes it.
    children_, distances_ : arrays of shape (n_documents - 1, 2) and (n_documents - 1,)
        Its parts, as scikit-learn's estimator of this name has them.
    centroids_ : float32 array (csr if `X` is) of shape (n_clusters, n_terms), unit rows
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> rows = [[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0], [0.0, 0.8, 0.6]]
    >>> found = AgglomerativeClustering(2).fit(rows)
    >>> found.labels_, found.cut(3)
    (array([0, 0, 1, 1]), array([0, 0, 1, 2]))
    """

    def _cluster(self, rows: Matrix, n_clusters: int) -> tuple[Integers, int]:
        self.linkage_ = agglomerate(
            Documents(rows),
            self.linkage,
            max_memory=self.max_memory,
            n_threads=self.n_threads,
            progress=checked_progress(self.progress),
        )
        self.children_ = self.linkage_[:, :2].astype(np.int64)
        self.distances_ = self.linkage_[:, 2]
        return self.cut(n_clusters), n_clusters

    def cut(self, n_clusters: int) -> Integers:
        """Return the labels of another number of clusters, int64 array of shape (n_documents,)."""
        return cut_tree(self.linkage_, n_clusters)
