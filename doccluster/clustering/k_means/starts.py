"""The means at which starts begin; seeds are drawn when one begins, and their index goes before it runs if large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.lloyd import Limits, run_start
from doccluster.clustering.k_means.running_means import RunningMeans
from doccluster.clustering.k_means.seeding import (
    Init,
    affordable_seeding,
    given_means,
    kmeans_plus_plus,
    seeding_index,
)

Integers = npt.NDArray[np.int64]

SAMPLE_SHARE = 10  # 'subsample' clusters one document in ten ...
SAMPLE_PER_CLUSTER = 20  # ... but at least this many for each cluster ...
SAMPLE_ENOUGH = 1000  # ... and at most this many
SAMPLE_ITERATIONS = 20
KEPT_ENTRIES = 300_000  # up to so many, a few megabytes, the index is kept from start to start


class SeedSource(Protocol):
    """Documents that seeds are drawn from: a `DocumentMatrix`, or documents in blocks, fetched where they are drawn."""

    @property
    def n_documents(self) -> int: ...

    @property
    def n_entries(self) -> int: ...

    @property
    def original(self) -> npt.NDArray[np.int32]: ...

    @property
    def frequencies(self) -> Integers: ...

    @property
    def usable(self) -> Integers: ...

    def take(self, rows: Integers, /) -> DocumentMatrix: ...

    def whole(self) -> DocumentMatrix: ...


def draw_starts(
    source: SeedSource,
    n_clusters: int,
    init: Init,
    n_starts: int,
    generator: np.random.Generator,
    *,
    given: Any = None,
    seed_documents: int | None = None,
    progress: Progress = silent,
) -> Iterator[sparse.csr_array]:
    """Yield the means at which each start begins; k-means++ draws from at most `seed_documents` random documents.

    `given` are the rows as the user gave them, for an `init` that is a function.
    """
    index = None
    if (
        isinstance(init, str)
        and init == "k-means++"
        and source.n_entries <= KEPT_ENTRIES
        and isinstance(source, DocumentMatrix)
    ):
        is_whole = seed_documents is None or seed_documents >= source.n_documents
        index = seeding_index(source) if is_whole else None
    for _ in range(n_starts):
        if not isinstance(init, str):
            yield given_means(init, n_clusters, source.original, given, generator)
        elif init == "random":
            yield source.take(np.sort(generator.permutation(source.usable)[:n_clusters])).to_csr()
        elif init == "subsample":
            yield _sample_means(source, n_clusters, generator)
        else:
            yield _seeds(source, n_clusters, generator, seed_documents, index=index, progress=progress)


def _seeds(
    source: SeedSource,
    n_clusters: int,
    generator: np.random.Generator,
    seed_documents: int | None,
    *,
    index: Any,
    progress: Progress,
) -> sparse.csr_array:
    """Return the seeds of k-means++."""
    if seed_documents is None or seed_documents >= source.n_documents:
        documents = source.whole()
    else:
        drawn = generator.permutation(source.usable)[: max(seed_documents, n_clusters)]
        documents = source.take(np.sort(drawn))
    trials = affordable_seeding(source.frequencies, source.n_documents, n_clusters)[1]
    rows = kmeans_plus_plus(documents, n_clusters, generator, index=index, n_trials=trials, progress=progress)
    return documents.take(rows).to_csr()


def _sample_means(source: SeedSource, n_clusters: int, generator: np.random.Generator) -> sparse.csr_array:
    """Return the means that clustering a random sample ends at, itself begun by k-means++."""
    usable = source.usable
    share = min(usable.size // SAMPLE_SHARE, SAMPLE_ENOUGH * n_clusters)
    size = min(usable.size, max(share, SAMPLE_PER_CLUSTER * n_clusters))
    sample = source.take(np.sort(generator.permutation(usable)[:size]))
    seeds = sample.take(kmeans_plus_plus(sample, n_clusters, generator)).to_csr()
    return run_start(RunningMeans(sample, seeds), Limits(max_iter=SAMPLE_ITERATIONS)).means
