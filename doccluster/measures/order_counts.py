"""How often a pair within a cluster is closer than a pair between clusters: s+ and s-, exact with ties, or sampled.

Distances are compared as whole steps of the grid. With float32 rows there are a few million possible steps and
one count of each is kept. With finer grids the smaller kind of pairs (within or between) is sorted, in parts that fit
in memory, and merged with those of the other kind, sorted block by block.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import map_blocks, resolve_threads
from doccluster.errors import NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.kernels.pair_order import collect_keys, compare_sorted, count_keys
from doccluster.measures.sorted_documents import SortedDocuments
from doccluster.progress import Progress
from doccluster.validation import RandomState, as_generator, check_positive_int

IntArray = npt.NDArray[np.int64]

COUNTED_KEYS = 2**23  # possible keys up to which each is counted: two tables of 64 MiB
COARSE_BINS = 2**16
BLOCK_PAIRS = 2**23  # keys of a block, sorted at once: 64 MiB
LEAST_HELD = 2**16  # keys of a part, however little memory there is
MOST_TABLES = 4  # threads that count, each in tables of its own
FINEST_STEP = 2.0**-60  # of the largest distance: keys fit in 64 bits, and float64 resolves no more of it
BYTES_PER_KEY = 32  # a key while its part is collected, sorted and summed


@dataclass(frozen=True)
class OrderCounts:
    """Comparisons of a pair within with a pair between clusters: s+ closer, s- farther, the rest ties."""

    s_plus: int
    s_minus: int


def count_order(
    geometry: ClusterEvidence,
    documents: SortedDocuments,
    *,
    memory: int,
    n_threads: int | None,
    block_size: int | None,
    progress: Progress,
) -> OrderCounts:
    """Return the exact counts; ties are in neither."""
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return OrderCounts(0, 0)
    counter = _Counter(geometry, documents, memory, block_size, {"n_threads": n_threads, "progress": progress})
    return counter.by_table() if counter.n_keys <= COUNTED_KEYS else counter.by_merging()


def number_of_keys(upper: float, grid: float) -> int:
    """Return how many steps of the grid there may be up to a distance of `upper`."""
    return int(upper * (1.0 / grid) * (1 + 1e-9)) + 2


class _Counter:
    def __init__(
        self,
        geometry: ClusterEvidence,
        documents: SortedDocuments,
        memory: int,
        block_size: int | None,
        options: dict[str, Any],
    ) -> None:
        self.documents, self.options = documents, options
        self.blocks = documents.blocks(block_size=block_size or max(16, min(2048, BLOCK_PAIRS // documents.n)))
        grid = max(geometry.rows.grid, documents.upper * FINEST_STEP)
        self.steps = 1.0 / grid
        self.n_keys = number_of_keys(documents.upper, grid)
        self.atom_key = int(documents.distance.atom * self.steps + 0.5)
        self.n_inner, self.n_outer = geometry.n_inner_pairs, geometry.n_outer_pairs
        self.held = max(LEAST_HELD, memory // BYTES_PER_KEY)

    def _map(self, kernel: Any, *arguments: Any) -> list[Any]:
        stage: dict[str, Any] = {"stage": "order of pairs", **self.options}
        return [r for _, r in self.documents.map(kernel, self.blocks, self.steps, *arguments, **stage)]

    def by_table(self) -> OrderCounts:
        """Count every key; counts of integers add up to the same whatever the order of the blocks."""
        inner, outer = np.zeros(self.n_keys, np.int64), np.zeros(self.n_keys, np.int64)
        atoms = self._map_serially(inner, outer)
        if self.documents.distance.atom >= 0:
            inner[self.atom_key] += atoms[0]
            outer[self.atom_key] += atoms[1]
        inner_below = np.cumsum(inner) - inner
        inner_above = self.n_inner - inner_below - inner
        return OrderCounts(_sum_of_products(outer, inner_below), _sum_of_products(outer, inner_above))

    def _map_serially(self, inner: IntArray, outer: IntArray) -> tuple[int, int]:
        """Fill the tables, each thread its own: blocks are dealt out in turn, one task per thread."""
        d = self.documents
        workers = min(resolve_threads(self.options["n_threads"]), len(self.blocks), MOST_TABLES)

        def count(first: int) -> tuple[IntArray, IntArray, int, int]:
            tables = np.zeros(self.n_keys, np.int64), np.zeros(self.n_keys, np.int64)
            a = b = 0
            for places in self.blocks[first::workers]:
                ready = d.products(places, later_only=True)
                more = count_keys(places, d.documents, ready, d.distance, self.steps, *tables)
                a, b = a + more[0], b + more[1]
            return (*tables, a, b)

        atoms = [0, 0]
        for some_inner, some_outer, a, b in map_blocks(count, range(workers), n_threads=workers):
            inner += some_inner
            outer += some_outer
            atoms = [atoms[0] + a, atoms[1] + b]
        return atoms[0], atoms[1]

    def by_merging(self) -> OrderCounts:
        """Sort the smaller kind of pairs in parts, and merge each part with the other kind, sorted block by block."""
        inside = self.n_inner <= self.n_outer
        below = equal = 0
        for first, last in self._parts(inside):
            collected = self._map(collect_keys, inside, (first, last))
            at_atom = sum(atoms for _, atoms in collected)
            keys = np.concatenate([part for part, _ in collected])
            del collected
            if first <= self.atom_key < last and at_atom:
                keys, counts = _with_atom(keys, self.atom_key, at_atom)
            else:
                keys, counts = np.unique(keys, return_counts=True)
            if keys.size:
                more_below, more_equal = self._merge(keys, counts, not inside)
                below, equal = below + more_below, equal + more_equal
        above = self.n_inner * self.n_outer - below - equal
        return OrderCounts(below, above) if inside else OrderCounts(above, below)

    def _parts(self, inside: bool) -> list[tuple[int, int]]:
        """Return ranges of keys that hold at most `held` pairs each (one part of the grid at least)."""
        if min(self.n_inner, self.n_outer) <= self.held:
            return [(0, self.n_keys)]
        width = self.n_keys // COARSE_BINS + 1

        def coarse(*block: Any) -> IntArray:
            found, _ = collect_keys(*block, inside, (0, self.n_keys))
            return np.bincount(np.minimum(found // width, COARSE_BINS - 1), minlength=COARSE_BINS)

        counts = np.sum(self._map(coarse), axis=0)
        bounds, held = [0], 0
        for place, count in enumerate(counts.tolist()):
            if held and held + count > self.held:
                bounds.append(place * width)
                held = 0
            held += count
        bounds.append(max(self.n_keys, COARSE_BINS * width))
        return list(itertools.pairwise(bounds))

    def _merge(self, keys: IntArray, counts: IntArray, inside: bool) -> tuple[int, int]:
        """Return how many comparisons find the sorted pair below, and how many equal."""
        below = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

        def compare(*block: Any) -> tuple[int, int, int]:
            found, atoms = collect_keys(*block, inside, (0, self.n_keys))
            found.sort()
            return (*compare_sorted(found, keys, below), atoms)

        total_below = total_equal = at_atom = 0
        for part in self._map(compare):
            total_below, total_equal = total_below + int(part[0]), total_equal + int(part[1])
            at_atom += int(part[2])
        place = int(np.searchsorted(keys, self.atom_key))
        total_below += at_atom * int(below[place])
        if place < keys.size and keys[place] == self.atom_key:
            total_equal += at_atom * int(counts[place])
        return total_below, total_equal


def _with_atom(keys: IntArray, atom: int, at_atom: int) -> tuple[IntArray, IntArray]:
    found, counts = np.unique(np.append(keys, atom), return_counts=True)
    counts[np.searchsorted(found, atom)] += at_atom - 1
    return found, counts


def _sum_of_products(left: IntArray, right: IntArray) -> int:
    """Return the exact sum of products, also above 2^63."""
    filled = np.flatnonzero(left)
    left, right = left[filled], right[filled]
    if int(left.sum()) * int(right.max(initial=0)) < 2**62:
        return int(left @ right)
    return sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))


def sample_order(
    geometry: ClusterEvidence, documents: SortedDocuments, n_sampled: int, random_state: RandomState
) -> tuple[float, float, float]:
    """Return the shares of s+ and s- among all comparisons, and the variance matrix they have, from sampled pairs.

    `n_sampled` pairs within and as many between clusters are drawn with replacement; all of the first are compared
    with all of the second. Returns (share of s+, share of s-, standard error of their difference).
    """
    number = check_positive_int(n_sampled, "sample")
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        raise NotComputable("there are no pairs within, or none between clusters")
    generator = as_generator(random_state)
    steps = 1.0 / geometry.rows.grid
    keys = [
        np.floor(documents.squared_of(*pairs) * steps + 0.5)
        for pairs in (_inner_pairs(documents, number, generator), _outer_pairs(documents, number, generator))
    ]
    inner, outer = np.sort(keys[0]), np.sort(keys[1])
    # For each sampled pair, the share of the other kind that is in the right order, less the share in the wrong one.
    closer = (number - np.searchsorted(outer, inner, side="right")) / number
    farther = np.searchsorted(outer, inner, side="left") / number
    from_outer = (np.searchsorted(inner, outer, side="left") + np.searchsorted(inner, outer, side="right")) / number - 1
    variance = np.var(closer - farther, ddof=min(1, number - 1)) + np.var(from_outer, ddof=min(1, number - 1))
    return float(closer.mean()), float(farther.mean()), float(np.sqrt(variance / number))


def _inner_pairs(documents: SortedDocuments, number: int, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    sizes = np.diff(documents.starts).astype(np.float64)
    pairs = sizes * (sizes - 1)
    cluster = generator.choice(sizes.size, size=number, p=pairs / pairs.sum())
    first = generator.integers(0, sizes[cluster].astype(np.int64))
    second = generator.integers(0, sizes[cluster].astype(np.int64) - 1)
    start = documents.starts[cluster]
    return start + first, start + second + (second >= first)


def _outer_pairs(documents: SortedDocuments, number: int, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    sizes, n = np.diff(documents.starts), documents.n
    others = (n - sizes[documents.labels]).astype(np.float64)
    first = generator.choice(n, size=number, p=others / others.sum())
    cluster = documents.labels[first]
    second = generator.integers(0, n - sizes[cluster])
    return first, second + np.where(second >= documents.starts[cluster], sizes[cluster], 0)
