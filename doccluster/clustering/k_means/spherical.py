"""Spherical k-means as a plain function: what `SphericalKMeans` wraps and the command line calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Integers, MatrixLike
from doccluster.base.blocks import library_threads, resolve_threads
from doccluster.base.parameter_fields import check_parameters, parameter
from doccluster.base.plain_values import parse_size
from doccluster.base.progress import Progress, checked_progress, silent
from doccluster.base.validation import as_generator, check_n_clusters, check_n_init
from doccluster.clustering.k_means.lloyd import BestStart, Labels, Limits, Snapshot, Steps, run_start
from doccluster.clustering.k_means.lloyd_steps import LloydSteps
from doccluster.clustering.k_means.memory_plan import FitSize, MemoryPlan, plan_memory
from doccluster.clustering.k_means.seeds import Init, affordable_seeding, check_init, default_trials, draw_starts
from doccluster.clustering.k_means.unit_documents import UnitDocuments, check_weights, unit_documents
from doccluster.clustering.task import ClusteringResult, ClusteringTask, SeededParameters
from doccluster.errors import InputError, NothingUsable
from doccluster.geometry.criterion_moves import refine_by_moves
from doccluster.geometry.documents import Documents, as_documents

DEFAULT_STARTS = 10  # restarts chosen by the objective are worth more than any seeding, and cheap
MAX_ROUNDS = 20  # of moves and batch steps in turn
NORMALISED = "X has rows that are not of unit length; a normalised copy is used (the cosine ignores length)."


@dataclass(kw_only=True, eq=False, repr=False)
class SphericalParameters(SeededParameters):
    """The parameters of `SphericalKMeans`."""

    init: Init = parameter(
        "k-means++",
        "Greedy k-means++ in cosine form, random documents, the centroids of a clustered sample (one document in ten, "
        "20 to 1,000 for each cluster), k-means++ among such a sample without its outliers (the tenth farthest from "
        "their nearest neighbour), the centroids of an agglomerated sample (Buckshot), centroids (dense or sparse, "
        "normalised), or a function ``(X, n_clusters, random_state)`` that returns such.",
        type="{'k-means++', 'random', 'subsample', 'without-outliers', 'agglomerative'}, matrix of shape "
        "(n_clusters, n_terms), or callable",
    )
    n_init: int | Literal["auto"] = parameter(
        DEFAULT_STARTS,
        "Number of starts; the one with the highest objective is kept. Given centroids are started from once.",
        type="int or 'auto'",
    )
    max_iter: int = parameter(300, "The most iterations in one start.", low=1)
    tol: float = parameter(
        1e-4,
        "A start ends when an iteration gains less than this share of the objective; 0 goes on until nothing moves.",
        low=0,
    )
    max_memory: str | int | None = parameter(
        None,
        "The most that the fit may hold beyond `X`, such as '2G'. Dense table, bounds, threads and the documents that "
        "seeds are drawn from are cut to fit; what cannot fit is refused before it begins (`plan_memory` tells).",
        type="str or int",
    )
    algorithm: str = parameter(
        "auto",
        "Whether an assignment skips documents whose label cannot have changed, or never. The labels are the same.",
        choices=("auto", "lloyd"),
    )
    refine: bool = parameter(
        False,
        "After the batch steps of each start, move single documents while that raises the objective (Dhillon, Guan and "
        "Kogan 2002); slower, and better optima.",
    )
    size_penalty: float = parameter(
        0.0,
        "Above 0, single documents move at the end of each start against very small and very large clusters: a "
        "document pays this times the size of its cluster over the mean size, in units of the cosine. Labels are then "
        "not always those of the nearest centroid.",
        low=0,
        high=1e6,
    )
    verbose: int = parameter(0, "With 1 the memory plan is printed before the fit begins.")

    def check(self) -> None:
        """Raise InputError if a parameter cannot be used."""
        check_init(self.init)
        check_parameters(self)
        if self._draws_seeds and self.n_init != "auto":
            check_n_init(self.n_init)
        if isinstance(self.init, str) and self.init == "agglomerative" and self.max_memory is not None:
            raise InputError(
                "keeps the distances of a sample, which max_memory does not plan",
                argument="init",
                received=self.init,
                remedy="leave out max_memory, or take another init",
            )

    @property
    def n_starts(self) -> int:
        """How many starts are made; given centroids are started from once."""
        if not self._draws_seeds:
            return 1
        return DEFAULT_STARTS if self.n_init == "auto" else int(self.n_init)

    @property
    def _draws_seeds(self) -> bool:
        return isinstance(self.init, str) or callable(self.init)

    def plan_for(self, frequencies: Integers, n_documents: int) -> MemoryPlan:
        """Plan the memory of a fit beyond its rows, from the document frequencies of their terms.

        Raises MemoryLimitError if the smallest plan does not fit; the message names the smallest `max_memory` that
        would do.
        """
        size = FitSize(
            np.sort(frequencies)[::-1],
            n_documents=n_documents,
            n_clusters=self.n_clusters,
            n_threads=resolve_threads(self.n_threads),
            n_starts=self.n_starts,
            n_candidates=default_trials(self.n_clusters),
            draws_from_index=isinstance(self.init, str) and self.init != "random",
            skips=self.algorithm != "lloyd",
            moves=self.refine or self.size_penalty > 0,
        )
        affordable, _ = affordable_seeding(frequencies, n_documents, self.n_clusters)
        return plan_memory(size, None if self.max_memory is None else parse_size(self.max_memory), affordable)


@dataclass(frozen=True, eq=False, kw_only=True)
class SphericalFit(ClusteringResult):
    """The best of the starts; of the others `starts` has as many labels as 4 MiB hold."""

    labels: Labels
    centroids: CsrArray
    objective: float  # sum of weights times cosine to the own centroid
    inertia: float  # sum of weights times (1 - cosine) over the documents that have terms
    n_iter: int  # iterations of the best start
    history: tuple[float, ...] = ()  # its objective after each


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a fit; `so_far` is the best start until then, or None before the first iteration."""

    def __init__(self, so_far: SphericalFit | None) -> None:
        super().__init__("the fit was interrupted")
        self.so_far = so_far

    def best_start(self) -> SphericalFit:
        """Return the best start until then, marked as interrupted; raise this again where there is none."""
        if self.so_far is None:
            raise self
        return replace(self.so_far, interrupted=True)


