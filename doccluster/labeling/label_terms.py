"""Which words and phrases name a cluster, best first, and a few of them as its label, on one level or on several.

A candidate is scored by the mutual information of having it and of being in the cluster, times the share of the cluster
that a search for it brings back. No sibling has the same label, no term repeats another one of its label, two labels
share at most one term while there are others, and a label whose words all stand in another one gets a further term.

Of nested clusters a parent's label is what its parts share; of at most five parts it covers them: where they share
little, it has a word of each of the largest. There a word counts by the share of the parent's documents that have it
and none of the words before it, by how few siblings have it, and twice if it is spread over the parts as their
documents are. Parts do not repeat what they share; a part of at most half of the parent keeps a word that is its own. A
cluster that is all of its parent is called the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Floats, Integers, Matrix
from doccluster.base.progress import LOOPS
from doccluster.geometry import as_documents
from doccluster.geometry.partition import Partition
from doccluster.labeling.label_phrases import LabelPhrases, LabelQueries, TitleCounts
from doccluster.labeling.profiles import (
    ClusterDescription,
    ClusterProfiles,
    LabelTerm,
    entries,
    largest_per_row,
    mutual_information,
)
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
FEW_PARTS = 5  # parts, or fewer, a label of three terms can cover; of more it says what they share
CLARITY = 0.7  # the power of it that counts for a parent: shared words are commoner elsewhere than those of one part
OF_ONE_PART = 2 / 3  # of the documents that have a word: it is a name of that part, not of the whole
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
    rows: Matrix | None = None,
    partition: Partition | None = None,
    phrases: LabelPhrases | None = None,
    in_titles: TitleCounts | None = None,
    function_words: Collection[str] = frozenset(),
    longer: LongerStrings | None = None,
    term_factors: Floats | None = None,
) -> list[tuple[LabelTerm, ...]]:
    """Return for each cluster the words and phrases that name it, best first, at most 20; none without names.

    `names` of shape (n_terms,): the written form of each column. `rows`, `partition` of shape (n_documents, n_terms):
    with them candidates are tried as queries. `function_words`: words that may not stand in a label (lower case).
    `longer`: what to show in place of some terms of a cluster (see `recurring_strings`). `term_factors` of shape
    (n_terms,): what each term counts for (see `DocumentVectors`), a phrase as the least of its terms.

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
    if term_factors is not None:
        scores.data *= term_factors[scores.indices]
    unfit = function_words if phrases is None else phrases.unfit.union(function_words)
    n_having = None if phrases is None else np.asarray(phrases.support.sum(axis=0), dtype=np.float64)
    candidates_of = []
    for cluster, (columns, values) in enumerate(largest_per_row(scores, N_CANDIDATES)):
        words = _words(profiles, cluster, columns, values, names, unfit)
        of_phrases = _phrases_of(phrases, n_having, profiles, cluster)
        if term_factors is not None:
            of_phrases = [
                replace(phrase, score=phrase.score * float(term_factors[list(phrase.columns)].min()))
                for phrase in of_phrases
            ]
        candidates_of.append(_with_phrases(words, of_phrases)[:N_SEARCHED])
    factors: list[Callable[[Sequence[int], int], float]] = []
    if rows is not None and partition is not None:
        columns_searched = {
            column for candidates in candidates_of for candidate in candidates for column in candidate.columns
        }
        matrix = as_documents(rows, name="rows").matrix
        factors.append(LabelQueries.of_partition(matrix, partition, columns_searched).share_found)
    if in_titles is not None:
        factors.append(in_titles.factor)
    return [
        _shown(candidates, cluster, int(profiles.sizes[cluster]), factors, function_words, longer)
        for cluster, candidates in enumerate(LOOPS.over(candidates_of))
    ]


