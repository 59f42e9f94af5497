"""Where functions of blocks run, and where tables with a row for each document are kept.

There are three places: memory, worked on by threads (`Place`); files, worked on by threads, so that no process holds a
whole table (`FilePlace`); files, worked on by the workers of a Dask cluster (`distributed/dask_workers.py`). Blocks are
the same in all of them, and so are the bytes, however many threads or workers there are.

A function that is handed to a place is defined at the top of a module, takes an item and what all items share, and may
be called again for the same item: a worker that ends in the middle is replaced by another. It is given arrays. In files
these are mapped; a mapped array that is handed on travels as the name of its file.
"""

from __future__ import annotations

import copy
import functools
import operator
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import AnyArray, Array, CsrArray, DType, Integers, Matrix
from doccluster.base.blocks import (
    map_blocks,
    open_array,
    reserve_table,
    resolve_threads,
    row_blocks,
    share_blocks,
    write_array,
    write_arrays,
    write_in_pieces,
    write_rows,
)

Result = TypeVar("Result")

FAN_IN = 8  # results that are combined at a time in a tree
TAKEN_ROWS = 2**13  # rows that are laid out in another order at a time


@dataclass
class Traffic:
    """The bytes that went to workers and came back."""

    sent: int = 0
    received: int = 0


class Place:
    """This process: tables are arrays, and made by its threads.

    >>> list(Place().map(pow, [1, 2, 3], 2))
    [1, 4, 9]
    """

    is_on_disk = False

    def __init__(self, n_threads: int | None = None) -> None:
        self._n_threads = resolve_threads(n_threads)
        self.traffic = Traffic()  # stays at nothing where nothing travels

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time."""
        return self._n_threads

    def map(self, function: Callable[..., Result], items: Sequence[object], *shared: object) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""
        called, values = self._as_called(function, shared)
        n_threads = min(self._n_threads, max(1, len(items)))
        return map_blocks(lambda item: called(item, *values), items, n_threads=n_threads)

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[list[Result]], Result],
        items: Sequence[object],
        *shared: object,
    ) -> Result:
        """Return all ``function(item, *shared)`` combined, a few at a time; `combine` is associative."""
        results: list[Result] = []
        for result in self.map(function, items, *shared):
            results.append(result)
            if len(results) == FAN_IN:
                results = [combine(results)]
        return combine(results)

    def add(self, function: Callable[..., object], items: Sequence[object], *shared: object) -> Any:
        """Return the sum of all ``function(item, *shared)``, whole numbers, which add up in any order."""
        return self.reduce(function, added, items, *shared)

    def _as_called(
        self, function: Callable[..., Result], shared: tuple[object, ...]
    ) -> tuple[Callable[..., Result], tuple[object, ...]]:
        """Return a function as workers call it, and what it is handed besides an item."""
        return function, shared

    def everywhere(self, function: Callable[..., None], *values: object) -> None:
        """Call ``function(*values)`` in each process that works on items; one that ends meanwhile is left out."""
        function(*values)

    def table(
        self,
        function: Callable[..., Matrix],
        blocks: Sequence[slice],
        width: int,
        dtype: npt.DTypeLike,
        *shared: object,
    ) -> AnyArray:
        """Return the table whose rows of each block are ``function(block, *shared)``."""
        whole = np.empty((blocks[-1].stop if blocks else 0, width), dtype)

        def fill(block: slice) -> None:
            whole[block] = function(block, *shared)

        share_blocks(fill, blocks, n_threads=self._n_threads)
        return whole

    def rows(self, function: Callable[..., CsrArray], blocks: Sequence[slice], *shared: object) -> CsrArray:
        """Return the csr array whose rows of each block are ``function(block, *shared)``."""
        return function(slice(0, blocks[-1].stop if blocks else 0), *shared)  # those of all blocks at once

    def keep(self, array: Any) -> Any:
        """Return an array, dense or csr, as it is best handed to functions many times."""
        return array

    def take(self, table: Any, rows: Integers) -> Any:
        """Return some rows of a table, dense or csr, in this order."""
        return table[rows]

    @contextmanager
    def for_a_while(self) -> Iterator[Self]:
        """Yield a place whose tables are gone at the end."""
        yield self


@dataclass(frozen=True)
class ArrayFile:
    """An array in a scratch folder, which every worker opens by itself."""

    path: str

    def open(self) -> AnyArray:
        """Return the array, mapped from its file."""
        return open_array(Path(self.path))


@dataclass(frozen=True)
class CsrFiles:
    """A csr array in a scratch folder: its rows begin at `starts`, and have columns `indices` and values `data`.

    Take a few thousand rows at a time: pages of mapped files count for the memory of a worker until its call is over.
    """

    folder: str
    n_columns: int
    values: str = "data"  # the name of the values; others may stand in the places of the same entries

    def open(self) -> CsrArray:
        """Return the rows as a csr array over the files."""
        data, indices, starts = self.arrays
        return csr_over(data, indices, starts, (starts.size - 1, self.n_columns))

    @property
    def arrays(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The values, the columns and the starts, mapped from their files."""
        folder = Path(self.folder)
        return tuple(open_array(folder / f"{name}.npy") for name in (self.values, "indices", "starts"))  # type: ignore[return-value]


