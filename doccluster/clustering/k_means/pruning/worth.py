"""When pruning is worth it: never for few clusters, else where a sample of the documents says that it is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.kernels.pruning.sweep import (
    CARRIED_ROW,
    CHANGES_LINE,
    CHANGES_ROW,
    GROUP_LINE,
    GROUP_ROW,
    WHOLE_LINE,
    WHOLE_ROW,
)
from doccluster.kernels.simd.lanes import LINE

FEWEST_CLUSTERS = 80  # below it whole sweeps are faster, or as fast (docs/explanation/performance.md, pruning-debian)
SAMPLE_EVERY = 16  # one block in so many tells what pruning would cost
WORTH_IT = 0.9  # pruning must promise at least a tenth
SURELY_WORTH_IT = 0.6  # after such a cost the next iteration does without a sample
TOO_FAR = 0.15  # while most means move farther than this, hardly any bound holds: no sample is spent on it
LONGEST_WAIT = 8  # iterations until pruning is tried again where it did not pay


def may_prune(algorithm: str, n_clusters: int, fewest_clusters: int = FEWEST_CLUSTERS) -> bool:
    """Return whether a fit by 'auto', 'lloyd' or 'pruned' ever skips documents."""
    return algorithm == "pruned" or (algorithm == "auto" and n_clusters >= fewest_clusters)


@dataclass
class Worth:
    """What pruning has cost so far, and when it is tried again.

    Attributes
    ----------
    always : bool
        Whether it is not asked.
    """

    always: bool = False
    _last_cost: float = 1.0
    _wait: int = 0
    _next_wait: int = 1

    def is_tried(self, movements: npt.NDArray[np.float64]) -> bool:
        """Return whether an iteration tries to prune; `movements` are those of all means, 0 for one that stayed."""
        if self.always:
            return True
        if self._wait > 0:
            self._wait -= 1
            return False
        return bool(np.median(movements) <= TOO_FAR)

    def sample(self, n_blocks: int) -> range:
        """Return the numbers of the blocks to be pruned before it is decided about the others."""
        return range(0, n_blocks, 1 if self.always or self._last_cost < SURELY_WORTH_IT else SAMPLE_EVERY)

    def is_worth_it(self, cost: float, *, has_rest: bool) -> bool:
        """Return whether the rest of the blocks shall be pruned, if the sample cost this share of whole sweeps."""
        self._last_cost = cost
        if self.always or cost < WORTH_IT or not has_rest:
            self._next_wait = 1
            return True
        self._wait, self._next_wait = self._next_wait, min(LONGEST_WAIT, 2 * self._next_wait)
        return False


def share_of_whole_sweeps(work: Sequence[int], n_rows: int, entries: float, widths: tuple[int, int, int]) -> float:
    """Return what pruning cost as a share of whole sweeps.

    `work` is what `assign_pruned` counts, `entries` how many terms a row has on average, `widths` the lanes of the
    table of means, the places of the table of changes and the lanes of a group.
    """
    n_changes, n_groups, n_whole, n_exact = work
    lanes, places, group = widths
    whole = WHOLE_ROW + WHOLE_LINE * entries * lanes / LINE
    read = (
        n_rows * CARRIED_ROW
        + n_changes * (CHANGES_ROW + CHANGES_LINE * entries * places / LINE)
        + n_groups * (GROUP_ROW + GROUP_LINE * entries * group / LINE)
        + (n_whole + 3 * n_exact) * whole
    )
    return float(read / (n_rows * whole))
