"""Measures as scikit-learn's scorers, for `GridSearchCV`, `cross_val_score` and what else takes ``scoring=``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import Matrix, MatrixLike
from doccluster.base.parameter_fields import at_the_door
from doccluster.errors import InputError
from doccluster.measures.judging import score
from doccluster.measures.registry import get_measure

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Scorer:
    """A measure that is called as ``scorer(estimator, X, y=None)``; larger is always better.

    Attributes
    ----------
    name : str
    metric : {"cosine", "euclidean", "sqeuclidean"}
    parameters : mapping
        What the measure takes besides.
    """

    name: str
    metric: str = "cosine"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: object, X: MatrixLike, y: object = None) -> float:
        """Return the measure of the clusters that a fitted estimator gives X, negated where less is better.

        Raises InputError if the measure compares with a truth and there is no `y`, or the estimator cannot say clusters
        of X.
        """
        record = get_measure(self.name)
        if record.family == "external" and y is None:
            raise InputError(
                f"{self.name} compares clusters with classes, and y is None", remedy="give y, or another measure"
            )
        external = record.family == "external"
        evidence = {"truth": y} if external else {"vectors": _vectors(estimator, X), "metric": self.metric}
        value = score(self.name, _labels(estimator, X), **evidence, **self.parameters).value
        return -value if record.direction == "lower" else value


@at_the_door
def make_scorer(name: str, *, metric: str = "cosine", **parameters: object) -> Scorer:
    """Return a measure as a scorer of scikit-learn's kind.

    Parameters
    ----------
    name : str
        A measure, under our name or scikit-learn's. Internal measures need no `y`.
    metric : {"cosine", "euclidean", "sqeuclidean"}
        For measures that need vectors.
    **parameters
        What the measure takes besides.

    Raises
    ------
    InputError
        If the measure or a parameter is unknown, or no direction of it is better.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from doccluster import SphericalKMeans
    >>> rows = np.repeat(np.eye(4), 10, axis=0)
    >>> clusterer, scorer = SphericalKMeans(random_state=0), make_scorer("silhouette")
    >>> search = GridSearchCV(clusterer, {"n_clusters": [2, 4]}, scoring=scorer)
    >>> search.fit(rows[np.random.default_rng(0).permutation(40)]).best_params_
    {'n_clusters': 4}
    """
    record = get_measure(name)
    if record.direction == "none":
        raise InputError(f"no direction of {name} is better, so it cannot choose", remedy="choose another measure")
    record.check_parameters(parameters)
    return Scorer(name, metric, parameters)


def _labels(estimator: object, X: MatrixLike) -> Any:
    if hasattr(estimator, "predict"):
        return estimator.predict(X)
    labels = getattr(estimator, "labels_", None)
    if labels is None or len(labels) != np.shape(X)[0]:
        raise InputError(
            f"{type(estimator).__name__} cannot assign rows that it was not fitted to",
            remedy="give a clusterer with predict",
        )
    return labels


def _vectors(estimator: BaseEstimator, X: MatrixLike) -> Matrix:
    """Return the matrix that is clustered: what the steps of a pipeline before the last make of X, else X."""
    steps = getattr(estimator, "steps", None)
    return estimator[:-1].transform(X) if steps is not None and len(steps) > 1 else X
