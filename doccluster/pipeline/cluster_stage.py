"""The third stage: stories of news, labels of another program, or the clusters of the algorithm, grown from topics."""

from __future__ import annotations

from dataclasses import replace

from doccluster.labeling import Placement
from doccluster.pipeline._apart import vectors_apart
from doccluster.pipeline.copies import first_copies, spread_to_copies
from doccluster.pipeline.fit import Fit, set_aside
from doccluster.pipeline.foreign_labels import clusters_of_labels
from doccluster.pipeline.guiding import correct_stories, guide_clusters
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.pipeline.known_topics import n_guides
from doccluster.pipeline.news import stories_of_run


def weigh_authors_down(prepared: Prepared, stages: Stages) -> Prepared:
    """Return documents with the terms of authors weighed down; the vectorizer weighs new documents alike."""
    columns, table = stages.settings.apart_columns, prepared.documents
    if not columns:
        return prepared
    apart = vectors_apart(
        prepared.vectors, table, columns, lambda vectors: stages.cluster(vectors, table).partition.labels
    )
    vectorizer = prepared.vectorization.vectorizer
    assert vectorizer is not None  # counts come from one
    vectorizer.idf_ = getattr(vectorizer, "idf_", 1) * apart.factors.astype(apart.vectors.matrix.dtype)
    return replace(prepared, vectors=apart.vectors, apart=apart)


def cluster_documents(prepared: Prepared, stages: Stages) -> Fit:
    """Return stories of news, clusters of another program, or those of the algorithm."""
    settings, table = stages.settings, prepared.documents
    fit = stories_of_run(settings, prepared.vectors, table, prepared.source.corpus, stages.progress)
    if fit is not None and settings.topics is not None:
        fit = correct_stories(fit, prepared, settings.topics)
    elif fit is None and settings.labels is not None:
        fit = clusters_of_labels(prepared.vectors, table)
    if fit is not None:
        return fit if settings.other else replace(fit, is_other=None)
    fit = _of_algorithm(prepared, stages)
    return fit if settings.topics is None else guide_clusters(fit, prepared, stages)


def _of_algorithm(prepared: Prepared, stages: Stages) -> Fit:
    """Return the clusters of the algorithm: no fewer than the topics that are known."""
    settings, table, vectors = stages.settings, prepared.documents, stages.with_letters(prepared)
    rows = first_copies(prepared.copy_of) if settings.fold_copies else None
    fit = stages.cluster(vectors, table, rows=rows)
    n_topics = 0 if settings.topics is None else n_guides(settings.topics)
    if fit.partition.n_clusters < n_topics:
        fit = stages.cluster(vectors, table, rows=rows, n_clusters=n_topics, granularity=None)
    return spread_to_copies(fit, prepared.copy_of) if settings.fold_copies else fit


def place_documents(fit: Fit, prepared: Prepared, stages: Stages) -> tuple[Fit, Placement]:
    """Return the clusters, with what fits none set aside, and how each document sits in its own.

    Only where the data chose the number of clusters a document may fit none of them.
    """
    placement = stages.place_documents(prepared.vectors, fit)
    if not stages.settings.other or fit.choice is None or fit.is_other is not None:
        return fit, placement
    return set_aside(fit, placement, prepared.vectors, stages.settings.space)