def _shown(
    candidates: list[_Candidate],
    cluster: int,
    size: int,
    factors: Sequence[Callable[[Sequence[int], int], float]],
    function_words: Collection[str],
    longer: LongerStrings | None,
) -> tuple[LabelTerm, ...]:
    """Return the candidates as terms of a label, those first whose score times all factors is largest."""
    for factor in factors:
        candidates = [
            replace(candidate, score=candidate.score * factor(candidate.columns, cluster)) for candidate in candidates
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
    # rules that are less and less strict, until a cluster has a word at all
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
    phrases: LabelPhrases | None, n_having: Floats | None, profiles: ClusterProfiles, cluster: int
) -> list[_Candidate]:
    """Return the phrases that tell a cluster from the others; `n_having`: how many documents have each phrase."""
    if phrases is None or n_having is None:
        return []
    entry_slice = slice(phrases.support.indptr[cluster], phrases.support.indptr[cluster + 1])
    columns, support = phrases.support.indices[entry_slice], phrases.support.data[entry_slice]
    frequency = n_having[columns]
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
        for word in _words_in(chosen):
            having[word].add(cluster)
    labels: dict[str, None] = {}
    for cluster, (chosen, terms) in enumerate(zip(words_of, ranked, strict=True)):
        siblings = set.intersection(*(having[word] for word in _words_in(chosen))) - {cluster} if chosen else ()
        further = (
            [_telling(chosen, terms, [words_of[sibling] for sibling in siblings])] if len(chosen) < n_words else []
        )
        labels[_unused(", ".join(filter(None, chosen + further)) or f"cluster {cluster}", labels)] = None
    return list(labels)


def _telling(chosen: list[str], terms: Sequence[LabelTerm], siblings: Sequence[list[str]]) -> str:
    """Return the next term where a label says no more than one of its siblings; nothing where it does."""
    theirs = _words_in(term for label in siblings for term in label)
    candidates = (
        candidate.term for candidate in terms if not any(same_family(candidate.term, term) for term in chosen)
    )
    return next((term for term in candidates if siblings and not _words_in([term]) <= theirs), "")


def _words_in(terms: Iterable[str]) -> set[str]:
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


Parents = npt.NDArray[np.int64]
Described = Sequence[ClusterDescription]


def label_levels(levels: Sequence[Described], parents: Sequence[Parents]) -> list[tuple[ClusterDescription, ...]]:
    """Return the clusters of nested levels, the coarsest first, with labels that fit the tree.

    `parents[i]` of shape (k,) says which cluster of level i each cluster of level i + 1 is part of. On each level
    labels are distinct. A name that a person gave stays.
    """
    labeled: list[tuple[ClusterDescription, ...]] = []
    above: Described = ()
    for place, clusters in enumerate(levels):
        candidates = [cluster.label_terms for cluster in clusters]
        if place + 1 < len(levels):
            candidates = _of_the_whole(clusters, levels[place + 1], parents[place])
        if place:
            candidates = _not_repeating(candidates, clusters, above, parents[place - 1])
        labels = short_labels(candidates)
        labeled.append(
            tuple(
                cluster if cluster.name or not cluster.label_terms else replace(cluster, label=label)
                for cluster, label in zip(clusters, labels, strict=True)
            )
        )
        pairs = zip(labeled[-1], candidates, strict=True)
        above = [replace(cluster, label_terms=terms) for cluster, terms in pairs]
    return labeled


def _of_the_whole(clusters: Described, parts: Described, parents: Parents) -> list[tuple[LabelTerm, ...]]:
    """Return the candidates of each cluster in a new order: so that the first of them are of as many parts as can be.

    Of a few parts a candidate counts by what it adds to the share of the documents that have one of those before it, by
    how well it tells the cluster from its siblings, and up to twice where it is spread over the parts; of many parts by
    its score, times one less its excess in one of them.
    """
    n_documents = sum(cluster.size for cluster in clusters)
    candidates = []
    for cluster in clusters:
        children = [parts[number] for number in np.flatnonzero(parents == cluster.cluster).tolist()]
        terms = cluster.label_terms
        candidates.append(_covering(cluster, children, n_documents) if len(children) > 1 and terms else terms)
    return candidates


