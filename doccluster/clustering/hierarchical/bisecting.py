"""Repeated bisection: all documents are one cluster; one cluster after another is divided in two by spherical k-means.

Sources: Steinbach, Karypis & Kumar 2000, "A comparison of document clustering techniques", KDD Workshop on Text Mining;
Zhao & Karypis 2004, Machine Learning 55 (the choice of the cluster, and k-way refinement at the end).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.parameter_fields import check_parameters, described_by, parameter
from doccluster.base.progress import silent
from doccluster.base.validation import MAX_STARTS, as_generator, check_n_clusters
from doccluster.clustering.centroid_estimator import CentroidEstimator, sum_directions
from doccluster.clustering.estimator_parameters import SeededParameters
from doccluster.clustering.hierarchical.bisection_tree import BisectionTree
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import DocclusterWarning, NothingUsable
from doccluster.geometry.criterion_moves import refine_by_moves
from doccluster.geometry.evidence import NAMES

Members = npt.NDArray[np.int64]
SPLITS = ("gain", "largest", "loosest")


@dataclass(kw_only=True, eq=False, repr=False)
class BisectingParameters(SeededParameters):
    """The parameters of `BisectingSphericalKMeans`."""

    split: str = parameter(
        "gain",
        "Which cluster is divided next: the one whose division raises the sum of cosines to the centroids most, the "
        "one of most documents, or the one of the lowest mean cosine to its centroid.",
        choices=SPLITS,
    )
    criterion: str = parameter(
        "i2",
        "What the moves of single documents after each division, and at the end, optimise "
        "(`doccluster.geometry.criterion_moves`).",
        choices=NAMES,
    )
    refine: bool = parameter(
        False,
        "Whether documents move between all clusters at the end. The labels are then no longer those of the tree.",
    )
    n_init: int = parameter(10, "Starts of each division.", low=1, high=MAX_STARTS)


@described_by(BisectingParameters)
class BisectingSphericalKMeans(BisectingParameters, CentroidEstimator):
    """Clusters by repeated bisection with spherical k-means; the tree is kept and can be cut at any number of clusters.

    Attributes
    ----------
    labels_ : int64 array of shape (n_documents,)
    centroids_ : float32 array (csr if `X` is) of shape (n clusters found, n_terms), unit rows
    tree_ : BisectionTree
        ``tree_.cut(k)`` gives the labels of any smaller number of clusters, ``tree_.linkage()`` what scipy's
        ``dendrogram`` takes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> rows = [[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]]
    >>> found = BisectingSphericalKMeans(3, random_state=0).fit(rows)
    >>> coarse = found.tree_.cut(2)
    >>> bool(coarse[0] == coarse[1] != coarse[2] == coarse[3])
    True
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of `X`, csr or dense; rows that are not unit are normalised in a copy, with a warning.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        NothingUsable
            If no row has a non-zero value.

        Warns
        -----
        DocclusterWarning
            If rows were normalised, or there are fewer distinct rows than clusters.
        """
        rows = self._unit_rows(X)
        k = check_n_clusters(self.n_clusters, rows.shape[0])
        check_parameters(self)
        if not sparse.csr_array(rows).count_nonzero():
            raise NothingUsable("X has no row with a non-zero value", remedy="there is nothing to cluster")
        rng = as_generator(self.random_state)
        self.tree_ = self._grown(rows, k, rng)
        n_found = self.tree_.n_clusters
        labels = self.tree_.cut(n_found)
        if self.refine:
            labels = refine_by_moves(self.criterion, sparse.csr_array(rows), labels, n_found, rng=rng)
        self.labels_ = labels
        self.centroids_ = sum_directions(rows, labels, n_found)
        if n_found < k:
            warnings.warn(
                f"n_clusters={k} is above the number of distinct rows; {n_found} clusters are returned.",
                DocclusterWarning,
                stacklevel=2,
            )
        return self

    def _grown(self, rows: Any, n_clusters: int, rng: np.random.Generator) -> BisectionTree:
        """Return the tree of as many divisions as are wanted, or as can be made."""
        progress = self.progress or silent
        leaf_of = np.zeros(rows.shape[0], dtype=np.int64)
        worth = {0: np.inf}  # of the leaves that can be divided
        halves: dict[int, tuple[Members, Members] | None] = {}
        divided: list[int] = []
        while len(divided) < n_clusters - 1 and worth:
            progress("divide", len(divided), n_clusters - 1)
            node = max(worth, key=lambda leaf: (worth[leaf], -leaf))
            if node not in halves:
                halves[node] = self._bisected(rows, np.flatnonzero(leaf_of == node), rng)
            del worth[node]
            parts = halves.pop(node)
            if parts is None:
                continue
            for child, members in zip((2 * len(divided) + 1, 2 * len(divided) + 2), parts, strict=True):
                leaf_of[members] = child
                if self.split == "gain" and len(divided) < n_clusters - 2:
                    halves[child] = self._bisected(rows, members, rng)
                worth[child] = self._worth(rows, members, halves.get(child))
            divided.append(node)
        progress("divide", n_clusters - 1, n_clusters - 1)
        return BisectionTree(np.array(divided, dtype=np.int64), leaf_of)

    def _worth(self, rows: Any, members: Members, halves: tuple[Members, Members] | None) -> float:
        """Return how much a leaf asks to be divided."""
        if self.split == "largest":
            return float(members.size)
        if self.split == "loosest":
            return -_length_of_sum(rows, members) / members.size
        if halves is None:
            return -np.inf
        return sum(_length_of_sum(rows, half) for half in halves) - _length_of_sum(rows, members)

    def _bisected(self, rows: Any, members: Members, rng: np.random.Generator) -> tuple[Members, Members] | None:
        """Return the two parts of a cluster, or None if its documents are alike."""
        member_rows = rows[members]
        if members.size < 2 or not sparse.csr_array(member_rows).count_nonzero():
            return None
        parameters = SphericalParameters(2, n_init=self.n_init, random_state=rng, n_threads=self.n_threads)
        first_labels = spherical_k_means(member_rows, parameters).labels
        if first_labels.min() == first_labels.max():
            return None
        labels = refine_by_moves(self.criterion, sparse.csr_array(member_rows), first_labels, 2, rng=rng)
        return members[labels == 0], members[labels == 1]


def _length_of_sum(rows: Any, members: Members) -> float:
    return float(np.linalg.norm(np.asarray(rows[members].sum(axis=0, dtype=np.float64))))
