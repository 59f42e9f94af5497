"""The steps of Lloyd's iterations in memory: assign, labels by the centroids, and update, centroids by the labels.

The centroids are sums, one for each cluster, which follow the documents that move; no mean is made. A document that
moves is taken from one sum and added to another, which changes the cells of its own terms and nothing else. The cosine
of a row x to the mean of a cluster is ``x . s / |s|`` with its sum s, and ``|s|`` follows by ``|s + x|^2 = |s|^2 +
2 s.x + |x|^2``.

Where float64 sums of the rows are exact, no order counts and they are those of the definition to the last bit.
Elsewhere (uneven weights) they are so within a billionth, which is less than the means are rounded by, and a cluster is
summed anew, members ascending, where its exact means are asked for or rounding has added up. Rare terms have no lines
of sums: what they have in the clusters is a small sparse matrix, made anew in each update.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Flags, Floats, Integers
from doccluster.base.compiled import jit
from doccluster.base.sparse_structure import Csr
from doccluster.clustering.k_means.assign import CANCELLED, SparseMeans
from doccluster.clustering.k_means.lloyd import Labels, Snapshot, choose_refills, empty_clusters
from doccluster.clustering.k_means.sweep import (
    ARITHMETIC,
    F32,
    F64,
    I64,
    MAX_GROUPS,
    U64,
    NearestCentroids,
    SweepRows,
    SweepTable,
    own_cosines,
)
from doccluster.clustering.k_means.term_places import DOWN, UP, TermPlaces, cells_of, write_cell
from doccluster.clustering.k_means.unit_documents import UnitDocuments

ROUNDOFF = 2.0**-53  # of float64
IMPRECISE = 1e-9  # the share of a squared length that rounding may make before it is measured again
FEW = 0.05  # as a share of the documents: where more move, bounds spare too little to be worth the chords
MOVE_WORK = 100  # what moving an entry costs, in multiplications of a sweep
LONGEST, SHORTEST = DOWN, DOWN * 2.0**-30  # what a sum may measure in cells: there is room for 32 powers of two below
HEADROOM = 2.0**-10  # of a new scale, for the sum to grow
FARTHEST = 2.0  # the chord of opposite directions


class Lengths(NamedTuple):
    """What is known of the sums of the terms that have a line, float64 arrays of shape (n_clusters,)."""

    squares: Floats  # squared lengths, as they follow from moves
    rounding: Floats  # what these may be off by
    cross: Floats  # the products of the sums with those before
    scales: Floats  # a cell of the table is the sum times this


@jit(fastmath=ARITHMETIC)
def move_rows(rows, moves, scope, lines, lengths, cells):
    """Take rows, as laid out for sweeps, from one sum and add them to another, but for their rare terms.

    `moves`: the rows, ascending, and of all documents the labels that they leave, -1 for none, those that they join,
    and the weights. `scope`: clusters from the first to before the last, and the first pass. In pass 0 `cross` becomes
    the product of new and old sums, for which the old ones are needed; in pass 1 sums, cells and lengths change.
    """
    starts, terms, values, _, _, _ = rows
    moved, before, after, weights = moves
    first_cluster, last_cluster, first_pass = scope
    squares, rounding, cross, scales = lengths
    for is_change in range(first_pass, 2):
        for row in moved:
            for joins in range(2):  # first a row leaves, then it joins
                cluster = after[row] if joins else before[row]
                if cluster < first_cluster or cluster >= last_cluster:
                    continue
                c, weight = U64(cluster), (weights[row] if joins else -weights[row]) * DOWN
                product, square, first, last = 0.0, 0.0, starts[row], starts[row + 1]
                for p in range(first, last):
                    term, x = U64(terms[p]), weight * F64(values[p])
                    total = lines[c, term]
                    product += x * total
                    if is_change:
                        square += x * x
                        lines[c, term] = total + x
                        write_cell(cells, term, c, F32((total + x) * scales[c]))
                if is_change:
                    # n products of vectors are off by n roundoffs of their lengths at most
                    rounding[c] += ROUNDOFF * F64(last - first + U64(4)) * (abs(squares[c]) + square)
                    squares[c] += square + 2 * product
                else:
                    cross[c] += product


@jit(fastmath=ARITHMETIC)
def pair_cosines(matrix, number, sums, lengths, pairs, is_exact, cosines):
    """Write the cosine of pairs of rows of a Csr and means of clusters in float64, in the order of the columns.

    Exact ones are those to float32 means, as the definition wants them. `number`: that of the term of each column.
    `sums`: lines of the terms that have one, and Csr of the rare terms by clusters.
    """
    indptr, indices, data = matrix
    lines, (list_starts, list_clusters, list_sums) = sums
    (rows, clusters), n_head = pairs, lines.shape[1]
    for pair in range(rows.size):
        row, c, total = rows[pair], clusters[pair], 0.0
        length = lengths[c]
        for p in range(indptr[row], indptr[row + 1]):
            term, value = I64(number[indices[p]]), 0.0
            if term < n_head:
                value = lines[c, term]
            else:
                for entry in range(list_starts[term - n_head], list_starts[term - n_head + 1]):
                    if list_clusters[entry] == c:
                        value = list_sums[entry]
            if is_exact:
                value = F64(F32(value / length))
            total += data[p] * value
        cosines[pair] = total if is_exact else total / length


class RunningSums:
    """The sums of the documents with each label, and the table that sweeps read, which changes with them.

    Begin with `follow`. `labels`: int32 array of shape (n_documents,), those whose sums these are; -1 before the first.
    `lengths`: float64 array of shape (n_clusters,), those of the sums, within a billionth. `lines`: the sums of the
    terms that have a line, float64 array of shape (n_clusters, n_head).
    """

    def __init__(self, documents: UnitDocuments, places: TermPlaces, rows: SweepRows) -> None:
        k, matrix = places.n_clusters, documents.matrix
        self.documents, self.places, self.rows = documents, places, rows
        self.labels: Labels = np.full(documents.n_documents, -1, np.int32)
        self.lengths, self._exact_lengths = np.zeros(k), np.zeros(k)  # exact ones are -1 where they are not known
        self.lines = np.zeros((k, places.n_head))
        self.table = SweepTable.empty(places, is_short=documents.have_short_cells(places))
        scale = DOWN / 2.0 ** np.ceil(np.log2(documents.largest_sum))  # no cell is above 2^-64
        self._common = Lengths(np.zeros(k), np.zeros(k), np.zeros(k), np.full(k, scale))
        self._rare, self._rare_squares = sparse.csr_array((places.n_rare, k)), np.zeros(k)
        self._rare_rows = None  # weighted values of rare terms, terms by documents
        if places.n_rare:
            weighted = matrix.data * np.repeat(documents.weights, np.diff(matrix.indptr))
            by_term = sparse.csr_array((weighted, places.number[matrix.indices], matrix.indptr), matrix.shape).tocsc()
            self._rare_rows = sparse.csr_array(by_term[:, places.n_head :].T)

    def follow(self, labels: Labels) -> Floats | None:
        """Make the sums those of other labels; return the chords from the old means to the new, None if not known."""
        before, common, n = self.labels, self._common, labels.size
        moved, old = np.flatnonzero(labels != before), common.squares + self._rare_squares
        changed = np.zeros(self.places.n_clusters + 1, np.bool_)
        changed[before[moved]] = changed[labels[moved]] = True  # the last is for rows that had no label
        changed, has_chords = changed[:-1], moved.size < FEW * n
        self.labels, common.cross[:] = labels, common.squares  # a sum s that becomes s + x has s.(s + x) = |s|^2 + s.x
        self._move(moved, before, 0 if has_chords else 1)
        if self._rare_rows is not None:
            self._sum_rare_terms()
        self._exact_lengths[changed] = -1  # measured when they are asked for ...
        squares = common.squares + self._rare_squares
        imprecise = changed & (common.rounding > IMPRECISE * squares)
        if imprecise.any():  # ... or where the squares that follow from moves have lost too much
            self._make_exact(np.flatnonzero(imprecise))
            squares = common.squares + self._rare_squares
        self.lengths = np.sqrt(np.maximum(squares, 0))
        self._renew_table(imprecise)
        if not has_chords:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            # unit vectors are a chord of sqrt(2 - 2 cosine) apart; the slack is what rounding may take from its square
            cosines, slack = common.cross / np.sqrt(old * squares), 4 * common.rounding / np.minimum(old, squares)
        chords = np.where(changed, np.sqrt(np.maximum(2 - 2 * cosines, 0) + slack), 0)
        chords[imprecise] = FARTHEST
        return chords

    def _move(self, rows: Integers, before: Labels, first_pass: int) -> None:
        """Move rows from the sums of the labels `before` to those of today."""
        documents, places, n_threads = self.documents, self.places, self.documents.n_threads
        cells = self.table.cells.reshape(places.n_head, places.n_lanes)
        ends = [places.n_clusters * number // n_threads for number in range(n_threads + 1)]

        def move(clusters: tuple[int, int]) -> None:
            moves, scope = (rows, before, self.labels, documents.weights), (*clusters, first_pass)
            move_rows(self.rows, moves, scope, self.lines, self._common, cells)

        work = rows.size * documents.n_entries / documents.n_documents * MOVE_WORK
        # a thread takes some of the clusters, so that no two write to one sum
        documents.share(move, list(itertools.pairwise(ends)), multiplications=work)

    def _sum_rare_terms(self) -> None:
        """Sum rare terms by cluster, documents ascending, and add to the products of new and old sums."""
        n, k, before = self.labels.size, self.places.n_clusters, self._rare
        members = sparse.csr_array((np.ones(n), self.labels, np.arange(n + 1)), shape=(n, k))
        self._rare = sparse.csr_array(self._rare_rows @ members)
        self._rare_squares = np.asarray(np.bincount(self._rare.indices, self._rare.data**2, k), np.float64)
        self._common.cross[:] += self._rare.multiply(before).sum(axis=0)

    def _renew_table(self, imprecise: Flags) -> None:
        """Bring the table up to the sums: cells that did not follow them, lists of rare terms, and factors."""
        places, table, scales = self.places, self.table, self._common.scales
        if not self.documents.has_exact_sums:  # weights may differ so much that each cluster needs a scale
            cells, sizes = table.cells.reshape(places.n_head, places.n_lanes), self.lengths * scales
            outgrown = (sizes > LONGEST) | ((sizes < SHORTEST) & (sizes > 0))
            scales[outgrown] = DOWN * HEADROOM / self.lengths[outgrown]
            for cluster in np.flatnonzero(outgrown | imprecise).tolist():
                cells[:, cluster] = cells_of((self.lines[cluster] * scales[cluster]).astype(F32), cells.dtype)
        with np.errstate(divide="ignore", invalid="ignore"):
            table.factors[: scales.size] = 1 / (self.lengths * scales * float(UP))
        if places.n_rare:
            lists = Csr.of(self._rare)
            values = (lists.data * scales[lists.indices]).astype(F32)
            self.table = table._replace(
                list_starts=lists.indptr.view(U64), list_lanes=lists.indices, list_values=values
            )

    def has_directions(self) -> bool:
        """Whether no sum is as short as rounding makes one whose members cancel out."""
        weights = self.documents.weights
        if self.lengths.min() > CANCELLED * weights.sum():  # as good as always
            return True
        return bool(np.all(self.lengths > CANCELLED * np.bincount(self.labels, weights, self.lengths.size)))

    def table_for(self, documents: UnitDocuments) -> SweepTable:
        """Return the table that sweeps of the documents read, which `follow` keeps up to date."""
        return self.table

    def cosines(self, documents: UnitDocuments, rows: Integers, clusters: Integers, *, is_exact: bool) -> Floats:
        """Return the cosine of each of some documents to the mean of a cluster, exact or within a few billionths."""
        if is_exact:
            self._make_exact(np.flatnonzero(np.bincount(clusters)))
        lengths, sums = self._exact_lengths if is_exact else self.lengths, (self.lines, Csr.of(self._rare))
        cosines = np.empty(rows.size)
        pair_cosines(documents.rows, self.places.number, sums, lengths, (rows, clusters), is_exact, cosines)
        return cosines

    def _make_exact(self, clusters: Integers) -> None:
        """Measure the sums of some clusters, after they are summed anew where moves have rounded them."""
        documents, common = self.documents, self._common
        clusters = clusters[self._exact_lengths[clusters] < 0]
        if clusters.size and not documents.has_exact_sums:
            members = np.argsort(self.labels, kind="stable")
            ends = np.searchsorted(self.labels[members], np.arange(self.places.n_clusters), side="right")
            moves = np.full(self.labels.size, -1, np.int32), np.zeros(self.labels.size, np.int32), documents.weights
            cells = np.empty((self.places.n_head, 1), self.table.cells.dtype)
            for cluster in clusters.tolist():
                rows = members[ends[cluster - 1] if cluster else 0 : ends[cluster]]
                # other threads may read a line, so it is made before it is put there
                line = np.zeros((1, self.places.n_head))
                move_rows(self.rows, (rows, *moves), (0, 1, 1), line, Lengths(*np.zeros((4, 1))), cells)
                self.lines[cluster] = line[0]
        squares = np.array([np.square(self.lines[cluster]).sum() for cluster in clusters.tolist()])
        common.squares[clusters] = squares
        common.rounding[clusters] = ROUNDOFF * documents.n_terms * squares
        self._exact_lengths[clusters] = np.sqrt(squares + self._rare_squares[clusters])

    def to_csr(self) -> sparse.csr_array:
        """Return the means, float32 csr array of shape (n_clusters, n_terms)."""
        places, rare = self.places, self._rare.tocsc()
        self._make_exact(np.arange(places.n_clusters))
        columns, means = [np.empty(0, np.int32)], [np.empty(0, F32)]
        for line, length, (first, last) in zip(
            self.lines, self._exact_lengths, itertools.pairwise(rare.indptr.tolist()), strict=True
        ):
            if places.n_rare:
                common = np.flatnonzero(line)
                of_terms = places.columns[np.concatenate([common, places.n_head + rare.indices[first:last]])]
                sums, order = np.concatenate([line[common], rare.data[first:last]]), np.argsort(of_terms)
                of_terms, sums = of_terms[order], sums[order]
            else:  # the line has all of them, which are put in the order of the columns: no need to sort
                sums = np.take(line, places.number, mode="clip")
                of_terms = np.flatnonzero(sums != 0)
                sums = sums[of_terms]
            mean = (sums / length).astype(F32)
            stays = slice(None) if np.all(mean) else mean != 0
            columns.append(of_terms[stays].astype(np.int32))
            means.append(mean[stays])
        starts = np.cumsum([0, *map(len, means[1:])], dtype=np.int32)
        shape = places.n_clusters, places.number.size
        return sparse.csr_array((np.concatenate(means), np.concatenate(columns), starts), shape=shape)


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
        n_groups: int = MAX_GROUPS,
        labels: Labels | None = None,
    ) -> None:
        self.documents, self._keeps_sums = documents, keeps_sums
        self.places = TermPlaces.of(documents.frequencies, means.shape[0], n_head)
        self.nearest = NearestCentroids(documents, self.places, n_groups)
        self.labels = self.nearest.labels  # one array, which each assignment changes
        self.centroids: RunningSums | SparseMeans = SparseMeans(means, self.places)
        self._centroid_labels = np.full(documents.n_documents, -1, np.int32)  # those that the centroids are made of
        self._movements: Floats | None = None  # of the centroids in the last update, where known
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
