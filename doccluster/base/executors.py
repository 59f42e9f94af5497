"""Where functions of blocks run, and where tables with a row for each document are kept while they are made.

An executor runs functions one after another in this process, or (`distributed/dask_workers.py`) on the workers of a
cluster. A function that is handed to it is defined at the top of a module, takes an item and what all items share, and
may be called again for the same item: a worker that ends in the middle is replaced by another.

A place makes tables block by block: in memory, by threads, or in files, by an executor. The blocks are the same in
both, and so are the bytes, however many threads or workers there are.
"""

from __future__ import annotations

import functools
import operator
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray
from doccluster.base.blocks import (
    map_blocks,
    open_array,
    reserve_table,
    resolve_threads,
    share_blocks,
    write_array,
    write_arrays,
    write_in_pieces,
    write_rows,
)

Item = TypeVar("Item")
Result = TypeVar("Result")

FAN_IN = 8  # results that are combined at a time in a tree


class Executor(Protocol):
    """A place where functions of blocks run.

    `n_workers`: how many items are worked on at a time. `bytes_sent`, `bytes_received`: what went to the workers and
    came back so far, as far as it is known; 0 where nothing travels.
    """

    @property
    def n_workers(self) -> int: ...

    @property
    def bytes_sent(self) -> int: ...

    @property
    def bytes_received(self) -> int: ...

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""
        ...

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[list[Result]], Result],
        items: Sequence[object],
        *shared: object,
    ) -> Result:
        """Return all ``function(item, *shared)`` combined, a few at a time; `combine` is associative."""
        ...

    def everywhere(self, function: Callable[..., None], *values: object) -> None:
        """Call ``function(*values)`` in each process that works on items; one that ends meanwhile is left out."""
        ...


class Sequential:
    """This process: blocks are read from disk one after another, so that memory holds one for each thread.

    Parameters
    ----------
    n_threads : int, optional
        How many blocks are worked on at a time; one by default. No result depends on it.

    Examples
    --------
    >>> list(Sequential().map(pow, [1, 2, 3], 2))
    [1, 4, 9]
    """

    bytes_sent = bytes_received = 0

    def __init__(self, n_threads: int = 1) -> None:
        self.n_workers = resolve_threads(n_threads)

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""

        def one(item: object) -> Result:
            return function(item, *shared)

        return map_blocks(one, items, n_threads=self.n_workers)

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[list[Result]], Result],
        items: Sequence[object],
        *shared: object,
    ) -> Result:
        """Return all ``function(item, *shared)`` combined; at most a few results are held at a time."""
        results: list[Result] = []
        for result in self.map(function, items, *shared):
            results.append(result)
            if len(results) == FAN_IN:
                results = [combine(results)]
        return combine(results)

    def everywhere(self, function: Callable[..., None], *values: object) -> None:
        """Call ``function(*values)``."""
        function(*values)


@dataclass(frozen=True)
class ArrayFile:
    """An array in a scratch folder, which every worker opens by itself."""

    path: str

    def open(self) -> npt.NDArray[Any]:
        """Return the array, mapped from its file."""
        return open_array(Path(self.path))


@dataclass(frozen=True)
class CsrFiles:
    """A csr array in a scratch folder: its rows begin at `starts`, and have columns `indices` and values `data`.

    `values` names other values in the places of the same entries. Take a few thousand rows at a time: pages of mapped
    files count for the memory of a worker until its call is over.
    """

    folder: str
    n_columns: int
    values: str = "data"

    def open(self) -> Any:
        """Return the rows as a csr array over the files."""
        data, indices, starts = (
            open_array(Path(self.folder) / f"{name}.npy") for name in (self.values, "indices", "starts")
        )
        return csr_over(data, indices, starts, (starts.size - 1, self.n_columns))


def opened(value: object) -> Any:
    """Return the array that a stand-in for files stands for, anything else as it is."""
    return value.open() if isinstance(value, ArrayFile | CsrFiles) else value


class TablePlace(Protocol):
    """Where tables that have a row for each document are made, a range of rows at a time, and kept.

    What a place gives back may be a stand-in for files: `opened` turns it into an array. Functions that a place calls
    are given arrays.
    """

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""
        ...

    def add(self, function: Callable[..., object], items: Sequence[object], *shared: object) -> Any:
        """Return the sum of all ``function(item, *shared)``, whole numbers, which add up in any order."""
        ...

    def table(
        self,
        function: Callable[..., object],
        blocks: Sequence[slice],
        width: int,
        dtype: npt.DTypeLike,
        *shared: object,
    ) -> Any:
        """Return the table whose rows of each block are ``function(block, *shared)``."""
        ...

    def rows(self, function: Callable[..., object], blocks: Sequence[slice], *shared: object) -> Any:
        """Return the csr array whose rows of each block are ``function(block, *shared)``."""
        ...

    def keep(self, array: object) -> Any:
        """Return an array, dense or csr, as functions are to be given it."""
        ...

    def for_a_while(self) -> AbstractContextManager[TablePlace]:
        """Yield a place whose tables are gone at the end."""
        ...


