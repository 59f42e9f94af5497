"""What is known about how far means moved, in the form in which bounds are carried over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.mean_table import table_width
from doccluster.clustering.k_means.pruning.groups import padded_groups
from doccluster.kernels.assignment import LaneTable
from doccluster.kernels.pruning.bounds import Chords
from doccluster.kernels.pruning.changes import Places
from doccluster.kernels.simd.lanes import LINE

CHORD_SLACK = 1.00002  # rows are unit within 1e-5
CHORD_ROUNDING = 3e-7  # of adding a float32 movement to a float32 bound


class Movement(NamedTuple):
    """What `assign_pruned` is told of a move of the means."""

    changes: LaneTable
    places: Places
    chords: Chords


def rounded_up(movements: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return chords between means as float32 that no similarity to them can have risen by more than."""
    return (movements * CHORD_SLACK + CHORD_ROUNDING).astype(np.float32)


def chords_of_lanes(of_lane: npt.NDArray[np.float64], has_moved: npt.NDArray[np.bool_], n_groups: int) -> Chords:
    """Return the chords of clusters that are lanes, groups being cache lines; 0 for those that did not move."""
    rounded = np.where(has_moved, rounded_up(of_lane), np.float32(0))
    of_group = np.zeros(n_groups, np.float32)
    np.maximum.at(of_group, np.arange(rounded.size) // LINE, rounded)
    return Chords(of_group, of_group, rounded)


def measure_chords(
    moved: npt.NDArray[np.int64],
    movements: npt.NDArray[np.float64],
    places: Places,
    lanes: npt.NDArray[np.int32],
    group_width: int,
) -> Chords:
    """Return the chords of the clusters `moved`, rounded upwards."""
    of_lane = np.zeros(table_width(lanes.size), np.float32)
    of_lane[lanes[moved]] = rounded_up(movements[moved])
    n_groups = padded_groups(lanes.size, group_width)
    of_group, of_rest = np.zeros(n_groups, np.float32), np.zeros(n_groups, np.float32)
    np.maximum.at(of_group, lanes // group_width, of_lane[lanes])
    rest = lanes[~places.is_own]
    np.maximum.at(of_rest, rest // group_width, of_lane[rest])
    return Chords(of_group, of_rest, of_lane)


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
