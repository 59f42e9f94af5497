"""Levels of clusters: communities of a graph of neighbours at resolutions from coarse to fine, and which come back.

A level comes back where random parts of the documents find the same communities. Coarse levels and fine ones can both:
a collection has topics and stories.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import Progress, silent
from doccluster.base.short_repr import ShortRepr
from doccluster.blocks import map_blocks
from doccluster.clustering.communities import communities
from doccluster.measures import get_measure
from doccluster.measures.contingency import ContingencyTable
from doccluster.partition import Partition

Labels = npt.NDArray[np.int64]

RESOLUTIONS = 2.0 ** np.arange(-3.5, 5.5, 0.5)
STORIES_FROM = 2.0  # the resolution; coarser levels are not stories
N_DRAWS, DRAWN = 8, 0.7  # parts of the documents, and how large each is

HEAP = 1 / 3  # a topic with more of the documents is none,
SURE = 0.95  # unless its level comes back like this
TOPICS_SHARE = 2 / 3  # of the best agreement: coarser levels that come back less are left out
STORIES_SHARE = 0.95  # the same for stories, whose agreement rises to a plateau
APART = 1.5  # how many times the clusters of a level make another one worth telling
SURE_STORIES = 0.9  # what stories are that come back almost exactly
WORTH_GOING_ON = 0.75  # of the finest level, where it is the best: finer ones are looked at


@dataclass(frozen=True, eq=False, repr=False)
class Level(ShortRepr):
    """Communities at one resolution.

    Attributes
    ----------
    labels : int64 array of shape (n_nodes,), of 0..n_clusters-1
    agreement : float
        The mean adjusted Rand index of the communities of pairs of random parts, on the nodes that they share.
    """

    resolution: float
    labels: Labels
    agreement: float

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The nodes of each community."""
        return np.bincount(self.labels)

    @property
    def n_clusters(self) -> int:
        """How many communities there are; a node without neighbours is none."""
        return int((self.sizes > 1).sum())

    @property
    def largest(self) -> float:
        """The share of the nodes that the largest community has."""
        return float(self.sizes.max() / self.labels.size)


def find_levels(
    graph: Any,
    resolutions: Sequence[float] | npt.NDArray[np.float64] = RESOLUTIONS,
    *,
    rng: np.random.Generator,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> list[Level]:
    """Return the communities of a graph at each resolution, with how far they come back in parts of it.

    Parameters
    ----------
    graph : symmetric csr array of shape (n_nodes, n_nodes), weights > 0
    resolutions : numbers > 0
    rng : numpy Generator
    n_threads : int, optional
        Changes no result.
    """
    n_nodes = graph.shape[0]
    n_drawn = max(1, round(DRAWN * n_nodes))
    drawn = [np.sort(rng.choice(n_nodes, n_drawn, replace=False)) for _ in range(N_DRAWS)]
    graphs = [graph, *(graph[nodes][:, nodes] for nodes in drawn)]
    seeds = rng.integers(2**31, size=(len(resolutions), len(graphs)))
    jobs = list(itertools.product(range(len(resolutions)), range(len(graphs))))

    def find(job: tuple[int, int]) -> Labels:
        row, part = job
        return communities(graphs[part], float(resolutions[row]), rng=np.random.default_rng(seeds[job]))

    found = []
    for number, labels in enumerate(map_blocks(find, jobs, n_threads=n_threads), start=1):
        found.append(labels)
        progress("choose k", number, len(jobs))
    levels = []
    for row, resolution in enumerate(resolutions):
        whole, *parts = found[row * len(graphs) : (row + 1) * len(graphs)]
        levels.append(Level(float(resolution), whole, agreement_of_parts(drawn, parts, n_nodes)))
    return levels


def agreement_of_parts(drawn: Sequence[Labels], labels: Sequence[Labels], n_nodes: int) -> float:
    """Return the mean adjusted Rand index of pairs of clusterings of parts, each on the nodes that both have.

    `drawn` names the nodes of each part, `labels` the cluster of each of those.
    """
    spread = np.full((len(drawn), n_nodes), -1, dtype=np.int64)
    for row, (nodes, own) in enumerate(zip(drawn, labels, strict=True)):
        spread[row, nodes] = own
    values = []
    for one, other in itertools.combinations(spread, 2):
        is_shared = (one >= 0) & (other >= 0)
        values.append(adjusted_rand(one[is_shared], other[is_shared]))
    return float(np.mean(values))


def adjusted_rand(first: Labels, second: Labels) -> float:
    """Return the adjusted Rand index of two clusterings; 0 where it is not defined."""
    table = ContingencyTable.from_partitions(_numbered(first), _numbered(second))
    value = get_measure("adjusted_rand").compute(table).value
    return 0.0 if np.isnan(value) else float(value)


def _numbered(labels: Labels) -> Partition:
    """Return labels as a partition whose clusters all have documents."""
    is_there = np.bincount(labels) > 0
    return Partition((np.cumsum(is_there) - 1)[labels], tuple(range(int(is_there.sum()))))


def topics_among(levels: Sequence[Level]) -> Level | None:
    """Return the coarsest level without a heap that comes back; None where no level has two clusters.

    A heap is a community of more than a third of the documents, unless its level comes back almost exactly. Of the
    others those come back whose agreement, averaged with that of their neighbours, is two thirds of the best.
    """
    some = [level for level in levels if level.n_clusters > 1]
    if not some:
        return None
    agreement = np.array([level.agreement for level in some])
    padded = np.pad(agreement, 1, mode="edge")
    smooth = (padded[:-2] + 2 * agreement + padded[2:]) / 4
    has_no_heap = np.array([level.largest <= HEAP for level in some]) | (agreement >= SURE)
    good = np.flatnonzero(has_no_heap & (smooth >= TOPICS_SHARE * smooth.max()))
    return some[int(good[0] if good.size else np.argmax(has_no_heap))]


def stories_among(levels: Sequence[Level], topics: Level | None = None) -> Level | None:
    """Return the middle one of the levels whose agreement is nearly the best; None where no level has two clusters.

    Levels with fewer clusters than there are topics are not stories.
    """
    least = 2 if topics is None else topics.n_clusters
    some = [level for level in _stories(levels) if level.n_clusters >= least]
    if not some:
        return None
    best = max(level.agreement for level in some)
    good = [level for level in some if level.agreement >= STORIES_SHARE * best]
    return good[(len(good) - 1) // 2]


def between(levels: Sequence[Level], coarse: Level | None, fine: Level | None) -> Level | None:
    """Return the middle one of the levels that come back best, where it is well apart from a coarse and a fine one.

    None where the coarse level comes back nearly as well, or one of the two has about as many clusters.
    """
    if coarse is None or fine is None:
        return None
    level = stories_among(levels, coarse)
    if level is None or coarse.agreement >= STORIES_SHARE * level.agreement:
        return None
    is_apart = level.n_clusters >= APART * coarse.n_clusters and fine.n_clusters >= APART * level.n_clusters
    return level if is_apart else None


def finer_wanted(levels: Sequence[Level]) -> bool:
    """Return whether finer levels than these are worth a look: the finest is the best of those that come back."""
    some = _stories(levels)
    if not some or some[-1] is not levels[-1]:
        return False
    return levels[-1].agreement >= max(WORTH_GOING_ON, *(level.agreement for level in some))


def _stories(levels: Sequence[Level]) -> list[Level]:
    """Return the levels with at least two clusters, and at most one for each two documents."""
    return [level for level in levels if 1 < level.n_clusters <= level.labels.size // 2]
