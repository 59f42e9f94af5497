"""What an algorithm is given, and what it gives back: the same for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import Progress, silent
from doccluster.clustering.linear_rule import LinearRule
from doccluster.geometry import Documents
from doccluster.vectors.meaning import Meaning

STARTS = 10  # of an algorithm that makes several, by default


class SmoothedRows(NamedTuple):
    """Dense unit rows, each moved towards its neighbours, and the graph of those.

    `moved_once` are the rows after one step of smoothing, for counting clusters: more steps blur small ones.
    """

    points: Any
    graph: Any  # NeighbourGraph or JoinedGraph
    moved_once: Any = None


@dataclass(frozen=True, eq=False)
class ClusteringTask:
    """Documents to be clustered, and how."""

    documents: Documents
    counts: Any | None = None  # csr array of the same shape, or None: how often each term occurs, where that is known
    n_clusters: int = 8
    seed: int = 0
    # what the algorithm's own `options` name; a value of None is left out
    options: Mapping[str, Any] = field(default_factory=dict)
    n_threads: int | None = None  # changes no result
    progress: Progress = silent
    meaning: Meaning | None = None  # the documents in a second space, for algorithms that take both
    smoothed: SmoothedRows | None = None  # the rows as an algorithm smooths them that does, where that was done already
    # of shape (n_documents,): clusters 0..n_clusters-1 to begin from, for algorithms that can; -1 for a document that
    # is in none
    start: npt.NDArray[np.int64] | None = None
    term_factors: npt.NDArray[np.float64] | None = None  # that rows and counts hold already, see `DocumentVectors`

    @property
    def rows(self) -> Any:
        """The unit rows, csr or dense array of shape (n_documents, n_terms)."""
        return self.documents.unit


@dataclass(frozen=True, eq=False)
class ClusteringResult:
    """A partition of documents."""

    labels: npt.NDArray[np.integer[Any]]  # of shape (n_documents,): from 0 on; a number may be that of no document
    # csr or dense array of shape (n_clusters, n_terms), or None: unit directions of the sums of the rows of each
    # cluster, where the algorithm has them
    centroids: Any | None = None
    rule: LinearRule | None = None  # which cluster a new document belongs to; None: the one with the nearest centroid
    # of shape (n_documents,): labels of the starts of which the best was gone on with, that one first: how stable the
    # clusters are
    starts: tuple[npt.NDArray[np.integer[Any]], ...] = ()
    # which steps were not done, and why, a sentence each: no fault, but a reader of the results should know
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what else differs from the settings, a sentence each, of which the caller is warned
    interrupted: bool = False  # whether a person stopped the work, and this is the best until then
    from_start: bool = False  # whether it began from the clusters of the task
