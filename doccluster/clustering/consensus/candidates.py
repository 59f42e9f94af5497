"""A dozen partitions of the same documents that err in different ways, for a consensus.

Runs of one method, or of one weighting, share their mistakes. So the candidates differ in the weights of the terms, the
number of dimensions, the graph, and how far an optimum is sought.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from doccluster.clustering.smoothed.document_spaces import DocumentSpaces


@dataclass(frozen=True)
class Candidate:
    """How one partition is made.

    Attributes
    ----------
    name : str
    space : {"terms", "reduced", "smoothed"}
        Weighted rows, rows in few dimensions, or those moved towards their neighbours.
    term : {"n", "l", "bm25"}
        The part of the weight that the document makes (see `Weighting`).
    idf : int
        The power of the inverse document frequency in it.
    dimensions, neighbors : float
        Shares of the numbers that the estimator was given.
    mixing, n_steps
        Of the smoothing; the mixing of the estimator by default.
    refine : bool
        Whether spherical k-means goes on with moves of single documents.
    """

    name: str
    space: Literal["terms", "reduced", "smoothed"]
    term: Literal["n", "l", "bm25"] = "n"
    idf: int = 1
    dimensions: float = 1.0
    neighbors: float = 1.0
    mixing: float | None = None
    n_steps: int = 1
    refine: bool = False

    @property
    def is_tfidf(self) -> bool:
        """Whether it is made of the tf-idf rows, and so also where there are no counts."""
        return self.term == "n" and self.idf == 1


CANDIDATES = (
    Candidate("tf-idf", "terms"),
    Candidate("tf-idf, refined", "terms", refine=True),
    Candidate("reduced", "reduced"),
    Candidate("smoothed", "smoothed"),
    Candidate("smoothed, refined", "smoothed", refine=True),
    Candidate("smoothed, a quarter of the dimensions", "smoothed", dimensions=0.25),
    Candidate("smoothed, twice the neighbours", "smoothed", neighbors=2.0),
    Candidate("smoothed, twice the neighbours, three steps", "smoothed", neighbors=2.0, mixing=0.7, n_steps=3),
    Candidate("smoothed, logarithms of the counts", "smoothed", term="l"),
    Candidate("smoothed, logarithms of the counts without idf", "smoothed", term="l", idf=0),
    Candidate("smoothed, squared idf", "smoothed", idf=2),
    Candidate("smoothed, BM25", "smoothed", term="bm25"),
)


def candidate_points(
    candidate: Candidate, spaces: DocumentSpaces, *, n_components: int, n_neighbors: int, mixing: float
) -> Any:
    """Return the rows that a candidate is clustered by."""
    n_dimensions = scaled(candidate.dimensions, n_components)
    if candidate.space == "terms":
        return spaces.rows
    if candidate.space == "reduced":
        return spaces.reduced(n_dimensions)
    return spaces.smoothed(
        n_dimensions,
        spaces.graph(scaled(candidate.neighbors, n_neighbors)),
        mixing=mixing if candidate.mixing is None else candidate.mixing,
        n_steps=candidate.n_steps,
    )


def usable_candidates(*, has_counts: bool, has_graph: bool) -> tuple[Candidate, ...]:
    """Return the candidates that can be made: other weights need counts, and a graph needs sparse rows >= 0."""
    return tuple(
        candidate
        for candidate in CANDIDATES
        if (has_counts or candidate.is_tfidf) and (has_graph or candidate.space == "terms")
    )


def most_neighbors(candidate: Candidate, n_neighbors: int) -> int:
    """Return the most neighbours that candidates of the same weights need, whose graph is shared."""
    same = [each for each in CANDIDATES if (each.term, each.idf) == (candidate.term, candidate.idf)]
    return max(scaled(each.neighbors, n_neighbors) for each in same)


def scaled(share: float, number: int) -> int:
    """Return a share of a number, at least 1."""
    return max(1, round(share * number))
