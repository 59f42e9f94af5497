"""Which algorithm a selection procedure fits: any estimator, or one by name, and in which metric it is judged."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.algorithms import SPHERICAL, Algorithm, Metric, parse_algorithm
from doccluster.clustering.estimating import labels_of
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import DocclusterWarning, InputError
from doccluster.geometry import Documents, as_documents
from doccluster.geometry.documents import count_distinct_rows
from doccluster.validation import compact_indices

DEFAULT = SPHERICAL


@dataclass(frozen=True)
class Prototype:
    """An algorithm whose number of clusters is still open.

    Attributes
    ----------
    metric : {"cosine", "euclidean"}
        The metric its clusters are judged in.
    row : Algorithm or None
        The row of the table of algorithms that it is made from.
    given : scikit-learn estimator or None
        The estimator, where it is not made from the table.
    parameters : mapping
        What is not as by default, for one that is made from the table.
    """

    name: str
    metric: Metric
    row: Algorithm | None = None
    given: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def estimator(self) -> Any:
        """The estimator; it is cloned for each fit."""
        return self.given if self.row is None else self.row.make().set_params(**self.parameters)

    def fit(
        self,
        matrix: Any,
        *,
        n_clusters: int,
        seed: int,
        weights: npt.NDArray[np.float64] | None = None,
        init: Any = None,
    ) -> Any:
        """Return a fitted clone with `n_clusters` clusters, seeded, with sample weights where they are given.

        Never more clusters than distinct rows are asked for, and given centroids are dense unless the estimator is
        ours: scikit-learn's takes neither sparse ones nor 64-bit indices.
        """
        from sklearn.base import clone  # neither it nor an estimator is needed where only labels are wanted

        from doccluster.clustering import SphericalKMeans

        estimator = clone(self.estimator)
        matrix = compact_indices(matrix)
        known = estimator.get_params(deep=False)
        size = next((name for name in ("n_clusters", "n_components") if name in known), None)
        if size is None:
            raise InputError(f"{type(estimator).__name__} has no n_clusters", remedy="give an estimator that has one")
        settings = {size: min(n_clusters, count_distinct_rows(matrix)), "random_state": seed}
        if init is not None and init.shape[0] == settings[size]:
            takes_sparse = isinstance(estimator, SphericalKMeans) or not sparse.issparse(init)
            settings |= {"init": init if takes_sparse else init.toarray(), "n_init": 1}
        estimator.set_params(**{name: value for name, value in settings.items() if name in known})
        if weights is None:
            return estimator.fit(matrix)
        if not self.takes_weights:
            raise InputError(f"{type(estimator).__name__} takes no sample weights", remedy="use method='subsample'")
        return estimator.fit(matrix, sample_weight=weights)

    def labels(
        self,
        matrix: Any,
        *,
        n_clusters: int,
        seed: int,
        weights: Any = None,
        init: Any = None,
    ) -> npt.NDArray[np.int64]:
        """Return the labels of a fit (see `fit`) to `Documents` or to a matrix, which is checked."""
        documents = as_documents(matrix)
        if self.row is not None and self.row.name == SPHERICAL:
            return self._spherical_labels(documents, n_clusters, seed, weights=weights, init=init)
        rows = documents.matrix
        fitted = self.fit(rows, n_clusters=n_clusters, seed=seed, weights=weights, init=init)
        return labels_of(fitted, rows)

    def _spherical_labels(
        self, documents: Documents, n_clusters: int, seed: int, *, weights: Any, init: Any
    ) -> npt.NDArray[np.int64]:
        """Return the result of `fit`, by the plain function: no estimator is imported, nothing is checked again."""
        settings = {"n_threads": 1, **self.parameters, "random_state": seed}
        settings |= {"n_clusters": min(n_clusters, documents.n_distinct)}
        if init is not None and init.shape[0] == settings["n_clusters"]:
            settings |= {"init": init, "n_init": 1}
        found = spherical_k_means(documents, SphericalParameters(**settings), sample_weight=weights)
        for note in found.notes:
            warnings.warn(note, DocclusterWarning, stacklevel=3)
        return found.labels.astype(np.int64)

    @property
    def takes_centroids(self) -> bool:
        """Whether it can start from given centroids."""
        return self.row is not None and self.row.takes_centroids

    @property
    def takes_weights(self) -> bool:
        """Whether the estimator's fit takes sample weights."""
        from sklearn.utils.validation import has_fit_parameter

        return bool(has_fit_parameter(self.estimator, "sample_weight"))


def get_prototype(algorithm: Any = DEFAULT, *, n_init: int = 10, metric: Metric | None = None) -> Prototype:
    """Return the algorithm of a name, or one made of an estimator.

    Parameters
    ----------
    algorithm : str, Prototype or estimator
        A name in `doccluster.clustering.algorithms.ALGORITHMS`, with parameters if wanted (see `parse_prototype`), or
        any estimator with a parameter n_clusters.
    n_init : int
        Starts per fit, for algorithms given by name alone.
    metric : {"cosine", "euclidean"}
        By default that of the named algorithm; cosine for other estimators.
    """
    if isinstance(algorithm, Prototype):
        return algorithm
    if isinstance(algorithm, str):
        return parse_prototype(algorithm, n_init=n_init)
    return Prototype(type(algorithm).__name__, metric or "cosine", given=algorithm)


def parse_prototype(text: str, *, n_init: int = 10) -> Prototype:
    """Return the algorithm described by a text: its name, then parameters of its estimator if wanted.

    Raises InputError if the name or a parameter is unknown.

    Examples
    --------
    >>> parse_prototype("spherical-k-means:n_init=1,refine=true").estimator.n_init
    1
    """
    row, parameters = parse_algorithm(text)
    known = _known_parameters(row)
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise InputError(
            f"{unknown[0]!r} is not a parameter of {row.name}", remedy=f"it has {', '.join(sorted(known))}"
        )
    starts = {"n_init": n_init} if "n_init" in known else {}
    return Prototype(text, row.metric, row, parameters=starts | parameters)


def _known_parameters(row: Algorithm) -> Collection[str]:
    if row.name == SPHERICAL:
        return [one.name for one in fields(SphericalParameters)]
    known: Mapping[str, Any] = row.make().get_params(deep=False)
    return known
