"""The words of a made news stream: subjects with names of their own, outlets with phrases of theirs, reprints."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from doccluster.lab.synthetic.zipf import invented_words

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MIN_ALIKE = 0.85  # Jaccard index of the five-word shingles of a reprint with its original
_FLATTENING = 2.7  # of Zipf's law as Mandelbrot has it: p ~ 1 / (rank + 2.7)
_COMMONEST = 100  # ranks that no topic has as its own
_TOPIC_WORDS = 800
_NAMES, _SUBJECT_WORDS = 10, 20
_SENTENCE = 14  # words of a sentence, on average
_SHINGLE = 5
MIN_VOCABULARY = 2 * (_COMMONEST + _TOPIC_WORDS)


@dataclass(frozen=True, eq=False)
class NewsWords:
    """Which words the whole stream, its topics and its subjects use; words are numbered by rank.

    Attributes
    ----------
    words : list of str
    topics : int64 array of shape (n_topics, 800)
    subjects : int64 array of shape (n_subjects, 30)
        Ten rare words that stand for names, then words of the subject's topic.
    topic_of : int64 array of shape (n_subjects,)
    """

    words: list[str]
    topics: Ints
    subjects: Ints
    topic_of: Ints

    @classmethod
    def draw(cls, n_words: int, n_topics: int, n_subjects: int, generator: np.random.Generator) -> NewsWords:
        """Return words with the preferences of topics and subjects drawn at random."""
        rest = n_words - _COMMONEST
        topics = np.stack([generator.choice(rest, _TOPIC_WORDS, replace=False) for _ in range(n_topics)]) + _COMMONEST
        topic_of = generator.integers(0, n_topics, n_subjects)
        subjects = np.empty((n_subjects, _NAMES + _SUBJECT_WORDS), dtype=np.int64)
        for subject, topic in enumerate(topic_of.tolist()):
            subjects[subject, :_NAMES] = generator.integers(n_words // 2, n_words, _NAMES)
            subjects[subject, _NAMES:] = generator.choice(topics[topic], _SUBJECT_WORDS, replace=False)
        return cls(invented_words(n_words), topics.astype(np.int64), subjects, topic_of.astype(np.int64))

    def draw_text(
        self,
        subjects: tuple[int, ...],
        length: int,
        *,
        background: float,
        subject_share: float,
        generator: np.random.Generator,
    ) -> list[str]:
        """Return the words of a text: of the whole vocabulary, of a topic, and of subjects in equal parts."""
        origin = generator.random(length)
        own = generator.choice(np.array(subjects), length)
        words = _ranks(len(self.words), length, generator)
        of_topic = self.topics[self.topic_of[own], _ranks(_TOPIC_WORDS, length, generator)]
        places = generator.integers(0, self.subjects.shape[1], length)
        words = np.where(origin < background, words, of_topic)
        is_own = origin >= 1.0 - subject_share
        words = np.where(is_own, self.subjects[own, places], words)
        is_name = is_own & (places < _NAMES)
        return self._spelled(words, is_name)

    def draw_title(self, subjects: tuple[int, ...], generator: np.random.Generator) -> str:
        """Return a title: two names and four words of subjects."""
        own = generator.choice(np.array(subjects), 6)
        places = np.r_[generator.integers(0, _NAMES, 2), generator.integers(_NAMES, self.subjects.shape[1], 4)]
        spelled = self._spelled(self.subjects[own, places], places < _NAMES)
        return _capitalized(" ".join(spelled[place] for place in generator.permutation(6)))

    def draw_phrase(self, length: int, generator: np.random.Generator) -> list[str]:
        """Return some words of the whole vocabulary: what an outlet puts under every article."""
        return self._spelled(_ranks(len(self.words), length, generator), np.zeros(length, bool))

    def _spelled(self, words: Ints, is_name: npt.NDArray[np.bool_]) -> list[str]:
        spelled = [self.words[word] for word in words.tolist()]
        return [word.capitalize() if name else word for word, name in zip(spelled, is_name.tolist(), strict=True)]


def edited(text: list[str], n_changed: int, lead: list[str]) -> list[str]:
    """Return a reprint: half of `n_changed` words are cut off the end, the others replaced by a new lead.

    >>> edited("the mayor opens a bridge today".split(), 4, "two cut ribbon".split())
    ['two', 'cut', 'opens', 'a']
    """
    n_lead = n_changed - n_changed // 2
    return [*lead[:n_lead], *text[n_lead : len(text) - n_changed // 2]]


def written(words: list[str], generator: np.random.Generator) -> str:
    """Return words as sentences."""
    ends = np.flatnonzero(generator.random(len(words)) < 1 / _SENTENCE) + 1
    edges = sorted({0, *ends.tolist(), len(words)})
    pieces = [" ".join(words[start:stop]) for start, stop in itertools.pairwise(edges)]
    return " ".join(f"{_capitalized(piece)}." for piece in pieces)


def likeness(one: list[str], other: list[str]) -> float:
    """Return the Jaccard index of the five-word shingles of two texts, without regard to capitals.

    >>> likeness("a b c d e f".split(), "A b c d e g".split())
    0.3333333333333333
    """
    first, second = (
        {tuple(words[place : place + _SHINGLE]) for place in range(max(1, len(words) - _SHINGLE + 1))}
        for words in ([word.lower() for word in one], [word.lower() for word in other])
    )
    return len(first & second) / len(first | second)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ranks(n: int, size: int, generator: np.random.Generator) -> Ints:
    """Return ranks below `n` by Zipf's law."""
    return np.searchsorted(_edges(n), generator.random(size), side="right").astype(np.int64)


@lru_cache(8)
def _edges(n: int) -> Floats:
    """Return the upper ends of the intervals of [0, 1) that stand for the ranks."""
    edges: Floats = np.cumsum(1 / (np.arange(1, n + 1) + _FLATTENING))
    edges /= edges[-1]
    return edges[:-1]
