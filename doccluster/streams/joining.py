"""Whether an article belongs to a story: a logistic model of a few features, learned from labelled streams.

The weights are shipped in `join_weights.json`, written by ``python -m experiments.streams learn``.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEATURES = ("one", "title", "both", "names", "near", "last", "first", "both_last", "one_over_n", "lead")
MOST_COUNTED = 100
LEAST_RIVAL = 0.1  # a cosine that unrelated articles can have; a rival that is less like counts as this one
DEEP = 100  # distinct words from which on the lead of a story counts in full


@dataclass(frozen=True, slots=True)
class Likeness:
    """How an article is like a story, as numbers in [0, 1], or like several, as arrays of them.

    Attributes
    ----------
    title, both, names : float
        Cosines of the article with the story's sum, by field. Where one of the two has no title, or no names, the
        cosine of all words stands in.
    near : float
        The greatest cosine with one of the story's newest members.
    last, first : float
        exp(-x^2 / 2), where x is the time since the story's last (first) article over 72 hours.
    n : int
        How many families of articles the story has.
    rival : float
        The greatest cosine, of all words, of the article with another story. How alike two articles of one story are
        differs much between kinds of news; how far their story leads does not, given enough words.
    depth : float
        ln of the distinct words of the article over ln 100, at most 1: two short texts can be alike by chance.
    """

    title: Any
    both: Any
    names: Any
    near: Any
    last: Any
    first: Any
    n: Any
    rival: Any
    depth: float

    def features(self) -> tuple[Any, ...]:
        """Return the values of `FEATURES`."""
        lead = self.depth * (self.both / (self.both + np.maximum(self.rival, LEAST_RIVAL)))
        rest = (self.both * self.last, 1 / np.minimum(self.n, MOST_COUNTED), lead)
        return (1.0, self.title, self.both, self.names, self.near, self.last, self.first, *rest)


def depth(n_words: int) -> float:
    """Return how much the lead of a story counts for an article, by its number of distinct words.

    >>> depth(1), depth(10), depth(500)
    (0.0, 0.5, 1.0)
    """
    return math.log(min(max(n_words, 1), DEEP)) / math.log(DEEP)


def join_score(likeness: Likeness, coefficients: Floats) -> Any:
    """Return the logit of the probability that the article belongs to the story: a float, or an array of them."""
    return sum(value * weight for value, weight in zip(likeness.features(), coefficients.tolist(), strict=True))


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
    """Return the weights of the features that come with the package, float64 array of shape (10,)."""
    shipped = json.loads((files("doccluster.streams") / "join_weights.json").read_text(encoding="utf-8"))
    assert tuple(shipped["features"]) == FEATURES
    return np.array(shipped["coefficients"], dtype=np.float64)
