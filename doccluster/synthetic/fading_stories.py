"""Stories that start, peak and fade: which of them is being written about at each moment of a period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doccluster.base.arrays import Floats, Integers
from doccluster.base.plain_values import ShortRepr

_MAX_WIDTHS = 12.0  # in units of the width: x exp(1 - x) is below 2e-4 of the peak from there on
_MAX_MOMENTS = 4096  # the period is cut into at most this many moments within which the choice does not change


@dataclass(frozen=True, eq=False, repr=False)
class Stories(ShortRepr):
    """The stories of a period of length 1.

    `starts`, `widths` of shape (n_stories,): a story is written about with intensity size * x exp(1 - x), x = (time -
    start) / width: it peaks one width after its start.
    """

    topics: Integers  # of shape (n_stories,): the topic of each story
    starts: Floats
    widths: Floats
    sizes: Floats  # of shape (n_stories,)

    @classmethod
    def draw(cls, n_stories: int, n_topics: int, generator: np.random.Generator) -> Stories:
        """Return stories spread over the period; the first `n_topics` have one topic each."""
        topics = np.concatenate([np.arange(n_topics), generator.integers(0, n_topics, n_stories - n_topics)])
        starts = generator.uniform(-0.05, 0.98, n_stories)
        starts[0] = -0.02  # something has begun when the period begins
        widths = 0.02 * np.exp(0.7 * generator.standard_normal(n_stories))
        sizes = np.exp(0.8 * generator.standard_normal(n_stories))
        return cls(topics.astype(np.int64), starts, widths, sizes)

    def intensities(self, time: float) -> tuple[Integers, Floats]:
        """Return the stories that are being written about at a time in [0, 1], and how much (sum 1)."""
        ages = (time - self.starts) / self.widths
        active = np.flatnonzero((ages > 0) & (ages < _MAX_WIDTHS))
        if not active.size:  # a gap: the story nearest to its peak
            return np.array([int(np.argmin(np.abs(ages - 1)))]), np.ones(1)
        weights = self.sizes[active] * ages[active] * np.exp(1 - ages[active])
        return active, weights / weights.sum()

    def choose(self, numbers: Integers, n_documents: int, uniforms: Floats) -> Integers:
        """Return the story of each document, given its number in order of time and a uniform number for each."""
        n_moments = min(n_documents, _MAX_MOMENTS)
        moments = numbers * n_moments // n_documents
        chosen = np.empty(numbers.size, dtype=np.int64)
        for moment in np.unique(moments):
            active, weights = self.intensities((moment + 0.5) / n_moments)
            here = moments == moment
            picked = np.searchsorted(np.cumsum(weights), uniforms[here], side="right")
            chosen[here] = active[np.minimum(picked, active.size - 1)]
        return chosen
