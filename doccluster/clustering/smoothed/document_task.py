"""Smoothed and settled clusters as algorithms of the table."""

from __future__ import annotations

from dataclasses import replace

from doccluster.clustering.smoothed.document_clusters import DocumentFit, DocumentParameters, cluster_documents
from doccluster.clustering.task import ClusteringResult, ClusteringTask


def find_documents(task: ClusteringTask, quality: str) -> ClusteringResult:
    """Return the clusters of a quality; on Ctrl-C the best so far, where there are some."""
    settings = {name: value for name, value in task.options.items() if value is not None}
    parameters = DocumentParameters(
        n_clusters=task.n_clusters,
        quality=quality,
        random_state=task.seed,
        n_threads=task.n_threads,
        progress=task.progress,
        **settings,
    )
    is_free = settings.keys().isdisjoint(("init", "n_init"))  # how to begin is left to us
    start = task.start if is_free else None
    fit = cluster_documents(
        task.rows,
        task.counts,
        parameters,
        meaning=task.meaning,
        smoothed=task.smoothed,
        start=start,
        term_factors=task.term_factors,
    )
    return replace(found_of(fit), from_start=start is not None)


def found_of(fit: DocumentFit) -> ClusteringResult:
    """Return a fit as any algorithm returns it."""
    rule = None if fit.mixture is None else fit.mixture.rule
    return ClusteringResult(
        fit.labels, None, rule, fit.starts, left_out=fit.left_out, notes=fit.notes, interrupted=fit.interrupted
    )
