"""How much memory a fit will take, said before it begins, and kept within `max_memory`.

Counted is what the fit holds beyond the matrix it is given, at the moment that holds most: when seeds are drawn (the
documents, their index and similarities to candidates) or when means are replaced (documents, bounds, the table of
means, old and new means). The interpreter and the compiled kernels, some 200 MB, are there before and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.mean_table import HALVES_FROM, longest_head, table_width
from doccluster.clustering.k_means.movement import MOST_GROUPS
from doccluster.clustering.k_means.whole_table import table_cells
from doccluster.errors import MemoryLimitError
from doccluster.kernels.simd.lanes import LINE, OCTET
from doccluster.sizes import format_size

SCRATCH_PER_ROW = 48  # labels before, after and while assigning, member lists, similarities of the last pass
AT_A_TIME = 4  # times all means: old ones, new ones, those not yet in their place, and what is left of these
WITH_ROOM = 5  # ... and room for those that follow, where sums are kept
SLACK = 8 * 2**20  # small arrays and what the allocator keeps


@dataclass(frozen=True)
class MemoryPlan:
    """What a fit will hold, in bytes, and the choices that make it so.

    Attributes
    ----------
    documents : int
        Float32 rows with columns renumbered, kept during the whole fit.
    seeding : int
        The inverted index of the documents (or of a sample of them) and similarities to candidates.
    means : int
        Sparse means, old and new, at most.
    table : int
        The table of means.
    bounds : int
        Labels, bounds and lists of members.
    threads : int
        Scratch space of all threads.
    n_groups : int
        Groups of clusters that have a bound for each document; 0 sweeps all of them in every iteration.
    head_bytes : float
        The largest dense part of the table of means.
    half_bytes : int
        The largest table of means in half precision; 0 for none.
    seed_documents : int
        Documents that seeds are drawn from; all of them where the memory allows.
    n_threads : int
    keeps_sums : bool
        Whether the sums of clusters are kept to be followed.
    whole_tables : bool
        Whether sums and means may be kept as whole tables, where the matrix is small.
    limit : int, or None
    """

    documents: int
    seeding: int
    means: int
    table: int
    bounds: int
    threads: int
    n_groups: int
    head_bytes: int
    half_bytes: int
    seed_documents: int
    n_threads: int
    keeps_sums: bool = False
    whole_tables: bool = False
    limit: int | None = None

    @property
    def total(self) -> int:
        """The most that is held at a time."""
        iterating = self.means + self.table + self.bounds + self.threads
        return self.documents + max(self.seeding, iterating) + SLACK

    def __str__(self) -> str:
        parts = {
            "documents": self.documents,
            "seeding": self.seeding,
            "means": self.means,
            "table of means": self.table,
            "labels and bounds": self.bounds,
            f"scratch of {self.n_threads} thread(s)": self.threads,
        }
        lines = [f"  {name:<22} {format_size(size):>10}" for name, size in parts.items()]
        limit = "" if self.limit is None else f" of {format_size(self.limit)} allowed"
        return "\n".join([f"memory beyond the data: at most {format_size(self.total)}{limit}", *lines])


@dataclass(frozen=True)
class Size:
    """The sizes that decide how much memory a fit takes."""

    n_documents: int
    n_columns: int
    n_entries: int
    n_clusters: int
    mean_entries: int
    n_threads: int
    n_starts: int
    n_candidates: int
    draws_from_index: bool
    skips: bool


def size_of(frequencies: npt.NDArray[np.int64], **known: Any) -> Size:
    """Return the sizes; a term occurs in at most as many means as documents, so the means have a known largest size."""
    mean_entries = int(np.minimum(frequencies, known["n_clusters"]).sum())
    return Size(n_columns=frequencies.size, n_entries=int(frequencies.sum()), mean_entries=mean_entries, **known)


def plan_memory(size: Size, limit: int | None, seed_documents: int) -> MemoryPlan:
    """Return the plan that leaves out least and keeps within `limit` bytes, with at most `seed_documents` for seeding.

    Given up, in this order: the table in half precision, the sums of the means, the size of the dense head, bounds,
    threads, drawing seeds from all documents.

    Raises
    ------
    MemoryLimitError
        If not even the smallest plan fits; the message names the smallest limit that would do.
    """
    width = table_width(size.n_clusters)
    widest = longest_head(size.n_columns, size.n_clusters, size.mean_entries)
    groups = min(MOST_GROUPS, -(-size.n_clusters // LINE)) if size.skips else 0
    full = _plan(size, widest, groups, size.n_threads, seed_documents, keeps_sums=True)
    halves = widest // 2 if size.n_entries * width > HALVES_FROM else 0
    whole = 8 * table_cells(size.n_columns, size.n_entries, size.n_clusters)
    if whole and (limit is None or full.total + whole <= limit):
        return replace(full, limit=limit, table=full.table + whole, whole_tables=True)
    if halves and (limit is None or full.total + halves <= limit):
        return replace(full, limit=limit, table=full.table + halves, half_bytes=halves)
    if limit is None or full.total <= limit:
        return replace(full, limit=limit)
    for n_groups, n_threads, share in _concessions(groups, size.n_threads):
        seeds = min(seed_documents, max(2 * size.n_clusters, int(size.n_documents * share)))
        bare = _plan(size, 0, n_groups, n_threads, seeds)
        if bare.total <= limit:
            head = min(widest, limit - bare.total)
            return replace(_plan(size, head, n_groups, n_threads, seeds), limit=limit)
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


def _plan(size: Size, head: int, n_groups: int, n_threads: int, seeds: int, *, keeps_sums: bool = False) -> MemoryPlan:
    share = seeds / size.n_documents
    index = 12 * size.n_entries + 28 * size.n_columns if size.draws_from_index else 0
    sampled = 0 if share == 1.0 else int(8 * size.n_entries * share)
    seeding = int(index * share) + sampled + int(size.n_documents * share) * (4 * size.n_candidates + 32)
    kept = 8 * size.mean_entries if size.n_starts > 1 else 0  # the best means so far
    seeding += kept
    width = table_width(size.n_clusters)
    return MemoryPlan(
        documents=8 * size.n_entries + 16 * size.n_documents + 12 * size.n_columns,
        seeding=seeding,
        means=(16 * WITH_ROOM if keeps_sums else 8 * AT_A_TIME) * size.mean_entries + kept,
        table=head + 8 * size.mean_entries + 16 * size.n_columns,
        bounds=size.n_documents * (SCRATCH_PER_ROW + 4 * OCTET * -(-n_groups // OCTET)),
        threads=n_threads * (28 * size.n_columns + 64 * width),
        n_groups=n_groups,
        head_bytes=head,
        half_bytes=0,
        seed_documents=seeds,
        n_threads=n_threads,
        keeps_sums=keeps_sums,
    )
