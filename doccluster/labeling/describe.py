"""Everything that is said of the clusters of a partition, in one call."""

from __future__ import annotations

from collections.abc import Collection

from doccluster.labeling.description import ClusterDescription
from doccluster.labeling.placement import Placement, place_documents
from doccluster.labeling.profiles import ClusterProfiles
from doccluster.labeling.representatives import borderline_documents, representative_documents
from doccluster.labeling.short_labels import short_labels
from doccluster.labeling.terms import descriptive_terms, discriminating_terms
from doccluster.partition import Partition
from doccluster.vectors.document_vectors import DocumentVectors


def describe_clusters(
    vectors: DocumentVectors,
    partition: Partition,
    *,
    placement: Placement | None = None,
    function_words: Collection[str] = frozenset(),
    n_terms: int = 10,
    n_documents: int = 5,
    n_threads: int | None = None,
) -> list[ClusterDescription]:
    """Return what each cluster is about: label, terms, representative and borderline documents.

    Parameters
    ----------
    vectors : DocumentVectors
        The documents of the partition, row for row. Without `terms` the descriptions have documents only.
    partition : Partition
    placement : Placement, optional
        How each document sits in the partition; computed against the partition's own centroids by default.
    function_words : collection of str
        Words that may not stand in a label (lower case).
    n_terms, n_documents : int
        At most so many terms and documents of each kind per cluster.
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
    profiles = ClusterProfiles.from_partition(vectors.matrix, partition)
    placed = placement or place_documents(vectors.matrix, partition, profiles.centroids, n_threads=n_threads)
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    nothing = [()] * partition.n_clusters
    descriptive = nothing if names is None else descriptive_terms(profiles, names, n_terms=n_terms)
    discriminating = nothing if names is None else discriminating_terms(profiles, names, n_terms=n_terms)
    labels = short_labels(profiles, names, function_words=function_words)
    shown = representative_documents(vectors.matrix, partition, placed.similarity, n_documents=n_documents)
    border = borderline_documents(partition, placed, n_documents=n_documents)
    return [
        ClusterDescription(
            cluster=cluster,
            size=int(partition.sizes[cluster]),
            label=labels[cluster],
            descriptive=descriptive[cluster],
            discriminating=discriminating[cluster],
            representatives=shown[cluster],
            borderline=border[cluster],
        )
        for cluster in range(partition.n_clusters)
    ]
