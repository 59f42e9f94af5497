"""A few words and phrases that name a cluster, no two clusters by the same; which terms can stand there.

No sibling has the same label, no term repeats another one of its label, two labels share at most one term while there
are others, and a label whose words all stand in another one gets a further term.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, takewhile

from doccluster.labeling.description import LabelTerm
from doccluster.text.scripts import is_unspaced

_WORD = re.compile(r"\w+", re.UNICODE)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
# Korean particles, the verbs that stand for them, and forms of verbs that end a sentence
_KOREAN = re.compile(
    "에서|에게|으로|하[여고는다]|[한된했됐]다|되[어는다]|되었다|[있없][는다]|이다|였다|이었다|대한|위[해한]|통해|따라|인하여|인해|그리고|또는"
)
_HANGUL_FROM, _FINALS, _DOUBLE_S = 0xAC00, 28, 20  # syllables are numbered by their final letter last
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
MIN_OF_BEST = 0.1  # a term that says less than this part of what the best says stands in no label


def is_content(term: str, function_words: Collection[str]) -> bool:
    """Return whether a term may stand in a label: its words begin with letters, and no function word is at an end.

    A single letter counts as a word only in Chinese; hiragana alone, and a few Korean words, are endings and particles.

    >>> [is_content(term, {"of", "the"}) for term in ("Bank of England", "of the", "1987", "3rd", "B52", "x")]
    [True, False, False, False, True, False]
    >>> [is_content(term, ()) for term in ("水", "ម", "ない", "有する", "에서")]
    [True, False, False, True, False]
    """
    words = _WORD.findall(term.lower())
    if not words or not all(word[0].isalpha() for word in words):
        return False
    if _HIRAGANA.fullmatch(term) or is_korean_ending(term) or (len(term) == 1 and not _HAN.fullmatch(term)):
        return False
    return words[0] not in function_words and words[-1] not in function_words


def is_korean_ending(term: str) -> bool:
    """Return whether a term is a Korean particle or a verb at the end of a sentence, which name nothing.

    >>> [is_korean_ending(term) for term in ("에서", "입었다", "합니다", "캐나다")]
    [True, True, True, False]
    """
    past = term[-1:] == "다" and (ord(term[-2:-1] or "다") - _HANGUL_FROM) % _FINALS == _DOUBLE_S
    return bool(_KOREAN.fullmatch(term)) or past or term.endswith("니다")


def same_family(term: str, second_term: str) -> bool:
    """Return whether two terms would repeat one another in a label: forms of one word, or a phrase and its word.

    No stemmer is asked, so this holds for any language: forms of a word share a long beginning.

    >>> same_family("printer", "printing"), same_family("oil", "oils"), same_family("new york", "york")
    (True, True, True)
    >>> same_family("soviet", "sovereign"), same_family("bank", "barrel")
    (False, False)
    """
    return any(_same_word(word, form) for word in term.casefold().split() for form in second_term.casefold().split())


def _same_word(word: str, form: str) -> bool:
    if is_unspaced(word) and is_unspaced(form):
        return not set(pairwise(word)).isdisjoint(pairwise(form))  # two pieces of one string
    shorter, longer = sorted((word, form), key=len)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shorter, longer, strict=False)))
    if common == len(shorter):
        return len(longer) - common <= (5 if common >= 4 else 2 if common == 3 else 0)
    return common >= 4 and common >= 0.6 * len(longer)


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
    words_of: list[list[str]] = []
    for cluster, terms in enumerate(ranked):
        floor = MIN_OF_BEST * max((term.score for term in terms), default=0.0)
        words_of.append(_choose([term.term for term in terms if term.score >= floor], users, n_words))
        for term in words_of[-1]:
            users[term].append(cluster)
    having: defaultdict[str, set[int]] = defaultdict(set)
    for cluster, chosen in enumerate(words_of):
        for word in _words(chosen):
            having[word].add(cluster)
    labels: dict[str, None] = {}
    for cluster, (chosen, terms) in enumerate(zip(words_of, ranked, strict=True)):
        siblings = set.intersection(*(having[word] for word in _words(chosen))) - {cluster} if chosen else ()
        further = (
            [_telling(chosen, terms, [words_of[sibling] for sibling in siblings])] if len(chosen) < n_words else []
        )
        labels[_unused(", ".join(filter(None, chosen + further)) or f"cluster {cluster}", labels)] = None
    return list(labels)


def _telling(chosen: list[str], terms: Sequence[LabelTerm], siblings: Sequence[list[str]]) -> str:
    """Return the next term where a label says no more than one of its siblings; nothing where it does."""
    theirs = _words(term for label in siblings for term in label)
    candidates = (
        candidate.term for candidate in terms if not any(same_family(candidate.term, term) for term in chosen)
    )
    return next((term for term in candidates if siblings and not _words([term]) <= theirs), "")


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
        if any(same_family(term, chosen_term) for chosen_term in chosen) or any(
            shared[c] == shared_allowed for c in earlier
        ):
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
