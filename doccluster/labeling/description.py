"""What is said of one cluster, as plain records: everything the tables and the report print about its content."""

from __future__ import annotations

from dataclasses import dataclass

from doccluster.base.plain_values import cut, listed


@dataclass(frozen=True)
class Term:
    """One term of a cluster.

    Attributes
    ----------
    term : str
        The commonest written form.
    column : int
        The column of the matrix.
    share : float
        What part of the cluster's cohesion (descriptive terms) or of its distance from the other clusters
        (discriminating terms) this term explains, in [0, 1].
    support : int
        The number of documents of the cluster that have the term.
    """

    term: str
    column: int
    share: float
    support: int


@dataclass(frozen=True)
class LabelTerm:
    """A word or phrase that may name a cluster.

    Attributes
    ----------
    term : str
        As it is written.
    score : float
        What having it says about being in the cluster (mutual information, bits), times the share of the cluster that a
        search for it brings back.
    coverage : float
        The share of the documents of the cluster that have it, in [0, 1]; of a phrase, estimated from a sample.
    """

    term: str
    score: float
    coverage: float


@dataclass(frozen=True)
class Representative:
    """A document near the centroid: its row, its cosine to the centroid, and how many near-copies it stands for."""

    row: int
    similarity: float
    n_copies: int = 0


@dataclass(frozen=True)
class Borderline:
    """A document that could as well be elsewhere: row, cosine to its centroid, next best cluster, and the margin."""

    row: int
    similarity: float
    runner_up: int
    margin: float


@dataclass(frozen=True, repr=False)
class ClusterDescription:
    """What one cluster is about.

    Attributes
    ----------
    cluster : int
        Its number, 0..k-1.
    size : int
        The number of its documents.
    label : str
        A short label, distinct among the clusters of the partition.
    descriptive, discriminating : tuple of Term
        Largest share first; empty when the columns of the matrix have no names.
    representatives : tuple of Representative
        Nearest to the centroid first, near-copies only once. Rows count the documents of the partition.
    name : str
        What an editor calls it, which is then its label too; empty without a name.
    borderline : tuple of Borderline
        Smallest margin first.
    label_terms : tuple of LabelTerm
        The words and phrases the label was chosen from, best first; empty in a run of an earlier version.
    """

    cluster: int
    size: int
    label: str
    descriptive: tuple[Term, ...] = ()
    discriminating: tuple[Term, ...] = ()
    representatives: tuple[Representative, ...] = ()
    borderline: tuple[Borderline, ...] = ()
    name: str = ""
    label_terms: tuple[LabelTerm, ...] = ()

    def __repr__(self) -> str:
        terms = listed([term.term for term in self.descriptive], 5)
        return cut(f"ClusterDescription({self.cluster}: {self.label!r}, {self.size:,} documents; terms: {terms})")
