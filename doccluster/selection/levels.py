"""Levels of clusters: communities of a graph of neighbours at resolutions from coarse to fine, and which come back.

A level comes back where random parts of the documents find the same communities. Coarse levels and fine ones can both:
a collection has topics and subtopics. Whether there is anything to find is asked first: communities by one half of the
terms against those by the other. Both halves describe the same documents; where there are no clusters, what one half
suggests says nothing of the other.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers, Labels, Matrix, is_sparse
from doccluster.base.blocks import map_blocks, resolve_threads, row_blocks, share_blocks
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import squared_row_norms, unit_rows
from doccluster.clustering.communities import Edges, communities
from doccluster.clustering.smoothed.document_spaces import Graph
from doccluster.clustering.task import SmoothedRows
from doccluster.geometry.neighbours import neighbour_edges
from doccluster.measures.contingency import PairCounts

RESOLUTIONS = 2.0 ** np.arange(-3.5, 5.5, 0.5)
SUBTOPICS_FROM = 2.5  # the resolution; coarser levels are not subtopics
N_DRAWS, DRAWN = 8, 0.7  # parts of the documents, and how large each is

HEAP = 1 / 3  # a topic with more of the documents is none,
SURE = 0.95  # unless its level comes back like this,
LARGEST_HEAP, MORE_SURE = 0.5, 0.1  # or has no more than this, and comes back so much more than levels without a heap
TOPICS_SHARE = 2 / 3  # of the best agreement: coarser levels that come back less are left out
SUBTOPICS_SHARE = 0.95  # the same for subtopics, whose agreement rises to a plateau
APART = 1.5  # how many times the clusters of a level make another one worth telling
FINER = 1.2  # the same for subtopics of topics that are shown before sections
MIN_TOPIC = 0.15  # of the mean size of the communities of a level: a smaller one is no topic
MIDDLE = 20, 60  # clusters of a level between broad and fine ones that people want to see,
DOCUMENTS_OF_MIDDLE = 25  # documents that each of them has on average, at least,
MIDDLE_RETURNS, MIDDLE_SHARE = 0.6, 0.75  # and what it agrees at least, and of the best agreement
WEAK = 0.5  # agreement of the broadest level, below which there is little to see,
FEW = 15  # and the most clusters that are then shown
# agreement from which topics are shown before sections: this, so much of the share of it that sections reach, and four
# times what the agreement of few documents may err by
SURE_TOPICS, OF_SECTIONS = 0.526, 1 / 3
MANY = 1_000  # documents whose agreement hardly errs
SURE_SUBTOPICS = 0.9  # what subtopics are that come back almost exactly
WORTH_GOING_ON = 0.7  # of the finest level, where it is the best: finer ones are looked at
MAX_FOR_TOPICS = 4_000  # topics are large, and seen in a sample as well
MIN_COSINE = 1e-3
N_STARTS = 3  # of up to as many documents; of more, one
EDGES_AT_ONCE = 1 << 16
CELLS_PER_NODE = 4  # of a table of two clusterings that is counted whole
MAX_DENSE = 10_000  # rows without a graph of their terms, whose neighbours take all pairs

STRUCTURE_RESOLUTIONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
N_SHUFFLES = 19  # allow p = 0.05
# what else is asked of the agreement: lengths of documents and common terms, which both halves share, make a little
MIN_DEVIATIONS, MIN_AGREEMENT = 8.0, 0.1
MIN_SPREAD = 1e-6  # of what is divided by: shuffling may change nothing


@dataclass(frozen=True, eq=False, repr=False)
class Level(ShortRepr):
    """Communities at one resolution."""

    resolution: float
    labels: Labels  # of shape (n_nodes,), of 0..n_clusters-1
    # the mean adjusted Rand index of the communities of pairs of random parts, on the nodes that they share
    agreement: float
    smallest: float = 0.0  # a community of less than this share of the mean size is no cluster
    parts: tuple[Level, ...] = ()  # the communities of the random parts, where they were kept

    @cached_property
    def sizes(self) -> Integers:
        """The nodes of each community."""
        return np.bincount(self.labels)

    @cached_property
    def is_cluster(self) -> Flags:
        """Which communities are clusters: those of several nodes that are not too small."""
        several = self.sizes > 1
        is_cluster: Flags = several & (self.sizes * several.sum() >= self.smallest * self.sizes[several].sum())
        return is_cluster

    @property
    def n_clusters(self) -> int:
        """How many communities are clusters."""
        return int(self.is_cluster.sum())

    @property
    def largest(self) -> float:
        """The share of the nodes that the largest community has."""
        return float(self.sizes.max() / self.labels.size)


def find_levels(
    graph: CsrArray,
    resolutions: Sequence[float] | Floats = RESOLUTIONS,
    *,
    smallest: float = 0.0,
    with_parts: bool = False,
    rng: np.random.Generator,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> list[Level]:
    """Return the communities of a graph at each resolution, with how far they come back in parts of it.

    `with_parts` keeps those of the parts.
    """
    n_nodes = graph.shape[0]
    parts_drawn, seeds = _drawn(n_nodes, len(resolutions), rng)
    graphs = [Edges.of(graph), *(Edges.of(graph[nodes][:, nodes]) for nodes in parts_drawn)]
    labels_found = _communities(graphs, resolutions, seeds, n_threads, progress)

    def level_at(row: int) -> Level:
        whole, *parts = labels_found[row]
        resolution, agreement = float(resolutions[row]), agreement_of_parts(parts_drawn, parts, n_nodes)
        levels_of_parts = [Level(resolution, part, agreement, smallest) for part in parts if with_parts]
        return Level(resolution, whole, agreement, smallest, tuple(levels_of_parts))

    return list(map_blocks(level_at, range(len(resolutions)), n_threads=n_threads))


def _drawn(n_nodes: int, n_resolutions: int, rng: np.random.Generator) -> tuple[list[Labels], Integers]:
    """Return the nodes of each part, and seeds by resolution and graph, the whole first.

    They are drawn beforehand, so that the order in which jobs end does not matter, nor whether all of them are done.
    """
    n_drawn = max(1, round(DRAWN * n_nodes))
    parts_drawn = [np.sort(rng.choice(n_nodes, n_drawn, replace=False)) for _ in range(N_DRAWS)]
    return parts_drawn, rng.integers(2**31, size=(n_resolutions, 1 + N_DRAWS))


def _communities(
    graphs: Sequence[Edges],
    resolutions: Sequence[float] | Floats,
    seeds: Integers,
    n_threads: int | None,
    progress: Progress = silent,
) -> list[list[Labels]]:
    """Return for each resolution the communities of each graph."""
    jobs = list(itertools.product(range(len(resolutions)), range(len(graphs))))

    def find(job: tuple[int, int]) -> Labels:
        row, part = job
        return communities(graphs[part], float(resolutions[row]), rng=np.random.default_rng(seeds[job]))

    found = []
    for number, labels in enumerate(map_blocks(find, jobs, n_threads=n_threads), start=1):
        found.append(labels)
        progress("choose k", number, len(jobs))
    return [found[first : first + len(graphs)] for first in range(0, len(found), len(graphs))]


def agreement_of_parts(parts_drawn: Sequence[Labels], labels: Sequence[Labels], n_nodes: int) -> float:
    """Return the mean adjusted Rand index of pairs of clusterings of parts, each on the nodes that both have.

    `parts_drawn` names the nodes of each part, `labels` the cluster of each of those.
    """
    spread = np.full((len(parts_drawn), n_nodes), -1, dtype=np.int64)
    for row, (nodes, part_labels) in enumerate(zip(parts_drawn, labels, strict=True)):
        spread[row, nodes] = part_labels
    values = []
    for first, second in itertools.combinations(spread, 2):
        is_shared = (first >= 0) & (second >= 0)
        values.append(adjusted_rand(first[is_shared], second[is_shared]))
    return float(np.mean(values))


def adjusted_rand(first: Labels, second: Labels) -> float:
    """Return the adjusted Rand index of two clusterings; 1 where they are the same."""
    width = int(second.max(initial=0)) + 1
    cells = first * width + second
    # a table of all cells is the quickest to count, where it is not far larger than the documents
    is_small = (int(first.max(initial=0)) + 1) * width <= CELLS_PER_NODE * max(first.size, 1)
    of_cells = np.bincount(cells) if is_small else np.unique(cells, return_counts=True)[1]
    return PairCounts.from_sizes(of_cells, np.bincount(first), np.bincount(second)).adjusted_rand


def topics_among(levels: Sequence[Level]) -> Level | None:
    """Return the coarsest level without a heap that comes back; None where no level has two clusters.

    A heap is a community of more than a third of the documents, unless its level comes back almost exactly, or is at
    most half of them and its level comes back far more than those without. Of the others those come back whose
    agreement, averaged with that of their neighbours, is two thirds of the best.
    """
    divided = [level for level in levels if level.n_clusters > 1]
    if not divided:
        return None
    agreement = np.array([level.agreement for level in divided])
    padded = np.pad(agreement, 1, mode="edge")
    smooth = (padded[:-2] + 2 * agreement + padded[2:]) / 4
    largest = np.array([level.largest for level in divided])
    has_no_heap = (largest <= HEAP) | (agreement >= SURE)
    is_sure = agreement >= agreement[has_no_heap].max(initial=0.0) + MORE_SURE
    has_no_heap |= (largest <= LARGEST_HEAP) & is_sure
    best = smooth[has_no_heap].max(initial=0.0)
    good = np.flatnonzero(has_no_heap & (smooth >= TOPICS_SHARE * best))
    return divided[int(good[0] if good.size else np.argmax(has_no_heap))]


def few_among(levels: Sequence[Level], coarse: Level | None) -> Level | None:
    """Return the coarse level; where it hardly comes back, of those with at most 15 clusters the one that does best."""
    if coarse is None or coarse.agreement >= WEAK or coarse.n_clusters <= FEW:
        return coarse
    few = [level for level in levels if 1 < level.n_clusters <= FEW and level.largest <= HEAP]
    return max(few, key=lambda level: level.agreement, default=coarse)


def subtopics_among(levels: Sequence[Level], topics: Level | None = None) -> Level | None:
    """Return the finest of the levels whose agreement is nearly the best; None where no level has two clusters.

    Levels with fewer clusters than there are topics are not subtopics.
    """
    return next(reversed(_nearly_best(levels, topics)), None)


def _nearly_best(levels: Sequence[Level], topics: Level | None) -> list[Level]:
    least = 2 if topics is None else topics.n_clusters
    subtopics = [level for level in _subtopics(levels) if level.n_clusters >= least]
    best = max((level.agreement for level in subtopics), default=0.0)
    return [level for level in subtopics if level.agreement >= SUBTOPICS_SHARE * best]


def between(levels: Sequence[Level], coarse: Level | None, fine: Level | None) -> Level | None:
    """Return the middle one of the most stable levels, where it is well apart from a coarse and a fine one.

    None where the coarse level comes back nearly as well, or one of the two has about as many clusters. The fine one
    says less of levels that are shown before the coarse one: they may be nearer to it.
    """
    level = _stable_beneath(coarse, levels)
    if level is None or fine is None or coarse is None:
        return None
    apart = FINER if come_first(levels, coarse, level) else APART
    return level if fine.n_clusters >= apart * level.n_clusters else None


def come_first(levels: Sequence[Level], sections: Level, topics: Level) -> bool:
    """Return whether any level without a heap comes back so well that topics are shown before sections."""
    divided = (level.agreement for level in levels if level.n_clusters > 1 and level.largest <= HEAP)
    return max(divided, default=0.0) >= sure_from(sections, topics)


def sure_from(sections: Level, topics: Level) -> float:
    """Return the agreement from which topics are shown before sections.

    It is higher where sections come back nearly as much, and where documents are few, so that any agreement is less
    sure: .77 for topics of many documents where sections have .73 of their agreement, .84 where they have .95 of it.
    """
    uncertainty = max(0.0, 1 / math.sqrt(topics.labels.size) - 1 / math.sqrt(MANY))
    return SURE_TOPICS + OF_SECTIONS * sections.agreement / max(topics.agreement, MIN_SPREAD) + 4 * uncertainty


def _stable_beneath(coarse: Level | None, levels: Sequence[Level]) -> Level | None:
    """Return the level that is between a coarse and a fine one, if it is well apart from the fine one."""
    good = [] if coarse is None else _nearly_best(levels, coarse)
    if coarse is None or not good:
        return None
    level = good[(len(good) - 1) // 2]
    is_better = coarse.agreement < SUBTOPICS_SHARE * level.agreement
    return level if is_better and level.n_clusters >= APART * coarse.n_clusters else None


def middle_among(levels: Sequence[Level], coarse: Level | None, topics: Level | None) -> Level | None:
    """Return the coarsest level of 20 to 60 clusters that comes back nearly best, where neither of two others is one.

    None where none has enough documents in each of them, comes back well enough, or is well apart from the coarse one.
    """
    lower, upper = MIDDLE
    if coarse is None or coarse.n_clusters >= lower or (topics is not None and lower <= topics.n_clusters <= upper):
        return None
    upper = min(upper, coarse.labels.size // DOCUMENTS_OF_MIDDLE)
    best = max(level.agreement for level in levels if level.n_clusters > 1)
    least = max(MIDDLE_RETURNS, MIDDLE_SHARE * best)
    good = [
        level
        for level in levels
        if max(lower, APART * coarse.n_clusters) <= level.n_clusters <= upper
        and level.agreement >= least
        and level.largest <= HEAP
    ]
    best = max((level.agreement for level in good), default=0.0)
    return next((level for level in good if level.agreement >= SUBTOPICS_SHARE * best), None)


def finer_wanted(levels: Sequence[Level]) -> bool:
    """Return whether finer levels than these are worth a look: the finest is the best of those that come back."""
    subtopics = _subtopics(levels)
    if not subtopics or subtopics[-1] is not levels[-1]:
        return False
    return levels[-1].agreement >= max(WORTH_GOING_ON, *(level.agreement for level in subtopics))


def _subtopics(levels: Sequence[Level]) -> list[Level]:
    """Return the levels with at least two clusters, and at most one for each two documents."""
    return [level for level in levels if 1 < level.n_clusters <= level.labels.size // 2]


def draw_rows(n_rows: int, max_rows: int, rng: np.random.Generator) -> Labels:
    """Return the rows that are looked at, ascending: all, or a random sample."""
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, max_rows, replace=False))


def find_both(
    rows: Matrix,
    smoothed: SmoothedRows | None,
    rng: np.random.Generator,
    *,
    only: str | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> dict[str, tuple[list[Level], Labels]]:
    """Return the levels among which topics, and those among which subtopics are chosen.

    With each come the node of every row in their graph, -1 where it has none. `only`: "topics" or "subtopics", which
    are the same without the others. Of subtopics, those that decide which topics are shown then come back.
    """
    size = rows.shape[0]
    points = rows if smoothed is None else smoothed.moved_once
    assert points is not None  # `DocumentWork` makes them
    few = draw_rows(size, MAX_FOR_TOPICS, rng)
    find = partial(find_levels, rng=rng, n_threads=n_threads, progress=progress)
    topics: list[Level] = []
    if only == "subtopics":
        for _ in range(_n_starts(few.size)):
            _drawn(few.size, RESOLUTIONS.size, rng)
    else:
        near = neighbour_edges(points[few], n_threads=n_threads)
        topics = _usual(partial(find, near, smallest=MIN_TOPIC, with_parts=True), few.size, topics_among)
    levels = {"topics": (topics, _nodes_of(few, size)), "subtopics": ([], np.full(size, -1))}
    coarse = few_among(topics, topics_among(topics))
    middle = _stable_beneath(coarse, topics)
    if only == "topics" and coarse is not None and middle is None:
        return levels
    if smoothed is not None:
        graph, nodes = sharpened(smoothed.graph, points, n_threads=n_threads), smoothed.graph.families
    else:
        sample = draw_rows(size, MAX_DENSE, rng)
        graph, nodes = neighbour_edges(points[sample], n_threads=n_threads), _nodes_of(sample, size)
    resolutions = RESOLUTIONS[RESOLUTIONS >= SUBTOPICS_FROM]
    if only == "topics" and middle is not None:
        fine = _coarsest(graph, resolutions, copy.deepcopy(rng))
        if fine.n_clusters >= APART * middle.n_clusters:  # so have the finer ones, whichever would be chosen
            return {**levels, "subtopics": ([fine], nodes)}
    subtopics = _usual(partial(find, graph, resolutions), graph.shape[0], subtopics_among)
    while finer_wanted(subtopics):
        subtopics += find(graph, [2 * subtopics[-1].resolution])
    return {**levels, "subtopics": (subtopics, nodes)}


def _coarsest(graph: CsrArray, resolutions: Floats, rng: np.random.Generator) -> Level:
    """Return the first level of the start that has the fewest clusters there, without looking whether it comes back."""
    edges, resolution = Edges.of(graph), float(resolutions[0])
    seeds = [_drawn(edges.n_nodes, resolutions.size, rng)[1][0, 0] for _ in range(_n_starts(edges.n_nodes))]
    labels = [communities(edges, resolution, rng=np.random.default_rng(seed)) for seed in seeds]
    return min((Level(resolution, one_start, 0.0) for one_start in labels), key=lambda level: level.n_clusters)


def _usual(
    start: Callable[[], list[Level]], n_nodes: int, choose: Callable[[list[Level]], Level | None]
) -> list[Level]:
    """Return the levels of the start whose chosen one has the median number of clusters: near a limit starts differ.

    Where it is far from the mean number that would be chosen for parts of the documents, it is the start that is
    nearest to that: far steadier, but of fewer documents.
    """

    def n_chosen(levels: Sequence[Level]) -> int:
        chosen = choose(list(levels))
        return 0 if chosen is None else chosen.n_clusters

    starts = sorted((start() for _ in range(_n_starts(n_nodes))), key=n_chosen)
    median = starts[len(starts) // 2]
    of_parts = [n_chosen(part) for levels in starts for part in zip(*(level.parts for level in levels), strict=True)]
    if not of_parts or not min(of_parts):
        return median
    usual = float(np.mean(np.log(of_parts)))

    def distance(levels: list[Level]) -> float:
        return abs(math.log(max(n_chosen(levels), 1)) - usual)

    return median if distance(median) <= math.log(APART) else min(starts, key=distance)


def _n_starts(n_nodes: int) -> int:
    return N_STARTS if n_nodes <= MAX_FOR_TOPICS else 1


def sharpened(common: Graph, points: Matrix, *, n_threads: int | None = None) -> CsrArray:
    """Return the graph of common terms, its weights times the squared cosines of smoothed rows.

    Documents of one subtopic share neighbours besides terms, so their smoothed rows are nearer than those of two
    subtopics of one kind.
    """
    graph = sparse.csr_array(common.symmetric())
    rows = unit_rows(points[common.first], warn=False)
    ends = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))

    def multiply(edges: slice) -> Any:
        return np.einsum("ij,ij->i", rows[ends[edges]], rows[graph.indices[edges]])

    blocks = row_blocks(graph.nnz, EDGES_AT_ONCE)
    cosines = [np.empty(0), *share_blocks(multiply, blocks, n_threads=resolve_threads(n_threads))]  # float64 together
    weights = graph.data * np.maximum(np.concatenate(cosines), MIN_COSINE) ** 2
    return sparse.csr_array((weights, graph.indices, graph.indptr), shape=graph.shape)


def spread(level: Level, nodes: Labels, n_rows: int) -> Labels:
    """Return the cluster of each row, 0..k-1 in the order in which they occur; -1 for one in none or without a node."""
    number = np.where(level.is_cluster, np.cumsum(level.is_cluster) - 1, -1)
    labels = np.full(n_rows, -1)
    labels[nodes >= 0] = number[level.labels[nodes[nodes >= 0]]]
    return labels


def _nodes_of(rows: Labels, n_rows: int) -> Labels:
    """Return the node of each row where only some rows are nodes."""
    nodes = np.full(n_rows, -1)
    nodes[rows] = np.arange(rows.size)
    return nodes


@dataclass(frozen=True)
class Structure:
    """How far communities by two halves of the terms agree."""

    agreement: float  # the largest adjusted Rand index over the resolutions
    deviations: float  # standard deviations above that of shuffled documents, the most over the resolutions
    p_value: float  # (b + 1) / 20, with b of 19 shufflings of one half reaching the agreement of the data

    @property
    def is_there(self) -> bool:
        """Whether the halves agree beyond chance, and by more than the lengths of documents can make."""
        is_enough = self.deviations >= MIN_DEVIATIONS or self.agreement >= MIN_AGREEMENT
        return self.p_value <= 1 / (N_SHUFFLES + 1) and is_enough


def find_structure(matrix: Matrix, rng: np.random.Generator, *, n_threads: int | None = None) -> Structure:
    """Return how far two halves of the terms agree; unit rows of shape (n_documents, n_terms), none of them zero."""
    first, second, filled = split_terms(matrix, rng)
    if filled.size < 3:
        return Structure(0.0, 0.0, 1.0)
    graphs = [Edges.of(neighbour_edges(half, n_threads=n_threads)) for half in (first, second)]
    seeds = rng.integers(2**31, size=(len(STRUCTURE_RESOLUTIONS), len(graphs)))
    found = _communities(graphs, STRUCTURE_RESOLUTIONS, seeds, n_threads)
    return against_shuffles([(one, two) for one, two in found], rng)


def against_shuffles(pairs: list[tuple[Integers, Integers]], rng: np.random.Generator) -> Structure:
    """Return the agreement of pairs of clusterings, beside that with the documents of the second shuffled.

    Agreements are standardised for each pair, since few clusters agree by chance more widely.
    """
    pairs = [pair for pair in pairs if pair[0].any() and pair[1].any()]  # one community agrees with everything
    if not pairs:
        return Structure(0.0, 0.0, 1.0)
    values = np.empty((N_SHUFFLES + 1, len(pairs)))
    values[0] = [adjusted_rand(*pair) for pair in pairs]
    for number in range(1, N_SHUFFLES + 1):
        order = rng.permutation(pairs[0][0].size)
        values[number] = [adjusted_rand(first, second[order]) for first, second in pairs]
    tiny = np.finfo(float).tiny
    among_all = ((values - values.mean(axis=0)) / np.maximum(values.std(axis=0), tiny)).max(axis=1)
    p_value = float((1 + np.sum(among_all[1:] >= among_all[0])) / (N_SHUFFLES + 1))
    spread = np.maximum(values[1:].std(axis=0), MIN_SPREAD)
    deviations = (values[0] - values[1:].mean(axis=0)) / spread
    return Structure(float(values[0].max()), float(deviations.max()), p_value)


def split_terms(matrix: Matrix, rng: np.random.Generator) -> tuple[CsrArray, CsrArray, Integers]:
    """Return the unit rows of two halves of the columns, and the rows that have something in both.

    Of each two columns of about equal weight one goes to either half, so that the halves say about as much.
    """
    weights = _column_weights(matrix)
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > 0]
    flips = rng.random((order.size + 1) // 2) < 0.5
    side = np.repeat(flips, 2)[: order.size] ^ (np.arange(order.size) % 2 == 1)
    halves = [unit_rows(matrix[:, np.sort(order[side == is_first])], warn=False) for is_first in (True, False)]
    filled = np.flatnonzero((squared_row_norms(halves[0]) > 0) & (squared_row_norms(halves[1]) > 0))
    return halves[0][filled], halves[1][filled], filled


def _column_weights(matrix: Matrix) -> Floats:
    if not is_sparse(matrix):
        weights: Floats = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
        return weights
    squares = np.square(matrix.data, dtype=np.float64)
    return np.bincount(matrix.indices, weights=squares, minlength=matrix.shape[1]).astype(np.float64)
