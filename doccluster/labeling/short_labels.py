"""A few words and phrases that name a cluster, no two clusters by the same.

No sibling has the same label, no term repeats another one of its label, two labels share at most one term while there
are others, and a label whose words all stand in another one gets a further term.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from doccluster.labeling.description import LabelTerm
from doccluster.labeling.readable_terms import same_family

MIN_OF_BEST = 0.1  # a term that says less than this part of what the best says stands in no label


def short_labels(ranked: Sequence[Sequence[LabelTerm]], *, n_words: int = 3) -> list[str]:
    """Return one label per cluster, all different; ``cluster 3`` where no term can be shown.

    Parameters
    ----------
    ranked : sequence of sequences of LabelTerm
        The terms of each cluster, best first (`rank_label_terms`).
    n_words : int
        The most terms in a label.

    Examples
    --------
    >>> oil, wheat = LabelTerm("oil", 1.0, 1.0), LabelTerm("wheat", 1.0, 1.0)
    >>> short_labels([[oil, LabelTerm("oils", 0.9, 0.5)], [wheat, oil], []])
    ['oil', 'wheat, oil', 'cluster 2']
    """
    users: defaultdict[str, list[int]] = defaultdict(list)
    found: list[list[str]] = []
    for cluster, terms in enumerate(ranked):
        floor = MIN_OF_BEST * max((one.score for one in terms), default=0.0)
        found.append(_choose([one.term for one in terms if one.score >= floor], users, n_words))
        for term in found[-1]:
            users[term].append(cluster)
    having: defaultdict[str, set[int]] = defaultdict(set)
    for cluster, chosen in enumerate(found):
        for word in _words(chosen):
            having[word].add(cluster)
    labels: dict[str, None] = {}
    for cluster, (chosen, terms) in enumerate(zip(found, ranked, strict=True)):
        siblings = set.intersection(*(having[word] for word in _words(chosen))) - {cluster} if chosen else ()
        more = [_telling(chosen, terms, [found[other] for other in siblings])] if len(chosen) < n_words else []
        labels[_unused(", ".join(filter(None, chosen + more)) or f"cluster {cluster}", labels)] = None
    return list(labels)


def _telling(chosen: list[str], terms: Sequence[LabelTerm], siblings: Sequence[list[str]]) -> str:
    """Return the next term where a label says no more than one of its siblings; nothing where it does."""
    theirs = _words(term for label in siblings for term in label)
    others = (one.term for one in terms if not any(same_family(one.term, term) for term in chosen))
    return next((term for term in others if siblings and not _words([term]) <= theirs), "")


def _words(terms: Iterable[str]) -> set[str]:
    return {word for term in terms for word in term.casefold().split()}


def _choose(candidates: list[str], users: Mapping[str, Sequence[int]], n_words: int) -> list[str]:
    for shared_allowed in range(1, n_words):
        chosen = _fill(candidates, users, n_words, shared_allowed)
        if len(chosen) == n_words:
            return chosen
    return _fill(candidates, users, n_words, n_words)


def _fill(candidates: list[str], users: Mapping[str, Sequence[int]], n_words: int, shared_allowed: int) -> list[str]:
    """Return the first candidates that do not repeat one another nor share too much with one earlier label."""
    chosen: list[str] = []
    shared: Counter[int] = Counter()
    for term in candidates:
        if len(chosen) == n_words:
            break
        earlier = users.get(term, ())
        if any(same_family(term, other) for other in chosen) or any(shared[c] == shared_allowed for c in earlier):
            continue
        shared.update(earlier)
        chosen.append(term)
    return chosen


def _unused(label: str, labels: Collection[str]) -> str:
    number = 2
    distinct = label
    while distinct in labels:
        distinct, number = f"{label} ({number})", number + 1
    return distinct
