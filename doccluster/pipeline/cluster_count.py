"""How many clusters, where no number is given: topics of documents, or subtopics where they are dated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from doccluster.base.place import Place
from doccluster.base.progress import Progress
from doccluster.clustering.algorithms import QUALITIES
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.clustering.task import SmoothedRows
from doccluster.errors import Argument, MemoryLimitError
from doccluster.pipeline.news import is_dated
from doccluster.pipeline.run_settings import RunSettings
from doccluster.results.document_table import DocumentTable
from doccluster.results.overview import outlets_of
from doccluster.selection import Recommendation
from doccluster.selection.recommendation import MAX_DOCUMENTS, recommend
from doccluster.vectors import DocumentVectors

SMOOTHING = ("n_components", "n_neighbors", "mixing", "max_memory")  # options that change what is smoothed


class ClusterCount(NamedTuple):
    """How many clusters, and what was learned on the way."""

    k: int
    choice: Recommendation | None = None  # where the data were asked
    smoothed: SmoothedRows | None = None


def count_clusters(
    settings: RunSettings,
    vectors: DocumentVectors,
    documents: DocumentTable,
    seed: int,
    progress: Progress,
    place: Place | None = None,
) -> ClusterCount:
    """Return the number of clusters that was given, or what the data say; `place` is where the vectors lie."""
    if not isinstance(settings.n_clusters, str):
        return ClusterCount(settings.n_clusters)
    smooths = settings.algorithm == QUALITIES["default"]
    options, names = settings.clustering or {}, SMOOTHING if smooths else ("max_memory",)
    # stories have a rule of their own; where it does not apply, subtopics are nearest to them
    try:
        choice, smoothed = recommended(
            vectors,
            documents,
            granularity="subtopics" if settings.granularity == "stories" else settings.granularity,
            only=settings.granularity == "topics" and settings.levels == "none",
            smoothing={name: options[name] for name in names if options.get(name) is not None},
            seed=seed,
            n_threads=settings.n_threads,
            progress=progress,
            place=place,
        )
    except MemoryLimitError as error:
        if smooths:
            raise
        raise MemoryLimitError(
            "is too little to find the number of clusters",
            argument="max_memory",
            received=options["max_memory"],
            remedy=("give more, or ", Argument("n_clusters")),
        ) from error
    return ClusterCount(1 if choice.k is None else choice.k, choice, smoothed if smooths else None)


def recommended(
    vectors: DocumentVectors,
    documents: DocumentTable,
    *,
    granularity: str | None = None,
    only: bool = False,
    ks: Iterable[int] | None = None,
    max_documents: int | None = None,
    smoothing: dict[str, Any] | None = None,
    seed: int,
    n_threads: int | None,
    progress: Progress,
    place: Place | None = None,
) -> tuple[Recommendation, SmoothedRows | None]:
    """Return the number of clusters that the data suggest, and the rows as they were smoothed for it.

    None come back where only a sample was looked at, or rows cannot be smoothed.
    """
    smoothed = None
    # where all documents are looked at, their smoothed rows serve the clustering too
    if vectors.n_documents <= min(MAX_DOCUMENTS, max_documents or MAX_DOCUMENTS):
        common: dict[str, Any] = {"random_state": seed, "n_threads": n_threads, "progress": progress}
        parameters = DocumentParameters(n_clusters=1, **common, **(smoothing or {}))
        smoothed = DocumentWork(vectors, parameters, place=place).smooth()
    choice = recommend(
        vectors,
        granularity=granularity,
        only=only,
        subtopics_because=None if granularity else reason_for_subtopics(documents),
        ks=ks,
        max_documents=max_documents,
        smoothed=smoothed,
        rng=np.random.default_rng(seed),
        n_threads=n_threads,
        progress=progress,
    )
    return choice, smoothed


def reason_for_subtopics(documents: DocumentTable) -> str | None:
    """Return why subtopics are what one wants to see of these documents, None where one would rather see topics.

    Documents of different days, perhaps of several outlets, are about much that is small.
    """
    if not is_dated(documents):
        return None
    n_outlets = len(set(filter(None, outlets_of(documents))))
    origin = f" and come from {n_outlets:,} outlets" if n_outlets > 1 else ""
    return f"because the documents are dated{origin}"
