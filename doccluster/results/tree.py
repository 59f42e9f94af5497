"""The nested levels of a run: sections over topics over subtopics or stories, each document on one path."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers, Labels
from doccluster.base.plain_values import ShortRepr
from doccluster.labeling.profiles import ClusterDescription
from doccluster.results.storage import damaged, read_arrays, read_record, write_arrays, write_json

LEVELS, LEVEL_LABELS = "levels.json", "levels.npz"


@dataclass(frozen=True, eq=False, repr=False)
class TreeLevel(ShortRepr):
    """One level of the tree; a document that is shown as Other is in the nearest cluster, and counts in no size."""

    name: str  # of a cluster: "section", "topic", "subtopic" or "story" ("cluster" in a run without levels)
    labels: Labels  # int64 array of shape (n_documents,): the cluster of each document, 0..k-1
    clusters: tuple[ClusterDescription, ...]  # largest first

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.clusters)

    @property
    def plural(self) -> str:
        """What several clusters of it are."""
        return "stories" if self.name == "story" else f"{self.name}s"

    def labels_of(self, rows: Integers) -> list[str]:
        """Return the labels of the clusters of some documents."""
        return [self.clusters[number].label for number in self.labels[rows].tolist()]

    def parents_on(self, coarser: TreeLevel) -> Labels:
        """Return the cluster of a coarser level that each cluster is part of, int64 array of shape (k,)."""
        parents = np.empty(self.n_clusters, dtype=np.int64)
        parents[self.labels] = coarser.labels
        return parents


@dataclass(frozen=True, eq=False, repr=False)
class Levels(ShortRepr):
    """The levels around the clusters that a run shows, the coarsest first; `shown` is what a cluster of these is."""

    shown: str = "cluster"
    coarser: tuple[TreeLevel, ...] = ()
    finer: tuple[TreeLevel, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Node(ShortRepr):
    """One cluster of one level, and the clusters of the next level that are parts of it, largest first."""

    level: str
    cluster: ClusterDescription
    children: tuple[Node, ...] = ()


def tree_of(levels: Sequence[TreeLevel]) -> tuple[Node, ...]:
    """Return the clusters of the coarsest of nested levels as nodes with what is below them."""
    nodes: list[Node] = []
    below = None
    for level in reversed(levels):
        children: list[list[Node]] = [[] for _ in level.clusters]
        if below is not None:
            for node, parent in zip(nodes, below.parents_on(level).tolist(), strict=True):
                children[parent].append(node)
        nodes = [Node(level.name, cluster, tuple(children[cluster.cluster])) for cluster in level.clusters]
        below = level
    return tuple(nodes)


def place_of_cluster(levels: Sequence[TreeLevel], shown: int, name: str) -> tuple[int, int] | None:
    """Return the place of a level and the number of its cluster that is called so; None where there is none.

    A cluster is called "section:3", or by its number alone on the level at the place `shown`.
    """
    level_name, _, number = name.rpartition(":")
    for place, level in enumerate(levels):
        if level_name == level.name or (not level_name and place == shown):
            return (place, int(number)) if number.isdecimal() and int(number) < level.n_clusters else None
    return None


@dataclass(frozen=True)
class LevelRecord:
    """A level in levels.json; its labels are in levels.npz."""

    name: str
    clusters: tuple[ClusterDescription, ...]


@dataclass(frozen=True)
class LevelsRecord:
    """What levels.json holds: the levels above the clusters of the run, and those below."""

    shown: str
    coarser: tuple[LevelRecord, ...]
    finer: tuple[LevelRecord, ...]


def save_levels(levels: Levels, folder: Path) -> None:
    """Write the levels of a run into the folder of its model; nothing where there are none."""
    if not levels.coarser and not levels.finer:
        return
    plain = {
        side: [{"name": level.name, "clusters": level.clusters} for level in of_side]
        for side, of_side in (("coarser", levels.coarser), ("finer", levels.finer))
    }
    write_json(folder / LEVELS, {"shown": levels.shown, **plain})
    both = (*levels.coarser, *levels.finer)
    write_arrays(folder / LEVEL_LABELS, {level.name: level.labels.astype(np.int32) for level in both})


def load_levels(folder: Path, labels: Labels) -> Levels:
    """Return the levels in the folder of a model whose clusters are `labels`; none where they were not written.

    Raises SchemaError if a file is damaged, or a level does not nest.
    """
    if not (folder / LEVELS).is_file():
        return Levels()
    record = read_record(folder / LEVELS, LevelsRecord)
    arrays = read_arrays(folder / LEVEL_LABELS, needs=tuple(level.name for level in (*record.coarser, *record.finer)))
    sides = [
        tuple(_level(level, arrays[level.name], labels.size, folder) for level in of_side)
        for of_side in (record.coarser, record.finer)
    ]
    chain = [*(level.labels for level in sides[0]), labels, *(level.labels for level in sides[1])]
    if not all(nests(fine, coarse) for coarse, fine in itertools.pairwise(chain)):
        raise damaged(folder / LEVEL_LABELS, "its levels do not nest")
    return Levels(record.shown, *sides)


def nests(fine: Labels, coarse: Labels) -> bool:
    """Return whether each cluster of a partition lies in one cluster of another."""
    parents = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    parents[fine] = coarse
    return bool((parents[fine] == coarse).all())


def _level(record: LevelRecord, labels: npt.NDArray[Any], n_documents: int, folder: Path) -> TreeLevel:
    k = len(record.clusters)
    fits = labels.shape == (n_documents,) and labels.dtype.kind == "i" and k > 0
    if not fits or labels.min() < 0 or not np.array_equal(np.unique(labels), np.arange(k)):
        raise damaged(folder / LEVEL_LABELS, f"the labels of {record.name!r} are not 0 to {k - 1}, one a document")
    check_descriptions(record.clusters, n_documents, folder / LEVELS)
    return TreeLevel(record.name, labels.astype(np.int64), record.clusters)


def check_descriptions(clusters: Sequence[ClusterDescription], n_documents: int, path: Path) -> None:
    """Raise SchemaError unless clusters are numbered from 0, and name documents and clusters that are there."""
    for place, cluster in enumerate(clusters):
        rows = [shown.row for shown in cluster.representatives] + [near.row for near in cluster.borderline]
        numbers = [cluster.cluster, *(near.runner_up for near in cluster.borderline)]
        if cluster.cluster != place or not all(0 <= number < len(clusters) for number in numbers):
            raise damaged(path, "it names clusters that are not there")
        if not all(0 <= row < n_documents for row in rows):
            raise damaged(path, "it names documents that are not there")
