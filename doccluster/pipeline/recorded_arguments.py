"""The arguments of a run as a file tells them, checked before any of them reaches a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doccluster.artifacts import check_arguments, damaged
from doccluster.corpus import read_corpus
from doccluster.pipeline.settings import NOT_REPEATED
from doccluster.text.token_patterns import check_safe_pattern
from doccluster.vectors import TfidfVectorizer, read_matrix

# what the groups of arguments must not hold: it is given elsewhere
GROUPS = {
    "reader": ("source", "path", "progress", "weighting", "dtype"),
    "vectorizer": ("self", "dtype", "n_threads", "vocabulary"),
    "clustering": ("self", "n_clusters", "random_state", "n_threads", "progress"),
}


@dataclass(frozen=True)
class RecordedArguments:
    """The arguments of `run_pipeline` in a run.json: where the documents were, and everything else by name."""

    sources: tuple[str, ...]
    directory: str
    others: Mapping[str, Any]


def recorded_arguments(parameters: Mapping[str, Any], function: Any, path: Path) -> RecordedArguments:
    """Return the parameters that run.json holds as arguments of `function` (`run_pipeline`).

    Raises
    ------
    SchemaError
        If one is unknown or of another type than its function takes, or if a pattern might never come to an end.
    """
    known = {name for name in inspect.signature(function).parameters if name not in NOT_REPEATED}
    unknown = sorted(set(parameters) - known - {"directory", "resolved"})
    if unknown:
        raise damaged(path, f"it has parameters that are not known: {', '.join(unknown)[:200]}")
    others = {name: value for name, value in parameters.items() if name not in ("source", "directory", "resolved")}
    try:
        check_arguments(function, others, "parameters")
        for name in GROUPS:
            check_group(name, others.get(name))
        sources, directory = parameters.get("source"), parameters.get("directory")
        if not _is_texts(sources or []) or not _is_texts([directory or ""]):
            raise ValueError("its source or directory is not text")
    except ValueError as error:
        raise damaged(path, str(error)) from error
    return RecordedArguments(tuple(sources or ()), directory or ".", others)


def check_group(name: str, given: Any) -> None:
    """Raise ValueError unless `given` (null or an object) could be the arguments of one of the `GROUPS`."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is not an object")
    for argument, value in given.items():
        takers = [function for function in _functions(name) if argument in inspect.signature(function).parameters]
        if argument in GROUPS[name] or not takers:
            raise ValueError(f"{name} has {argument[:40]!r}, which is not known")
        check_arguments(takers[0], {argument: value}, name)
    if isinstance(given.get("token_pattern"), str):
        check_safe_pattern(given["token_pattern"])


def _functions(name: str) -> tuple[Callable[..., Any], ...]:
    """Return the functions that take the arguments of a group."""
    if name == "reader":
        return read_corpus, read_matrix
    if name == "vectorizer":
        return (TfidfVectorizer.__init__,)
    from doccluster.clustering import SphericalKMeans  # brings in numba, which assigning by a reader does not need

    return (SphericalKMeans.__init__,)


def _is_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) and "\0" not in one for one in values)