FitSpherical = Callable[[Documents, SphericalParameters], SphericalFit]


def spherical_k_means(
    rows: MatrixLike | Documents, parameters: SphericalParameters, *, sample_weight: npt.ArrayLike | None = None
) -> SphericalFit:
    """Return the best of the starts for `Documents`, or for a csr or dense matrix, which is checked.

    Rows that are not unit are normalised in a copy, which a note says. Raises InputError if a parameter cannot be used,
    NothingUsable if no row has a non-zero value, and FitInterrupted on Ctrl-C.

    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    >>> found = spherical_k_means(rows, SphericalParameters(2, random_state=0))
    >>> round(found.objective, 3), found.labels[0] == found.labels[1]
    (2.789, np.True_)
    """
    checked = as_documents(rows)
    check_n_clusters(parameters.n_clusters, checked.n_documents)
    parameters.check()
    weights = check_weights(sample_weight, checked.n_documents)
    documents = unit_documents(checked, weights=weights, n_threads=resolve_threads(parameters.n_threads))
    plan = parameters.plan_for(documents.frequencies, documents.n_documents)
    if parameters.verbose:
        sys.stderr.write(f"{plan}\n")
    if plan.n_threads < documents.n_threads:
        documents = replace(documents, n_threads=plan.n_threads)
    if not documents.is_usable.any():
        raise NothingUsable("X has no row with a non-zero value and a weight", remedy="there is nothing to cluster")
    limits, progress = Limits(parameters.max_iter, parameters.tol), checked_progress(parameters.progress)
    best = BestStart(limits)
    seeds = draw_starts(
        documents,
        parameters.n_clusters,
        parameters.init,
        parameters.n_starts,
        as_generator(parameters.random_state),
        matrix=checked.matrix,
        seed_documents=plan.seed_documents,
        progress=progress,
    )

    begin = partial(LloydSteps, documents, n_head=plan.n_head, n_groups=plan.n_groups, keeps_sums=plan.keeps_sums)

    def finish(start: Snapshot) -> Snapshot:
        if parameters.refine:
            start = refine_start(documents, start, limits, begin, progress=progress)
        return balanced_start(documents, start, parameters.size_penalty, begin) if parameters.size_penalty else start

    starts = map(begin, seeds)  # one after the other: seeds of a start are drawn when the start begins
    weight = float(np.sum(documents.weights[documents.is_usable]))
    notes = [] if checked.has_unit_rows else [NORMALISED]
    moves = parameters.refine or parameters.size_penalty > 0
    how: dict[str, Any] = {"refine": finish if moves else None, "progress": progress}
    # a library would make the products of a table with a thread for each of this package's, which wait for each other
    with nullcontext() if documents.dense is None else library_threads(1, "blas"):
        return best_fit(best, starts, weight, parameters.n_clusters, notes, **how)


