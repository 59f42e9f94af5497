"""A block of documents as files: plain arrays in a folder of their own, mapped from disk when they are read."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry.documents import Documents
from doccluster.geometry.rows import Rows

COUNTS = "counts.npy"


@dataclass(frozen=True)
class MatrixBlock:
    """Consecutive documents of a collection, as unit rows.

    Attributes
    ----------
    folder : str
        Where its arrays lie; every worker sees the same folder.
    first : int
        The place of its first document in the collection.
    n_rows, n_columns, n_entries : int
    """

    folder: str
    first: int
    n_rows: int
    n_columns: int
    n_entries: int

    @property
    def matrix(self) -> Any:
        """The unit rows, csr array of shape (n_rows, n_columns) over the files."""
        return self._csr("data.npy")

    @property
    def counts(self) -> Any | None:
        """How often each term occurs, in the places of the entries of `matrix`; None where that was not written."""
        return self._csr(COUNTS) if (Path(self.folder) / COUNTS).is_file() else None

    @property
    def documents(self) -> Documents:
        """The rows as documents; they were checked before they were written."""
        return Documents(self.matrix)

    @property
    def rows(self) -> Rows:
        """The rows as they are summed: unit, none of them scaled again."""
        ones = np.ones(self.n_rows)
        return Rows(self.matrix, ones, ones, True)

    @property
    def places(self) -> slice:
        """The places of its documents in the collection."""
        return slice(self.first, self.first + self.n_rows)

    def _csr(self, values: str) -> Any:
        data, indices, starts = (self._open(name) for name in (values, "indices.npy", "starts.npy"))
        matrix = sparse.csr_array((data, indices, starts), shape=(self.n_rows, self.n_columns))
        matrix.has_canonical_format = True  # columns ascend, as they did when they were written
        return matrix

    def _open(self, name: str) -> npt.NDArray[Any]:
        return open_array(Path(self.folder) / name)


def open_array(path: Path) -> npt.NDArray[Any]:
    """Return an array that is mapped from its file; one without entries is read.

    Raises
    ------
    InputError
        If the file is gone or damaged.
    """
    try:
        mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return mapped if mapped.size else np.array(mapped)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error})",
            remedy="the scratch folder has to stay, for all workers, until the run ends; begin again",
        ) from error


def write_block(folder: str | Path, matrix: Any, *, first: int = 0, counts: Any | None = None) -> MatrixBlock:
    """Return rows as a block, written to `folder` whole or not at all.

    Parameters
    ----------
    folder : path
        What is there already was written by the same call on a worker that ended, and stays.
    matrix : csr array of shape (n_rows, n_columns), float32, unit rows
    first : int
        The place of the first row in the collection.
    counts : csr array, optional
        Other values in the places of the entries.

    Raises
    ------
    InputError
        If there is no room, or no right to write.
    """
    arrays = {
        "data.npy": matrix.data.astype(np.float32, copy=False),
        "indices.npy": matrix.indices.astype(np.int32, copy=False),
        "starts.npy": matrix.indptr.astype(np.int64, copy=False),
    }
    if counts is not None:
        arrays[COUNTS] = counts.data.astype(np.float32, copy=False)
    write_arrays(Path(folder), arrays)
    return MatrixBlock(str(folder), first, matrix.shape[0], matrix.shape[1], int(matrix.indptr[-1]))


def write_arrays(folder: Path, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write arrays as the files of a folder that appears whole or not at all.

    Raises
    ------
    InputError
        If there is no room, or no right to write.
    """
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


def write_array(path: Path, values: npt.NDArray[Any]) -> None:
    """Write one array as a file that appears whole or not at all; see `write_arrays` for the errors."""
    partial = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with partial.open("wb") as file:
            np.save(file, values, allow_pickle=False)
        os.replace(partial, path)  # noqa: PTH105  atomic, also over a file that is there
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise scratch_failed(path, error) from error


def scratch_failed(path: Path, error: OSError) -> InputError:
    """Return the error of a scratch folder that cannot be written to."""
    return InputError(
        f"{path} cannot be written ({error.strerror or error})",
        remedy="give a scratch folder with more room, which this machine and all workers can write to",
    )
