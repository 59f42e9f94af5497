"""How often a pair within a cluster is closer than a pair between clusters: s+ and s-, exact with ties.

Distances are compared as whole steps of the grid. With float32 rows there are a few million possible steps and
one count of each is kept. With finer grids the smaller kind of pairs (within or between) is sorted, and merged with
those of the other kind, sorted block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.sizes import format_size
from doccluster.blocks import map_blocks, resolve_threads
from doccluster.errors import NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.kernels.pair_order import collect_keys, compare_sorted, count_keys
from doccluster.measures.sorted_documents import SortedDocuments

IntArray = npt.NDArray[np.int64]

COUNTED_KEYS = 2**23  # possible keys up to which each is counted: two tables of 64 MiB
BLOCK_PAIRS = 2**23  # keys of a block, sorted at once: 64 MiB
LEAST_HELD = 2**16  # keys, however little memory there is
MOST_TABLES = 4  # threads that count, each in tables of its own
FINEST_STEP = 2.0**-60  # of the largest distance: keys fit in 64 bits, and float64 resolves no more of it
BYTES_PER_KEY = 32  # a key while it is collected, sorted and summed


@dataclass(frozen=True)
class OrderCounts:
    """Comparisons of a pair within with a pair between clusters: s+ closer, s- farther, the rest ties."""

    s_plus: int
    s_minus: int


def count_order(geometry: ClusterEvidence, documents: SortedDocuments, *, memory: int) -> OrderCounts:
    """Return the exact counts; ties are in neither.

    Raises NotComputable if the grid is fine and the smaller kind of pairs does not fit in memory.
    """
    if geometry.n_inner_pairs == 0 or geometry.n_outer_pairs == 0:
        return OrderCounts(0, 0)
    counter = _Counter(geometry, documents, memory)
    return counter.by_table() if counter.n_keys <= COUNTED_KEYS else counter.by_merging()


def number_of_keys(upper: float, grid: float) -> int:
    """Return how many steps of the grid there may be up to a distance of `upper`."""
    return int(upper * (1.0 / grid) * (1 + 1e-9)) + 2


class _Counter:
    def __init__(self, geometry: ClusterEvidence, documents: SortedDocuments, memory: int) -> None:
        self.documents, self.n_threads = documents, geometry.n_threads
        self.blocks = documents.blocks(BLOCK_PAIRS // documents.n)
        grid = max(geometry.rows.grid, documents.upper * FINEST_STEP)
        self.steps = 1.0 / grid
        self.n_keys = number_of_keys(documents.upper, grid)
        self.atom_key = int(documents.distance.atom * self.steps + 0.5)
        self.n_inner, self.n_outer = geometry.n_inner_pairs, geometry.n_outer_pairs
        self.held = max(LEAST_HELD, memory // BYTES_PER_KEY)

    def _map(self, kernel: Any, *arguments: Any) -> Iterator[Any]:
        found = self.documents.map(kernel, self.blocks, self.steps, *arguments, stage="order of pairs")
        return (result for _, result in found)

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
        workers = min(resolve_threads(self.n_threads), len(self.blocks), MOST_TABLES)

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
        """Sort the smaller kind of pairs, and merge it with the other kind, sorted block by block."""
        inside = self.n_inner <= self.n_outer
        parts, at_atom, n_keys = [], 0, 0
        for part, atoms in self._map(collect_keys, inside):
            parts.append(part)
            at_atom, n_keys = at_atom + int(atoms), n_keys + part.size
            if n_keys > self.held:
                needed = format_size(min(self.n_inner, self.n_outer) * BYTES_PER_KEY)
                raise NotComputable(f"the pairs to be sorted need up to {needed}; raise max_memory above it")
        keys = np.concatenate(parts)
        if at_atom:
            keys, counts = _with_atom(keys, self.atom_key, at_atom)
        else:
            keys, counts = np.unique(keys, return_counts=True)
        below, equal = self._merge(keys, counts, not inside)
        above = self.n_inner * self.n_outer - below - equal
        return OrderCounts(below, above) if inside else OrderCounts(above, below)

    def _merge(self, keys: IntArray, counts: IntArray, inside: bool) -> tuple[int, int]:
        """Return how many comparisons find the sorted pair below, and how many equal."""
        below = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

        def compare(*block: Any) -> tuple[int, int, int]:
            found, atoms = collect_keys(*block, inside)
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
