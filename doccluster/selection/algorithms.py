"""Which algorithm a selection procedure fits: any estimator, or one by name, and in which metric it is judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError
from doccluster.selection.distance_blocks import Metric
from doccluster.validation import compact_indices


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
        n_init: int | None = None,
    ) -> Any:
        """Return a fitted clone with `n_clusters` clusters, seeded, with sample weights where they are given.

        `n_init` is the number of starts where the estimator has such and its own is not to be taken.

        Never more clusters than distinct rows are asked for, and given centroids are dense unless the estimator is
        ours: scikit-learn's takes neither sparse ones nor 64-bit indices.
        """
        estimator = clone(self.estimator)
        matrix = compact_indices(matrix)
        known = estimator.get_params(deep=False)
        size = next((name for name in ("n_clusters", "n_components") if name in known), None)
        if size is None:
            raise InputError(f"{type(estimator).__name__} has no n_clusters; give an estimator that has one.")
        settings = {size: min(n_clusters, count_distinct_rows(matrix)), "random_state": seed}
        if n_init is not None:
            settings |= {"n_init": n_init}
        if init is not None and init.shape[0] == settings[size]:
            takes_sparse = isinstance(estimator, SphericalKMeans) or not sparse.issparse(init)
            settings |= {"init": init if takes_sparse else init.toarray(), "n_init": 1}
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
    def settings(self) -> str:
        """Name and parameters, as text: what a fit depends on besides data, k and seed."""
        return f"{self.name} {sorted(self.estimator.get_params(deep=False).items())}"

    @property
    def takes_weights(self) -> bool:
        """Whether the estimator's fit takes sample weights."""
        return bool(has_fit_parameter(self.estimator, "sample_weight"))


def count_distinct_rows(matrix: Any) -> int:
    """Return the number of different rows of a csr or dense array: no clustering has more clusters that differ.

    Examples
    --------
    >>> count_distinct_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    2
    """
    if not sparse.issparse(matrix):
        return len({row.tobytes() for row in np.asarray(matrix)})
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return len({(matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes()) for a, b in ends})


def get_algorithm(algorithm: Any = "spherical-kmeans", *, n_init: int = 10, metric: Metric | None = None) -> Algorithm:
    """Return the algorithm of that name, or one made of an estimator.

    Parameters
    ----------
    algorithm : str, Algorithm or estimator
        A name in `ALGORITHMS`, with parameters if wanted (see `parse_algorithm`), or any estimator with a parameter
        n_clusters.
    n_init : int
        Starts per fit, for algorithms given by name alone.
    metric : {"cosine", "euclidean"}
        By default that of the named algorithm; cosine for other estimators.
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    if isinstance(algorithm, str):
        return parse_algorithm(algorithm, n_init=n_init)
    return Algorithm(type(algorithm).__name__, algorithm, metric or "cosine")


def parse_algorithm(text: str, *, n_init: int = 10) -> Algorithm:
    """Return the algorithm described by a text: its name, then parameters of its estimator if wanted.

    Examples
    --------
    >>> parse_algorithm("spherical-kmeans:n_init=1,refine=true").estimator.n_init
    1

    Raises
    ------
    InputError
        If the name or a parameter is unknown.
    """
    name, _, settings = text.partition(":")
    if name not in ALGORITHMS:
        raise InputError(
            f"there is no algorithm {name!r}; choose one of {', '.join(sorted(ALGORITHMS))}, or in compare your own as "
            "module:factory."
        )
    make, metric = ALGORITHMS[name]
    estimator = make()
    known = estimator.get_params(deep=False)
    if "n_init" in known:
        estimator.set_params(n_init=n_init)
    for pair in filter(None, settings.split(",")):
        parameter, equals, value = pair.partition("=")
        if not equals or parameter not in known:
            raise InputError(f"{pair!r} is not a parameter of {name}; it has {', '.join(sorted(known))}.")
        estimator.set_params(**{parameter: parse_value(value)})
    return Algorithm(text, estimator, metric)


def parse_value(text: str) -> Any:
    """Return the value of a parameter as typed: a number, true, false, null, or else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _spherical_kmeans() -> Any:
    return SphericalKMeans(2, n_threads=1)


def _kmeans() -> Any:
    from sklearn.cluster import KMeans

    return KMeans(2)


def _mini_batch() -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(2)


def _bisecting() -> Any:
    from sklearn.cluster import BisectingKMeans

    return BisectingKMeans(2)


def _vmf() -> Any:
    from doccluster.clustering import VonMisesFisherMixture

    return VonMisesFisherMixture(2, concentration="shared")  # free ones run to their bound where a cluster is of copies


# name: (how an estimator is made, the metric its clusters are judged in)
ALGORITHMS: dict[str, tuple[Callable[[], Any], Metric]] = {
    "spherical-kmeans": (_spherical_kmeans, "cosine"),
    "kmeans": (_kmeans, "euclidean"),
    "minibatch-kmeans": (_mini_batch, "euclidean"),
    "bisecting-kmeans": (_bisecting, "euclidean"),
    "vmf": (_vmf, "cosine"),
}
