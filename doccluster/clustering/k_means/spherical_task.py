"""Spherical k-means as an algorithm of the table."""

from __future__ import annotations

from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalParameters, spherical_k_means
from doccluster.clustering.task import Found, Task


def find_spherical(task: Task) -> Found:
    """Return the best of the starts; on Ctrl-C the best so far, where there is one."""
    settings = {name: value for name, value in task.options.items() if value is not None}
    parameters = SphericalParameters(
        task.n_clusters, random_state=task.seed, n_threads=task.n_threads, progress=task.progress, **settings
    )
    interrupted = False
    try:
        fit = spherical_k_means(task.documents, parameters)
    except FitInterrupted as stopped:
        if stopped.so_far is None:
            raise
        fit, interrupted = stopped.so_far, True
    starts = (fit.labels, *fit.other_labels)
    return Found(fit.labels, fit.centroids, starts=starts, notes=fit.notes, interrupted=interrupted)
