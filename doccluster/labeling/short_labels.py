"""A few words that name a cluster, chosen apart from the terms it was clustered by.

A label has no function words, no two forms of one word, no word of a single document, and no sibling has the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from doccluster.labeling.profiles import ClusterProfiles, Integers, entries, largest_per_row

N_CANDIDATES = 60
MIN_SHARE_OF_DOCUMENTS = 0.1

_WORD = re.compile(r"\w+", re.UNICODE)


def short_labels(
    profiles: ClusterProfiles,
    names: npt.NDArray[np.object_] | None,
    *,
    function_words: Collection[str] = frozenset(),
    n_words: int = 3,
) -> list[str]:
    """Return one label per cluster, all different; ``cluster 3`` where no term can be shown.

    Terms are ranked by ``(c_t - r_t) ** 2 / (c_t + r_t)``: heavy in the cluster, rare outside. A term must be in a
    tenth of the cluster's documents and in two of them (this is relaxed when nothing is left); two labels share at most
    one term while there are others.
    """
    if names is None:
        return [f"cluster {cluster}" for cluster in range(profiles.n_clusters)]
    users: defaultdict[str, list[int]] = defaultdict(list)
    labels: dict[str, None] = {}
    for cluster, (columns, _) in enumerate(largest_per_row(profiles.label_scores(), N_CANDIDATES)):
        chosen = _choose(_ranked(profiles, cluster, columns, names, function_words), users, n_words)
        for term in chosen:
            users[term].append(cluster)
        labels[_unused(", ".join(chosen) or f"cluster {cluster}", labels)] = None
    return list(labels)


def _ranked(
    profiles: ClusterProfiles,
    cluster: int,
    columns: Integers,
    names: npt.NDArray[np.object_],
    function_words: Collection[str],
) -> list[str]:
    """Return the candidates of one cluster, best first: the well supported ones, or all where there is none."""
    needed = min(max(2, int(np.ceil(MIN_SHARE_OF_DOCUMENTS * profiles.sizes[cluster]))), int(profiles.sizes[cluster]))
    supported = entries(profiles.support, cluster, columns) >= needed
    order = columns[supported] if supported.any() else columns
    readable = [str(names[column]) for column in order if is_content(str(names[column]), function_words)]
    return readable or [str(names[column]) for column in order]


def is_content(term: str, function_words: Collection[str]) -> bool:
    """Return whether a term may stand in a label: has letters, is not one Latin letter, no function word at an end.

    >>> [is_content(term, {"of", "the"}) for term in ("bank of england", "of the", "1987", "x")]
    [True, False, False, False]
    """
    words = _WORD.findall(term.lower())
    if not words or not any(character.isalpha() for character in term):
        return False
    if len(words) == 1 and len(words[0]) == 1 and words[0].isascii():
        return False
    return words[0] not in function_words and words[-1] not in function_words


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


def same_family(term: str, other: str) -> bool:
    """Return whether two terms would repeat one another in a label: forms of one word, or a phrase and its word.

    No stemmer is asked, so this holds for any language: forms of a word share a long beginning.

    >>> same_family("printer", "printing"), same_family("oil", "oils"), same_family("new york", "york")
    (True, True, True)
    >>> same_family("soviet", "sovereign"), same_family("bank", "barrel")
    (False, False)
    """
    return any(_same_word(word, form) for word in term.split() for form in other.split())


def _same_word(word: str, form: str) -> bool:
    shorter, longer = sorted((word, form), key=len)
    common = 0
    for left, right in zip(shorter, longer, strict=False):
        if left != right:
            break
        common += 1
    if common == len(shorter):
        return len(longer) - common <= (5 if common >= 4 else 2 if common == 3 else 0)
    return common >= 4 and common >= 0.6 * len(longer)


def _unused(label: str, labels: Collection[str]) -> str:
    number = 2
    distinct = label
    while distinct in labels:
        distinct, number = f"{label} ({number})", number + 1
    return distinct
