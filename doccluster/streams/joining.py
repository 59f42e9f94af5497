"""Whether an article belongs to a story: a logistic model of a few features, learned from labelled streams.

The weights are shipped in `join_weights.json`, written by ``python -m experiments.streams learn``.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEATURES = ("one", "last", "mean_lead", "near_lead", "mean_place", "near_place", "meaning_lead")
LEAST_MEAN, LEAST_NEAR = 0.05, 0.1  # likeness that strangers can have; a rival that is less like counts as this one
DEEP = 100  # distinct words from which on an article says as much as any
MEMORY = 500.0  # articles that a likeness that is usual rests on at most
LEAST_APART = 0.02  # how far apart friends and strangers are taken to be at least
LEAST_MEANING_APART = 0.05
FIRST, FIRST_MEANING = 20.0, 2.0  # articles that what is usual at first weighs as much as; models differ in meaning


@dataclass(slots=True)
class Usual:
    """What likeness is usual in a stream: means of the mean likeness, the nearest and that of meaning, of late.

    `n` is how many articles they rest on.
    """

    mean: float
    near: float
    n: float = FIRST
    meaning: float = 0.0

    def learn(self, mean: float, near: float, meaning: float) -> None:
        """Take in one more; of what is long ago little is left."""
        self.n = min(self.n + 1, MEMORY)
        self.meaning += (meaning - self.meaning) / (self.n - FIRST + FIRST_MEANING)
        self.mean += (mean - self.mean) / self.n
        self.near += (near - self.near) / self.n


@dataclass(slots=True)
class Scale:
    """How alike strangers and friends are in a stream, in one language.

    Strangers are an article and the story most like it of those that it did not join; friends are an article and the
    story that it joined. Both differ much between kinds of news, and with them what likeness says.
    """

    strangers: Usual = field(default_factory=lambda: Usual(0.08, 0.15, meaning=0.3))
    friends: Usual = field(default_factory=lambda: Usual(0.35, 0.5, meaning=0.6))

    def mean_place(self, value: Any) -> Any:
        """Return where a mean likeness stands: 0 is that of strangers, 1 that of friends."""
        return _place(value, self.strangers.mean, self.friends.mean)

    def near_place(self, value: Any) -> Any:
        """Return where the likeness with the nearest article stands."""
        return _place(value, self.strangers.near, self.friends.near)

    def meaning_lead(self, lead: Any) -> Any:
        """Return how much a lead in meaning is: 1 is what lies between strangers and friends."""
        return np.clip(lead / max(self.friends.meaning - self.strangers.meaning, LEAST_MEANING_APART), -1.0, 1.0)


def _place(value: Any, stranger: float, friend: float) -> Any:
    return np.clip((value - stranger) / max(friend - stranger, LEAST_APART), -1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How an article is like stories, as numbers or arrays of them; none depends on how many articles a story has.

    Attributes
    ----------
    mean : float
        The mean cosine with the story's articles, each weighing half as much after the half-life.
    near : float
        The greatest cosine with one of the story's newest articles.
    meaning : float
        The mean cosine of meaning with the story's articles; 0 where nothing is known of it.
    last : float
        exp(-x^2 / 2), where x is the time to the story's articles over 72 hours.
    mean_rival, near_rival, meaning_rival : float
        The greatest `mean`, `near` and `meaning` of the article with another story. How alike two articles of one story
        are differs much between kinds of news; how far their story leads does not.
    n_words : int
        Distinct words of the article: two short texts can be alike by chance.
    """

    mean: Any
    near: Any
    meaning: Any
    last: Any
    mean_rival: Any
    near_rival: Any
    meaning_rival: Any
    n_words: int

    def features(self, scale: Scale) -> tuple[Any, ...]:
        """Return the values of `FEATURES`."""
        deep = depth(self.n_words)
        mean_lead = deep * self.mean / (self.mean + np.maximum(self.mean_rival, LEAST_MEAN))
        near_lead = deep * self.near / (self.near + np.maximum(self.near_rival, LEAST_NEAR))
        places = scale.mean_place(self.mean), scale.near_place(self.near)
        meaning_lead = (1 - deep) * scale.meaning_lead(self.meaning - self.meaning_rival)
        return 1.0, self.last, mean_lead, near_lead, *places, meaning_lead


def depth(n_words: int) -> float:
    """Return how much an article says, by its number of distinct words.

    >>> depth(1), depth(10), depth(500)
    (0.0, 0.5, 1.0)
    """
    return math.log(min(max(n_words, 1), DEEP)) / math.log(DEEP)


def join_score(likeness: Likeness, scale: Scale, coefficients: Floats) -> Any:
    """Return the logit of the probability that the article belongs to the story: a float, or an array of them."""
    features = likeness.features(scale)
    return sum(value * weight for value, weight in zip(features, coefficients.tolist(), strict=True))


def probability(score: float) -> float:
    """Return the probability for a logit.

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, score))))


def logit(share: float) -> float:
    """Return the score for a probability.

    >>> logit(0.5)
    0.0
    """
    return math.log(share / (1 - share))


@cache
def shipped_coefficients() -> Floats:
    """Return the weights of the features that come with the package, float64 array of shape (7,)."""
    shipped = json.loads((files("doccluster.streams") / "join_weights.json").read_text(encoding="utf-8"))
    assert tuple(shipped["features"]) == FEATURES
    return np.array(shipped["coefficients"], dtype=np.float64)