class InMemory:
    """This process: tables are arrays, and made by its threads. No result depends on their number."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = resolve_threads(n_threads)

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""

        def one(item: object) -> Result:
            return function(item, *shared)

        return map_blocks(one, items, n_threads=min(self.n_threads, max(1, len(items))))

    def add(self, function: Callable[..., object], items: Sequence[object], *shared: object) -> Any:
        """Return the sum of all ``function(item, *shared)``."""
        return functools.reduce(operator.add, self.map(function, items, *shared))

    def table(
        self,
        function: Callable[..., object],
        blocks: Sequence[slice],
        width: int,
        dtype: npt.DTypeLike,
        *shared: object,
    ) -> Any:
        """Return the table whose rows of each block are ``function(block, *shared)``."""
        whole = np.empty((blocks[-1].stop if blocks else 0, width), dtype)

        def one(block: slice) -> None:
            whole[block] = function(block, *shared)

        share_blocks(one, blocks, n_threads=self.n_threads)
        return whole

    def rows(self, function: Callable[..., object], blocks: Sequence[slice], *shared: object) -> Any:
        """Return the csr array whose rows are ``function(block, *shared)``: those of all blocks at once."""
        return function(slice(0, blocks[-1].stop if blocks else 0), *shared)

    def keep(self, array: object) -> Any:
        """Return the array."""
        return array

    @contextmanager
    def for_a_while(self) -> Iterator[TablePlace]:
        """Yield this place."""
        yield self


@dataclass(frozen=True)
class InFiles:
    """A scratch folder: tables are files, which an executor fills, so that no process holds a whole one."""

    executor: Executor
    folder: Path

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""
        return self.executor.map(call_opened, items, function, *shared)

    def add(self, function: Callable[..., object], items: Sequence[object], *shared: object) -> Any:
        """Return the sum of all ``function(item, *shared)``, added where they are made."""
        return self.executor.reduce(call_opened, added, items, function, *shared)

    def table(
        self, function: Callable[..., Any], blocks: Sequence[slice], width: int, dtype: npt.DTypeLike, *shared: object
    ) -> ArrayFile:
        """Return the table whose rows of each block are ``function(block, *shared)``."""
        whole = self.empty_table(blocks[-1].stop if blocks else 0, width, dtype)
        for _ in self.executor.map(fill_rows, blocks, whole.path, np.dtype(dtype), width, function, *shared):
            pass
        return whole

    def empty_table(self, n_rows: int, width: int, dtype: Any) -> ArrayFile:
        """Return a table whose rows are still to be written."""
        path = self._new(".npy")
        reserve_table(path, (n_rows, width), dtype)
        return ArrayFile(str(path))

    def rows(self, function: Callable[..., object], blocks: Sequence[slice], *shared: object) -> CsrFiles:
        """Return the csr array whose rows of each block are ``function(block, *shared)``."""
        with self.for_a_while() as inner:
            pieces = list(self.executor.map(write_piece, blocks, str(inner.folder), function, *shared))
            return join_rows(self._new(""), lambda: (piece.open() for piece in pieces))

    def keep(self, array: Any) -> Any:
        """Return a stand-in for an array, dense or csr, that is written to files; of one that is a stand-in, itself."""
        if isinstance(array, ArrayFile | CsrFiles):
            return array
        if not isinstance(array, np.ndarray):
            rows = array if array.has_sorted_indices else array.sorted_indices()
            return join_rows(self._new(""), lambda: (rows,))
        path = self._new(".npy")
        write_array(path, array)
        return ArrayFile(str(path))

    @contextmanager
    def for_a_while(self) -> Iterator[InFiles]:
        """Yield a place whose files are removed at the end."""
        folder = self._new("")
        folder.mkdir()
        try:
            yield replace(self, folder=folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _new(self, ending: str) -> Path:
        return self.folder / f"table-{uuid.uuid4().hex[:12]}{ending}"


def call_opened(item: object, function: Callable[..., Result], *shared: object) -> Result:
    """Call a function with arrays in place of their stand-ins, and return its result."""
    return function(item, *map(opened, shared))


def added(parts: Sequence[object]) -> Any:
    """Return the sum of whole numbers."""
    return functools.reduce(operator.add, parts)


def fill_rows(
    block: slice, path: str, dtype: np.dtype[Any], width: int, function: Callable[..., object], *shared: object
) -> None:
    """Write some rows of a table into their place in its file."""
    rows = np.ascontiguousarray(call_opened(block, function, *shared), dtype)
    write_rows(Path(path), block.start, rows.reshape(block.stop - block.start, width))


def write_piece(block: slice, folder: str, function: Callable[..., Any], *shared: object) -> CsrFiles:
    """Write the rows of a csr array that a function returns for a block."""
    rows, target = call_opened(block, function, *shared), Path(folder) / f"rows-{block.start}"
    write_arrays(target, {"data.npy": rows.data, "indices.npy": rows.indices, "starts.npy": rows.indptr})
    return CsrFiles(str(target), rows.shape[1])


def join_rows(folder: Path, parts: Callable[[], Iterable[Any]]) -> CsrFiles:
    """Write csr arrays, one below the other, as one to a folder; `parts` is called for each of its files.

    Raises InputError if there is no room.
    """
    folder.mkdir(exist_ok=True)
    starts, shape, dtype = [np.zeros(1, np.int64)], (0, 0), np.dtype(np.float32)
    for part in parts():
        starts.append(starts[-1][-1] + part.indptr[1:].astype(np.int64))
        shape, dtype = part.shape, part.dtype
    whole = np.concatenate(starts)
    index_type = np.int32 if whole[-1] <= np.iinfo(np.int32).max else np.int64
    write_array(folder / "starts.npy", whole.astype(index_type))
    write_in_pieces(folder / "data.npy", (part.data for part in parts()), dtype, int(whole[-1]))
    write_in_pieces(folder / "indices.npy", (part.indices for part in parts()), index_type, int(whole[-1]))
    return CsrFiles(str(folder), shape[1])


def csr_over(data: Any, indices: Any, starts: Any, shape: tuple[int, int]) -> CsrArray:
    """Return a csr array over arrays that are mapped from disk; the columns of each row ascend.

    The starts get the type of the columns: else scipy would copy the columns.
    """
    matrix = sparse.csr_array((data, indices, starts.astype(indices.dtype, copy=False)), shape=shape)
    matrix.has_canonical_format = True
    return matrix
