"""Ready matrices in files: CLUTO, Matrix Market and npz are read into one value, still as they stand in the file."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import io, sparse

from doccluster.errors import InputError, SchemaError
from doccluster.text.packed_strings import unpack_strings

MATRIX_SCHEMA = 1
_DAMAGED = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class MatrixFile:
    """What a matrix file holds.

    Attributes
    ----------
    matrix : csr array or dense array of shape (n_documents, n_terms)
    ids, terms, display_terms, classes : list of str or None
        What the file itself says about rows and columns.
    is_weighted : bool
        Whether the file says that its rows are weighted already.
    """

    matrix: Any
    ids: list[str] | None = None
    terms: list[str] | None = None
    display_terms: list[str] | None = None
    classes: list[str] | None = None
    is_weighted: bool = False


def load_matrix_file(path: Path) -> MatrixFile:
    """Return the content of a matrix file, its format chosen by the end of its name.

    Raises
    ------
    InputError
        If the file is missing, of no known format, truncated or damaged.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder, expected a matrix file; name the .mat, .mtx or .npz file itself.")
    if not path.is_file():
        raise InputError(f"{path} does not exist; check the path.")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty, a file of zero bytes; write it again.")
    name = path.name.lower().removesuffix(".gz")
    try:
        if name.endswith(".mtx"):
            return MatrixFile(_matrix_market(path))
        if name.endswith(".npz"):
            return _npz(path)
        if name.endswith(".npy"):
            return MatrixFile(_npy(path))
        if name.endswith(".mat"):
            return MatrixFile(parse_cluto(_text(path), str(path)))
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(
            f"{path} holds more than fits in memory ({error}), or is damaged; give a smaller one."
        ) from error
    except _DAMAGED as error:
        # numpy takes what is no array for a pickle, and says how to load one: that would run whatever is in it
        reason = "it holds no plain numbers" if "pickle" in str(error) else str(error).rstrip(".")
        raise InputError(f"{path} cannot be read as a matrix ({reason}); it is truncated or damaged.") from error
    raise InputError(f"{path} is of no known format; give a CLUTO .mat, Matrix Market .mtx(.gz), .npz or .npy file.")


def _text(path: Path) -> str:
    if path.name.lower().endswith(".gz"):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            return file.read()
    return path.read_text(encoding="utf-8", errors="replace")


def _matrix_market(path: Path) -> Any:
    matrix = io.mmread(path)
    if not sparse.issparse(matrix):
        return _two_dimensional(np.asarray(matrix), path)
    return sparse.csr_array(matrix)


def _two_dimensional(array: npt.NDArray[Any], path: Path) -> npt.NDArray[Any]:
    if array.ndim != 2:
        raise InputError(f"{path} holds an array of {array.ndim} dimension(s), expected 2 (documents, terms).")
    return array


