"""Partitions by CLUTO's criterion functions: spherical k-means, then moves of single documents while they gain."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Integers, MatrixLike
from doccluster.base.parameter_fields import check_parameters, described_by, parameter
from doccluster.base.plain_values import format_size, parse_size
from doccluster.base.progress import silent
from doccluster.base.validation import MAX_STARTS, as_generator, check_n_clusters
from doccluster.clustering.centroid_estimator import CentroidEstimator, sum_directions
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

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Cluster the rows of `X`, csr or dense; rows that are not unit are normalised in a copy, with a warning.

        Raises
        ------
        InputError
            If a parameter or the matrix cannot be used.
        MemoryLimitError
            If a table of the terms times the clusters does not fit into `max_memory`.
        NothingUsable
            If no row has a non-zero value.

        Warns
        -----
        DocclusterWarning
            If rows were normalised, or there are fewer distinct rows than clusters.
        """
        rows = self._unit_rows(X)
        k = check_n_clusters(self.n_clusters, rows.shape[0])
        check_parameters(self)
        sign = -1.0 if self.criterion in SMALLEST_IS_BEST else 1.0
        rng = as_generator(self.random_state)
        progress = self.progress or silent
        documents, as_sparse = as_documents(rows), sparse.csr_array(rows)
        if self.max_memory is not None:
            n_terms = np.unique(as_sparse.indices).size
            _check_memory(moves_bytes(n_terms, as_sparse.nnz, k) + FIT_BYTES, self.max_memory)
        best: Integers | None = None
        best_value = -sign * np.inf
        notes: dict[str, None] = {}
        for start in range(self.n_init):
            progress("start", start, self.n_init)
            first_labels = spherical_k_means(
                documents,
                SphericalParameters(
                    k, n_init=1, random_state=rng, n_threads=self.n_threads, max_memory=self.max_memory
                ),
            )
            notes |= dict.fromkeys(first_labels.notes)
            labels = refine_by_moves(
                self.criterion, as_sparse, first_labels.labels, k, max_passes=self.max_passes, rng=rng
            )
            evidence = ClusterEvidence(documents, Partition.from_labels(labels), n_threads=self.n_threads)
            value = criterion_value(self.criterion, evidence)
            if best is None or sign * value > sign * best_value:
                best, best_value = labels, value
        progress("start", self.n_init, self.n_init)
        assert best is not None  # there is at least one start
        self.labels_ = best
        self.criterion_value_ = best_value
        self.centroids_ = sum_directions(rows, best, k)
        for note in notes:
            warnings.warn(note, DocclusterWarning, stacklevel=2)
        return self


def _check_memory(needed: int, max_memory: str | int) -> None:
    limit = parse_size(max_memory)
    if needed > limit:
        raise MemoryLimitError(
            "is too little for a table of the terms times the clusters",
            argument="max_memory",
            received=format_size(limit).replace(" ", ""),
            remedy=f"give {format_size(needed, up=True).replace(' ', '')}, or leave rare terms out",
        )
