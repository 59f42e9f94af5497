"""The arguments of a run as plain values for run.json, and what "auto" means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doccluster.errors import InputError
from doccluster.progress import Progress
from doccluster.vectors import DocumentVectors

# arguments of run_pipeline that say where results go and who is told, not what they are
NOT_REPEATED = ("output", "overwrite", "report", "command", "progress")

LOOKED_AT = 1000  # documents that "auto" looks at, which bounds its time however large the corpus; choose-k sees all


def as_parameters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `run_pipeline` as JSON values; a source in memory is None, it cannot be written down."""
    plain = {name: _plain(value) for name, value in arguments.items() if name not in (*NOT_REPEATED, "source")}
    return {"source": _plain_source(arguments["source"]), "directory": str(Path.cwd()), **plain}


def clusters_wanted(
    n_clusters: Any, vectors: DocumentVectors, *, seed: int, n_threads: int | None, progress: Progress
) -> tuple[int, str | None]:
    """Return the number of clusters, and a sentence that says why where the data were asked.

    Raises
    ------
    InputError
        If it is neither a number nor "auto".
    """
    if not isinstance(n_clusters, str):
        return n_clusters, None
    if n_clusters != "auto":
        raise InputError(f"n_clusters={n_clusters!r} is not a number of clusters; give a whole number or 'auto'.")
    from doccluster.selection import choose_k

    choice = choose_k(
        vectors.matrix, max_documents=LOOKED_AT, random_state=seed, n_threads=n_threads, progress=progress
    )
    if choice.k is None:
        return 1, f"k=auto: {choice.sentence}; all documents are one cluster, give -k N to divide them all the same."
    return choice.k, f"k=auto: {choice.sentence}."


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
