"""One start: sums and means of clusters that follow the documents that move, and the labels by them.

Frequent terms have a dense line of sums and one of means, with a place for each cluster: an iteration adds the rows
that moved, and goes through the lines once. What a term of few documents has in each cluster is added up anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.clustering.k_means.assigner import MOST_GROUPS, Assigner
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.mean_table import means_of_table, tail_of
from doccluster.kernels.bounds import Chords
from doccluster.kernels.running_sums import move_rows, renew_means, square_sums
from doccluster.kernels.simd.lanes import LINE, aligned_zeros

BLOCK_CELLS = 2**18  # of a table that a thread goes through at a time
CELL_WORK = 4  # what a cell costs, in multiplications
CANCELLED = 1e-9  # a sum this short beside the weight of its members is rounding: the members cancel out


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A start as far as it has come: labels, the means they belong to, and the objective of the last update.

    The means may be given as a function, which is called when they are first asked for.
    """

    labels: npt.NDArray[np.int32]
    given: sparse.csr_array | Callable[[], sparse.csr_array]
    objective: float
    n_iter: int
    converged: bool = False

    @cached_property
    def means(self) -> sparse.csr_array:
        """The means that the labels belong to."""
        return self.given() if callable(self.given) else self.given


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
        self.assigner = Assigner(documents, means, n_head=n_head, most_groups=most_groups)
        self.lengths = np.zeros(self.n_clusters)
        self._sums = aligned_zeros(self.assigner.table.head.shape, np.float64)
        self._by_term = documents.terms_from(self.assigner.n_head)
        self._summed = np.full(documents.n_documents, -1, np.int32)
        self._chords: Chords | None = None
        self._n_updates = 0

    def assign(self) -> npt.NDArray[np.int32]:
        """Return the nearest mean of each document."""
        return self.assigner.assign(self._chords)

    def update(self, labels: npt.NDArray[np.int32]) -> float:
        """Make the means those of a labelling and return its objective.

        A cluster whose members have no direction together keeps its old mean.
        """
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

    def snapshot(self, labels: npt.NDArray[np.int32], objective: float, number: int) -> Snapshot:
        """Return the start as far as it has come; its means are made when they are asked for."""
        made_after = self._n_updates

        def means() -> sparse.csr_array:
            """Read the means from the table; after later updates, which replaced them there, make them again."""
            if self._n_updates == made_after:
                return self.means
            again = RunningMeans(self.documents, self.means, n_head=self.assigner.n_head, most_groups=0)
            again.update(labels)
            return again.means

        return Snapshot(labels, means, objective, number)


def changed_clusters(
    before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], n_clusters: int
) -> npt.NDArray[np.bool_]:
    """Return which clusters a document left or joined; -1 stands for none."""
    moved = np.flatnonzero(before != after)
    changed = np.zeros(n_clusters + 1, np.bool_)
    changed[before[moved]] = True
    changed[after[moved]] = True
    return changed[:-1]
