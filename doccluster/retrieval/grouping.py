"""Search results, of `search` or of any engine, in groups with labels; how many groups follows from the texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Matrix
from doccluster.base.sparse_structure import checked_csr
from doccluster.base.validation import check_positive_int, unit_rows
from doccluster.clustering.hierarchical.agglomeration import agglomerate, cut_tree
from doccluster.corpus import Corpus
from doccluster.corpus.duplicates import find_near_duplicates
from doccluster.errors import InputError, NothingUsable
from doccluster.geometry import as_documents, latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.geometry.neighbours import joined_graph
from doccluster.geometry.partition import Partition
from doccluster.labeling.placement import rows_that_fit_none
from doccluster.pipeline.naming import describe_texts
from doccluster.pipeline.vectorizing import Vectorization, vectorize_texts
from doccluster.retrieval.hits import MAX_HITS, GroupedHits, HitGroup, SearchHit, as_hits

OTHER = -1  # the label of what fits no group
N_COMPONENTS = 100
N_NEIGHBOURS = 10
ROWS_PER_NEIGHBOUR = 10  # fewer rows have fewer neighbours, or each would be moved towards all others
MIXING = 0.5
N_STEPS = 3
# Mean distance (1 - cosine of smoothed rows) above which groups are not joined: docs/how-to/search.md has the figures.
CUT_AT = 0.65
# Hits of several words are all alike: groups stay apart there that are about as far from one another as any two hits.
NEARER_THAN_ANY = 0.95
ON_ONE_THING = 0.3  # groups nearer than this are joined, however alike all hits are
MIN_GROUP_SIZE = 2

MAX_GROUPS = 10
_WORD = re.compile(r"\w+")
RARE_TERMS_FROM = 20  # hits; from this number on, a term of a single hit says nothing of a group


def group_rows(
    rows: Matrix,
    max_groups: int = 10,
    *,
    meaning: npt.NDArray[np.float32] | None = None,
    cut_at: float | None = None,
    n_threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the group of each row, the largest groups first, and -1 for rows that fit no group.

    Rows are smoothed over their nearest neighbours, because short texts on one thing often share no word, and joined by
    average linkage until the nearest two groups are farther apart than `cut_at`. Of the groups of at least two, the
    `max_groups` largest stay.

    Parameters
    ----------
    rows : csr array of shape (n_documents, n_terms), unit rows, no negative values
        Rows without terms fit no group.
    max_groups : int
    meaning : array of shape (n_documents, n_dimensions), unit rows, optional
        The same documents in a second space: neighbours in either are neighbours, and the rows stand side by side.
    cut_at : float in 0..1, optional
        By default 0.65, or 0.95 times the mean distance of all pairs of rows where that is less, but 0.3 at least.

    Returns
    -------
    int64 array of shape (n_documents,)
    """
    rows = checked_csr(rows, name="rows")[0]  # rows without a column fit no group
    labels = np.full(rows.shape[0], OTHER, dtype=np.int64)
    with_terms = np.flatnonzero(np.diff(rows.indptr))
    if with_terms.size < MIN_GROUP_SIZE:
        return labels
    rows_with_terms = sparse.csr_array(rows[with_terms])
    n_neighbours = min(N_NEIGHBOURS, 1 + with_terms.size // ROWS_PER_NEIGHBOUR, with_terms.size - 1)
    graph = nearest_neighbours(rows_with_terms, n_neighbours, fold=None, n_threads=n_threads)
    weights, spaces = graph.symmetric(), [_points(rows_with_terms, n_threads)]
    if meaning is not None:
        spaces.append(meaning[with_terms].astype(np.float64))
        weights = joined_graph(graph, meaning[with_terms], n_threads=n_threads).weights
    for _ in range(N_STEPS):  # each from where the last one ended: hits of one subtopic run together
        spaces = [smoothed_rows(space, weights, mixing=MIXING, n_steps=1) for space in spaces]
    smoothed = unit_rows(np.hstack(spaces), warn=False)
    joins = agglomerate(sparse.csr_array(smoothed), "average", n_threads=n_threads)
    cut = _cut(smoothed) if cut_at is None else cut_at
    n_groups = 1 + int(np.count_nonzero(joins[:, 2] > cut))
    grouped = _largest(cut_tree(joins, n_groups), max_groups)
    inside = np.flatnonzero(grouped != OTHER)
    if inside.size:
        members = as_documents(smoothed[inside])
        grouped[inside[rows_that_fit_none(members, grouped[inside], n_threads=n_threads)]] = OTHER
    labels[with_terms] = _largest(grouped, max_groups)
    return labels


def _points(rows: sparse.csr_array, n_threads: int | None) -> npt.NDArray[np.float64]:
    """Return rows in at most 100 dimensions; 100 rows or fewer as they are, since as many dimensions hold them all."""
    if rows.shape[0] <= N_COMPONENTS:
        return np.asarray(rows.toarray(), dtype=np.float64)
    n_components = min(N_COMPONENTS, rows.shape[1])
    space = latent_semantic_space(rows, n_components, n_power_iterations=1, random_state=0, n_threads=n_threads)
    points: npt.NDArray[np.float64] = space.project(rows, n_threads=n_threads)
    return points


def _cut(points: npt.NDArray[np.float64]) -> float:
    """Return the distance above which groups of these points, at least two, are not joined."""
    unit = unit_rows(points, warn=False)
    total, n = unit.sum(axis=0), points.shape[0]
    mean = float(1 - (total @ total - n) / (n * (n - 1)))  # of all pairs of points
    return min(CUT_AT, max(NEARER_THAN_ANY * mean, ON_ONE_THING))


def _largest(labels: npt.NDArray[np.int64], max_groups: int) -> npt.NDArray[np.int64]:
    """Return the labels 0, 1, ... for the largest groups, equally large ones by their first row, and -1 elsewhere."""
    sizes = np.bincount(labels[labels >= 0])
    order = np.argsort(-sizes, kind="stable")[:max_groups]
    order = order[sizes[order] >= MIN_GROUP_SIZE]
    renamed = np.full(sizes.size + 1, OTHER, dtype=np.int64)  # the last entry is for label -1
    renamed[order] = np.arange(order.size)
    return renamed[labels]


def cluster_search_results(
    hits: Iterable[SearchHit | Mapping[str, Any] | str],
    query: str = "",
    *,
    max_groups: int = MAX_GROUPS,
    language: str | Sequence[str] = "auto",
    meaning: npt.NDArray[np.float32] | None = None,
    cut_at: float | None = None,
    n_threads: int | None = 1,
) -> GroupedHits:
    """Return search results in groups: hits on one thing together, with a label.

    Parameters
    ----------
    hits : iterable of SearchHit, of mappings with `title`, `snippet`, `url` and `id`, or of texts
        Best first.
    query : str
        Its words are in every hit and say nothing of a group: they take no part and stand in no label.
    max_groups : int
        The most groups; how many there are follows from the hits.
    language : str or sequence of str
        As for `run_pipeline`.
    meaning : array of shape (n_hits, n_dimensions), unit rows, optional
        What the hits mean: they are grouped by it beside their words.
    cut_at : float in 0..1, optional
        Groups with a larger mean distance are not joined: the lower, the finer. By default it follows from the hits
        (`doccluster.retrieval.group_rows`).
    n_threads : int, optional
        Changes no result; a second thread costs more than it saves on so few texts.

    Returns
    -------
    GroupedHits

    Raises
    ------
    InputError
        If a hit has another form, or there are more than 10,000.
    NothingUsable
        If there are no hits, or none has a text.

    Examples
    --------
    >>> cats = ["the jaguar is a large cat of the rain forest", "jaguar, a cat that hunts in the forest"]
    >>> cars = ["jaguar cars of Coventry: engine and price", "used jaguar cars, price by engine"]
    >>> found = cluster_search_results(cats + cars, "jaguar")
    >>> [(group.label, group.documents) for group in found.groups]
    [('cat, forest', (0, 1)), ('cars, engine, price', (2, 3))]
    """
    checked = as_hits(hits)
    if cut_at is not None and not 0 <= cut_at <= 1:
        raise InputError(f"cut_at={cut_at!r}  is not a distance of groups; give a number from 0 to 1.")
    check_positive_int(max_groups, "max_groups")
    if not checked:
        raise NothingUsable("there are no hits to group; give at least one.")
    if len(checked) > MAX_HITS:
        raise InputError(f"{len(checked):,} hits were given; give at most {MAX_HITS:,}, the best ones.")
    texts = [hit.text for hit in checked]
    if not any(texts):
        raise NothingUsable("no hit has a title or a snippet; give hits with texts.")
    # reprints of one text would be a group of their own; they follow their first one into its group
    copy_of = {copy: group[0] for group in find_near_duplicates(texts) for copy in group[1:] if texts[copy]}
    shown = np.array([place for place, text in enumerate(texts) if text and place not in copy_of], dtype=np.int64)
    vectorization = vectorize_short_texts([texts[place] for place in shown.tolist()], language, n_threads)
    labels = np.full(len(checked), OTHER, dtype=np.int64)
    groups: list[HitGroup] = []
    if vectorization is not None:
        vectorization = _without_query(vectorization, query)
        shown_meaning = None if meaning is None else meaning[shown]
        labels[shown] = group_rows(
            vectorization.vectors.matrix, max_groups, meaning=shown_meaning, cut_at=cut_at, n_threads=n_threads
        )
        for copy, first in copy_of.items():
            labels[copy] = labels[first]
        groups = _described(vectorization, labels, shown, checked, query, n_threads)
    ungrouped = tuple(np.flatnonzero(labels == OTHER).tolist())
    return GroupedHits(query, checked, tuple(groups), ungrouped, copy_of)


def vectorize_short_texts(
    texts: Sequence[str], language: str | Sequence[str], n_threads: int | None, **options: object
) -> Vectorization | None:
    """Return the vectors of texts, with options for short ones; None without a term."""
    corpus = Corpus(ids=tuple(map(str, range(len(texts)))), texts=tuple(texts))
    rare = 2 if len(texts) >= RARE_TERMS_FROM else 1
    chosen = {"min_df": rare, "sublinear_tf": True, **options}
    try:
        return vectorize_texts(corpus, language=language, options=chosen, may_cut=False, n_threads=n_threads)
    except NothingUsable:
        return None


def _without_query(vectorization: Vectorization, query: str) -> Vectorization:
    """Return the vectors with nothing in the columns of the words of a query."""
    if vectorization.vectorizer is None or not query.strip():
        return vectorization
    stays = np.ones(vectorization.vectors.n_terms)
    stays[vectorization.vectorizer.transform([query]).indices] = 0
    matrix = sparse.csr_array(vectorization.vectors.matrix.multiply(stays[np.newaxis, :]))
    matrix.eliminate_zeros()
    return replace(vectorization, vectors=replace(vectorization.vectors, matrix=unit_rows(matrix, warn=False)))


def _described(
    vectorization: Vectorization,
    labels: npt.NDArray[np.int64],
    shown: npt.NDArray[np.int64],
    hits: Sequence[SearchHit],
    query: str,
    n_threads: int | None,
) -> list[HitGroup]:
    inside = np.flatnonzero(labels[shown] != OTHER)
    if inside.size == 0:
        return []
    vectors, grouped_hits = vectorization.vectors.take(inside), [hits[place] for place in shown[inside].tolist()]
    partition = Partition.from_labels(labels[shown][inside])
    described = describe_texts(
        vectorization,
        vectors,
        partition,
        [hit.text for hit in grouped_hits],
        [hit.title for hit in grouped_hits],
        unwanted=frozenset(_WORD.findall(query.lower())),
        n_documents=0,
        n_threads=n_threads,
    )
    groups = []
    for description in described:
        rows = vectors.matrix[partition.members(description.cluster)]
        direction = np.asarray(rows.sum(axis=0), dtype=np.float64).ravel()
        score = float(np.linalg.norm(direction))  # the sum of the cosines to the centroid
        documents = tuple(np.flatnonzero(labels == description.cluster).tolist())
        groups.append(HitGroup(description.label, description.terms, score, documents))
    return groups