def _npy(path: Path) -> npt.NDArray[Any]:
    # numpy leaves a damaged file open when it opens it itself
    with path.open("rb") as stream:
        array = np.load(stream, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise InputError(f"{path} holds several arrays; name it .npz.")
        return _two_dimensional(array, path)


def _npz(path: Path) -> MatrixFile:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        if "doccluster_schema" in file:
            return _own_npz(file, path)
        if "format" not in file and {"data", "indices", "indptr", "shape"} <= set(file.files):
            return MatrixFile(_csr(file))
        if "format" not in file:
            arrays = [name for name in file.files if file[name].ndim == 2]
            if len(arrays) == 1:
                return MatrixFile(file[arrays[0]])
            raise InputError(
                f"{path} holds {', '.join(file.files) or 'nothing'}, expected a matrix saved by scipy.sparse.save_npz, "
                "one two-dimensional array, or a file of ours."
            )
    with path.open("rb") as stream:
        return MatrixFile(sparse.csr_array(sparse.load_npz(stream)))


def _own_npz(file: Any, path: Path) -> MatrixFile:
    schema = int(file["doccluster_schema"])
    if schema != MATRIX_SCHEMA:
        raise SchemaError(f"{path} has schema {schema}, this version reads {MATRIX_SCHEMA}; update doccluster.")
    return MatrixFile(
        file["dense"] if "dense" in file else _csr(file),
        ids=_strings(file, "ids"),
        terms=_strings(file, "terms"),
        display_terms=_strings(file, "display_terms"),
        classes=_strings(file, "classes"),
        is_weighted=True,
    )


def _csr(file: Any) -> sparse.csr_array:
    shape = tuple(file["shape"].tolist())
    matrix = sparse.csr_array((file["data"], file["indices"], file["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _strings(file: Any, name: str) -> list[str] | None:
    if f"{name}_characters" not in file:
        return None
    return unpack_strings(file[f"{name}_characters"], file[f"{name}_ends"])


def parse_cluto(text: str, name: str) -> Any:
    """Return the matrix of a CLUTO file: a csr array of the sparse form, a dense array of the dense form.

    Sparse form: a line "n_documents n_terms n_non_zeros", then one line per document of 1-based "term value" pairs.
    Dense form: a line "n_documents n_terms", then one line of values per document. An empty line of the sparse form is
    a document without terms.

    Raises
    ------
    InputError
        If the numbers do not fit one another; the message says which line.
    """
    lines = text.split("\n")
    header = _header(lines[0], name)
    n_documents, n_terms = header[:2]
    rows = lines[1 : 1 + n_documents]
    if len(rows) < n_documents or any(line.strip() for line in lines[1 + n_documents :]):
        found = len("\n".join(lines[1:]).rstrip().split("\n"))
        raise InputError(f"{name} announces {n_documents} documents but has {found} lines; it is truncated or damaged.")
    fields = [line.split() for line in rows]
    lengths = np.fromiter(map(len, fields), dtype=np.int64, count=n_documents)
    values = _numbers(fields, name)
    if len(header) == 2:
        wrong = np.flatnonzero(lengths != n_terms)
        if wrong.size:
            raise InputError(
                f"{name} line {wrong[0] + 2} has {lengths[wrong[0]]} values, expected {n_terms} (dense CLUTO form)."
            )
        return values.reshape(n_documents, n_terms)
    return _sparse_cluto(values, lengths, n_terms, header[2], name)


def _header(line: str, name: str) -> list[int]:
    try:
        header = [int(field) for field in line.split()]
    except ValueError:
        header = []
    if len(header) not in (2, 3) or min(header) < 0:
        raise InputError(
            f"{name} begins with {line[:60]!r}, expected the numbers of documents, terms and (sparse form) non-zeros."
        )
    return header


def _numbers(fields: list[list[str]], name: str) -> npt.NDArray[np.float64]:
    try:
        return np.array([field for row in fields for field in row], dtype=np.float64)
    except ValueError:
        for number, row in enumerate(fields, start=2):
            for field in row:
                try:
                    float(field)
                except ValueError:
                    raise InputError(f"{name} line {number} holds {field[:40]!r}, expected a number.") from None
        raise


def _sparse_cluto(
    values: npt.NDArray[np.float64], lengths: npt.NDArray[np.int64], n_terms: int, n_entries: int, name: str
) -> Any:
    odd = np.flatnonzero(lengths % 2)
    if odd.size:
        raise InputError(f"{name} line {odd[0] + 2} has an odd number of fields, expected pairs of term and value.")
    indptr = np.concatenate([[0], np.cumsum(lengths // 2)])
    if indptr[-1] != n_entries:
        raise InputError(f"{name} announces {n_entries} non-zeros but holds {indptr[-1]}; it is truncated or damaged.")
    columns, data = values[0::2], values[1::2]
    wrong = np.flatnonzero(~((columns >= 1) & (columns <= n_terms) & (columns == np.floor(columns))))
    if wrong.size:
        line = int(np.searchsorted(indptr, wrong[0], side="right")) + 1
        raise InputError(f"{name} line {line} names term {columns[wrong[0]]:g}, expected a number from 1 to {n_terms}.")
    matrix = sparse.csr_array((data, columns.astype(np.int32) - 1, indptr), shape=(lengths.size, n_terms))
    matrix.sum_duplicates()
    return matrix
