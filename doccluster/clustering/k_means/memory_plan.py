"""How much memory a fit will take, said before it begins, and kept within `max_memory`.

Counted is what the fit holds beyond the matrix it is given, at the moment that holds most: when seeds are drawn (the
documents, their index and similarities to candidates) or in the iterations (documents, bounds, table, sums, means). The
interpreter and the compiled kernels, some 200 MB, are there before and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.plain_values import format_size
from doccluster.clustering.k_means.sweep import MAX_GROUPS, groups_of
from doccluster.clustering.k_means.term_places import head_length, table_width
from doccluster.errors import MemoryLimitError
from doccluster.geometry.criterion_moves import moves_bytes

ENTRY_BYTES = 12  # of an entry of the documents: laid out for the sweeps, and normalised
SCRATCH_PER_ROW = 72  # starts, bounds, labels before, after and while assigning, similarities of the last pass
CELL_BYTES = 4  # of a common term and a cluster in the table ...
SUM_BYTES = 8  # ... and in the sums
RARE_BYTES = 44  # of a document that has a rare term, where there are sums: its value, and sums before and now
LISTED_BYTES = 8  # of a rare term and a cluster, where there are none
MEAN_BYTES, FOLLOWED_BYTES = 16, 28  # of an entry of the means, while they are made, and laid out in each iteration
SLACK = 8 * 2**20  # small arrays and what the allocator keeps


@dataclass(frozen=True)
class MemoryPlan:
    """The memory of a fit and the choices behind it.

    Attributes
    ----------
    parts : dict of str to int
        Bytes by what they are for; those for seeding are not held while the fit iterates.
    keeps_sums : bool
        Whether sums follow the documents that move; without them each iteration adds up all documents.
    n_groups : int
        Groups of clusters that have a bound for each document; 0 sweeps all documents in every iteration.
    n_head : int
        Terms that have a dense line in the table.
    seed_documents : int
        Documents that seeds are drawn from; all of them where the memory allows.
    n_threads : int
    limit : int, or None
    """

    parts: dict[str, int]
    keeps_sums: bool
    n_groups: int
    n_head: int
    seed_documents: int
    n_threads: int
    limit: int | None = None

    @property
    def total(self) -> int:
        """The most that is held at a time, in bytes."""
        documents, seeding = self.parts["documents"], self.parts["seeding"]
        return max(sum(self.parts.values()) - seeding, documents + seeding) + SLACK

    def __str__(self) -> str:
        lines = [f"  {name:<22} {format_size(size):>10}" for name, size in self.parts.items() if size]
        limit = "" if self.limit is None else f" of {format_size(self.limit)} allowed"
        return "\n".join([f"memory beyond the data: at most {format_size(self.total)}{limit}", *lines])


@dataclass(frozen=True)
class FitSize:
    """The sizes that decide how much memory a fit takes."""

    frequencies: Integers  # of the terms, descending
    n_documents: int
    n_clusters: int
    n_threads: int
    n_starts: int
    n_candidates: int  # of each seed
    draws_from_index: bool  # whether seeds are drawn through an inverted index
    skips: bool  # whether documents have bounds
    moves: bool = False  # whether single documents are moved after the batch steps

    @property
    def n_entries(self) -> int:
        """The entries of all documents."""
        return int(self.frequencies.sum())

    @property
    def in_means(self) -> Integers:
        """In how many means each term can be: in at most as many as documents."""
        return np.minimum(self.frequencies, self.n_clusters)

    def tables(self, *, keeps_sums: bool) -> Integers:
        """Return the bytes of table and sums for each number of terms with a line, from 0 on."""
        line = CELL_BYTES * table_width(self.n_clusters) + (SUM_BYTES * self.n_clusters if keeps_sums else 0)
        lists = RARE_BYTES * self.frequencies if keeps_sums else LISTED_BYTES * self.in_means
        rare = int(lists.sum()) - np.concatenate([[0], np.cumsum(lists)])
        return np.asarray(line * np.arange(self.frequencies.size + 1) + rare, np.int64)

    def plan(self, n_head: int, n_threads: int, n_seeds: int, *, keeps_sums: bool) -> MemoryPlan:
        """Return the plan with these choices."""
        share, n_terms, mean_entries = n_seeds / self.n_documents, self.frequencies.size, int(self.in_means.sum())
        index = 12 * self.n_entries + 28 * n_terms if self.draws_from_index else 0
        sampled = 0 if share == 1.0 else int(8 * self.n_entries * share)
        seeding = int(index * share) + sampled + int(self.n_documents * share) * (4 * self.n_candidates + 48)
        n_groups = groups_of(table_width(self.n_clusters), MAX_GROUPS if keeps_sums else 1) if self.skips else 0
        best = 8 * mean_entries if self.n_starts > 1 else 0  # the best means so far
        parts = {
            "documents": ENTRY_BYTES * self.n_entries + 40 * self.n_documents + 16 * n_terms,
            "seeding": seeding + best,
            "means": (MEAN_BYTES if keeps_sums else FOLLOWED_BYTES) * mean_entries + best,
            "table and sums": int(self.tables(keeps_sums=keeps_sums)[n_head]),
            "labels and bounds": self.n_documents * (SCRATCH_PER_ROW + 4 * n_groups),
            f"scratch of {n_threads} thread(s)": n_threads * 64 * table_width(self.n_clusters),
            "single moves": moves_bytes(n_terms, self.n_entries, self.n_clusters) if self.moves else 0,
        }
        return MemoryPlan(parts, keeps_sums, n_groups, n_head, n_seeds, n_threads)


def plan_memory(size: FitSize, limit: int | None, seed_documents: int) -> MemoryPlan:
    """Return the plan that leaves out least and keeps within `limit` bytes, with at most `seed_documents` for seeding.

    Given up, in this order: sums and bounds of groups, lines of the table, drawing seeds from all documents, threads.

    Raises MemoryLimitError if not even the smallest plan fits; the message names the smallest limit that would do.
    """
    n_best = head_length(size.frequencies, size.n_clusters)  # terms with a line where memory does not count
    for keeps_sums, n_threads, share in (
        (True, size.n_threads, 1.0),
        (False, size.n_threads, 1.0),
        (False, size.n_threads, 0.25),
        (False, 1, 0.1),
        (False, 1, 0.01),
        (False, 1, 0.0),
    ):
        n_seeds = min(seed_documents, max(2 * size.n_clusters, int(size.n_documents * share)))
        tables = size.tables(keeps_sums=keeps_sums)[: n_best + 1]
        n_least = n_best if keeps_sums else int(np.argmin(tables))  # sums of common terms need lines
        plan = size.plan(n_least, n_threads, n_seeds, keeps_sums=keeps_sums)
        if limit is None or plan.total <= limit:
            if limit is not None and not keeps_sums:  # what is left of the limit goes into more lines
                n_head = int(np.flatnonzero(tables <= tables[n_least] + limit - plan.total)[-1])
                plan = size.plan(n_head, n_threads, n_seeds, keeps_sums=False)
            return replace(plan, limit=limit)
    enough = format_size(plan.total, up=True).replace(" ", "")  # as it can be typed
    raise MemoryLimitError(
        f"is too small to cluster {size.n_documents:,} documents with {size.n_entries:,} "
        f"entries into {size.n_clusters:,} clusters",
        argument="max_memory",
        received=format_size(limit or 0),
        expected=f"at least {enough}",
    )
