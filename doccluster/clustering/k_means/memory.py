"""How much memory a fit will take, said before it begins, and kept within `max_memory`.

Counted is what the fit holds beyond the matrix it is given, at the moment that holds most: when seeds are drawn (the
documents, their index and similarities to candidates) or when means are replaced (documents, bounds, the table of
means, old and new means). The interpreter and the compiled kernels, some 200 MB, are there before and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from doccluster.base.sizes import format_size
from doccluster.clustering.k_means.assigner import MOST_GROUPS
from doccluster.clustering.k_means.mean_table import head_length, table_width
from doccluster.clustering.k_means.sweep import LINE, OCTET
from doccluster.errors import MemoryLimitError
from doccluster.geometry.criteria import moves_bytes

SCRATCH_PER_ROW = 48  # labels before, after and while assigning, member lists, similarities of the last pass
MEAN_BYTES = 32  # of an entry of the means, while they are read from the table and sorted
CELL_BYTES = 12  # of a frequent term and a cluster: the mean in float32, the sum in float64
RARE_BYTES = 8  # of a document that has a rare term: its number and value
LISTED_BYTES = 8  # of a rare term and a cluster: its number and value
RENEWED_BYTES = 40  # ... while the list is renewed: sum, the mean after, and the difference
SLACK = 8 * 2**20  # small arrays and what the allocator keeps


@dataclass(frozen=True)
class MemoryPlan:
    """The memory of a fit, in bytes, and the choices behind it.

    Attributes
    ----------
    documents : int
        Float32 rows with columns renumbered, kept during the whole fit.
    seeding : int
        The inverted index of the documents (or of a sample of them) and similarities to candidates.
    means : int
        Sparse means at the end of a start, at most.
    table : int
        The table of means and of sums.
    bounds : int
        Labels, bounds and lists of members.
    threads : int
        Scratch space of all threads.
    moves : int
        Rows and sums in float64, if single documents are moved.
    n_groups : int
        Groups of clusters that have a bound for each document; 0 sweeps all of them in every iteration.
    n_head : int
        Terms that have a dense line in the table.
    seed_documents : int
        Documents that seeds are drawn from; all of them where the memory allows.
    n_threads : int
    limit : int, or None
    """

    documents: int
    seeding: int
    means: int
    table: int
    bounds: int
    threads: int
    moves: int
    n_groups: int
    n_head: int
    seed_documents: int
    n_threads: int
    limit: int | None = None

    @property
    def total(self) -> int:
        """The most that is held at a time."""
        iterating = self.means + self.table + self.bounds + self.threads + self.moves
        return self.documents + max(self.seeding, iterating) + SLACK

    def __str__(self) -> str:
        parts = {
            "documents": self.documents,
            "seeding": self.seeding,
            "means": self.means,
            "table of means": self.table,
            "labels and bounds": self.bounds,
            f"scratch of {self.n_threads} thread(s)": self.threads,
            **({"single moves": self.moves} if self.moves else {}),
        }
        lines = [f"  {name:<22} {format_size(size):>10}" for name, size in parts.items()]
        limit = "" if self.limit is None else f" of {format_size(self.limit)} allowed"
        return "\n".join([f"memory beyond the data: at most {format_size(self.total)}{limit}", *lines])


@dataclass(frozen=True)
class Size:
    """The sizes that decide how much memory a fit takes."""

    frequencies: npt.NDArray[np.int64]  # of the terms, descending
    n_documents: int
    n_clusters: int
    n_threads: int
    n_starts: int
    n_candidates: int
    draws_from_index: bool
    skips: bool
    moves: bool = False

    @property
    def n_entries(self) -> int:
        """The entries of all documents."""
        return int(self.frequencies.sum())

    @cached_property
    def mean_entries(self) -> int:
        """The most entries that means can have: a term occurs in at most as many of them as documents."""
        return int(np.minimum(self.frequencies, self.n_clusters).sum())

    @cached_property
    def tables(self) -> npt.NDArray[np.int64]:
        """The bytes of the table for each number of frequent terms, from 0 on."""
        lists = RARE_BYTES * self.frequencies + LISTED_BYTES * np.minimum(self.frequencies, self.n_clusters)
        lines = CELL_BYTES * table_width(self.n_clusters) * np.arange(self.frequencies.size + 1)
        return lines + _sums_from(lists) + 16 * self.frequencies.size

    @cached_property
    def means(self) -> npt.NDArray[np.int64]:
        """The bytes of means at a time, when lists are renewed or means handed out, for the same numbers."""
        renewed = RENEWED_BYTES * _sums_from(np.minimum(self.frequencies, self.n_clusters))
        return np.maximum(renewed, MEAN_BYTES * self.mean_entries)


def _sums_from(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the sum of the values from each place on, the last 0."""
    return int(values.sum()) - np.concatenate([[0], np.cumsum(values)]).astype(np.int64)