def refine_start(
    documents: UnitDocuments,
    start: Snapshot,
    limits: Limits,
    begin: Callable[..., LloydSteps],
    *,
    progress: Progress = silent,
) -> Snapshot:
    """Return a start whose objective is at least as high: moves until none gains, then batch steps, and again.

    A batch assignment moves a document to the nearest centroid as it stands, and overlooks that the centroids follow.
    With the exact gain of a move documents still move, above all in small clusters. Source: Dhillon, Guan and Kogan,
    Iterative Clustering of High Dimensional Text Data Augmented by Local Search, ICDM 2002 (their first variation).
    `begin` returns the steps that begin at means and `labels`.
    """
    best, rows = start, _weighted_rows(documents)
    for number in range(MAX_ROUNDS):
        n_clusters = best.means.shape[0]
        labels = refine_by_moves("i2", rows, best.labels, n_clusters, rng=np.random.default_rng(number))
        progress("refine", number + 1, None)
        if np.array_equal(labels, best.labels):
            break
        steps = begin(best.means, labels=labels.astype(np.int32))
        settled = run_start(steps, limits, resume_from=(best.n_iter, -np.inf))
        if settled.objective <= best.objective:
            break
        best = replace(settled, history=(*best.history, *settled.history))
    return best


def _weighted_rows(documents: UnitDocuments) -> CsrArray:
    """Return the rows times their weights, of which the criterion I2 is the objective."""
    matrix = documents.matrix
    weighted = matrix.data * np.repeat(documents.weights, np.diff(matrix.indptr))
    rows = sparse.csr_array((weighted, matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
    rows.eliminate_zeros()
    return rows


def balanced_start(
    documents: UnitDocuments, start: Snapshot, size_penalty: float, begin: Callable[..., LloydSteps]
) -> Snapshot:
    """Return a start after moves of single documents that raise the objective less the penalty of sizes.

    The penalty is size_penalty k / (2 n) times the sum of the squared sizes, so that a document more or less in a
    cluster of size s costs about size_penalty s / (n / k). Documents without terms or weight do not count.
    """
    rows, n_clusters = _weighted_rows(documents), start.means.shape[0]
    is_counted = np.diff(rows.indptr) > 0
    scale = size_penalty * n_clusters / (2 * np.count_nonzero(is_counted))
    moved = refine_by_moves("i2", rows, start.labels, n_clusters, rng=np.random.default_rng(0), squared_size_cost=scale)
    steps = begin(start.means, labels=moved.astype(np.int32))
    objective = steps.update()
    balanced = steps.finish(start.n_iter + 1, converged=False)
    sizes = np.bincount(balanced.labels[is_counted], minlength=n_clusters).astype(np.float64)
    return replace(balanced, history=(*start.history, objective), penalty=scale * float(sizes @ sizes))


def best_fit(
    best: BestStart, starts: Iterable[Steps], weight: float, n_clusters: int, notes: Sequence[str] = (), **how: Any
) -> SphericalFit:
    """Return the fit of the best of several starts, which run as `how` says; raises FitInterrupted on Ctrl-C.

    `weight` is that of the documents that have terms. Centroids are unit, so inertia is that less the objective.
    """

    def finish(start: Snapshot) -> SphericalFit:
        n_filled = start.means.shape[0]
        fewer = f"fewer distinct rows than the {n_clusters} clusters asked for; the result has {n_filled}."
        return SphericalFit(
            labels=start.labels,
            centroids=start.means,
            starts=(start.labels, *best.other_labels),
            notes=(*notes, fewer) if n_filled < n_clusters else tuple(notes),
            objective=start.objective,
            inertia=weight - start.objective,
            n_iter=start.n_iter,
            history=start.history,
        )

    try:
        return finish(best.run(starts, **how))
    except KeyboardInterrupt as stopped:
        so_far = best.so_far()
        raise FitInterrupted(None if so_far is None else finish(so_far)) from stopped


def find_spherical(task: ClusteringTask) -> SphericalFit:
    """Return the best of the starts; on Ctrl-C the best so far, where there is one."""
    fit_spherical, parameters = task.fit_spherical or spherical_k_means, task.parameters(SphericalParameters)
    try:
        fit: SphericalFit = fit_spherical(task.vectors.documents, parameters)
    except FitInterrupted as stopped:
        fit = stopped.best_start()
    return fit
