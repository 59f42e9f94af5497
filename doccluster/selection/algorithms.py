"""Which algorithm a selection procedure fits: any estimator, or one by name, and in which metric it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from doccluster.errors import InputError
from doccluster.selection.distance_blocks import Metric


@dataclass(frozen=True)
class Algorithm:
    """An estimator whose number of clusters is still open.

    Attributes
    ----------
    name : str
    estimator : scikit-learn estimator
        A prototype; it is cloned for each fit.
    metric : {"cosine", "euclidean"}
        The metric its clusters are judged in.
    """

    name: str
    estimator: Any
    metric: Metric

    def fit(
        self,
        matrix: Any,
        *,
        n_clusters: int,
        seed: int,
        weights: npt.NDArray[np.float64] | None = None,
        init: Any = None,
    ) -> Any:
        """Return a fitted clone with `n_clusters` clusters, seeded, with sample weights where they are given."""
        estimator = clone(self.estimator)
        known = estimator.get_params(deep=False)
        size = next((name for name in ("n_clusters", "n_components") if name in known), None)
        if size is None:
            raise InputError(f"{type(estimator).__name__} has no n_clusters; give an estimator that has one.")
        settings = {size: n_clusters, "random_state": seed}
        if init is not None:
            settings |= {"init": init, "n_init": 1}
        estimator.set_params(**{name: value for name, value in settings.items() if name in known})
        if weights is None:
            return estimator.fit(matrix)
        if not self.takes_weights:
            raise InputError(f"{type(estimator).__name__} takes no sample weights; use method='subsample'.")
        return estimator.fit(matrix, sample_weight=weights)

    def labels(self, matrix: Any, **settings: Any) -> npt.NDArray[np.int64]:
        """Return the labels of a fit (see `fit`)."""
        fitted = self.fit(matrix, **settings)
        found = fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(matrix)
        return np.asarray(found, dtype=np.int64)

    @property
    def takes_weights(self) -> bool:
        """Whether the estimator's fit takes sample weights."""
        return bool(has_fit_parameter(self.estimator, "sample_weight"))


def get_algorithm(algorithm: Any = "spherical-kmeans", *, n_init: int = 10, metric: Metric | None = None) -> Algorithm:
    """Return the algorithm of that name, or one made of an estimator.

    Parameters
    ----------
    algorithm : str, Algorithm or estimator
        "spherical-kmeans" (ours, cosine), "kmeans" (scikit-learn's, Euclidean), "vmf" (our mixture, cosine), or any
        estimator with a parameter n_clusters.
    n_init : int
        Starts per fit, for algorithms given by name.
    metric : {"cosine", "euclidean"}
        By default that of the named algorithm; cosine for other estimators.
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    if not isinstance(algorithm, str):
        return Algorithm(type(algorithm).__name__, algorithm, metric or "cosine")
    if algorithm not in _MAKERS:
        raise InputError(f"there is no algorithm {algorithm!r}; choose one of {', '.join(sorted(_MAKERS))}.")
    make, default = _MAKERS[algorithm]
    return Algorithm(algorithm, make(n_init), metric or default)


def _spherical_kmeans(n_init: int) -> Any:
    from doccluster.clustering import SphericalKMeans

    return SphericalKMeans(2, n_init=n_init, n_threads=1)


def _kmeans(n_init: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(2, n_init=n_init)


def _vmf(n_init: int) -> Any:
    from doccluster.clustering import VonMisesFisherMixture

    return VonMisesFisherMixture(2, n_init=n_init)


_MAKERS: dict[str, tuple[Callable[[int], Any], Metric]] = {
    "spherical-kmeans": (_spherical_kmeans, "cosine"),
    "kmeans": (_kmeans, "euclidean"),
    "vmf": (_vmf, "cosine"),
}
