"""A few words that name a cluster, chosen apart from the terms it was clustered by.

A label has no function words, no numbers, no word that is everywhere, no two forms of one word, no word of a single
document, and no sibling has the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from doccluster.labeling.profiles import ClusterProfiles, Integers, entries, largest_per_row
from doccluster.text.scripts import is_unspaced

N_CANDIDATES = 60
MIN_SHARE_OF_DOCUMENTS = 0.1
MIN_SHARE_KNOWN = 0.02  # where no word is in a tenth
MAX_SHARE_OUTSIDE = 0.1  # a word in more of the other documents than this says nothing about a cluster
MAX_SHARE_OF_ALL = 0.25  # nor does a word in more of all documents, unless it is in hardly any but the cluster's
MIN_LIFT = 2.0  # how many times as common a word must be in the cluster as outside it
NEARLY_ALL = 0.9

LongerStrings = Callable[[int, Sequence[str]], Mapping[str, str]]

_WORD = re.compile(r"\w+", re.UNICODE)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def short_labels(
    profiles: ClusterProfiles,
    names: npt.NDArray[np.object_] | None,
    *,
    function_words: Collection[str] = frozenset(),
    n_words: int = 3,
    longer: LongerStrings | None = None,
) -> list[str]:
    """Return one label per cluster, all different; ``cluster 3`` where no term can be shown.

    Parameters
    ----------
    profiles : ClusterProfiles
    names : array of str of shape (n_terms,), or None
        The written form of each column.
    function_words : collection of str
        Words that may not stand in a label (lower case).
    n_words : int
        At most so many terms in a label.
    longer : function (cluster, terms) -> mapping of term to string, optional
        What to show in place of some terms of a cluster (see `recurring_strings`).

    Notes
    -----
    Terms are ranked by ``(c_t - r_t) ** 2 / (c_t + r_t)``: heavy in the cluster, rare outside. A term must be in a
    tenth of the cluster's documents and in two of them, in at most a tenth of the other documents and a quarter of all,
    and at least twice as common inside as outside; where no term is all that, some of it is given up, but a word that
    is everywhere is never taken. Two labels share at most one term while there are others.
    """
    if names is None:
        return [f"cluster {cluster}" for cluster in range(profiles.n_clusters)]
    users: defaultdict[str, list[int]] = defaultdict(list)
    labels: dict[str, None] = {}
    for cluster, (columns, _) in enumerate(largest_per_row(profiles.label_scores(), N_CANDIDATES)):
        ranked = _ranked(profiles, cluster, columns, names, function_words)
        shown = longer(cluster, ranked) if longer is not None else {}
        ranked = [shown.get(term, term) for term in ranked if is_content(shown.get(term, term), function_words)]
        chosen = _choose(list(dict.fromkeys(ranked)), users, n_words)
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
    """Return the candidates of one cluster, best first: those that tell it from the others, or all that can be read."""
    terms = [str(names[column]) for column in columns]
    # a piece of a word is judged when it has been made longer
    readable = np.array([is_unspaced(term) or is_content(term, function_words) for term in terms], dtype=bool)
    size, n_others = int(profiles.sizes[cluster]), int(profiles.sizes.sum() - profiles.sizes[cluster])
    support = entries(profiles.support, cluster, columns)
    frequency = profiles.document_frequency[columns]
    inside, outside = support / size, (frequency - support) / max(n_others, 1)
    supported = support >= min(max(2, int(np.ceil(MIN_SHARE_OF_DOCUMENTS * size))), size)
    telling = (outside <= MAX_SHARE_OUTSIDE) & (inside >= MIN_LIFT * outside)
    marks = (inside >= NEARLY_ALL) & (support >= NEARLY_ALL * frequency)
    rare = frequency <= np.where(marks, 0.5, MAX_SHARE_OF_ALL) * (size + n_others)
    known = support >= min(max(2, MIN_SHARE_KNOWN * size), size)
    for wanted in (supported & telling & rare, supported & rare, supported & telling, known & telling & rare):
        if (readable & wanted).any():
            return [terms[place] for place in np.flatnonzero(readable & wanted)]
    return []


def is_content(term: str, function_words: Collection[str]) -> bool:
    """Return whether a term may stand in a label: its words begin with letters, and no function word is at an end.

    A single letter is no word unless it is Chinese, and hiragana alone are endings and particles.

    >>> [is_content(term, {"of", "the"}) for term in ("Bank of England", "of the", "1987", "3rd", "B52", "x")]
    [True, False, False, False, True, False]
    >>> [is_content(term, ()) for term in ("水", "ម", "ない", "有する")]
    [True, False, False, True]
    """
    words = _WORD.findall(term.lower())
    if not words or not all(word[0].isalpha() for word in words):
        return False
    if _HIRAGANA.fullmatch(term) or (len(term) == 1 and not _HAN.fullmatch(term)):
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
    return any(_same_word(word, form) for word in term.casefold().split() for form in other.casefold().split())


def _same_word(word: str, form: str) -> bool:
    if is_unspaced(word) and is_unspaced(form):
        return not set(pairwise(word)).isdisjoint(pairwise(form))  # two pieces of one string
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
