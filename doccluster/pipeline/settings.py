"""The arguments of a run as plain values for run.json, and what "auto" means."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from doccluster.errors import InputError
from doccluster.measures import get_measures
from doccluster.progress import Progress
from doccluster.validation import check_positive_int

# arguments of run_pipeline that say where results go and who is told, not what they are
NOT_REPEATED = ("output", "overwrite", "report", "command", "announce", "began", "progress")

WORTH_TELLING = 2.0  # seconds
GRANULARITIES = ("topics", "stories")


def as_parameters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `run_pipeline` as JSON values; a source in memory is None, it cannot be written down."""
    plain = {name: _plain(value) for name, value in arguments.items() if name not in (*NOT_REPEATED, "source")}
    return {"source": _plain_source(arguments["source"]), "directory": str(Path.cwd()), **plain}


def check_request(n_clusters: Any, granularity: Any, measures: Any, *, has_truth: bool) -> None:
    """Refuse before any work what would else be refused after it.

    Raises
    ------
    InputError
        If `n_clusters` is neither a positive number nor "auto", `granularity` is not known or given with a number, or
        a measure asked for is unknown or needs a truth.
    """
    if granularity is not None and granularity not in GRANULARITIES:
        raise InputError(f"granularity={granularity!r} is not known; choose 'topics' or 'stories', or leave it out.")
    if granularity is not None and not isinstance(n_clusters, str):
        raise InputError(
            f"granularity={granularity!r} says how the number of clusters is chosen, and n_clusters={n_clusters!r} is "
            "a number; give one of the two."
        )
    if not isinstance(n_clusters, str):
        check_positive_int(n_clusters, "n_clusters")
    elif n_clusters != "auto":
        raise InputError(f"n_clusters={n_clusters!r} is not a number of clusters; give a whole number or 'auto'.")
    if measures == "all" or not isinstance(measures, Collection):
        return
    records = get_measures([measures] if isinstance(measures, str) else measures)
    external = [record.name for record in records if record.family == "external"]
    if external and not has_truth:
        raise InputError(f"{', '.join(external)} cannot be computed without a truth; name a label column with truth=.")


def clusters_wanted(
    n_clusters: int | str,
    matrix: Any,
    *,
    granularity: str | None = None,
    seed: int,
    n_threads: int | None,
    announce: Callable[[str], None] | None = None,
    progress: Progress,
) -> tuple[int, str | None]:
    """Return the number of clusters, and a sentence that says why where the data were asked."""
    if not isinstance(n_clusters, str):
        return n_clusters, None
    from doccluster.selection import choose_k, seconds_to_choose

    if announce is not None:
        seconds = seconds_to_choose(matrix, n_threads=n_threads)
        if seconds >= WORTH_TELLING:
            announce(f"choosing the number of clusters takes about {round(seconds)} s; with -k N it takes none")
    choice = choose_k(matrix, granularity=granularity, random_state=seed, n_threads=n_threads, progress=progress)
    if choice.k is None:
        return 1, (
            f"The number of clusters was left to the data: {choice.sentence}. All documents are one cluster; give a "
            "number to divide them all the same."
        )
    return choice.k, f"The number of clusters was left to the data: {choice.sentence}."


def _plain_source(source: Any) -> list[str] | None:
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if isinstance(paths, list | tuple) and all(isinstance(one, os.PathLike) for one in paths):
        return [os.fspath(one) for one in paths]
    return [source] if isinstance(source, str) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
