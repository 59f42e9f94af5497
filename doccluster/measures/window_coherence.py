"""Coherence of topics by a window that slides over the texts: C_v, C_NPMI and C_UCI of Roeder and others 2015.

A window is a run of tokens of a text, a shorter text one window. How likely words are, alone and together, is the share
of all windows that have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np

from doccluster.base.arrays import Floats, Integers
from doccluster.base.validation import check_choice, check_positive_int
from doccluster.errors import InputError

WindowMeasure = Literal["c_v", "c_npmi", "c_uci"]
WINDOWS = {"c_v": 110, "c_npmi": 10, "c_uci": 10}  # tokens
EPSILON = 1e-12  # added to the probability of two words together
WINDOWS_AT_A_TIME = 4_096


def window_coherence(
    topics: Sequence[Sequence[str]],
    texts: Iterable[Sequence[str]],
    *,
    measure: WindowMeasure = "c_v",
    window: int | None = None,
) -> Floats:
    """Return the coherence of each topic by how its words share windows of the texts.

    Parameters
    ----------
    topics : the top words of each topic
    texts : the tokens of each text, in their order
    measure : {"c_v", "c_npmi", "c_uci"}
        "c_npmi": the mean normalised pointwise mutual information of all pairs, -1 to 1; "c_uci" the same not
        normalised; "c_v": the mean cosine of each word's vector of NPMI with the topic's words to the sum of these
        vectors, near 0 to 1.
    window : int, optional
        How many tokens; by default 110 for "c_v", 10 for the others.

    Returns
    -------
    float64 array of shape (n_topics,)
        nan for a topic of which fewer than two words occur.

    Raises
    ------
    InputError
        If the measure is not known, or there are no texts with tokens.

    Notes
    -----
    Source: Roeder, Both & Hinneburg 2015, Exploring the space of topic coherence measures. Equal to gensim 4.4's
    `CoherenceModel` (same epsilon, boolean windows) where no word comes twice within a window; of words that do,
    gensim misses windows: of "a b a b a" it finds two of three windows of three tokens that have "a".

    Examples
    --------
    >>> texts = [["rye", "bread", "oven"], ["rye", "oven"], ["sea", "boat"], ["sea", "bread"]]
    >>> window_coherence([["rye", "oven"], ["rye", "sea"]], texts, measure="c_npmi").round(2).tolist()
    [1.0, -0.95]
    """
    check_choice(measure, get_args(WindowMeasure), "measure")
    size = check_positive_int(WINDOWS[measure] if window is None else window, "window")
    counts, n_windows = _count_windows([list(dict.fromkeys(words)) for words in topics], texts, size)
    if not n_windows:
        raise InputError("there are no texts with tokens to count windows of", remedy="give at least one")
    score = _cosine_coherence if measure == "c_v" else _pair_coherence
    return np.array([score(count / n_windows, is_normalised=measure != "c_uci") for count in counts])


def _count_windows(
    topics: Sequence[Sequence[str]], texts: Iterable[Sequence[str]], size: int
) -> tuple[list[Integers], int]:
    """Return for each topic in how many windows each pair of its words is (alone on the diagonal), and all windows."""
    words = {word: number for number, word in enumerate(dict.fromkeys(word for topic in topics for word in topic))}
    topics_of: list[list[tuple[int, int]]] = [[] for _ in words]  # and the place of the word in them
    for topic, topic_words in enumerate(topics):
        for place, word in enumerate(topic_words):
            topics_of[words[word]].append((topic, place))
    counts = [np.zeros((len(topic_words), len(topic_words)), np.int64) for topic_words in topics]
    n_windows = 0
    for tokens in texts:
        if not len(tokens):
            continue
        n_of_text = max(1, len(tokens) - size + 1)
        n_windows += n_of_text
        found = [(words[token], place) for place, token in enumerate(tokens) if token in words]
        if not found:
            continue
        numbers, places = np.array(found).T
        present, rows = np.unique(numbers, return_inverse=True)
        by_topic: dict[int, list[tuple[int, int]]] = {}
        for row, number in enumerate(present.tolist()):
            for topic, place in topics_of[number]:
                by_topic.setdefault(topic, []).append((row, place))
        for start in range(0, n_of_text, WINDOWS_AT_A_TIME):
            together = _together(rows, places, len(present), start, min(start + WINDOWS_AT_A_TIME, n_of_text), size)
            for topic, pairs in by_topic.items():
                chosen, at = np.array(pairs).T
                counts[topic][np.ix_(at, at)] += together[np.ix_(chosen, chosen)]
    return counts, n_windows


def _together(rows: Integers, places: Integers, n_words: int, first: int, end: int, size: int) -> Integers:
    """Return in how many of the windows that start from `first` on and before `end` each pair of words is."""
    # a word at a place is in the windows that start at most `size` - 1 before it: mark where that begins and ends
    begins, ends = np.clip(places - size + 1, first, end) - first, np.clip(places + 1, first, end) - first
    changes = np.zeros((n_words, end - first + 1), np.int64)
    np.add.at(changes, (rows, begins), 1)
    np.add.at(changes, (rows, ends), -1)
    has_word = (changes.cumsum(axis=1)[:, :-1] > 0).astype(np.float32)  # products of counts below 2^24 are exact
    together: Integers = np.rint(has_word @ has_word.T).astype(np.int64)
    return together


def _log_ratios(share: Floats, *, is_normalised: bool) -> Floats:
    """Return the pointwise mutual information of each pair of words, normalised or not; nan where one never occurs."""
    alone = np.diag(share)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: Floats = np.log((share + EPSILON) / np.outer(alone, alone))
        if is_normalised:
            ratios /= -np.log(share + EPSILON)
    ratios[alone == 0] = ratios[:, alone == 0] = np.nan
    return ratios


def _pair_coherence(share: Floats, *, is_normalised: bool) -> float:
    occurs = np.diag(share) > 0
    ratios = _log_ratios(share[np.ix_(occurs, occurs)], is_normalised=is_normalised)
    if len(ratios) < 2:
        return float("nan")
    return float(ratios[~np.eye(len(ratios), dtype=bool)].mean())


def _cosine_coherence(share: Floats, *, is_normalised: bool) -> float:
    occurs = np.diag(share) > 0
    vectors = _log_ratios(share[np.ix_(occurs, occurs)], is_normalised=is_normalised)
    if len(vectors) < 2:
        return float("nan")
    of_topic = vectors.sum(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(of_topic)
    cosines = np.divide(vectors @ of_topic, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return float(cosines.mean())
