"""How many clusters a run makes: the number that was given, or what the data say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from doccluster.progress import Progress

WORTH_TELLING = 2.0  # seconds


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
