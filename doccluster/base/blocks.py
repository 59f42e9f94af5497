"""Blocks of rows, and maps over them, serial or in threads, that keep the order of the blocks."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

BLOCK_ENTRIES = 2**23  # of a csr matrix, in pieces: 64 MiB of float64


def available_threads() -> int:
    """Return the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def resolve_threads(n_threads: int | None) -> int:
    """Return the number of threads meant by `n_threads`; None and -1 mean all that this process may use."""
    if n_threads is None or n_threads == -1:
        return available_threads()
    if not isinstance(n_threads, Integral) or n_threads < 1:
        raise InputError(
            "is not a number of threads",
            argument="n_threads",
            received=n_threads,
            expected="a positive number, or None for all",
        )
    return int(n_threads)


def row_blocks(n_rows: int, block_size: int) -> list[slice]:
    """Return consecutive slices of at most `block_size` rows that cover `n_rows` rows."""
    return [slice(start, min(start + block_size, n_rows)) for start in range(0, n_rows, block_size)]


def entry_blocks(starts: npt.NDArray[np.integer[Any]], n_entries: int = BLOCK_ENTRIES) -> list[slice]:
    """Return consecutive slices of the rows of a csr matrix with about `n_entries` entries each, from its row starts.

    >>> entry_blocks(np.array([0, 2, 3, 9, 10]), 3)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    n_rows, last = len(starts) - 1, int(starts[-1])
    edges = np.searchsorted(starts, np.arange(n_entries, last, n_entries))
    bounds = np.unique(np.clip(np.concatenate([[0], edges, [n_rows]]), 0, n_rows)).tolist()
    return [slice(first, end) for first, end in itertools.pairwise(bounds)]


def map_blocks(
    function: Callable[[Item], Result], blocks: Iterable[Item], *, n_threads: int | None = None
) -> Iterator[Result]:
    """Yield `function(block)` for each block, in the order of the blocks, computed by up to `n_threads` threads.

    At most `n_threads + 1` results are held at a time, so memory stays bounded by the block. The pool lives only as
    long as the call: threads do not survive a fork, so none are kept at module level.
    """
    workers = resolve_threads(n_threads)
    if workers == 1:
        yield from map(function, blocks)
        return
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="doccluster")
    pending: deque[Future[Result]] = deque()
    try:
        for block in blocks:
            pending.append(pool.submit(function, block))
            if len(pending) > workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def share_blocks(
    function: Callable[[Item], Result],
    blocks: Sequence[Item],
    *,
    n_threads: int,
    pool: ThreadPoolExecutor | None = None,
) -> list[Result]:
    """Return `function(block)` for each block, in the order of the blocks; the calling thread takes part in the work.

    Cheaper than `map_blocks` where blocks take less than a millisecond: a thread takes the next block when it is done
    with one, and no thread is woken for a block. A `pool` saves starting threads, where it lives from call to call.
    """
    n_threads = min(n_threads, len(blocks))
    if n_threads <= 1:
        return [function(block) for block in blocks]
    if pool is None:
        with ThreadPoolExecutor(max_workers=n_threads - 1, thread_name_prefix="doccluster") as pool:
            return share_blocks(function, blocks, n_threads=n_threads, pool=pool)
    results: dict[int, Result] = {}
    numbers: Iterator[int] = itertools.count()

    def work() -> None:
        while (number := next(numbers)) < len(blocks):
            results[number] = function(blocks[number])

    helpers = [pool.submit(work) for _ in range(n_threads - 1)]
    try:
        work()
    finally:
        numbers = itertools.repeat(len(blocks))  # after an error or an interrupt no thread begins another block
        running = [future for future in helpers if not future.cancel()]
        wait(running)
    for future in running:
        future.result()
    return [results[number] for number in range(len(blocks))]
