"""How good labels are: do they name the class, do they find their cluster again, can they be read?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from doccluster.labeling.label_phrases import LabelQueries

MATCH_AT = (1, 3, 5, 20)
RANKS_COUNTED = 5  # of the mean reciprocal rank
PRECISION_AT = 10
SHORTEST_PART = 3  # letters of a part of a class name that may stand for it

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class LabelScores:
    """How good the labels of some clusters are.

    Attributes
    ----------
    n_clusters, n_named : int
        How many clusters there are, and how many of them have a class whose name is known.
    match : mapping of int to float
        Match@k: the share of named clusters with the name of their class among the first k terms; empty without names.
    reciprocal_rank : float
        The mean of 1 / rank of the first term that is the name, 0 beyond rank 5 (MRR@5); nan without names.
    precision : float
        The mean share of documents of the cluster among the first 10 found by its label (of clusters with fewer, among
        as many).
    first_found : float
        The mean of 1 / rank of the first document of the cluster found by its label.
    one_word, duplicate, function_word : float
        The share of labels that are one word, that another cluster has too, and that have a term which begins or ends
        with a function word.
    """

    n_clusters: int
    n_named: int
    match: Mapping[int, float]
    reciprocal_rank: float
    precision: float
    first_found: float
    one_word: float
    duplicate: float
    function_word: float


def judge_labels(
    labels: Sequence[str],
    ranked: Sequence[Sequence[str]],
    found: Sequence[tuple[float, float]],
    *,
    accepted: Sequence[Collection[str]] = (),
    function_words: Collection[str] = frozenset(),
    stem: Callable[[str], str] = str,
) -> LabelScores:
    """Return how good the labels of some clusters are.

    Parameters
    ----------
    labels : sequence of str
        Terms with a comma and a blank between them.
    ranked : sequence of sequences of str
        The terms that may name each cluster, best first.
    found : sequence of pairs of float
        What each label as a query gives (`label_as_query`): precision at 10, and 1 / rank of the first document.
    accepted : sequence of collections of str, optional
        The names that are right for each cluster; none for a cluster whose class is not known.
    function_words : collection of str
    stem : callable
        What makes two forms of a word one.

    Notes
    -----
    A term is right if it has the words of a name, in any case and in any form that `stem` makes one: the Match@k and
    MRR@k of Carmel, Roitman and Zwerdling (2009, doi:10.1145/1571941.1571967).

    Examples
    --------
    >>> scores = judge_labels(["cars, engine"], [["engine", "cars"]], [(1.0, 1.0)], accepted=[{"car", "auto"}],
    ...                       stem=lambda word: word.rstrip("s"))
    >>> scores.match[1], scores.match[3], scores.reciprocal_rank
    (0.0, 1.0, 0.5)
    """
    names = [{_key(name, stem) for name in own} for own in accepted]
    ranks = [
        next((place for place, term in enumerate(terms, 1) if _key(term, stem) in own), 0)
        for terms, own in zip(ranked, names, strict=False)
        if own
    ]
    parts = [label.split(", ") for label in labels]
    times = Counter(label.casefold() for label in labels)
    precision, first = (float(np.mean([pair[side] for pair in found])) for side in (0, 1))
    return LabelScores(
        n_clusters=len(labels),
        n_named=len(ranks),
        match={at: float(np.mean([0 < rank <= at for rank in ranks])) for at in MATCH_AT} if ranks else {},
        reciprocal_rank=(
            float(np.mean([1 / rank if 0 < rank <= RANKS_COUNTED else 0.0 for rank in ranks]))
            if ranks
            else float("nan")
        ),
        precision=precision,
        first_found=first,
        one_word=float(np.mean([len(_WORD.findall(label)) <= 1 for label in labels])),
        duplicate=float(np.mean([times[label.casefold()] > 1 for label in labels])),
        function_word=float(np.mean([any(_has_function_word(term, function_words) for term in own) for own in parts])),
    )


def label_as_query(queries: LabelQueries, columns: Sequence[int], cluster: int) -> tuple[float, float]:
    """Return the precision at 10 of a search for some terms, and 1 / rank of the first document of the cluster."""
    ranking = queries.rank(columns, queries.labels.size) if columns else np.empty(0, dtype=np.int64)
    is_own = queries.labels[ranking] == cluster
    wanted = min(PRECISION_AT, int(queries.sizes[cluster])) if cluster < queries.sizes.size else 0
    if wanted == 0:
        return float("nan"), float("nan")
    first = np.flatnonzero(is_own)
    return float(is_own[:wanted].sum() / wanted), 1 / (int(first[0]) + 1) if first.size else 0.0


def names_of_classes(
    classes: Sequence[str], synonyms: Mapping[str, Sequence[str]] | None = None
) -> dict[str, frozenset[str]]:
    """Return the names that are right for each class: those given, else the class and the parts it has alone.

    >>> sorted(names_of_classes(["rec.autos", "rec.sport.hockey"])["rec.sport.hockey"])
    ['hockey', 'rec.sport.hockey', 'sport']
    >>> names_of_classes(["rec.autos"], {"rec.autos": ["car"]})
    {'rec.autos': frozenset({'car'})}
    """
    given = synonyms or {}
    parts = {name: set(_WORD.findall(name.replace("_", " "))) for name in classes}
    times = Counter(part for own in parts.values() for part in own)
    return {
        name: frozenset(given[name])
        if name in given
        else frozenset({name, *(part for part in own if times[part] == 1 and len(part) >= SHORTEST_PART)})
        for name, own in parts.items()
    }


def _key(name: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in _WORD.findall(name.casefold()))


def _has_function_word(term: str, function_words: Collection[str]) -> bool:
    words = _WORD.findall(term.casefold())
    return bool(words) and (words[0] in function_words or words[-1] in function_words)
