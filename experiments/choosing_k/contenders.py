"""The algorithm that a study sweeps or perturbs: a name, an estimator, or what `compare` fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from doccluster.selection.clusterers import Contender, as_clusterers


def get_contender(algorithm: Any, *, n_init: int = 10) -> Contender:
    """Return the algorithm of a name, with or without parameters, or of an estimator.

    An algorithm given by its name alone starts `n_init` times in each fit.
    """
    if isinstance(algorithm, Contender):
        return algorithm
    if not isinstance(algorithm, str):
        return Contender(type(algorithm).__name__, algorithm)
    (found,) = as_clusterers([algorithm])
    if "n_init=" in algorithm or "n_init" not in found.estimator.get_params(deep=False):
        return found
    return replace(found, estimator=clone(found.estimator).set_params(n_init=n_init))