def _covering(cluster: ClusterDescription, children: Described, n_documents: int) -> tuple[LabelTerm, ...]:
    terms = cluster.label_terms
    sizes = np.array([child.size for child in children], dtype=np.float64)
    shares = sizes / max(sizes.sum(), 1.0)
    coverage = np.array([_coverage_of_parts(term, children, sizes) for term in terms])
    excess = np.array([_excess(row * shares, shares) for row in coverage])
    if len(children) > FEW_PARTS:
        ranked = [replace(term, score=term.score * (1.0 - over)) for term, over in zip(terms, excess, strict=True)]
        return tuple(sorted(ranked, key=lambda term: -term.score))
    clarity = np.array([_clarity(term, float(sizes.sum()), n_documents) for term in terms])
    worth = clarity**CLARITY * (2.0 - excess)
    uncovered, left, ordered = shares.copy(), list(range(len(terms))), []
    while left:
        gains = worth[left] * (coverage[left] @ uncovered)
        best = left.pop(int(gains.argmax()))
        # what is added falls fast: its root is compared with that of the best
        ordered.append(replace(terms[best], score=float(np.sqrt(gains.max()))))
        uncovered *= 1.0 - coverage[best]
    return tuple(ordered)


def _coverage_of_parts(term: LabelTerm, children: Described, sizes: Floats) -> Floats:
    """Return the share of the documents of each part that have a term; what no part tells is spread over the others."""
    told = [
        {candidate.term: candidate.coverage for candidate in child.label_terms}.get(term.term) for child in children
    ]
    is_told = np.array([value is not None for value in told])
    coverage = np.array([value or 0.0 for value in told])
    n_left = max(term.coverage * sizes.sum() - coverage @ sizes, 0.0)
    n_untold = sizes[~is_told].sum()
    coverage[~is_told] = min(n_left / n_untold, 1.0) if n_untold > 0 else 0.0
    return coverage


def _clarity(term: LabelTerm, size: float, n_documents: int) -> float:
    """Return the score of a term as a share of what it would be if no document outside the cluster had it, 0 to 1."""
    having = np.array([term.coverage * size])
    most = float(mutual_information(having, having, np.array([size]), n_documents)[0]) * term.coverage
    return min(term.score / most, 1.0) if most > 0 else 1.0


def _excess(having: Floats, shares: Floats) -> float:
    """Return how much more of a term's documents one part has than of all documents, 0 to 1."""
    total = having.sum()
    if total <= 0:
        return 0.0
    return float(np.divide(having / total - shares, 1.0 - shares, out=np.zeros_like(shares), where=shares < 1).max())


def _not_repeating(
    candidates: Sequence[tuple[LabelTerm, ...]], clusters: Described, above: Described, parents: Parents
) -> list[tuple[LabelTerm, ...]]:
    """Return the candidates that repeat no word of the parent's label but those of a smaller part itself.

    All are returned where none would be left, and an only part takes over those of its parent.
    """
    n_parts = np.bincount(parents, minlength=len(above))
    remaining = []
    for terms, cluster, parent in zip(
        candidates, clusters, [above[number] for number in parents.tolist()], strict=True
    ):
        n_having = {term.term: term.coverage * parent.size for term in parent.label_terms}
        own = {
            term.term
            for term in cluster.label_terms
            if 2 * cluster.size <= parent.size
            and term.coverage * cluster.size >= OF_ONE_PART * n_having.get(term.term, np.inf)
        }
        shared = [word for word in parent.label.split(", ") if word not in own]
        new = tuple(term for term in terms if not any(same_family(term.term, word) for word in shared))
        remaining.append((new or terms) if n_parts[parent.cluster] > 1 else parent.label_terms)
    return remaining
