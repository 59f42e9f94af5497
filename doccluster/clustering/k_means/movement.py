"""How far means moved, in the form in which the bounds of documents are carried over.

Clusters are bounded in groups of neighbouring lanes, a cache line of the table or several.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.kernels.bounds import Chords
from doccluster.kernels.simd.lanes import LINE, OCTET

MOST_GROUPS = 64  # each costs four bytes a document
CHORD_SLACK = 1.00002  # rows are unit within 1e-5
CHORD_ROUNDING = 3e-7  # of adding a float32 movement to a float32 bound


def group_width(n_clusters: int, most_groups: int = MOST_GROUPS) -> int:
    """Return the lanes of a group: one cache line, more when that would make more than `most_groups` groups."""
    return LINE * max(1, -(-n_clusters // (LINE * most_groups)))


def padded_groups(n_clusters: int, group_width: int) -> int:
    """Return the number of groups, rounded up to whole octets."""
    return OCTET * -(-n_clusters // (OCTET * group_width))


def rounded_up(movements: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return chords between means as float32 that no similarity to them can have risen by more than."""
    return (movements * CHORD_SLACK + CHORD_ROUNDING).astype(np.float32)


def chords_of(
    movements: npt.NDArray[np.float64], has_moved: npt.NDArray[np.bool_], n_groups: int, group_width: int = LINE
) -> Chords:
    """Return the chords of the clusters and of their groups; 0 for those that did not move."""
    rounded = np.where(has_moved, rounded_up(movements), np.float32(0))
    of_group = np.zeros(n_groups, np.float32)
    np.maximum.at(of_group, np.arange(rounded.size) // group_width, rounded)
    return Chords(of_group, rounded)
