"""The estimators of scikit-learn in the table of algorithms, with the parameters of theirs that a run may set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doccluster.base.parameter_fields import parameter
from doccluster.base.validation import MAX_STARTS

if TYPE_CHECKING:
    from sklearn.cluster import BisectingKMeans as BisectingKMeans
    from sklearn.cluster import KMeans as KMeans
    from sklearn.cluster import MiniBatchKMeans as MiniBatchKMeans


@dataclass(kw_only=True)
class KMeansParameters:
    """Parameters of scikit-learn's k-means."""

    init: str = parameter("k-means++", "How the first means are chosen.", choices=("k-means++", "random"))
    n_init: int = parameter(10, "Number of starts; the best is kept.", low=1, high=MAX_STARTS)
    max_iter: int = parameter(300, "The most iterations in one start.", low=1)
    tol: float = parameter(1e-4, "A start ends when the means move less than this.", low=0)


@dataclass(kw_only=True)
class MiniBatchParameters(KMeansParameters):
    """Parameters of scikit-learn's mini-batch k-means."""

    batch_size: int = parameter(1024, "How many documents an iteration takes.", low=1)


@dataclass(kw_only=True)
class BisectingKMeansParameters(KMeansParameters):
    """Parameters of scikit-learn's bisecting k-means."""

    bisecting_strategy: str = parameter(
        "biggest_inertia", "Which cluster is divided next.", choices=("biggest_inertia", "largest_cluster")
    )


def __getattr__(name: str) -> Any:
    """Return an estimator: scikit-learn is imported where one is used."""
    import sklearn.cluster

    if name in ("KMeans", "MiniBatchKMeans", "BisectingKMeans"):
        return getattr(sklearn.cluster, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
