"""Blocks of rows, maps over them that keep their order, and arrays as files that several processes share.

Each file, or folder of files, appears whole or not at all, and may be written again by another process that does the
same work.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from doccluster.base.arrays import AnyArray, AnyIntegers, Array
from doccluster.base.progress import LOOPS
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


def library_threads(n_threads: int | None, kind: str | None = None) -> AbstractContextManager[object]:
    """Return a context in which native libraries of a kind ("blas", "openmp"; None: both) use `n_threads` threads.

    `n_threads`: None leaves them as they are.
    """
    limited: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=n_threads, user_api=kind)
    return limited


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the control of the loaded libraries; to look for them takes 3 ms, and modules bring new ones."""
    return ThreadpoolController()


def row_blocks(n_rows: int, block_size: int) -> list[slice]:
    """Return consecutive slices of at most `block_size` rows that cover `n_rows` rows."""
    return [slice(start, min(start + block_size, n_rows)) for start in range(0, n_rows, block_size)]


def entry_blocks(starts: AnyIntegers, n_entries: int = BLOCK_ENTRIES) -> list[slice]:
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

    At most `n_threads + 1` results are held at a time. The pool lives only as long as the call: threads do not survive
    a fork.
    """
    workers = resolve_threads(n_threads)
    if workers == 1:
        yield from map(function, LOOPS.over(blocks))
        return
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="doccluster")
    pending: deque[Future[Result]] = deque()
    try:
        for block in LOOPS.over(blocks):
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

    Cheaper than `map_blocks` where blocks take less than a millisecond. A `pool` that lives on saves starting threads.
    """
    n_threads = min(n_threads, len(blocks))
    if n_threads <= 1:
        return [function(block) for block in LOOPS.over(blocks)]
    if pool is None:
        with ThreadPoolExecutor(max_workers=n_threads - 1, thread_name_prefix="doccluster") as pool:
            return share_blocks(function, blocks, n_threads=n_threads, pool=pool)
    results: dict[int, Result] = {}
    numbers: Iterator[int] = itertools.count()

    def work() -> None:
        while (number := next(numbers)) < len(blocks):
            results[number] = function(blocks[number])
            count(1)

    with LOOPS.counting(len(blocks)) as count:
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


SPARE_FILES = 512  # open besides: libraries, connections, files that are read

# numpy reads a header by way of `ast`, which Python before 3.11.8 and 3.12.1 breaks when two threads use it at once
# (SystemError: AST constructor recursion depth mismatch)
_one_header_at_a_time = threading.Lock()


def open_array(path: Path) -> AnyArray:
    """Return an array that is mapped from its file; one without entries is read."""
    try:
        with _one_header_at_a_time:
            # never written to; kernels are compiled anew for arrays that cannot be
            return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error})",
            remedy="the scratch folder has to stay, for all workers, until the run ends; begin again",
        ) from error


def allow_open_files(n_more: int) -> None:
    """Let this process open this many more files, as far as the system lets it raise its own limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = n_more + SPARE_FILES
    if soft != resource.RLIM_INFINITY and needed > soft:
        allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))


def write_arrays(folder: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays as the files of a folder that appears whole or not at all. Raises InputError if it cannot."""
    partial = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    try:
        partial.mkdir(parents=True)
        for name, values in arrays.items():
            np.save(partial / name, values, allow_pickle=False)
        try:
            partial.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another worker wrote the same before us
                raise
    except OSError as error:
        raise scratch_failed(folder, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_array(path: Path, values: Array) -> None:
    """Write one array as a file that appears whole or not at all; see `write_arrays` for the errors."""
    partial = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with partial.open("wb") as file:
            np.save(file, values, allow_pickle=False)
        os.replace(partial, path)  # noqa: PTH105  atomic, also over a file that is there
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise scratch_failed(path, error) from error


def write_in_pieces(path: Path, pieces: Iterable[Array], dtype: npt.DTypeLike, size: int) -> None:
    """Write arrays, one after another, as one array of `size` values; see `write_arrays` for the errors.

    Filling a mapped file would need no more memory, but ends the process when the disk is full.
    """
    try:
        with path.open("wb") as file:
            header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (size,)}
            np.lib.format.write_array_header_1_0(file, header)
            for piece in pieces:
                file.write(np.ascontiguousarray(piece, dtype).data)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise scratch_failed(path, error) from error


def reserve_table(path: Path, shape: tuple[int, int], dtype: npt.DTypeLike) -> None:
    """Make the file of a table whose rows `write_rows` fills in."""
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    try:
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            file.truncate(file.tell() + shape[0] * shape[1] * np.dtype(dtype).itemsize)
    except OSError as error:
        raise scratch_failed(path, error) from error


def write_rows(path: Path, first: int, rows: Array) -> None:
    """Write rows of a table into their place in its file; several processes may do so at once, each its own rows."""
    try:
        with path.open("r+b") as file:
            with _one_header_at_a_time:
                np.lib.format.read_magic(file)
                np.lib.format.read_array_header_1_0(file)
            file.seek(first * rows[:1].nbytes, os.SEEK_CUR)
            file.write(rows.data)
    except OSError as error:
        raise scratch_failed(path, error) from error


def scratch_failed(path: Path, error: OSError) -> InputError:
    """Return the error of a scratch folder that cannot be written to."""
    return InputError(
        f"{path} cannot be written ({error.strerror or error})",
        remedy="give a scratch folder with more room, which this machine and all workers can write to",
    )
