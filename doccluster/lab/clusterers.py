"""What `compare` fits: an algorithm by name, ``module:name``, or an estimator, class, factory or function."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone

from doccluster.base.arrays import Floats, Integers, Matrix
from doccluster.base.validation import check_choice
from doccluster.clustering import DocumentClustering
from doccluster.clustering.algorithms import ALGORITHMS, Metric, is_algorithm, parse_algorithm, parse_value
from doccluster.errors import InputError
from doccluster.vectors.meaning import SPACES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_FACTORY = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)(?::(?P<settings>.*))?")


@dataclass(frozen=True, eq=False)
class Contender:
    """A name, and an estimator that is cloned for each fit.

    `needs_counts` says that it is to be fitted to counts of terms where there are some, and not to weighted rows;
    `metric` is the one in which its clusters are judged; `space` is what it sees of documents with a meaning.
    """

    name: str
    estimator: BaseEstimator
    needs_counts: bool = False
    metric: Metric = "cosine"
    space: str = "both"

    @property
    def takes_two_views(self) -> bool:
        """Whether it sees words, and meaning or letters beside them as a view of their own, not in one row."""
        return self.space != "meaning" and type(self.estimator) is DocumentClustering


def as_clusterers(algorithms: Iterable[object] | Mapping[str, object]) -> list[Contender]:
    """Return the algorithms to fit: names, ``module:name``, estimators, classes, factories, functions.

    A mapping gives them names. Raises InputError if a name or a parameter is not known, something cannot be fitted, or
    two have one name.
    """
    if isinstance(algorithms, str):
        algorithms = [algorithms]
    pairs = algorithms.items() if isinstance(algorithms, Mapping) else [(None, algorithm) for algorithm in algorithms]
    contenders: list[Contender] = []
    for name, algorithm in pairs:
        if isinstance(algorithm, str) and any(algorithm == each.name for each in contenders):
            continue  # the same name again asks for nothing new
        contenders.append(_as_clusterer(algorithm, name))
    names = [each.name for each in contenders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"two algorithms are called {twice!r}", remedy="give a mapping of your own names to estimators"
        )
    return contenders


def in_spaces(clusterers: Sequence[Contender], spaces: str | Iterable[str]) -> list[Contender]:
    """Return each algorithm by each space, whose name it has behind its own where there are several.

    Raises InputError if a space is not known.
    """
    names = [spaces] if isinstance(spaces, str) else list(dict.fromkeys(spaces))
    for space in names:
        check_choice(space, SPACES, "space")
    ending = {space: f" by {space}" if len(names) > 1 else "" for space in names}
    return [
        replace(clusterer, name=clusterer.name + ending[space], space=space)
        for clusterer in clusterers
        for space in names
    ]


def fit_labels(
    estimator: object, matrix: Matrix, *, n_clusters: int, seed: int, weights: Floats | None = None
) -> Integers:
    """Return the labels that a clone of an estimator gives the rows, asked for `n_clusters` where it can be asked.

    `n_clusters` and `random_state` are also set on the steps of a pipeline; `n_components` only where there is no
    `n_clusters` and it is the estimator's own. `weights` are those of the rows, for an estimator that takes some.
    """
    copy = clone(estimator)
    parameters = copy.get_params(deep=True)
    sizes = [name for name in parameters if name.split("__")[-1] == "n_clusters"] or [
        name for name in ("n_components",) if name in parameters
    ]
    seeds = [name for name in parameters if name.split("__")[-1] == "random_state"]
    copy.set_params(**dict.fromkeys(sizes, min(n_clusters, matrix.shape[0])), **dict.fromkeys(seeds, seed))
    if "n_threads" in parameters:
        copy.set_params(n_threads=1)  # fits run side by side, and are timed alike
    if weights is not None:
        labels = copy.fit(matrix, sample_weight=weights).labels_
    elif hasattr(copy, "fit_predict"):
        labels = copy.fit_predict(matrix)
    else:
        fitted = copy.fit(matrix)
        labels = fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(matrix)
    array = np.asarray(labels)
    if array.shape != (matrix.shape[0],):
        raise InputError(f"it gave labels of shape {array.shape} for {matrix.shape[0]} documents.")
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


@dataclass(eq=False)
class FunctionClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # their types are not known
    """A function ``f(X, n_clusters, random_state)`` as an estimator."""

    function: Callable[..., ArrayLike]
    n_clusters: int = 8
    random_state: int | None = None

    def fit(self, X: Matrix, y: object = None) -> FunctionClusterer:
        """Call the function; its labels become `labels_`."""
        self.labels_ = self.function(X, n_clusters=self.n_clusters, random_state=self.random_state)
        return self


def _as_clusterer(algorithm: object, name: str | None) -> Contender:
    if isinstance(algorithm, str):
        return _of_text(algorithm, name or algorithm)
    named = name or getattr(algorithm, "__name__", None) or " ".join(repr(algorithm).split())
    if not (callable(algorithm) or _is_clusterer(algorithm)):
        raise InputError(f"{algorithm!r} is not an algorithm", remedy=f"give a name, 'module:name', {_CLUSTERER}")
    estimator = _made(named, lambda: _estimator(algorithm))
    return Contender(named, estimator, isinstance(estimator, DocumentClustering))


_CLUSTERER = "a clusterer with scikit-learn's fit and get_params, or a function f(X, n_clusters, random_state)"


def _is_clusterer(value: object) -> bool:
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")


def _made(named: str, make: Callable[[], BaseEstimator]) -> BaseEstimator:
    """Return the estimator that `make` gives; raise InputError with the reason if it fails."""
    try:
        return make()
    except Exception as error:
        reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{named} gives no clusterer: {reason.rstrip('.')}", remedy=f"give {_CLUSTERER}") from error


def _estimator(algorithm: Any, **settings: object) -> BaseEstimator:
    """Return the estimator itself, that of a class or factory, or one that calls a function which needs an argument."""
    if _is_clusterer(algorithm) and not settings:
        return algorithm
    signature = inspect.signature(algorithm)
    try:
        signature.bind(**settings)
    except TypeError:
        signature.bind(None, n_clusters=1, random_state=0, **settings)  # the reason why this cannot be is told
        return FunctionClusterer(partial(algorithm, **settings) if settings else algorithm)
    estimator = algorithm(**settings)
    if not _is_clusterer(estimator):
        raise InputError(f"it returned {estimator!r}, which is not a clusterer")
    return estimator


def _of_text(text: str, name: str) -> Contender:
    factory = _FACTORY.fullmatch(text)
    algorithm = text.partition(":")[0]
    if factory is None and not is_algorithm(algorithm):
        raise InputError(
            f"there is no algorithm {algorithm!r}",
            remedy=f"choose one of {', '.join(ALGORITHMS)}, or in compare your own as module:factory",
        )
    if factory is None or is_algorithm(algorithm):
        return _of_name(text, name)
    settings = dict(_setting(pair, text) for pair in filter(None, (factory["settings"] or "").split(",")))
    module, attribute = factory["module"], factory["name"]
    return Contender(name, _made(text, lambda: _estimator(_attribute(module, attribute), **settings)))


def _of_name(text: str, name: str) -> Contender:
    """Return an algorithm of the table with the parameters in a text. Raises InputError if one is not known."""
    row, parameters = parse_algorithm(text)
    estimator = row.make()
    usual = estimator.get_params(deep=False)
    unknown = [name_of_parameter for name_of_parameter in parameters if name_of_parameter not in usual]
    if unknown:
        raise InputError(
            f"{unknown[0]!r} is not a parameter of {row.name}", remedy=f"it has {', '.join(sorted(usual))}"
        )
    starts = {"n_init": 10} if "n_init" in usual else {}
    return Contender(name, estimator.set_params(**starts | parameters), row.needs == "counts", row.metric)


def _setting(pair: str, text: str) -> tuple[str, object]:
    name, equals, value = pair.partition("=")
    if not equals or not name.isidentifier():
        raise InputError(f"{pair!r} in {text!r} is not a setting", remedy="write module:factory:name=value,name=value")
    return name, parse_value(value)


def _attribute(module: str, name: str) -> Any:
    """Return a name of a module; modules of the current folder are found too, as Python itself finds them."""
    with _current_folder_is_searched():
        value = importlib.import_module(module)
    if not hasattr(value, name):
        raise InputError(f"the module {module} has no {name!r}")
    return getattr(value, name)


@contextmanager
def _current_folder_is_searched() -> Iterator[None]:
    """Let imports look in the current folder too, last of all, and leave the path as it was."""
    here = os.getcwd()  # noqa: PTH109
    is_new = here not in sys.path and "" not in sys.path
    if is_new:
        sys.path.append(here)
    try:
        yield
    finally:
        if is_new and here in sys.path:
            sys.path.remove(here)


def as_contender(algorithm: object, *, n_init: int) -> Contender:
    """Return the algorithm of a name, with or without parameters, or of an estimator.

    An algorithm given by its name alone starts `n_init` times in each fit.
    """
    if isinstance(algorithm, Contender):
        return algorithm
    if not isinstance(algorithm, str):
        return Contender(type(algorithm).__name__, algorithm)
    (contender,) = as_clusterers([algorithm])
    if "n_init=" in algorithm or "n_init" not in contender.estimator.get_params(deep=False):
        return contender
    return replace(contender, estimator=clone(contender.estimator).set_params(n_init=n_init))
