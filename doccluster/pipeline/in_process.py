"""Where the stages of a run take place: `Work` is what a run asks of a place, `InProcess` the plain one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from doccluster.clustering.algorithms import get_algorithm
from doccluster.clustering.task import Task
from doccluster.geometry import ClusterEvidence
from doccluster.labeling import Placement, place_documents
from doccluster.partition import Partition
from doccluster.pipeline.canonical_order import canonical_order
from doccluster.pipeline.fitting import Fit, fit_clusters, in_input_order
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.sources import Source, split_empty
from doccluster.pipeline.vectorizing import Vectorized
from doccluster.pipeline.wanted_clusters import Wanted, clusters_wanted
from doccluster.progress import Progress
from doccluster.record import Documents
from doccluster.vectors import DocumentVectors


@dataclass(frozen=True, eq=False)
class Filled:
    """The documents that have terms, how they became vectors, these, and the documents without terms."""

    made: Vectorized
    documents: Documents
    vectors: DocumentVectors
    empty: Documents


class Work(Protocol):
    """A place where the stages of a run take place; they are asked for in this order."""

    def parted(self, source: Any) -> Any:
        """Return a source as it is read there."""
        ...

    def vectorize(self, read: Source, settings: RunSettings) -> Filled:
        """Return the vectors of the documents that have terms; raises NothingUsable if none has."""
        ...

    def likely_copies(self) -> npt.NDArray[np.int64] | None:
        """Return the rows that may be near-copies of others, ascending; None where all are looked at."""
        ...

    def cluster(
        self, vectors: DocumentVectors, documents: Documents, settings: RunSettings, seed: int, progress: Progress
    ) -> tuple[Fit, Wanted]:
        """Return the clusters of the rows, and how many were wanted and why."""
        ...

    def evidence(self, vectors: DocumentVectors, partition: Partition, progress: Progress) -> ClusterEvidence:
        """Return the evidence that labels and measures need."""
        ...

    def place(self, vectors: DocumentVectors, fit: Fit) -> Placement:
        """Return how each document sits in its cluster."""
        ...

    def tell_stage(self, name: str, seconds: float) -> None:
        """Say what a stage took that is over, where a person should know."""
        ...


@dataclass(frozen=True)
class InProcess:
    """All stages in the threads of this process."""

    n_threads: int | None = None

    def parted(self, source: Any) -> Any:
        """Return the source as it is."""
        return source

    def vectorize(self, read: Source, settings: RunSettings) -> Filled:
        """Return the vectors of the documents that have terms."""
        made = read.vectorize(language=settings.language, options=settings.vectorizer, n_threads=self.n_threads)
        documents, empty, vectors = split_empty(read.documents, made.vectors)
        return Filled(made, documents, vectors, empty)

    def likely_copies(self) -> None:
        """Leave it to whoever looks for copies."""

    def cluster(
        self, vectors: DocumentVectors, documents: Documents, settings: RunSettings, seed: int, progress: Progress
    ) -> tuple[Fit, Wanted]:
        """Return the clusters that the algorithm finds, of as many as were asked for or the data say."""
        order = canonical_order(vectors.matrix, vectors.counts)
        fitted = vectors.take(order)
        wanted = clusters_wanted(settings, fitted, documents, seed, progress)
        task = Task(
            fitted.documents,
            fitted.counts,
            wanted.k,
            seed,
            settings.clustering or {},
            self.n_threads,
            progress,
            smoothed=wanted.smoothed,
            start=None if wanted.choice is None else wanted.choice.labels,
        )
        return in_input_order(fit_clusters(get_algorithm(settings.algorithm), task), order), wanted

    def evidence(self, vectors: DocumentVectors, partition: Partition, progress: Progress) -> ClusterEvidence:
        """Return the evidence that labels and measures need."""
        return ClusterEvidence(vectors.documents, partition, n_threads=self.n_threads, progress=progress)

    def place(self, vectors: DocumentVectors, fit: Fit) -> Placement:
        """Return how each document sits in its cluster."""
        return place_documents(vectors.documents, fit.partition, fit.centroids, n_threads=self.n_threads)

    def tell_stage(self, name: str, seconds: float) -> None:
        """Say nothing: the run writes it down."""
