"""The steps of Lloyd's iterations in memory: sums and means that follow the documents that move, and labels by them.

Frequent terms have a dense line of sums and one of means, with a place for each cluster: an iteration adds the rows
that moved, and goes through the lines once. What a term of few documents has in each cluster is added up anew.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.assigner import MOST_GROUPS, Assigner, Chords
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.lloyd import Snapshot
from doccluster.clustering.k_means.mean_table import aligned_zeros, means_of_table, table_for, tail_of
from doccluster.clustering.k_means.refill import choose_refills, empty_clusters
from doccluster.clustering.k_means.sweep import LINE, head_end
from doccluster.kernels.jit import jit


@jit
def move_rows(rows, weights, before, after, lanes, sums):
    """Take rows whose label changed away from the lane of the old one, -1 for none, and add them to the new.

    Only lanes from the first to before the last of `lanes`, and the terms that `sums` has.
    """
    values, columns, starts, _ = rows
    first_lane, last_lane = lanes
    for row in range(after.size):
        old, new = before[row], after[row]
        if old == new:
            continue
        first = starts[row]
        last = head_end(columns, first, starts[row + 1], sums.shape[0])
        weight = weights[row]
        leaves, joins = old >= first_lane and old < last_lane, new >= first_lane and new < last_lane
        if leaves and joins:
            for entry in range(first, last):
                value = weight * values[entry]
                sums[columns[entry], old] -= value
                sums[columns[entry], new] += value
        elif leaves or joins:
            lane, signed = (old, -weight) if leaves else (new, weight)
            for entry in range(first, last):
                sums[columns[entry], lane] += signed * values[entry]


@jit(fastmath={"nnan", "nsz"}, forceinline=True, inner=True)
def is_empty(sums, head, term, line):
    """Return whether a line of the table and its sums are all 0, as most of them are where there are many clusters."""
    most = np.float64(0)
    for lane in range(LINE):
        at = np.uint64(LINE * line + lane)
        most = max(most, abs(sums[term, at]) + np.float64(abs(head[term, at])))
    return most == 0


@jit(fastmath={"contract"})
def square_sums(sums, squared):
    """Add the squared length of each lane of some rows of the sums to `squared` (n_lanes,), terms ascending."""
    for term in range(sums.shape[0]):
        for lane in range(squared.size):
            squared[lane] += sums[term, lane] * sums[term, lane]


@jit(fastmath={"contract"})
def renew_means(sums, lines, lengths, is_new, head, squared):
    """Make the lanes for which `is_new` of some rows of `head` the sums over `lengths`, as float32.

    The squared chord between the old and the new mean is added to `squared` (n_lanes,). No length may be 0. Only lanes
    of the cache lines whose numbers are in `lines`.
    """
    may_be_empty = head.shape[1] > LINE  # of few clusters, each has most of the terms
    for term in range(sums.shape[0]):
        for line in lines:
            if may_be_empty and is_empty(sums, head, term, line):
                continue
            for lane in range(LINE):
                at = np.uint64(LINE * line + lane)
                old = head[term, at]
                value = np.float32(sums[term, at] / lengths[at]) if is_new[at] else old
                change = np.float64(value) - np.float64(old)
                squared[at] += change * change
                head[term, at] = value


BLOCK_CELLS = 2**18  # of a table that a thread goes through at a time
CELL_WORK = 4  # what a cell costs, in multiplications
CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: the members cancel out


class RunningMeans:
    """Labels, sums and means, iteration after iteration.

    Each mean is ``float32(sum / |sum|)`` with the float64 sum over the members ascending, whatever the threads. Where
    float64 sums are exact, rows that move are taken away and added; elsewhere clusters that changed are summed anew.
    """

    def __init__(
        self,
        documents: DocumentMatrix,
        means: sparse.csr_array,
        *,
        n_head: int | None = None,
        most_groups: int = MOST_GROUPS,
    ) -> None:
        self.documents, self.n_clusters = documents, means.shape[0]
        self.labels = np.full(documents.n_documents, -1, np.int32)
        self.assigner = Assigner(documents, table_for(documents, means, n_head), most_groups=most_groups)
        self.lengths = np.zeros(self.n_clusters)
        self._sums = aligned_zeros(self.assigner.table.head.shape, np.float64)
        self._by_term = documents.terms_from(self._sums.shape[0])
        self._summed = np.full(documents.n_documents, -1, np.int32)
        self._chords: Chords | None = None
        self._n_updates = 0

    def assign(self) -> tuple[int, int]:
        """Label all documents; return how many moved, and how many went to clusters that were empty."""
        labels = self.assigner.assign(self._chords)
        refilled = self._refill(labels)
        n_moved = int(np.count_nonzero(labels != self.labels))
        self.labels = labels
        return n_moved, refilled

    def _refill(self, labels: npt.NDArray[np.int32]) -> int:
        """Give each empty cluster a document, changing `labels`; return how many got one."""
        documents = self.documents
        empty = empty_clusters(documents.is_usable, labels, self.n_clusters)
        if not empty.size:
            return 0
        similarities = self.assigner.own_similarities(labels, in_order=True)
        chosen = choose_refills(similarities, labels, documents.digests, documents.is_usable, empty)
        rows = np.array(list(chosen), np.int64)
        labels[rows] = list(chosen.values())
        self.assigner.forget(rows, labels)
        return rows.size

    def update(self, labels: npt.NDArray[np.int32] | None = None) -> float:
        """Make the means those of the labels, or of others, and return the objective: the lengths of the sums.

        A cluster whose members have no direction together keeps its old mean.
        """
        labels = self.labels if labels is None else labels
        k, width = self.n_clusters, self._sums.shape[1]
        has_moved = changed_clusters(self._summed, labels, k)
        self._move(labels, has_moved)
        weights = np.bincount(labels, weights=self.documents.weights, minlength=k)
        squared = self._over_terms(lambda terms, squared: square_sums(self._sums[terms], squared))[:k]
        rare = self._sum_rare_terms(labels, has_moved) if self._by_term.shape[0] else None
        if rare is not None:
            squared += np.bincount(rare.indices, rare.data**2, minlength=k)
        self.lengths = np.where(has_moved, np.sqrt(squared), self.lengths)
        lengths, is_new = np.ones(width), np.zeros(width, np.bool_)
        is_new[:k] = has_moved & (self.lengths > CANCELLED * weights)
        lengths[:k][is_new[:k]] = self.lengths[is_new[:k]]
        head, lines = self.assigner.table.head, np.unique(np.flatnonzero(is_new) // LINE)
        moved = self._over_terms(
            lambda terms, squared: renew_means(self._sums[terms], lines, lengths, is_new, head[terms], squared)
        )[:k]
        if rare is not None:
            moved += self._renew_rare_terms(rare, is_new[:k])
        self._chords = self.assigner.chords(np.sqrt(moved), is_new[:k])
        self._n_updates += 1
        return float(self.lengths.sum())

    def _move(self, labels: npt.NDArray[np.int32], has_moved: npt.NDArray[np.bool_]) -> None:
        """Bring the sums of frequent terms to a labelling; a thread takes whole lines of clusters."""
        documents, before = self.documents, self._summed
        rows = documents.rows(slice(0, documents.n_documents))
        if not documents.has_exact_sums:
            before = np.where(has_moved[labels], np.int32(-1), labels)
            self._sums[:, : self.n_clusters][:, has_moved] = 0

        def one(lanes: slice) -> None:
            move_rows(rows, documents.weights, before, labels, (lanes.start, lanes.stop), self._sums)

        width, work = self._sums.shape[1], CELL_WORK * documents.values.size
        blocks = row_blocks(width, LINE * -(-(width // LINE) // documents.threads_for(work)))
        documents.share(one, blocks, multiplications=work)
        self._summed = labels.copy()

    def _over_terms(self, add_squares: Callable[[slice, npt.NDArray[np.float64]], None]) -> npt.NDArray[np.float64]:
        """Return for each lane what a function adds up over the frequent terms, whatever the number of threads."""
        n_head, width = self._sums.shape

        def one(terms: slice) -> npt.NDArray[np.float64]:
            squared = np.zeros(width)
            add_squares(terms, squared)
            return squared

        found = self.documents.share(
            one, row_blocks(n_head, max(1, BLOCK_CELLS // width)), multiplications=CELL_WORK * self._sums.size
        )
        return np.sum(found, axis=0) if found else np.zeros(width)

    def _sum_rare_terms(self, labels: npt.NDArray[np.int32], has_moved: npt.NDArray[np.bool_]) -> sparse.csr_array:
        """Return the weight of each rare term in each changed cluster, csr array of shape (n_terms, n_clusters)."""
        is_member = has_moved[labels]
        starts = np.concatenate([[0], np.cumsum(is_member)])
        members = (self.documents.weights[is_member], labels[is_member], starts)
        return sparse.csr_array(self._by_term @ sparse.csr_array(members, shape=(labels.size, self.n_clusters)))

    def _renew_rare_terms(self, sums: sparse.csr_array, is_new: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Make the lists of the table those of the sums; return the squared chord of each cluster in these terms."""
        before, lengths = tail_of(self.assigner.table), np.where(is_new, self.lengths, 1.0)
        following = sparse.csr_array(
            ((sums.data / lengths[sums.indices] * is_new[sums.indices]).astype(np.float32), sums.indices, sums.indptr),
            shape=sums.shape,
        )
        if not is_new.all():
            kept = before.copy()
            kept.data[is_new[kept.indices]] = 0
            following = following + kept
        following.eliminate_zeros()
        self.assigner.table = self.assigner.table._replace(
            tail_starts=following.indptr.astype(np.int64),
            tail_clusters=following.indices.astype(np.int32),
            tail_values=following.data.astype(np.float32),
        )
        change = sparse.csr_array(following - before)
        squared = np.bincount(change.indices, change.data.astype(np.float64) ** 2, minlength=is_new.size)
        return squared.astype(np.float64, copy=False)

    @property
    def means(self) -> sparse.csr_array:
        """The means as sparse rows, terms ascending."""
        return means_of_table(self.assigner.table)

    def so_far(self, number: int) -> Callable[[], Snapshot]:
        """Return a function that makes a snapshot of this update, also when later ones have changed the table."""
        labels, made_after = self.labels, self._n_updates

        def snapshot() -> Snapshot:
            steps = self
            if self._n_updates != made_after:
                steps = RunningMeans(self.documents, self.means, n_head=self._sums.shape[0], most_groups=0)
                steps.update(labels)
            return steps.without_empty(labels, number, converged=False)

        return snapshot

    def finish(self, number: int, *, converged: bool) -> Snapshot:
        """Return the start as it is now; clusters that could not be filled are dropped."""
        return self.without_empty(self.labels, number, converged=converged)

    def without_empty(self, labels: npt.NDArray[np.int32], number: int, *, converged: bool) -> Snapshot:
        """Return a snapshot with these labels; documents are labelled again where clusters are dropped."""
        means, assigner = self.means, self.assigner
        empty = empty_clusters(self.documents.is_usable, labels, self.n_clusters)
        if 0 < empty.size < self.n_clusters:
            means = sparse.csr_array(means[np.setdiff1d(np.arange(self.n_clusters), empty)])
            assigner = Assigner(self.documents, table_for(self.documents, means), most_groups=0)
            labels = assigner.assign()
        objective = float(np.sum(self.documents.weights * assigner.own_similarities(labels)))
        return Snapshot(labels, means, objective, number, converged)


def changed_clusters(
    before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], n_clusters: int
) -> npt.NDArray[np.bool_]:
    """Return which clusters a document left or joined; -1 stands for none."""
    moved = np.flatnonzero(before != after)
    changed = np.zeros(n_clusters + 1, np.bool_)
    changed[before[moved]] = True
    changed[after[moved]] = True
    return changed[:-1]