class FilePlace(Place):
    """A scratch folder: tables are files, which threads of this process fill, each worker a few rows at a time.

    Parameters
    ----------
    folder : path
        It has to be there; what is made in it is removed with it.
    n_threads : int
        How many blocks are worked on at a time; no result depends on it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list(FilePlace(folder).map(pow, [1, 2, 3], 2))
    [1, 4, 9]
    """

    is_on_disk = True

    def __init__(self, folder: str | Path, n_threads: int | None = 1) -> None:
        super().__init__(n_threads)
        self.folder = self._root = Path(folder)

    def table(
        self,
        function: Callable[..., Matrix],
        blocks: Sequence[slice],
        width: int,
        dtype: npt.DTypeLike,
        *shared: object,
    ) -> AnyArray:
        """Return the table whose rows of each block are ``function(block, *shared)``, mapped from its file."""
        whole = self.empty_table(blocks[-1].stop if blocks else 0, width, dtype)
        for _ in self.map(fill_rows, blocks, whole.path, np.dtype(dtype), width, function, *shared):
            pass
        return whole.open()

    def empty_table(self, n_rows: int, width: int, dtype: npt.DTypeLike) -> ArrayFile:
        """Return a table whose rows are still to be written."""
        path = self._new(".npy")
        reserve_table(path, (n_rows, width), dtype)
        return ArrayFile(str(path))

    def rows(self, function: Callable[..., CsrArray], blocks: Sequence[slice], *shared: object) -> CsrArray:
        """Return the csr array whose rows of each block are ``function(block, *shared)``, mapped from its files."""
        with self.for_a_while() as inner:
            pieces = list(self.map(write_piece, blocks, str(inner.folder), function, *shared))
            return join_rows(self._new(""), lambda: (piece.open() for piece in pieces)).open()

    def keep(self, array: Any) -> Any:
        """Return an array, dense or csr, mapped from files that it is written to; one that is, as it is."""
        if isinstance(self.files_of(array), ArrayFile | CsrFiles):
            return array
        if sparse.issparse(array):
            rows = array if array.has_sorted_indices else array.sorted_indices()
            return join_rows(self._new(""), lambda: (rows,)).open()
        path = self._new(".npy")
        write_array(path, array)
        return open_array(path)

    def take(self, table: Any, rows: Integers) -> Any:
        """Return some rows of a table, dense or csr, in this order, mapped from files of their own."""
        blocks, places = row_blocks(rows.size, TAKEN_ROWS), self.keep(rows)
        if sparse.issparse(table):
            return self.rows(taken_rows, blocks, table, places)
        return self.table(taken_rows, blocks, table.shape[1], table.dtype, table, places)

    @contextmanager
    def for_a_while(self) -> Iterator[Self]:
        """Yield a place whose files are removed at the end."""
        inner = copy.copy(self)
        inner.folder = self._new("")
        inner.folder.mkdir()
        try:
            yield inner
        finally:
            shutil.rmtree(inner.folder, ignore_errors=True)

    def _new(self, ending: str) -> Path:
        return self.folder / f"table-{uuid.uuid4().hex[:12]}{ending}"

    def _as_called(
        self, function: Callable[..., Result], shared: tuple[object, ...]
    ) -> tuple[Callable[..., Result], tuple[object, ...]]:
        return call_opened, (function, *map(self.files_of, shared))

    def files_of(self, value: Any) -> Any:
        """Return the files that an array is mapped from, for a worker to open; any other value as it is."""
        if sparse.issparse(value) and value.format == "csr":
            data, indices = self._file_of(value.data), self._file_of(value.indices)
            if data is not None and indices == data.with_name("indices.npy"):
                return CsrFiles(str(data.parent), value.shape[1], data.stem)
        elif isinstance(value, np.ndarray):
            file = self._file_of(value)
            return value if file is None else ArrayFile(str(file))
        return value

    def _file_of(self, array: Array) -> Path | None:
        """Return the file that a whole array is mapped from, None where there is none in this place."""
        mapped: Any = array
        while mapped is not None and not isinstance(mapped, np.memmap):
            mapped = getattr(mapped, "base", None)
        # a part of a file begins elsewhere, or has another shape
        if mapped is None or (mapped.shape, mapped.dtype) != (array.shape, array.dtype):
            return None
        if mapped.ctypes.data != array.ctypes.data:
            return None
        path, root = Path(str(mapped.filename)), self._root.resolve()
        return self._root / path.relative_to(root) if path.is_relative_to(root) else None


