"""What is known about how far means moved, in the form in which bounds are carried over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.clustering.mean_table import Places, table_width
from doccluster.kernels.cache_lines import LINE

CHORD_SLACK = 1.00002  # rows are unit within 1e-5
CHORD_ROUNDING = 3e-7  # of adding a float32 movement to a float32 bound


@dataclass(frozen=True, eq=False)
class Chords:
    """Upper bounds on how far similarities can have risen, float32: |x.c' - x.c| <= |c' - c|.

    Attributes
    ----------
    of_group : array of shape (n_groups,)
        The largest movement in each group.
    of_rest : array of shape (n_groups,)
        The largest among the clusters that have no place of their own in the table of changes.
    of_lane : array of shape (n_lanes,)
    """

    of_group: npt.NDArray[np.float32]
    of_rest: npt.NDArray[np.float32]
    of_lane: npt.NDArray[np.float32]


def measure_chords(
    moved: npt.NDArray[np.int64],
    movements: npt.NDArray[np.float64],
    places: Places,
    lanes: npt.NDArray[np.int32],
    group_width: int,
    n_groups: int,
) -> Chords:
    """Return the chords of the clusters `moved`, rounded upwards."""
    of_lane = np.zeros(table_width(lanes.size), np.float32)
    of_lane[lanes[moved]] = movements[moved] * CHORD_SLACK + CHORD_ROUNDING
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
    """Give each group with moved clusters a place; clusters that moved alone, or farthest, have their own.

    A place of its own makes a similarity exact; the places that would be left over in the last cache line go to the
    clusters that moved farthest. With `only_shared` (values may be negative) every place is a group's.
    """
    group_of = lanes // group_width
    per_group = np.bincount(group_of[moved], minlength=int(group_of.max()) + 1)
    is_own = np.zeros(lanes.size, np.bool_)
    if not only_shared:
        is_own[moved] = per_group[group_of[moved]] == 1
        left_over = -int(np.count_nonzero(per_group)) % LINE
        sharing = moved[~is_own[moved]]
        is_own[sharing[np.argsort(-movements[sharing], kind="stable")[:left_over]]] = True
    shared = np.unique(group_of[moved[~is_own[moved]]])
    own = moved[is_own[moved]]
    of_cluster = np.full(lanes.size, -1, np.int32)
    of_cluster[moved] = np.searchsorted(shared, group_of[moved])
    of_cluster[own] = shared.size + np.arange(own.size)
    group = np.concatenate([shared, group_of[own]]).astype(np.int32)
    return Places(of_cluster, is_own, group, np.concatenate([np.full(shared.size, -1), lanes[own]]).astype(np.int32))
