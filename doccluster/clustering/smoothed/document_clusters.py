"""Smoothed and settled partitions as a plain function: what `DocumentClustering` wraps and the command line calls."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Integers, Matrix
from doccluster.base.parameter_fields import check_parameters, parameter
from doccluster.base.place import Place
from doccluster.base.plain_values import parse_size
from doccluster.base.progress import checked_progress
from doccluster.base.validation import as_generator, check_n_clusters, unit_rows
from doccluster.clustering.k_means.seeds import Init
from doccluster.clustering.k_means.spherical import (
    FitInterrupted,
    FitSpherical,
    SphericalFit,
    SphericalParameters,
    spherical_k_means,
)
from doccluster.clustering.mixtures.multinomial import Multinomials, settle_in_files, settle_labels
from doccluster.clustering.smoothed.document_spaces import (
    LETTERS_EXACT_UP_TO,
    POWER_ITERATIONS,
    Graph,
    cells_of,
    check_memory,
    has_as_many_rows,
    moved_rows,
    shared_term_rows,
    side_by_side,
)
from doccluster.clustering.task import ClusteringResult, ClusteringTask, SeededParameters, SmoothedRows
from doccluster.geometry import Documents, NeighbourGraph, latent_semantic_space, nearest_neighbours
from doccluster.geometry.neighbours import FOLDED_FROM, joined_graph, with_order
from doccluster.geometry.projection import principal_rows
from doccluster.geometry.sums import sums_by_label
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import Letters
from doccluster.vectors.meaning import Meaning
from doccluster.vectors.weighting import Weighting


def find_documents(task: ClusteringTask, quality: str) -> ClusteringResult:
    """Return the clusters of a quality; on Ctrl-C the best so far, where there are some."""
    is_free = task.chosen_options.keys().isdisjoint(("init", "n_init"))  # how to begin is left to us
    return DocumentWork(
        task.vectors,
        task.parameters(DocumentParameters, quality=quality),
        smoothed_rows=task.smoothed,
        start=task.start if is_free else None,
        place=task.place,
        fit_spherical=task.fit_spherical,
    ).run()


Labels = Integers
NOT_SETTLED = "The counts of terms were left aside: the matrix holds none."
COUNTING_MIXING = 0.5  # how far one step moves rows among which clusters are counted
LETTER_COMPONENTS = 50  # dimensions of latent semantic analysis of letters
MEANT_COMPONENTS = 150  # dimensions of a meaning that are clustered; more gain nothing (100 lose .003 of NMI)
# parameters that are those of spherical k-means
OF_SPHERICAL = ("n_clusters", "init", "n_init", "max_iter", "tol", "refine", "max_memory", "n_threads")
SETTLED_FROM = 20  # known words of a document on average; the counts of fewer say less than meaning does


@dataclass(kw_only=True, eq=False, repr=False)
class DocumentParameters(SeededParameters):
    """The parameters of `DocumentClustering`."""

    quality: str = parameter(
        "default",
        "'default' smooths the rows over the graph of their nearest neighbours before spherical k-means; 'fast' is "
        "spherical k-means of the tf-idf rows. Both are settled by a multinomial mixture where `X` holds counts.",
        choices=("default", "fast"),
    )
    init: Init = parameter(
        "k-means++",
        "How the first centroids of spherical k-means are chosen, as in `SphericalKMeans`.",
        type="{'k-means++', 'random', 'subsample', 'without-outliers', 'agglomerative'} or callable",
    )
    n_init: int | Literal["auto"] = parameter(
        10, "Starts of spherical k-means; the best is kept.", type="int or 'auto'"
    )
    max_iter: int = parameter(300, "The most iterations in one start.", low=1)
    tol: float = parameter(1e-4, "A start ends when an iteration gains less than this share of the objective.", low=0)
    refine: bool = parameter(False, "Whether single documents are moved after the iterations of each start.")
    n_components: int = parameter(
        100,
        "Dimensions of latent semantic analysis. Where `X` holds counts and `quality` is 'default', half of them are "
        "of the tf-idf rows, and half of rows of logarithms of the counts, which also decide which documents are "
        "neighbours.",
        low=1,
    )
    n_neighbors: int = parameter(10, "Neighbours of each document in the graph; near-copies are folded first.", low=1)
    mixing: float = parameter(
        0.7, "How far each of three steps moves a document towards its neighbours, from where it was.", low=0, high=1
    )
    max_memory: str | int | None = parameter(
        None,
        'The most memory for smoothing, and for each fit of spherical k-means, such as "2G".',
        type="str or int",
    )


@dataclass(frozen=True, eq=False)
class DocumentFit(ClusteringResult):
    """The result of a fit; `starts` are the labels of spherical k-means before settling, `points` what it was given."""

    labels: Labels
    mixture: Multinomials | None = None  # what settled the labels; None where there were no counts
    n_iter: int = 1  # iterations of the best start of spherical k-means


@dataclass(eq=False)
class DocumentWork:
    """One fit: what it works on, where, and what is to be reported of it.

    With a meaning, or else with letters, neighbours in either space are neighbours, and the rows stand side by side;
    letters count only where rows are smoothed.
    """

    vectors: DocumentVectors
    parameters: DocumentParameters
    _: KW_ONLY
    smoothed_rows: SmoothedRows | None = None  # those of `smooth`, where they were made already
    # clusters 0..n_clusters-1, -1 for a document of none: at their means spherical k-means begins, once
    start: Labels | None = None
    place: Any = None  # the `Place` where all these lie and are worked on; in memory by default
    fit_spherical: FitSpherical | None = None  # what does there as `spherical_k_means`, the default, does

    def __post_init__(self) -> None:
        self.rows, self.counts, self.meaning = self.vectors.documents.unit, self.vectors.counts, self.vectors.meaning
        self.letters = self.vectors.letters if self.meaning is None else None  # which gain nothing beside a meaning
        self.place = self.place or Place(self.parameters.n_threads)
        self.is_sparse = sparse.issparse(self.rows)
        self.rng = as_generator(self.parameters.random_state)
        self.progress = checked_progress(self.parameters.progress)
        self.left_out: list[str] = []
        self.notes: list[str] = []
        self.interrupted = False
        self.n_iter = 1

    def smooth(self) -> SmoothedRows | None:
        """Return the rows that clustering would smooth; None where they cannot be: sparse ones with negative values."""
        return None if self.no_graph() else self.smoothed(for_counting=True)

    def run(self) -> DocumentFit:
        """Return clusters of the documents, smoothed and settled as far as the documents allow.

        Raises InputError if a parameter cannot be used, or there are fewer documents than clusters. Raises
        MemoryLimitError if the rows cannot be smoothed within `max_memory`. Raises KeyboardInterrupt if the work was
        stopped before there was anything to keep.
        """
        check_n_clusters(self.parameters.n_clusters, self.vectors.n_documents)
        check_parameters(self.parameters)
        refused = None if self.parameters.quality == "fast" else self.no_graph()
        if refused:
            self.left_out.append(f"Neighbours were left aside: {refused}.")
        points = self._points(refused)
        fit = self._spherical(points, init=self._means_to_start_from(points))
        labels, mixture = self._settled(fit.labels.astype(np.int64))
        if self.counts is None and self.is_sparse:  # dense rows never hold any
            self.left_out.append(NOT_SETTLED)
        self._count_clusters(labels)
        return DocumentFit(
            labels,
            rule=None if mixture is None else mixture.rule,
            starts=fit.starts,
            left_out=tuple(self.left_out),
            notes=tuple(self.notes),
            interrupted=self.interrupted,
            from_start=self.start is not None,
            points=None if points is self.rows else points,
            mixture=mixture,
            n_iter=self.n_iter,
        )

    def _count_clusters(self, labels: Labels) -> None:
        """Say why there are fewer clusters than were asked for, where there are."""
        n_asked, n_found = self.parameters.n_clusters, np.unique(labels).size
        if n_found == n_asked:
            return
        if has_as_many_rows(self.rows, n_asked):
            self.left_out.append(
                f"By the counts of terms, {n_asked - n_found:,} of the {n_asked:,} clusters came out empty."
            )
        else:
            self.notes.append(f"fewer distinct rows than the {n_asked} clusters asked for; the result has {n_found}.")

    def no_graph(self) -> str | None:
        """Return why the rows cannot be smoothed, None if they can."""
        rows = self.rows
        if self.is_sparse and rows.nnz and rows.data.min() < 0:
            return "the rows have negative values"
        return None

    def _points(self, refused: str | None) -> Matrix:
        """Return the rows that spherical k-means is given: smoothed ones where that is asked for and can be."""
        parameters = self.parameters
        if parameters.quality != "fast" and not refused and parameters.n_clusters > 1:
            points = (self.smoothed_rows or self.smoothed()).points
            if has_as_many_rows(points, parameters.n_clusters):
                return points
            self.left_out.append(
                f"Neighbours were left aside: fewer than {parameters.n_clusters:,} documents would still differ."
            )
        return self.rows if self.meaning is None else self.meaning.beside(self.rows, self.place)

    def _means_to_start_from(self, points: Matrix) -> Matrix | None:
        """Return the directions of the sums of the clusters to start from; None where there are none."""
        if self.start is None:
            return None
        is_in_one = self.start >= 0
        sums = sums_by_label(points[is_in_one], self.start[is_in_one], self.parameters.n_clusters)
        return unit_rows(sums, warn=False)

    def smoothed(self, *, for_counting: bool = False) -> SmoothedRows:
        """Return the smoothed rows; with counts half of their dimensions, and the graph, are of logarithms.

        A logarithm keeps the few words that a document repeats from choosing its neighbours alone.
        """
        parameters, spaces = self.parameters, list[Matrix]()
        graph: Graph
        if not self.is_sparse:
            graph, spaces = self._graph(self.rows), [self.rows]
        elif self.counts is None:
            graph = self._joined(self._graph(self.rows))
            spaces = [self._reduced(self.rows, parameters.n_components)]
        else:
            k, how, half = parameters.n_clusters, Weighting(term="l"), -(-parameters.n_components // 2)
            factors = self.vectors.term_factors
            weighed = shared_term_rows(self.counts, k, weighting=how, place=self.place, term_factors=factors)
            logarithms = weighed.rows
            graph = self._joined(self._graph(logarithms))
            spaces = [self._reduced(rows, half) for rows in (logarithms, self.rows)]
        if self.letters is not None and self.is_sparse:
            spaces.append(self._reduced(self.letters.rows, LETTER_COMPONENTS))
        if self.vectors.next_part is not None:
            graph = with_order(graph, self.vectors.next_part)
        edges = self.place.keep(graph.symmetric())
        once = self._moved(spaces, graph, edges, mixing=COUNTING_MIXING, n_steps=1) if for_counting else None
        return SmoothedRows(self._moved(spaces, graph, edges, mixing=parameters.mixing), graph, once)

    def _joined(self, graph: NeighbourGraph) -> Graph:
        """Return a graph of neighbours by words with that of neighbours by meaning or letters, where there are such."""
        second = self.meaning or self.letters
        if second is None:
            return graph
        self.progress("neighbours", 0)
        rows, n_threads = second.rows, self.parameters.n_threads
        cells = cells_of(rows, self.rng, n_threads, self.place, exact_up_to=LETTERS_EXACT_UP_TO)
        return joined_graph(graph, rows, weight=second.weight, cells=cells, n_threads=n_threads, place=self.place)

    def _graph(self, rows: Matrix) -> NeighbourGraph:
        """Return the graph of the nearest neighbours of unit rows, near-copies folded where the rows are csr."""
        parameters = self.parameters
        if self.is_sparse and parameters.max_memory is not None and not self.place.is_on_disk:
            limit, letters = parse_size(parameters.max_memory), self.letters
            check_memory(rows, parameters.n_components, parameters.n_neighbors, limit, letters and letters.rows)
        self.progress("neighbours", 0)
        cells = cells_of(rows, self.rng, parameters.n_threads, self.place)
        fold = FOLDED_FROM if self.is_sparse else None
        return nearest_neighbours(Documents(rows), parameters.n_neighbors, fold=fold, cells=cells, place=self.place)

    def _reduced(self, rows: Matrix, n_components: int) -> Matrix:
        """Return csr unit rows in the space of latent semantic analysis, a float64 table."""
        self.progress("project", 0)
        documents, n_threads, place = Documents(rows), self.parameters.n_threads, self.place
        how: Any = {"n_power_iterations": POWER_ITERATIONS, "random_state": self.rng, "n_threads": n_threads}
        return latent_semantic_space(documents, n_components, **how, place=place).project(documents, place=place)

    def _moved(self, spaces: list[Matrix], graph: Graph, edges: Any, **how: Any) -> Matrix:
        """Return rows of all spaces, each moved towards its neighbours, side by side; then those of the meaning."""
        with self.place.for_a_while() as inner:
            moved = [moved_rows(rows, graph, edges, inner, **how) for rows in spaces]
            if not self.is_sparse:
                return side_by_side(self.place, *moved)
            second: Meaning | Letters | None = None
            if self.meaning is not None:
                rows = moved_rows(self.meaning.rows, graph, edges, inner, **how)
                second = replace(self.meaning, rows=principal_rows(rows, MEANT_COMPONENTS, inner))
            elif self.letters is not None:
                second = Letters(moved.pop(), self.letters.weight / 2)
            return side_by_side(self.place, *moved, second=second)

    def _spherical(self, points: Matrix, *, init: Init | None = None) -> SphericalFit:
        """Return the best of the starts, or the one from given centroids; so far as a person lets it go on."""
        how = {name: getattr(self.parameters, name) for name in OF_SPHERICAL}
        how |= {"random_state": self.rng, "progress": self.progress}
        if init is not None:
            how |= {"init": init, "n_init": 1}
        parameters = SphericalParameters(**how)
        try:
            # rows that were checked at the door, or made here
            fit = (self.fit_spherical or spherical_k_means)(Documents(points), parameters)
        except FitInterrupted as stopped:
            fit = stopped.best_start()
        self.interrupted, self.n_iter = fit.interrupted, fit.n_iter
        return fit

    def _settled(self, labels: Labels) -> tuple[Labels, Multinomials | None]:
        """Return the labels and the mixture where expectation maximisation ends; without counts the labels as given."""
        if self.counts is None or self.interrupted:
            return labels, None
        n_words = 0.0 if self.meaning is None else float(self.counts.data.sum(dtype=np.float64))
        if self.meaning is not None and n_words < SETTLED_FROM * int(self.counts.shape[0]):
            return labels, None
        in_memory = partial(settle_labels, n_threads=self.parameters.n_threads)
        settle = partial(settle_in_files, self.place) if self.place.is_on_disk else in_memory
        try:
            settled = settle(self.counts, labels, self.parameters.n_clusters, progress=self.progress)
        except KeyboardInterrupt:
            self.interrupted = True
            return labels, None
        has_words = np.diff(self.counts.indptr) > 0  # of the others only their meaning tells anything
        final_labels = settled.labels if self.meaning is None else np.where(has_words, settled.labels, labels)
        return final_labels.astype(np.int64), settled.parameters