def plan_memory(size: Size, limit: int | None, seed_documents: int) -> MemoryPlan:
    """Return the plan that leaves out least and keeps within `limit` bytes, with at most `seed_documents` for seeding.

    Given up, in this order: dense lines of the table, bounds, threads, drawing seeds from all documents.

    Raises MemoryLimitError if not even the smallest plan fits; the message names the smallest limit that would do.
    """
    best = head_length(size.frequencies, size.n_clusters)
    groups = min(MOST_GROUPS, -(-size.n_clusters // LINE)) if size.skips else 0
    full = _plan(size, best, groups, size.n_threads, seed_documents)
    if limit is None or full.total <= limit:
        return replace(full, limit=limit)
    needed = (size.tables + size.means)[: best + 1]
    for n_groups, n_threads, share in _concessions(groups, size.n_threads):
        seeds = min(seed_documents, max(2 * size.n_clusters, int(size.n_documents * share)))
        bare = _plan(size, int(np.argmin(needed)), n_groups, n_threads, seeds)
        if bare.total <= limit:
            longest = int(np.flatnonzero(needed <= needed.min() + limit - bare.total)[-1])
            return replace(_plan(size, longest, n_groups, n_threads, seeds), limit=limit)
    enough = format_size(bare.total, up=True).replace(" ", "")  # as it can be typed
    raise MemoryLimitError(
        f"is too small to cluster {size.n_documents:,} documents with {size.n_entries:,} "
        f"entries into {size.n_clusters:,} clusters",
        argument="max_memory",
        received=format_size(limit),
        expected=f"at least {enough}",
    )


def _concessions(groups: int, n_threads: int) -> list[tuple[int, int, float]]:
    """Return (groups, threads, share of the documents that seeds are drawn from), the best first."""
    steps = [(groups, n_threads, 1.0), (groups, n_threads, 0.25), (groups, 1, 0.1), (0, n_threads, 0.1), (0, 1, 0.1)]
    return [*steps, (0, 1, 0.01), (0, 1, 0.0)]


def _plan(size: Size, n_head: int, n_groups: int, n_threads: int, seeds: int) -> MemoryPlan:
    share, n_columns = seeds / size.n_documents, size.frequencies.size
    index = 12 * size.n_entries + 28 * n_columns if size.draws_from_index else 0
    sampled = 0 if share == 1.0 else int(8 * size.n_entries * share)
    seeding = int(index * share) + sampled + int(size.n_documents * share) * (4 * size.n_candidates + 48)
    kept = 8 * size.mean_entries if size.n_starts > 1 else 0  # the best means so far
    return MemoryPlan(
        documents=8 * size.n_entries + 16 * size.n_documents + 12 * n_columns,
        seeding=seeding + kept,
        means=int(size.means[n_head]) + kept,
        table=int(size.tables[n_head]),
        bounds=size.n_documents * (SCRATCH_PER_ROW + 4 * OCTET * -(-n_groups // OCTET)),
        threads=n_threads * 64 * table_width(size.n_clusters),
        moves=moves_bytes(n_columns, size.n_entries, size.n_clusters) if size.moves else 0,
        n_groups=n_groups,
        n_head=n_head,
        seed_documents=seeds,
        n_threads=n_threads,
    )
