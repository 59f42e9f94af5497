"""Repeated bisection: all documents are one cluster; one cluster after another is divided in two by spherical k-means.

Sources: Steinbach, Karypis & Kumar 2000, "A comparison of document clustering techniques", KDD Workshop on Text Mining;
Zhao & Karypis 2004, Machine Learning 55 (the choice of the cluster, and k-way refinement at the end).

The tree says which cluster was divided into which two, and gives the partition after any division.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Matrix
from doccluster.base.parameter_fields import described_by, parameter
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import checked_progress
from doccluster.base.validation import MAX_STARTS, as_generator
from doccluster.clustering.centroid_estimator import CentroidEstimator
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.clustering.task import SeededParameters
from doccluster.errors import DocclusterWarning, InputError, NothingUsable
from doccluster.geometry.criterion_moves import refine_by_moves
from doccluster.geometry.evidence import NAMES


@dataclass(frozen=True, eq=False, repr=False)
class BisectionTree(ShortRepr):
    """Divisions in their order. Node 0 holds all documents; division t makes the nodes 2t + 1 and 2t + 2.

    Attributes
    ----------
    divided : int64 array of shape (n_divisions,)
        The node that each division divides.
    leaf_of : int64 array of shape (n_documents,)
        The node of each document after the last division.
    """

    divided: Integers
    leaf_of: Integers

    @property
    def n_clusters(self) -> int:
        """The number of clusters after the last division."""
        return int(self.divided.size) + 1

    @property
    def sizes(self) -> Integers:
        """The number of documents of each node, int64 array of shape (2 n_clusters - 1,)."""
        sizes = np.bincount(self.leaf_of, minlength=2 * self.n_clusters - 1)
        for division in range(self.divided.size - 1, -1, -1):
            sizes[self.divided[division]] = sizes[2 * division + 1] + sizes[2 * division + 2]
        return sizes.astype(np.int64)

    def cut(self, n_clusters: int) -> Integers:
        """Return the labels 0..n_clusters-1 after the first divisions, int64 array of shape (n_documents,).

        Raises
        ------
        InputError
            If the tree never had this many clusters.

        Examples
        --------
        >>> tree = BisectionTree(np.array([0, 2]), np.array([1, 3, 4, 4]))
        >>> tree.cut(3), tree.cut(2), tree.cut(1)
        (array([0, 1, 2, 2]), array([0, 1, 1, 1]), array([0, 0, 0, 0]))
        """
        if not 1 <= n_clusters <= self.n_clusters:
            raise InputError(
                "is not a level of this tree",
                argument="n_clusters",
                received=n_clusters,
                expected=f"a number from 1 to {self.n_clusters}",
            )
        node_at = np.arange(2 * self.n_clusters - 1)
        for division in range(n_clusters - 1, self.divided.size):  # parents come before their children
            node_at[2 * division + 1 : 2 * division + 3] = node_at[self.divided[division]]
        return np.asarray(np.unique(node_at[self.leaf_of], return_inverse=True)[1], np.int64)

    def linkage(self) -> Floats:
        """Return the tree as `scipy.cluster.hierarchy` takes it, over the final clusters as its leaves.

        The leaves are the labels of `cut(n_clusters)`. The height of a join is the number of clusters minus the number
        there were before that division, so the last division has height 1 and the first one the largest.

        Returns
        -------
        float64 array of shape (n_clusters - 1, 4)
            The two joined, the height, and the number of final clusters below.
        """
        k = self.n_clusters
        leaves = np.setdiff1d(np.arange(2 * k - 1), self.divided)
        number = np.zeros(2 * k - 1)
        number[leaves] = np.arange(k)
        below = np.zeros(2 * k - 1)
        below[leaves] = 1
        joins = np.empty((k - 1, 4))
        for step, division in enumerate(range(k - 2, -1, -1)):
            left, right, node = 2 * division + 1, 2 * division + 2, self.divided[division]
            below[node] = below[left] + below[right]
            joins[step] = (*sorted((number[left], number[right])), step + 1, below[node])
            number[node] = k + step
        return joins


Members = Integers
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

    def _cluster(self, rows: Matrix, n_clusters: int) -> tuple[Integers, int]:
        if not sparse.csr_array(rows).count_nonzero():
            raise NothingUsable("X has no row with a non-zero value", remedy="there is nothing to cluster")
        rng = as_generator(self.random_state)
        self.tree_ = self._grown(rows, n_clusters, rng)
        # equal rows cannot be divided, so there may be fewer clusters than were asked for
        n_found = self.tree_.n_clusters
        labels = self.tree_.cut(n_found)
        if self.refine:
            labels = refine_by_moves(self.criterion, sparse.csr_array(rows), labels, n_found, rng=rng)
        if n_found < n_clusters:
            warnings.warn(
                f"n_clusters={n_clusters} is above the number of distinct rows; the result has {n_found}.",
                DocclusterWarning,
                stacklevel=3,
            )
        return labels, n_found

    def _grown(self, rows: Matrix, n_clusters: int, rng: np.random.Generator) -> BisectionTree:
        """Return the tree of as many divisions as are wanted, or as can be made."""
        progress = checked_progress(self.progress)
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

    def _worth(self, rows: Matrix, members: Members, halves: tuple[Members, Members] | None) -> float:
        """Return how much a leaf asks to be divided."""
        if self.split == "largest":
            return float(members.size)
        if self.split == "loosest":
            return -_length_of_sum(rows, members) / members.size
        if halves is None:
            return -np.inf
        return sum(_length_of_sum(rows, half) for half in halves) - _length_of_sum(rows, members)

    def _bisected(self, rows: Matrix, members: Members, rng: np.random.Generator) -> tuple[Members, Members] | None:
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


def _length_of_sum(rows: Matrix, members: Members) -> float:
    return float(np.linalg.norm(np.asarray(rows[members].sum(axis=0, dtype=np.float64))))
