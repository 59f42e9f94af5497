"""Search results, of `search` or of any engine, in groups with labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.validation import check_positive_int, unit_rows
from doccluster.corpus import Corpus
from doccluster.corpus.duplicates import find_near_duplicates
from doccluster.errors import InputError, NothingUsable
from doccluster.geometry.partition import Partition
from doccluster.pipeline.naming import describe_texts
from doccluster.pipeline.vectorizing import Vectorization, vectorize_texts
from doccluster.retrieval import GroupedHits, HitGroup, SearchHit, group_rows
from doccluster.retrieval.grouping import OTHER
from doccluster.retrieval.hits import MAX_HITS, as_hits

MAX_GROUPS = 10
_WORD = re.compile(r"\w+")
RARE_TERMS_FROM = 20  # hits; from this number on, a term of a single hit says nothing of a group


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
    copy_of = _copies(texts)
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


def _copies(texts: Sequence[str]) -> dict[int, int]:
    """Return the near-copies: the position of each, and that of the first of its kind."""
    groups = find_near_duplicates(texts)
    return {copy: group[0] for group in groups for copy in group[1:] if texts[copy]}


def vectorize_short_texts(
    texts: Sequence[str], language: str | Sequence[str], n_threads: int | None, **options: Any
) -> Vectorization | None:
    """Return the vectors of texts, with options for short ones; None without a term."""
    corpus = Corpus(ids=tuple(map(str, range(len(texts)))), texts=tuple(texts))
    rare = 2 if len(texts) >= RARE_TERMS_FROM else 1
    chosen = {"min_df": rare, "sublinear_tf": True, **options}
    try:
        return vectorize_texts(corpus, language=language, options=chosen, n_threads=n_threads)
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
    vectors, named_hits = vectorization.vectors.take(inside), [hits[place] for place in shown[inside].tolist()]
    partition = Partition.from_labels(labels[shown][inside])
    described = describe_texts(
        vectorization,
        vectors,
        partition,
        [hit.text for hit in named_hits],
        [hit.title for hit in named_hits],
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
        groups.append(
            HitGroup(description.label, tuple(term.term for term in description.descriptive), score, documents)
        )
    return groups
