"""Everything that is compiled once on a machine, compiled at once: for images, servers and machines without a compiler.

A kernel is compiled for the types it is called with, so the kernels are called the way users' calls reach them, with a
few documents. A test holds that no kernel is left out.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.progress import Progress, silent
from doccluster.kernels.code_cache import cache_folders
from doccluster.kernels.compile_clock import CLOCK
from doccluster.pipeline.compiling_ahead import compiling_ahead

STAGE = "compiling for this machine, once"
LITTLE = "9M"  # so little memory that the rare terms of the means are kept as lists
TEXTS = [
    "oil prices rise as crude output falls",
    "crude oil prices fall again",
    "wheat harvest delayed by rain",
    "rain delays the wheat harvest in Österreich",
] * 4


@dataclass(frozen=True)
class Warmth:
    """How many functions were compiled now, how long that took, and where the code is kept."""

    n_compiled: int
    seconds: float
    folders: tuple[str, ...]


def warm_up(progress: Progress = silent) -> Warmth:
    """Compile all that was not compiled on this machine yet, and keep it for later processes."""
    began, compiled = time.perf_counter(), CLOCK.count
    with compiling_ahead(tasks="BACKWARDS"):
        for number, task in enumerate(TASKS):
            progress(STAGE, number, len(TASKS))
            task()
    progress(STAGE, len(TASKS), len(TASKS))
    folders = tuple(str(folder) for folder in cache_folders() if folder.is_dir())
    return Warmth(CLOCK.count - compiled, time.perf_counter() - began, folders)


def _matrix(n_documents: int, n_terms: int, dtype: Any, *, density: float = 0.2) -> sparse.csr_array:
    """Return unit rows, none of them zero."""
    rng = np.random.default_rng(0)
    n_drawn = int(density * n_documents * n_terms)
    drawn = rng.integers(n_documents, size=n_drawn), rng.integers(n_terms, size=n_drawn)
    every = np.arange(n_documents), np.zeros(n_documents, dtype=np.int64)  # the first term stands in every row
    places = tuple(np.concatenate(pair) for pair in zip(drawn, every, strict=True))
    filled = sparse.csr_array((rng.random(n_drawn + n_documents) + 0.1, places), shape=(n_documents, n_terms))
    lengths = np.sqrt(np.asarray(filled.multiply(filled).sum(axis=1))).ravel()
    return sparse.csr_array(sparse.diags_array(1 / lengths) @ filled, dtype=dtype)


def _whole_run() -> None:
    from doccluster.pipeline.main_line import run_pipeline

    run_pipeline(TEXTS, n_clusters=3, clustering={"n_init": 2, "refine": True})


def _vectorizing() -> None:
    from doccluster.text.analysis import analysis_of
    from doccluster.text.counting import RunCounter
    from doccluster.vectors import TfidfVectorizer

    one, other = (RunCounter(analysis_of(TfidfVectorizer()), capacity=1) for _ in range(2))
    for counter in (one, other):
        counter.count(TEXTS)  # more tokens than there is room for
    one.absorb(other)
    for options in ({"ngram_range": (1, 2), "min_df": 5}, {"binary": True}, {"norm": "l1"}, {"dtype": np.float64}):
        TfidfVectorizer(**options).fit_transform(TEXTS)  # type: ignore[arg-type]


def _clustering() -> None:
    from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means

    small, wide = _matrix(60, 40, np.float32), _matrix(400, 3000, np.float64, density=0.002)
    copies = sparse.csr_array(sparse.vstack([small[:18]] * 3))
    full = np.random.default_rng(0).normal(size=(60, 40))
    full /= np.linalg.norm(full, axis=1, keepdims=True)
    weights = np.full(small.shape[0], 0.3)
    for rows in (small, full):
        spherical_k_means(rows, SphericalParameters(3, n_init=1, random_state=0), sample_weight=weights)
    for matrix in (small, small.toarray(), full, full.astype(np.float32), wide, copies):
        for algorithm in ("auto", "lloyd"):
            for init in ("k-means++", "random"):
                options: dict[str, Any] = {"init": init, "n_init": 1, "random_state": 0}
                options |= {"max_memory": LITTLE} if matrix is wide else {"refine": init == "random"}
                spherical_k_means(matrix, SphericalParameters(matrix.shape[0] // 2, algorithm=algorithm, **options))  # type: ignore[arg-type]


def _criteria() -> None:
    from doccluster.clustering import CriterionClustering
    from doccluster.clustering.hierarchical.agglomeration import agglomerate

    rows = _matrix(60, 40, np.float32)
    CriterionClustering(3, n_init=1, random_state=0).fit(rows)
    agglomerate(rows)


def _assigning() -> None:
    from doccluster.clustering.k_means.assign import assign_to_centroids, centroid_similarities, nearest_centroids

    for matrix in (_matrix(60, 40, np.float32), _matrix(60, 40, np.float64).toarray()):
        for assign in (assign_to_centroids, centroid_similarities, nearest_centroids):
            assign(matrix, matrix[:5])


def _communities() -> None:
    from doccluster.clustering.communities import communities

    path = sparse.diags_array([np.ones(9), np.ones(9)], offsets=[1, -1], shape=(10, 10), format="csr")
    communities(path, rng=np.random.default_rng(0))


def _synthetic() -> None:
    from doccluster.synthetic import make_vmf_mixture

    make_vmf_mixture(30, 8, 2, kappa=20.0, random_state=0)


def _geometry() -> None:
    from doccluster.clustering.search_cells import search_cells
    from doccluster.geometry.neighbours import nearest_neighbours
    from doccluster.geometry.projection import latent_semantic_space

    matrix = _matrix(60, 40, np.float32)
    nearest_neighbours(matrix, 3)
    nearest_neighbours(matrix, 3, cells=search_cells(matrix, random_state=0))
    latent_semantic_space(matrix, 4)


def _streaming() -> None:
    from doccluster.streams import StoryStream
    from doccluster.streams.article_index import ArticleIndex
    from doccluster.streams.frequencies import WeightedTerms
    from doccluster.streams.repair import halves_of

    StoryStream().replay([(f"2026-03-{day:02}", text) for day, text in enumerate(TEXTS, 1)])
    one, other = (WeightedTerms(np.array([term], np.int32), np.ones(1, np.float32)) for term in range(2))
    halves_of([one, other])
    index = ArticleIndex()
    for _ in range(300):  # until the slots that were given up are taken back
        index.give_up(index.add(one))


def _clusters_of_smoothed_rows() -> None:
    from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means

    points = np.random.default_rng(0).normal(size=(60, 40)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    spherical_k_means(points, SphericalParameters(20, n_init=2, random_state=0))


def _map() -> None:
    from doccluster.report.tsne import places_among, tsne

    rows = np.random.default_rng(0).normal(size=(20, 5))
    places_among(rows, rows, tsne(rows, rows[:, :2], perplexity=2.0))


# in the order in which a first run needs them
TASKS: tuple[Callable[[], None], ...] = (
    _whole_run,
    _vectorizing,
    _clustering,
    _criteria,
    _assigning,
    _geometry,
    _communities,
    _map,
    _synthetic,
    _streaming,
)
BACKWARDS = TASKS[::-1]
# what the first run of a machine needs, from its end on
AHEAD: tuple[Callable[[], None], ...] = (
    _map,
    _assigning,
    _clusters_of_smoothed_rows,
    _communities,
    _geometry,
    _whole_run,
)


def compile_until_parent_ends(tasks: str) -> None:
    """Compile, in the second process, what the tasks of a list need, until the first process ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for task in {"AHEAD": AHEAD, "BACKWARDS": BACKWARDS}[tasks]:
        task()


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # returns when the other process has ended, however it ended
    os._exit(0)
