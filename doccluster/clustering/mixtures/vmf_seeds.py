"""Where a von Mises-Fisher mixture starts: labels of spherical k-means, of the nearest random document, or given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.spherical_k_means import SphericalKMeans
from doccluster.errors import Argument, InputError


def check_mixture_init(init: Any, n_documents: int, n_clusters: int) -> None:
    """Raise InputError unless `init` is a known word or one label 0..n_clusters-1 for each document."""
    if isinstance(init, str):
        if init not in ("k-means", "random"):
            raise InputError(
                "is unknown", argument="init", received=init, expected="'k-means', 'random' or an array of labels"
            )
        return
    labels = np.asarray(init)
    if labels.shape != (n_documents,) or labels.dtype.kind not in "iu":
        raise InputError(
            f"has shape {labels.shape} and type {labels.dtype}",
            argument="init",
            expected=f"one whole number for each of {n_documents} documents",
        )
    if labels.min() < 0 or labels.max() >= n_clusters:
        raise InputError(
            f"has labels {labels.min()}..{labels.max()}",
            argument="init",
            remedy=(f"give labels in 0..{n_clusters - 1}, or change ", Argument("n_clusters")),
        )


def seed_labels(
    rows: Any, n_clusters: int, init: Any, generator: np.random.Generator, n_threads: int | None
) -> npt.NDArray[np.int64]:
    """Return one label per document to start from; fewer than `n_clusters` occur if there are fewer distinct rows."""
    if not isinstance(init, str):
        return np.asarray(init, dtype=np.int64)
    model = SphericalKMeans(
        n_clusters,
        init="random" if init == "random" else "k-means++",
        max_iter=1 if init == "random" else 300,
        n_init=1,
        random_state=generator,
        n_threads=n_threads,
    )
    return model.fit(rows).labels_.astype(np.int64)
