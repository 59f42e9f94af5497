"""The steps of Lloyd's iterations in memory: assign, labels by the centroids, and update, centroids by the labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.k_means.lloyd import Labels, Snapshot, choose_refills, empty_clusters
from doccluster.clustering.k_means.running_sums import RunningSums
from doccluster.clustering.k_means.sparse_means import SparseMeans
from doccluster.clustering.k_means.sweep import MOST_GROUPS, NearestCentroids, own_cosines
from doccluster.clustering.k_means.term_places import TermPlaces
from doccluster.clustering.k_means.unit_documents import UnitDocuments


class LloydSteps:
    """Labels and centroids, iteration after iteration.

    `means`: unit rows to begin at. `n_head`: how many terms have a line in the table, `head_length` by default.
    `keeps_sums`: whether there is memory for sums. `n_groups`: the most groups of clusters that have a bound for each
    document, 0 for none. `labels`: those that the documents have already.
    """

    def __init__(
        self,
        documents: UnitDocuments,
        means: sparse.csr_array,
        *,
        n_head: int | None = None,
        keeps_sums: bool = True,
        n_groups: int = MOST_GROUPS,
        labels: Labels | None = None,
    ) -> None:
        self.documents, self._keeps_sums = documents, keeps_sums
        self.places = TermPlaces.of(documents.frequencies, means.shape[0], n_head)
        self.nearest = NearestCentroids(documents, self.places, n_groups)
        self.labels = self.nearest.labels  # one array, which each assignment changes
        self.centroids: RunningSums | SparseMeans = SparseMeans(means, self.places)
        self._centroid_labels = np.full(
            documents.n_documents, -1, np.int32
        )  # the labels that the centroids are made of
        self._movements: npt.NDArray[np.float64] | None = None  # of the centroids in the last update, where known
        if labels is not None:
            self.labels[:] = labels

    def assign(self) -> tuple[int, int]:
        """Label all documents; return how many moved, and how many went to clusters that were empty."""
        self.nearest.search(self.centroids, self._movements)
        n_refilled = self._refill()
        return int(np.count_nonzero(self.labels != self._centroid_labels)), n_refilled

    def _refill(self) -> int:
        """Give each empty cluster a document; return how many got one."""
        documents, labels = self.documents, self.labels
        empty = empty_clusters(documents.is_usable, labels, self.places.n_clusters)
        if not empty.size:
            return 0
        cosines = own_cosines(self.centroids, documents, labels)
        chosen = choose_refills(cosines, labels, documents.digests, documents.is_usable, empty)
        rows = np.array(list(chosen), np.int64)
        labels[rows] = list(chosen.values())
        self.nearest.forget(rows)
        return rows.size

    def update(self) -> float:
        """Make the centroids those of the labels, and return the objective: the lengths of the sums.

        A cluster whose members have no direction together keeps its old centroid, which is then no sum of documents:
        from then on all centroids of this start are `SparseMeans`, made anew in each update.
        """
        before, self._centroid_labels, self._movements = self._centroid_labels, self.labels.copy(), None
        if self._keeps_sums:
            sums = self.centroids
            if not isinstance(sums, RunningSums):  # the first update: so far there are only means to begin at
                sums = self.centroids = SparseMeans(sums.means, self.places)  # whose table is not read again
                sums = RunningSums(self.documents, self.places, self.nearest.rows)
            movements = sums.follow(self._centroid_labels)
            if sums.has_directions():
                self.centroids, self._movements = sums, movements
                return float(sums.lengths.sum())
            self._keeps_sums = False
            if self.centroids is sums:
                sums.follow(before)  # back to the centroids that some clusters keep
                self.centroids = SparseMeans(sums.to_csr(), self.places)
        assert isinstance(self.centroids, SparseMeans)
        self.centroids = self.centroids.following(self.documents, self._centroid_labels)
        return float(self.centroids.lengths.sum())

    def postpone_snapshot(self, number: int) -> Callable[[], Snapshot]:
        """Return a function that makes a snapshot of this update, also when later ones have changed the sums."""
        labels = self._centroid_labels

        def snapshot() -> Snapshot:
            means = SparseMeans(self.centroids.to_csr(), self.places).following(self.documents, labels)
            return self._without_empty(means, labels, number, converged=False)

        return snapshot

    def finish(self, number: int, *, converged: bool) -> Snapshot:
        """Return the start as it is now; clusters that could not be filled are dropped."""
        return self._without_empty(self.centroids, self.labels, number, converged=converged)

    def _without_empty(
        self, centroids: RunningSums | SparseMeans, labels: Labels, number: int, *, converged: bool
    ) -> Snapshot:
        """Return a snapshot with these labels; documents are labelled again where clusters are dropped."""
        documents, k = self.documents, self.places.n_clusters
        empty, means = empty_clusters(documents.is_usable, labels, k), centroids.to_csr()
        if 0 < empty.size < k:
            means = sparse.csr_array(means[np.setdiff1d(np.arange(k), empty)])
            fewer = TermPlaces.of(documents.frequencies, means.shape[0])
            nearest, centroids = NearestCentroids(documents, fewer), SparseMeans(means, fewer)
            nearest.search(centroids)
            labels = nearest.labels
        objective = float(np.sum(documents.weights * own_cosines(centroids, documents, labels)))
        return Snapshot(labels, means, objective, number, converged)