def call_opened(item: object, function: Callable[..., Result], *shared: object) -> Result:
    """Call a function with arrays in place of their files, and return its result."""
    opened = (value.open() if isinstance(value, ArrayFile | CsrFiles) else value for value in shared)
    return function(item, *opened)


def added(parts: list[Any]) -> Any:
    """Return the sum of whole numbers."""
    return functools.reduce(operator.add, parts)


def fill_rows(
    block: slice, path: str, dtype: DType, width: int, function: Callable[..., Matrix], *shared: object
) -> None:
    """Write some rows of a table into their place in its file."""
    rows = np.ascontiguousarray(function(block, *shared), dtype)
    write_rows(Path(path), block.start, rows.reshape(block.stop - block.start, width))


def write_piece(block: slice, folder: str, function: Callable[..., CsrArray], *shared: object) -> CsrFiles:
    """Write the rows of a csr array that a function returns for a block."""
    rows, target = function(block, *shared), Path(folder) / f"rows-{block.start}"
    write_arrays(target, {"data.npy": rows.data, "indices.npy": rows.indices, "starts.npy": rows.indptr})
    return CsrFiles(str(target), rows.shape[1])


def join_rows(folder: Path, parts: Callable[[], Iterable[CsrArray]]) -> CsrFiles:
    """Write csr arrays, one below the other, as one to a folder; `parts` is called for each of its files."""
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


def csr_over(data: Array, indices: Array, starts: Array, shape: tuple[int, int]) -> CsrArray:
    """Return a csr array over arrays that are mapped from disk; the columns of each row ascend."""
    # of one type, else scipy would copy the columns
    matrix = sparse.csr_array((data, indices, starts.astype(indices.dtype, copy=False)), shape=shape)
    matrix.has_canonical_format = True
    return matrix


def taken_rows(block: slice, table: Any, places: Integers) -> Any:
    """Return some rows of a table: those at some of the places."""
    return table[places[block]]
