"""A csr matrix on disk that is written batch by batch and opened without being read: plain binary files and a json."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError, SchemaError
from doccluster.packed_strings import pack_strings, unpack_strings
from doccluster.vectors.array_headers import damage_as_input_error, load_npz
from doccluster.vectors.document_vectors import DocumentVectors

FOLDER_SCHEMA = 1
_INT32_MAX = int(np.iinfo(np.int32).max)
_AT_ONCE = 1 << 22
_TYPES = [(dtype, index_type) for dtype in ("float32", "float64") for index_type in ("int32", "int64")]


class MatrixWriter:
    """Writes rows to a folder, as they come; `vectors.json` is written last and marks the folder as whole.

    After an error or an interrupt the folder is empty again.
    """

    def __init__(self, folder: str | os.PathLike[str], *, n_columns: int, dtype: npt.DTypeLike) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise InputError(f"{self.folder} exists and is not an empty folder", remedy="give a new one")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._n_columns = n_columns
        self._dtype = np.dtype(dtype)
        self._n_entries = 0
        self._n_rows = 0
        self._id_bytes = 0
        names = ("data", "indices", "indptr", "id_characters", "id_ends")
        self._files: dict[str, BinaryIO] = {name: (self.folder / f"{name}.bin").open("wb") for name in names}
        self._write("indptr", np.zeros(1, dtype=np.int64))

    def __enter__(self) -> MatrixWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        if kind is not None:  # so that the same folder can be given again
            for name in self._files:
                (self.folder / f"{name}.bin").unlink(missing_ok=True)

    def append(self, ids: list[str], rows: Any) -> None:
        """Write the rows of some documents after those written before."""
        self._write("data", rows.data.astype(self._dtype, copy=False))
        self._write("indices", rows.indices.astype(np.int32, copy=False))
        self._write("indptr", rows.indptr[1:].astype(np.int64) + self._n_entries)
        characters, ends = pack_strings(ids)
        self._write("id_characters", characters)
        self._write("id_ends", ends + self._id_bytes)
        self._id_bytes += characters.size
        self._n_entries += rows.nnz
        self._n_rows += rows.shape[0]

    def matrix(self) -> Any:
        """Return what was written so far as a csr array over the files, which may be changed in place."""
        for file in self._files.values():
            file.flush()
        return _open_csr(self.folder, (self._n_rows, self._n_columns), self._dtype, self._n_entries, np.int32, "r+")

    def finish(self, terms: Any = None, display_terms: Any = None) -> None:
        """Close the files and write the terms and the description."""
        for file in self._files.values():
            file.close()
        index_type = "int32"
        if self._n_entries > _INT32_MAX:  # scipy wants both index arrays of one type
            index_type = "int64"
            _widen(self.folder / "indices.bin")
        arrays: dict[str, Any] = {}
        for name, strings in (("terms", terms), ("display_terms", display_terms)):
            if strings is not None:
                arrays[f"{name}_characters"], arrays[f"{name}_ends"] = pack_strings(strings)
        np.savez(self.folder / "terms.npz", **arrays)
        description = {
            "schema": FOLDER_SCHEMA,
            "shape": [self._n_rows, self._n_columns],
            "n_entries": self._n_entries,
            "dtype": self._dtype.name,
            "index_type": index_type,
        }
        (self.folder / "vectors.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")

    def _write(self, name: str, values: npt.NDArray[Any]) -> None:
        self._files[name].write(np.ascontiguousarray(values).data)


def open_vectors(folder: str | os.PathLike[str]) -> DocumentVectors:
    """Return the vectors in a folder that `vectorize_stream` wrote, mapped from disk: only what is used is read.

    Raises
    ------
    InputError
        If the folder is missing, or was not written to its end.
    SchemaError
        If it is damaged, or written by a newer version.
    """
    place = Path(folder)
    if not (place / "vectors.json").is_file():
        raise InputError(
            f"{place} holds no finished vectors (no vectors.json)", remedy="write it with vectorize_stream"
        )
    description = _description(place / "vectors.json")
    n_rows, n_columns = description["shape"]
    matrix = _open_csr(
        place,
        (n_rows, n_columns),
        np.dtype(description["dtype"]),
        description["n_entries"],
        description["index_type"],
        "r",
    )
    characters, ends = (
        _map(place / f"{name}.bin", np.dtype(dtype), None, "r")
        for name, dtype in (("id_characters", np.uint8), ("id_ends", np.int64))
    )
    ids = unpack_strings(characters, ends)
    with (place / "terms.npz").open("rb") as stream, load_npz(stream, str(place / "terms.npz")) as arrays:
        terms, display_terms = (_terms(arrays, name, n_columns, place) for name in ("terms", "display_terms"))
    if len(ids) != n_rows:
        raise SchemaError(f"{place} has {n_rows} rows but {len(ids)} ids", remedy="write it again")
    return DocumentVectors(matrix, tuple(ids), terms, display_terms)


def _description(path: Path) -> dict[str, Any]:
    try:
        description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{path} is damaged ({str(error)[:200]})", remedy="write it again") from error
    schema = description.get("schema") if isinstance(description, dict) else None
    if schema != FOLDER_SCHEMA:
        raise SchemaError(
            f"{path.parent} has schema {str(schema)[:20]}, this version reads {FOLDER_SCHEMA}",
            remedy="update doccluster",
        )
    shape, n_entries = description.get("shape"), description.get("n_entries")
    sizes = [*shape, n_entries] if isinstance(shape, list) and len(shape) == 2 else [None]
    types = description.get("dtype"), description.get("index_type")
    if not all(type(size) is int and 0 <= size < 2**62 for size in sizes) or types not in _TYPES:
        raise SchemaError(f"{path} is damaged: it gives no shape or no types that are known", remedy="write it again")
    return description


def _terms(arrays: Any, name: str, n_columns: int, place: Path) -> npt.NDArray[np.object_] | None:
    if f"{name}_ends" not in arrays or f"{name}_characters" not in arrays:
        return None
    with damage_as_input_error(place / "terms.npz"):
        found = np.array(unpack_strings(arrays[f"{name}_characters"], arrays[f"{name}_ends"]), dtype=object)
    if found.size != n_columns:
        raise SchemaError(f"{place} has {n_columns} columns but {found.size} {name}", remedy="write it again")
    return found


def _open_csr(
    folder: Path, shape: tuple[int, int], dtype: np.dtype[Any], n_entries: int, index_type: npt.DTypeLike, mode: Any
) -> Any:
    data = _map(folder / "data.bin", dtype, n_entries, mode)
    indices = _map(folder / "indices.bin", np.dtype(index_type), n_entries, mode)
    # scipy wants both index arrays of one type; the row ends are few, so it is they that are converted in memory.
    indptr = _map(folder / "indptr.bin", np.dtype(np.int64), shape[0] + 1, "r").astype(index_type)
    if indptr[0] != 0 or indptr[-1] != n_entries or np.any(np.diff(indptr) < 0):
        raise SchemaError(f"{folder / 'indptr.bin'} is damaged: its row starts do not ascend", remedy="write it again")
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def _map(path: Path, dtype: np.dtype[Any], size: int | None, mode: Any) -> npt.NDArray[Any]:
    try:
        n_bytes = path.stat().st_size
    except OSError as error:
        raise SchemaError(f"{path} cannot be read ({error.strerror})", remedy="write it again") from error
    size = n_bytes // dtype.itemsize if size is None else size
    if n_bytes != size * dtype.itemsize:
        raise SchemaError(f"{path} has {n_bytes} bytes, expected {size * dtype.itemsize}", remedy="write it again")
    if size == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode=mode, shape=(size,))


def _widen(path: Path) -> None:
    """Rewrite a file of int32 as int64, a part at a time."""
    wide = path.with_suffix(".wide")
    narrow = np.memmap(path, dtype=np.int32, mode="r")
    with wide.open("wb") as file:
        for start in range(0, narrow.size, _AT_ONCE):
            file.write(narrow[start : start + _AT_ONCE].astype(np.int64).data)
    del narrow
    wide.replace(path)
