"""The sums of a few articles apart from the index, bit for bit as the index would have them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import Floats
from doccluster.streams.story import Story


class StorySums:
    """The sums of a story's members, for a few comparisons: to put them into the index would take longer.

    Each number is added up in the order in which the index adds it, and so is the same.

    Parameters
    ----------
    story : Story
        It need not be in the index.

    Attributes
    ----------
    squares : float64 array of shape (3,)
        The squared lengths of the sums, by field.
    """

    def __init__(self, story: Story, half_life: float) -> None:
        self.story = story
        self._ids = np.unique(np.concatenate([one.vectors.ids for one in story.members]))
        self._sums = np.zeros((self._ids.size, 3), dtype=np.float64)
        changes = [np.zeros((1, 3), dtype=np.float64)]
        for one in story.members:
            places = np.searchsorted(self._ids, one.vectors.ids)
            before = self._sums[places]
            after = before + story.factor(one.time, half_life) * one.vectors.values.astype(np.float64)
            self._sums[places] = after
            changes.append(after * after - before * before)
        self.squares = _added_up(np.concatenate(changes))

    def products(self, vectors: WeightedTerms) -> Floats:
        """Return the products of an article with the sums, by field: float64 array of shape (3,)."""
        places = np.searchsorted(self._ids, vectors.ids)
        is_here = self._ids[np.minimum(places, self._ids.size - 1)] == vectors.ids
        if not is_here.any():
            return np.zeros(3, dtype=np.float64)
        return _added_up(vectors.values[is_here].astype(np.float64) * self._sums[places[is_here]])


def _added_up(rows: npt.NDArray[np.float64]) -> Floats:
    """Return the sum of rows from the first to the last; `sum` adds them in another order."""
    total: Floats = np.add.accumulate(rows, axis=0)[-1]
    return total
