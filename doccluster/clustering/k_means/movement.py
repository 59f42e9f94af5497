"""What is known about how far means moved, in the form in which bounds are carried over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.mean_table import Places, table_width
from doccluster.kernels.simd.lanes import LINE, OCTET

CHORD_SLACK = 1.00002  # rows are unit within 1e-5
CHORD_ROUNDING = 3e-7  # of adding a float32 movement to a float32 bound


@dataclass(frozen=True, eq=False)
class Chords:
    """Upper bounds on how far similarities can have risen, float32: |x.c' - x.c| <= |c' - c|.

    Attributes
    ----------
    of_group : array of shape (n_groups,), whole octets
        The largest movement in each group.
    of_rest : array of shape (n_groups,)
        The largest among the clusters that have no place of their own in the table of changes.
    of_lane : array of shape (n_lanes,)
    """

    of_group: npt.NDArray[np.float32]
    of_rest: npt.NDArray[np.float32]
    of_lane: npt.NDArray[np.float32]


def padded_groups(n_clusters: int, group_width: int) -> int:
    """Return the number of groups, rounded up to whole octets."""
    return OCTET * -(-n_clusters // (OCTET * group_width))


def measure_chords(
    moved: npt.NDArray[np.int64],
    movements: npt.NDArray[np.float64],
    places: Places,
    lanes: npt.NDArray[np.int32],
    group_width: int,
) -> Chords:
    """Return the chords of the clusters `moved`, rounded upwards."""
    of_lane = np.zeros(table_width(lanes.size), np.float32)
    of_lane[lanes[moved]] = movements[moved] * CHORD_SLACK + CHORD_ROUNDING
    n_groups = padded_groups(lanes.size, group_width)
    of_group, of_rest = np.zeros(n_groups, np.float32), np.zeros(n_groups, np.float32)
    np.maximum.at(of_group, lanes // group_width, of_lane[lanes])
    rest = lanes[~places.is_own]
    np.maximum.at(of_rest, rest // group_width, of_lane[rest])
    return Chords(of_group, of_rest, of_lane)


def no_places(n_clusters: int) -> Places:
    """Return places that record nothing."""
    none = np.empty(0, np.int32)
    return Places(np.full(n_clusters, -1, np.int32), np.zeros(n_clusters, np.bool_), none, none)


def choose_places(
    moved: npt.NDArray[np.int64],
    movements: npt.NDArray[np.float64],
    lanes: npt.NDArray[np.int32],
    group_width: int,
    *,
    only_shared: bool,
) -> Places:
    """Give each group a place for its clusters that moved; one that moved alone has it for its own.

    A place of its own makes a similarity exact. Where a cache line has room for a second place of each group, it goes
    to the cluster that moved farthest. With `only_shared` (values may be negative) every place is a group's.
    """
    n_groups = padded_groups(lanes.size, group_width)
    has_second = 2 * n_groups <= LINE and not only_shared
    of_cluster, is_own = np.full(lanes.size, -1, np.int32), np.zeros(lanes.size, np.bool_)
    group_of = lanes // group_width
    of_cluster[moved] = group_of[moved]
    if not only_shared:
        by_movement = moved[np.argsort(-movements[moved], kind="stable")]
        groups, farthest = np.unique(group_of[by_movement], return_index=True)
        alone = np.bincount(group_of[moved], minlength=n_groups)[groups] == 1
        own = by_movement[farthest] if has_second else by_movement[farthest[alone]]
        is_own[own] = True
        if has_second:
            of_cluster[own] += n_groups
    lane = np.full(table_width(n_groups), -1, np.int32)  # a second place, where there is one, is in the same line
    of_lane = np.full(table_width(lanes.size), -1, np.int32)
    owners = np.flatnonzero(is_own)
    lane[of_cluster[owners]] = lanes[owners]
    of_lane[lanes[owners]] = of_cluster[owners]
    return Places(of_cluster, is_own, lane, of_lane)
