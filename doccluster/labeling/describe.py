"""Everything that is said of the clusters of a partition, in one call, and the terms among it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.geometry import ClusterEvidence, Documents
from doccluster.labeling.description import ClusterDescription, Term
from doccluster.labeling.label_phrases import LabelPhrases, TitleCounts
from doccluster.labeling.label_terms import LongerStrings, rank_label_terms
from doccluster.labeling.placement import Placement, borderline_documents, place_documents, representative_documents
from doccluster.labeling.profiles import ClusterProfiles, checked_documents, entries, largest_per_row
from doccluster.labeling.recurring_strings import merge_pieces, recurring_strings
from doccluster.labeling.short_labels import short_labels
from doccluster.partition import Partition
from doccluster.text.scripts import is_unspaced
from doccluster.vectors.document_vectors import DocumentVectors

N_TEXTS = 50  # of a cluster, nearest to its centroid, in which strings are looked for
MAX_CHARACTERS = 5_000  # of each of them


def descriptive_terms(
    profiles: ClusterProfiles, names: npt.NDArray[np.object_], *, n_terms: int = 10
) -> list[tuple[Term, ...]]:
    """Return for each cluster the terms that explain most of its cohesion, largest share first.

    The cohesion of a cluster is the sum of the cosines of its documents to its centroid, ``|s| = sum_t c_t s_t``; the
    share of a term is ``c_t s_t / |s| = c_t ** 2``. The shares of all terms of a cluster sum to 1.

    Parameters
    ----------
    profiles : ClusterProfiles
    names : array of str of shape (n_terms,)
        The written form of each column.
    n_terms : int
        The most terms per cluster.

    Notes
    -----
    These are the "descriptive features" of CLUTO's manual (Karypis 2003, section 3.2.2).
    """
    return _strongest(profiles.cohesion_shares(), profiles.support, names, n_terms)


def discriminating_terms(
    profiles: ClusterProfiles, names: npt.NDArray[np.object_], *, n_terms: int = 10
) -> list[tuple[Term, ...]]:
    """Return for each cluster the terms that set it apart from all other documents, largest share first.

    With r the unit direction of the documents outside the cluster, a term explains ``(c_t - r_t) ** 2 / |c - r| ** 2``
    of the squared distance; only terms with ``c_t > r_t`` are listed. A single cluster has none.
    """
    if profiles.n_clusters == 1:
        return [()]
    return _strongest(profiles.contrast_shares(), profiles.support, names, n_terms)


def _strongest(
    shares: sparse.csr_array, support: sparse.csr_array, names: npt.NDArray[np.object_], count: int
) -> list[tuple[Term, ...]]:
    return [
        tuple(
            Term(str(names[column]), int(column), float(share), int(documents))
            for column, share, documents in zip(columns, values, entries(support, cluster, columns), strict=True)
        )
        for cluster, (columns, values) in enumerate(largest_per_row(shares, count))
    ]


def describe_clusters(
    vectors: DocumentVectors,
    partition: Partition,
    *,
    placement: Placement | None = None,
    evidence: ClusterEvidence | None = None,
    texts: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    phrases: LabelPhrases | None = None,
    in_titles: TitleCounts | None = None,
    outlets: Sequence[str] | None = None,
    function_words: Collection[str] = frozenset(),
    n_terms: int = 10,
    n_documents: int = 5,
    n_threads: int | None = None,
) -> list[ClusterDescription]:
    """Describe each cluster: label, terms, representative and borderline documents.

    Parameters
    ----------
    vectors : DocumentVectors
        The documents of the partition, row for row. Without `terms` the descriptions have documents only.
    partition : Partition
    placement : Placement, optional
        How each document sits in the partition; computed against the partition's own centroids by default.
    evidence : ClusterEvidence, optional
        What is known of the same vectors and partition under the cosine, which is not computed again.
    texts : sequence of str, optional
        The documents, row for row: where terms are pieces of words of a script without blanks, the strings that recur
        in the texts of a cluster are shown in their place.
    titles : sequence of str, optional
        Theirs: strings that several titles share are shown first.
    phrases : LabelPhrases, optional
        Phrases that may stand in a label, besides the terms.
    in_titles : TitleCounts, optional
        How many titles have each term: what titles have names a cluster before what they have not.
    outlets : sequence of str, optional
        Who published each document: representatives are of different ones first.
    function_words : collection of str
        Words that may not stand in a label (lower case).
    n_terms, n_documents : int
        The most terms, and documents of each kind, per cluster.
    n_threads : int, optional
        For computing the placement.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> rows = sparse.csr_array(np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [0, 0.6, 0.8]]))
    >>> terms = np.array(["oil", "price", "wheat"], dtype=object)
    >>> vectors = DocumentVectors(rows, ids=("a", "b", "c", "d"), terms=terms)
    >>> [cluster.label for cluster in describe_clusters(vectors, Partition.from_labels([0, 0, 1, 1]))]
    ['oil', 'wheat']
    """
    documents = checked_documents(vectors, partition)
    known = evidence or ClusterEvidence(documents, partition, n_threads=n_threads)
    profiles = ClusterProfiles.from_evidence(known)
    placed = placement or place_documents(documents, partition, profiles.centroids, n_threads=n_threads)
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    longer = None if names is None or texts is None else _longer_strings(partition, placed, names, texts, titles)
    descriptive: list[tuple[Term, ...]] = [()] * partition.n_clusters
    discriminating = descriptive
    if names is not None:
        descriptive = _terms(descriptive_terms, profiles, names, longer, n_terms)
        discriminating = _terms(discriminating_terms, profiles, names, longer, n_terms)
    ranked = rank_label_terms(
        profiles,
        names,
        rows=Documents(known.rows.matrix),
        partition=partition,
        phrases=phrases,
        in_titles=in_titles,
        function_words=function_words,
        longer=longer,
    )
    labels = short_labels(ranked)
    shown = representative_documents(
        documents, partition, placed.similarity, n_documents=n_documents, outlets=outlets, evidence=known
    )
    border = borderline_documents(partition, placed, n_documents=n_documents)
    return [
        ClusterDescription(
            cluster=cluster,
            size=int(partition.sizes[cluster]),
            label=labels[cluster],
            label_terms=ranked[cluster],
            descriptive=descriptive[cluster],
            discriminating=discriminating[cluster],
            representatives=shown[cluster],
            borderline=border[cluster],
        )
        for cluster in range(partition.n_clusters)
    ]


def _longer_strings(
    partition: Partition,
    placed: Placement,
    names: npt.NDArray[np.object_],
    texts: Sequence[str],
    titles: Sequence[str] | None,
) -> LongerStrings | None:
    """Return a finder of strings to show for the terms of a cluster; None if no term is a piece of a word."""
    if not any(map(is_unspaced, names)):
        return None

    def longer(cluster: int, terms: Sequence[str]) -> Mapping[str, str]:
        members = partition.members(cluster)
        nearest = members[np.argsort(-placed.similarity[members], kind="stable")[:N_TEXTS]]
        theirs = [] if titles is None else [titles[row] for row in nearest.tolist()]
        return recurring_strings(terms, [texts[row][:MAX_CHARACTERS] for row in nearest.tolist()], titles=theirs)

    return longer


def _terms(
    choose: Callable[..., list[tuple[Term, ...]]],
    profiles: ClusterProfiles,
    names: npt.NDArray[np.object_],
    longer: LongerStrings | None,
    n_terms: int,
) -> list[tuple[Term, ...]]:
    if longer is None:
        return choose(profiles, names, n_terms=n_terms)
    # a string of m characters has m - 1 pieces, so more terms are taken than are shown
    return [
        merge_pieces(terms, longer(cluster, [term.term for term in terms]), n_terms)
        for cluster, terms in enumerate(choose(profiles, names, n_terms=4 * n_terms))
    ]
