"""A dozen partitions of the same documents that err in different ways, for a consensus.

Runs of one method, or of one weighting, share their mistakes. So the candidates differ in the weights of the terms, the
number of dimensions, the graph, and how far documents move along it. Without counts there is one weighting, and they
differ in how far an optimum is sought instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from doccluster.vectors.weighting import TermPart


@dataclass(frozen=True)
class Candidate:
    """How one partition is made.

    Attributes
    ----------
    space : {"terms", "reduced", "smoothed"}
        The tf-idf rows, rows in few dimensions, or those moved towards their neighbours.
    parts : tuple of {"n", "l", "bm25"}
        The rows stand side by side in as many weights of the terms (see `Weighting`).
    graph : {"n", "l", "bm25"}
        The weights that say which documents are neighbours.
    dimensions, neighbors : float
        Shares of the numbers that the estimator was given; the parts share the dimensions.
    mixing, n_steps
        Of the smoothing; the mixing of the estimator by default.
    refine : bool
        Whether spherical k-means goes on with moves of single documents.
    """

    name: str
    space: Literal["terms", "reduced", "smoothed"] = "smoothed"
    parts: tuple[TermPart, ...] = ("n",)
    graph: TermPart = "n"
    dimensions: float = 1.0
    neighbors: float = 1.0
    mixing: float | None = None
    n_steps: int = 1
    refine: bool = False

    def n_dimensions(self, n_components: int) -> int:
        """Return the dimensions of each part, rounded up as those of the default are."""
        return max(1, -int(-self.dimensions * n_components // len(self.parts)))

    def n_neighbors(self, number: int) -> int:
        """Return the neighbours of each document, at least 1."""
        return max(1, round(self.neighbors * number))


BOTH: tuple[TermPart, ...] = ("l", "n")
WITH_COUNTS = (
    Candidate("both weights", parts=BOTH, graph="l"),
    Candidate("twice the neighbours", parts=BOTH, graph="l", neighbors=2.0),
    Candidate("twice the neighbours, three steps", parts=BOTH, graph="l", neighbors=2.0, mixing=0.7, n_steps=3),
    Candidate("half of the dimensions", parts=BOTH, graph="l", dimensions=0.5),
    Candidate("twice the dimensions", parts=BOTH, graph="l", dimensions=2.0),
    Candidate("neighbours by tf-idf", parts=BOTH, graph="n"),
    Candidate("neighbours by BM25", parts=BOTH, graph="bm25"),
    Candidate("tf-idf alone", parts=("n",), graph="n"),
    Candidate("logarithms alone", parts=("l",), graph="l"),
    Candidate("BM25 alone", parts=("bm25",), graph="bm25"),
    Candidate("logarithms and BM25", parts=("l", "bm25"), graph="l"),
    Candidate("three weights", parts=("l", "n", "bm25"), graph="l"),
)
WITHOUT_COUNTS = (
    Candidate("tf-idf", "terms"),
    Candidate("tf-idf, refined", "terms", refine=True),
    Candidate("reduced", "reduced"),
    Candidate("smoothed"),
    Candidate("smoothed, refined", refine=True),
    Candidate("smoothed, a quarter of the dimensions", dimensions=0.25),
    Candidate("smoothed, twice the neighbours", neighbors=2.0),
    Candidate("smoothed, twice the neighbours, three steps", neighbors=2.0, mixing=0.7, n_steps=3),
)


def usable_candidates(*, has_counts: bool, has_graph: bool) -> tuple[Candidate, ...]:
    """Return the candidates that can be made: other weights need counts, and a graph needs sparse rows >= 0."""
    if has_graph:
        return WITH_COUNTS if has_counts else WITHOUT_COUNTS
    return tuple(candidate for candidate in WITHOUT_COUNTS if candidate.space == "terms")


def most_needed(candidates: tuple[Candidate, ...], *, n_components: int, n_neighbors: int) -> tuple[int, int]:
    """Return the most dimensions of a part, and the most neighbours, of some candidates: they share what is made."""
    dimensions = max(candidate.n_dimensions(n_components) for candidate in candidates)
    return dimensions, max(candidate.n_neighbors(n_neighbors) for candidate in candidates)
