"""Partitions by CLUTO's criterion functions: spherical k-means, then moves of single documents while they gain."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Integers, Matrix
from doccluster.base.parameter_fields import described_by, parameter
from doccluster.base.plain_values import format_size, parse_size
from doccluster.base.progress import checked_progress
from doccluster.base.validation import MAX_STARTS, as_generator
from doccluster.clustering.centroid_estimator import CentroidEstimator
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.clustering.task import SeededParameters
from doccluster.errors import DocclusterWarning, MemoryLimitError
from doccluster.geometry import ClusterEvidence, as_documents
from doccluster.geometry.criterion_moves import moves_bytes, refine_by_moves
from doccluster.geometry.evidence import NAMES, SMALLEST_IS_BEST, criterion_value
from doccluster.geometry.partition import Partition

FIT_BYTES = 10 * 2**20  # small arrays, and what the starts of few documents need


@dataclass(kw_only=True, eq=False, repr=False)
class CriterionParameters(SeededParameters):
    """The parameters of `CriterionClustering`."""

    criterion: str = parameter(
        "i2",
        "What is optimised (`doccluster.geometry.evidence` has the formulas): cohesion, isolation, or both.",
        choices=NAMES,
    )
    n_init: int = parameter(
        10,
        "The number of starts, each from one start of spherical k-means; the best by the criterion is kept.",
        low=1,
        high=MAX_STARTS,
    )
    max_passes: int = parameter(
        50, "The most passes over the documents of a start; it ends sooner where no move gains.", low=1
    )
    max_memory: str | int | None = parameter(
        None,
        'The most memory that a fit may take beyond the rows, such as "2G"; what cannot fit is refused before it '
        "begins.",
        type="str or int",
    )


@described_by(CriterionParameters)
class CriterionClustering(CriterionParameters, CentroidEstimator):
    """Clusters that optimise a criterion function by moves of single documents, as CLUTO's users know them.

    Attributes
    ----------
    labels_ : int64 array of shape (n_documents,)
        A document without terms gets the label that spherical k-means gave it; it counts in no cluster.
    centroids_ : float32 array (csr if `X` is) of shape (n_clusters, n_terms), unit rows
    criterion_value_ : float
        As the criterion is defined: 'e1' and 'g1' are best where they are smallest.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Zhao & Karypis 2004, Empirical and theoretical comparisons of selected criterion functions for document clustering,
    Machine Learning 55:311-331, doi:10.1023/B:MACH.0000027785.44527.d6. A table of the terms times the clusters is
    held. All but 'i1' and 'i2' compare clusters with the sum of all rows: they are for rows without negative values.

    Examples
    --------
    >>> rows = [[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]]
    >>> found = CriterionClustering(2, criterion="h2", random_state=0).fit(rows)
    >>> bool(found.labels_[0] == found.labels_[1] != found.labels_[2] == found.labels_[3])
    True
    """

    def _cluster(self, rows: Matrix, n_clusters: int) -> tuple[Integers, int]:
        sign = -1.0 if self.criterion in SMALLEST_IS_BEST else 1.0
        rng = as_generator(self.random_state)
        progress = checked_progress(self.progress)
        documents, as_sparse = as_documents(rows), sparse.csr_array(rows)
        if self.max_memory is not None:
            n_terms = np.unique(as_sparse.indices).size
            needed, limit = moves_bytes(n_terms, as_sparse.nnz, n_clusters) + FIT_BYTES, parse_size(self.max_memory)
            if needed > limit:
                raise MemoryLimitError(
                    "is too little for a table of the terms times the clusters",
                    argument="max_memory",
                    received=format_size(limit).replace(" ", ""),
                    remedy=f"give {format_size(needed, up=True).replace(' ', '')}, or leave rare terms out",
                )
        one_start = SphericalParameters(
            n_clusters, n_init=1, random_state=rng, n_threads=self.n_threads, max_memory=self.max_memory
        )
        notes: dict[str, None] = {}

        def run_start(number: int) -> tuple[float, Integers]:
            progress("start", number, self.n_init)
            first = spherical_k_means(documents, one_start)
            notes.update(dict.fromkeys(first.notes))
            labels = refine_by_moves(
                self.criterion, as_sparse, first.labels, n_clusters, max_passes=self.max_passes, rng=rng
            )
            evidence = ClusterEvidence(documents, Partition.from_labels(labels), n_threads=self.n_threads)
            return sign * criterion_value(self.criterion, evidence), labels

        best_value, labels = max(map(run_start, range(self.n_init)), key=itemgetter(0))  # the first among equals
        progress("start", self.n_init, self.n_init)
        self.criterion_value_ = sign * best_value
        for note in notes:
            warnings.warn(note, DocclusterWarning, stacklevel=3)
        return labels, n_clusters
