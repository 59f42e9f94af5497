"""Several starts, the best kept. Seeds are drawn when a start begins, and their index goes before it runs if large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.clustering.k_means.document_matrix import DocumentMatrix
from doccluster.clustering.k_means.lloyd import Limits, Observer, drop_empty, run_start
from doccluster.clustering.k_means.means import means_of_rows
from doccluster.clustering.k_means.refinement import refine_start
from doccluster.clustering.k_means.running_means import Snapshot
from doccluster.clustering.k_means.scalable_seeding import scalable_rows
from doccluster.clustering.k_means.seeding import (
    Init,
    affordable_seeding,
    given_means,
    kmeans_plus_plus,
    random_rows,
    seeding_index,
)
from doccluster.kernels.posting_lists import InvertedIndex

SAMPLE_SHARE = 10  # 'subsample' clusters one document in ten ...
SAMPLE_PER_CLUSTER = 20  # ... but at least this many for each cluster ...
SAMPLE_ENOUGH = 1000  # ... and at most this many
SAMPLE_ITERATIONS = 20
KEPT_LABELS = 2**20  # labels of starts, 4 MiB, that are kept to say how far the starts agree
KEPT_ENTRIES = 300_000  # up to so many, a few megabytes, the index is kept from start to start


@dataclass(eq=False)
class BestStart:
    """The best start so far; it can be used at any time after the first iteration."""

    documents: DocumentMatrix
    limits: Limits
    finished: Snapshot | None = None
    running: Snapshot | None = None
    objectives: list[float] = field(default_factory=list)
    labels: list[npt.NDArray[np.int32]] = field(default_factory=list)  # of the first starts, as many as are kept

    def run(
        self, seeds: Iterator[sparse.csr_array], *, progress: Progress = silent, observe: Observer | None = None
    ) -> Snapshot:
        """Return the start with the highest objective, the first among equals."""
        for means in seeds:
            found = run_start(self.documents, means, self.limits, progress=progress, observe=observe, keep=self._keep)
            if self.limits.refine:
                self.running = found
                found = refine_start(self.documents, found, self.limits, progress=progress, keep=self._keep)
            self.objectives.append(found.objective)
            if (len(self.labels) + 1) * found.labels.size <= KEPT_LABELS:
                self.labels.append(found.labels.copy())
            if self.finished is None or found.objective > self.finished.objective:
                self.finished = replace(found, given=found.means)
            self.running = None
        assert self.finished is not None
        return self.finished

    def _keep(self, snapshot: Snapshot) -> None:
        self.running = snapshot

    @property
    def other_labels(self) -> tuple[npt.NDArray[np.int32], ...]:
        """The labels of the finished starts but the best, as far as they were kept."""
        best = int(np.argmax(self.objectives)) if self.objectives else -1
        return tuple(labels for number, labels in enumerate(self.labels) if number != best)

    def so_far(self) -> Snapshot | None:
        """Return the best of the finished starts and the one that runs, or None before the first iteration."""
        known = [] if self.finished is None else [self.finished]
        if self.running is not None:
            known.append(drop_empty(self.documents, self.running))
        return max(known, key=lambda snapshot: snapshot.objective, default=None)


def draw_starts(
    documents: DocumentMatrix,
    n_clusters: int,
    init: Init,
    n_starts: int,
    generator: np.random.Generator,
    original: Any,
    *,
    seed_documents: int | None = None,
    progress: Progress = silent,
) -> Iterator[sparse.csr_array]:
    """Yield the means at which each start begins; seeds come from at most `seed_documents` random documents."""
    if not isinstance(init, str):
        for _ in range(n_starts):
            yield given_means(init, n_clusters, documents, original, generator)
    elif init == "subsample":
        for _ in range(n_starts):
            yield sample_means(documents, n_clusters, generator)
    elif init == "k-means||":
        for _ in range(n_starts):
            yield means_of_rows(documents, scalable_rows(original, documents, n_clusters, generator))
    else:
        n_seeding = documents.n_documents if seed_documents is None else min(seed_documents, documents.n_documents)
        is_small = n_seeding == documents.n_documents and documents.values.size <= KEPT_ENTRIES
        kept = seeding_index(documents) if is_small and init == "k-means++" else None
        for _ in range(n_starts):
            rows = _seeds(documents, n_clusters, init, generator, n_seeding, index=kept, progress=progress)
            yield means_of_rows(documents, rows)


def _seeds(
    documents: DocumentMatrix,
    n_clusters: int,
    init: str,
    generator: np.random.Generator,
    n_seeding: int,
    *,
    index: InvertedIndex | None,
    progress: Progress,
) -> npt.NDArray[np.int64]:
    """Return the documents that a start begins at, drawn from `n_seeding` random ones."""
    if init == "random":
        return random_rows(documents, n_clusters, generator)
    trials = affordable_seeding(documents.frequencies, documents.n_documents, n_clusters)[1]
    if n_seeding == documents.n_documents:
        return kmeans_plus_plus(documents, n_clusters, generator, index=index, n_trials=trials, progress=progress)
    usable = np.flatnonzero(documents.is_usable)
    sample = np.sort(generator.permutation(usable)[: max(n_seeding, n_clusters)])
    rows = kmeans_plus_plus(documents.take(sample), n_clusters, generator, n_trials=trials, progress=progress)
    return np.asarray(sample[rows])


def sample_means(documents: DocumentMatrix, n_clusters: int, generator: np.random.Generator) -> sparse.csr_array:
    """Return the means that clustering a random sample ends at, itself begun by k-means++."""
    sample = draw_sample(np.flatnonzero(documents.is_usable), n_clusters, generator)
    return clustered_means(documents.take(sample), n_clusters, generator)


def draw_sample(
    usable: npt.NDArray[np.int64], n_clusters: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the documents that 'subsample' clusters, ascending."""
    share = min(usable.size // SAMPLE_SHARE, SAMPLE_ENOUGH * n_clusters)
    size = min(usable.size, max(share, SAMPLE_PER_CLUSTER * n_clusters))
    return np.sort(generator.permutation(usable)[:size])


def clustered_means(sample: DocumentMatrix, n_clusters: int, generator: np.random.Generator) -> sparse.csr_array:
    """Return the means that clustering some documents ends at."""
    seeds = means_of_rows(sample, kmeans_plus_plus(sample, n_clusters, generator))
    return run_start(sample, seeds, Limits(max_iter=SAMPLE_ITERATIONS)).means
