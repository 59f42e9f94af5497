"""Which words and phrases name a cluster, best first.

A candidate is scored by the mutual information of having it and of being in the cluster, times the share of the cluster
that a search for it brings back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Floats, Integers
from doccluster.geometry import as_documents
from doccluster.geometry.partition import Partition
from doccluster.labeling.description import LabelTerm
from doccluster.labeling.label_phrases import LabelPhrases, LabelQueries, TitleCounts
from doccluster.labeling.profiles import ClusterProfiles, entries, largest_per_row, mutual_information
from doccluster.labeling.short_labels import is_content, is_korean_ending
from doccluster.text.scripts import is_unspaced

N_CANDIDATES = 60
N_SEARCHED = 20  # of them, the best, are tried as queries
MIN_SHARE_OF_DOCUMENTS = 0.05
MIN_SHARE_KNOWN = 0.02  # where no word is in a twentieth
MAX_SHARE_OUTSIDE = 0.1  # a word in more of the other documents than this says nothing about a cluster
MAX_SHARE_OF_ALL = 0.25  # nor does a word in more of all documents, unless it is in hardly any but the cluster's
MIN_LIFT = 2.0  # how many times as common a word must be in the cluster as outside it
COMMON_SHARE = 0.6  # of the documents of a cluster: a word in more of them needs a higher lift
NEARLY_ALL = 0.9
SCORE_DIGITS = 9
PHRASE_FOR_WORD = 0.5  # a phrase in so much of the documents that have one of its words stands for the word

LongerStrings = Callable[[int, Sequence[str]], Mapping[str, str]]


@dataclass(frozen=True)
class _Candidate:
    name: str
    columns: tuple[int, ...]
    score: float
    support: float
    weight: float = 0.0  # in the centroid; of words that say as much, the heavier comes first


def rank_label_terms(
    profiles: ClusterProfiles,
    names: npt.NDArray[np.object_] | None,
    *,
    rows: Any = None,
    partition: Partition | None = None,
    phrases: LabelPhrases | None = None,
    in_titles: TitleCounts | None = None,
    function_words: Collection[str] = frozenset(),
    longer: LongerStrings | None = None,
) -> list[tuple[LabelTerm, ...]]:
    """Return for each cluster the words and phrases that name it, best first, at most 20; none without names.

    `names` of shape (n_terms,): the written form of each column. `rows`, `partition` of shape (n_documents, n_terms):
    with them candidates are tried as queries. `function_words`: words that may not stand in a label (lower case).
    `longer`: what to show in place of some terms of a cluster (see `recurring_strings`).

    Notes
    -----
    A term must be in a twentieth of the cluster's documents and in two of them, in at most a tenth of the other
    documents and a quarter of all, and at least twice as common inside as outside; where no term is all that, some of
    it is given up, but a word that is everywhere is never taken. A phrase that is in half of the documents that have
    one of its words stands for the word.
    """
    if names is None:
        return [()] * profiles.n_clusters
    scores = profiles.mutual_information()
    unfit = function_words if phrases is None else phrases.unfit.union(function_words)
    candidates_of = []
    for cluster, (columns, values) in enumerate(largest_per_row(scores, N_CANDIDATES)):
        words = _words(profiles, cluster, columns, values, names, unfit)
        candidates_of.append(_with_phrases(words, _phrases_of(phrases, profiles, cluster, function_words))[:N_SEARCHED])
    queries = None
    if rows is not None and partition is not None:
        columns_searched = {
            column for candidates in candidates_of for candidate in candidates for column in candidate.columns
        }
        queries = LabelQueries.of_partition(as_documents(rows, name="rows").matrix, partition, columns_searched)
    return [
        _shown(candidates, cluster, int(profiles.sizes[cluster]), queries, in_titles, function_words, longer)
        for cluster, candidates in enumerate(candidates_of)
    ]


def _shown(
    candidates: list[_Candidate],
    cluster: int,
    size: int,
    queries: LabelQueries | None,
    in_titles: TitleCounts | None,
    function_words: Collection[str],
    longer: LongerStrings | None,
) -> tuple[LabelTerm, ...]:
    """Return the candidates as terms of a label, those first that bring most of the cluster back."""
    if queries is not None:
        candidates = [
            replace(candidate, score=candidate.score * queries.share_found(candidate.columns, cluster))
            for candidate in candidates
        ]
    if in_titles is not None:
        candidates = [
            replace(candidate, score=candidate.score * in_titles.factor(candidate.columns, cluster))
            for candidate in candidates
        ]
    candidates = sorted(candidates, key=_best_first)
    strings = {} if longer is None else longer(cluster, [candidate.name for candidate in candidates])
    terms: dict[str, LabelTerm] = {}
    for candidate in candidates:
        name = strings.get(candidate.name, candidate.name)
        if is_content(name, function_words):  # a piece of a word is judged when it has been made longer
            terms.setdefault(name, LabelTerm(name, candidate.score, min(candidate.support / size, 1.0)))
    return tuple(terms.values())


def _words(
    profiles: ClusterProfiles,
    cluster: int,
    columns: Integers,
    scores: Floats,
    names: npt.NDArray[np.object_],
    function_words: Collection[str],
) -> list[_Candidate]:
    """Return the terms that tell a cluster from the others, best first, or all that can be read."""
    shown = [str(names[column]) for column in columns]
    readable = np.array(
        [is_content(name, function_words) or (is_unspaced(name) and not is_korean_ending(name)) for name in shown],
        dtype=bool,
    )
    support, frequency = entries(profiles.support, cluster, columns), profiles.document_frequency[columns]
    weight = entries(profiles.centroids, cluster, columns)
    for is_fit in _tiers(profiles, cluster, support, frequency):
        places = np.flatnonzero(readable & is_fit).tolist()
        if places:
            return [
                _Candidate(
                    shown[place],
                    (int(columns[place]),),
                    float(scores[place]),
                    float(support[place]),
                    float(weight[place]),
                )
                for place in places
            ]
    return []


def _tiers(
    profiles: ClusterProfiles, cluster: int, support: Floats, frequency: Floats
) -> tuple[npt.NDArray[np.bool_], ...]:
    """Return which candidates are all that a term of a label should be, then those for which some is given up."""
    size, n_others = int(profiles.sizes[cluster]), int(profiles.sizes.sum() - profiles.sizes[cluster])
    inside, outside = support / size, (frequency - support) / max(n_others, 1)
    supported = support >= min(max(2, int(np.ceil(MIN_SHARE_OF_DOCUMENTS * size))), size)
    telling = (outside <= MAX_SHARE_OUTSIDE) & (inside >= MIN_LIFT * outside)
    telling |= (inside >= COMMON_SHARE) & (inside >= 2 * MIN_LIFT * outside)
    marks = (inside >= NEARLY_ALL) & (support >= NEARLY_ALL * frequency)
    rare = frequency <= np.where(marks, 0.5, MAX_SHARE_OF_ALL) * (size + n_others)
    is_supported_less = support >= min(max(2, MIN_SHARE_KNOWN * size), size)
    return supported & telling & rare, supported & rare, supported & telling, is_supported_less & telling & rare


def _phrases_of(
    phrases: LabelPhrases | None, profiles: ClusterProfiles, cluster: int, function_words: Collection[str]
) -> list[_Candidate]:
    if phrases is None:
        return []
    entry_slice = slice(phrases.support.indptr[cluster], phrases.support.indptr[cluster + 1])
    columns, support = phrases.support.indices[entry_slice], phrases.support.data[entry_slice]
    frequency = np.asarray(phrases.support.sum(axis=0), dtype=np.float64)[columns]
    n = int(profiles.sizes.sum())
    scores = mutual_information(support, frequency, np.full(support.size, float(profiles.sizes[cluster])), n)
    is_fit = _tiers(profiles, cluster, support, frequency)[0] & (scores > 0)
    return [
        _Candidate(phrases.names[columns[place]], phrases.columns[columns[place]], scores[place], support[place])
        for place in np.flatnonzero(is_fit).tolist()
    ]


def _with_phrases(words: list[_Candidate], phrases: list[_Candidate]) -> list[_Candidate]:
    """Return words and phrases, best first; where a phrase is most of a word, the phrase stands for it."""
    whole: dict[int, _Candidate] = {}
    for phrase in phrases:
        for column in phrase.columns:
            if column not in whole or phrase.support > whole[column].support:
                whole[column] = phrase
    by_name: dict[str, _Candidate] = {}
    for candidate in sorted([*words, *phrases], key=_best_first):
        better = whole.get(candidate.columns[0]) if len(candidate.columns) == 1 else None
        if better is not None and better.support >= PHRASE_FOR_WORD * candidate.support:
            candidate = replace(better, score=candidate.score, weight=candidate.weight)
        by_name.setdefault(candidate.name, candidate)
    return list(by_name.values())


def _best_first(candidate: _Candidate) -> tuple[float, float]:
    """Return the keys that candidates are sorted by; scores that differ by rounding are equal."""
    return -round(candidate.score, SCORE_DIGITS), -candidate.weight
