"""Ready matrices in files: CLUTO, Matrix Market and npz are read into one value, still as they stand in the file.

What numpy files say of their arrays is checked before memory is asked for: a changed byte may announce terabytes.
"""

from __future__ import annotations

import gzip
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy import io, sparse

from doccluster.base.arrays import Array, CsrArray, Floats, Integers, Matrix, is_sparse
from doccluster.base.packed_strings import unpack_strings
from doccluster.base.sparse_structure import check_sparsity, checked_csr
from doccluster.errors import DocclusterError, InputError, SchemaError

MAX_EXPANDED = 1100  # deflate makes at most 1032 bytes of one
USUAL_EXPANDED = 250  # what a packed matrix, of which most is zero, may well expand to, beside any small one
_ANY_SMALL = 2**26  # bytes
_SMALL = 4096
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@contextmanager
def damage_as_input_error(origin: str | os.PathLike[str], kind: str = "a matrix") -> Iterator[None]:
    """Turn whatever a reader of files raises into one sentence: each library has errors of its own for damage."""
    try:
        yield
    except DocclusterError:
        raise
    except MemoryError as error:
        raise InputError(
            f"{origin} holds more than fits in memory, or is damaged", remedy=f"give a smaller one ({_reason(error)})"
        ) from error
    except Exception as error:  # a reader is a border, and what is beyond it raises what it likes
        reason = _reason(error)
        raise InputError(
            f"{origin} cannot be read as {kind} ({reason})", remedy="it is truncated or damaged"
        ) from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    # numpy takes anything but an array for a pickle, and says how to load one: that would run whatever is in it
    if "pickle" in text:
        return "it holds no plain numbers"
    return (text[:200] or type(error).__name__).rstrip(".")


def check_npy(stream: IO[bytes], size: int, origin: str) -> None:
    """Check that a .npy stream of `size` bytes has room for the array that it announces."""
    with damage_as_input_error(origin):
        version = np.lib.format.read_magic(stream)
        if version not in _READERS:
            raise InputError(
                f"{origin} is an array file of version {version}, expected 1.0 or 2.0", remedy="save it again"
            )
        shape, _, dtype = _READERS[version](stream)
        if dtype.hasobject or dtype.kind == "V":
            raise InputError(
                f"{origin} does not hold plain numbers but {str(dtype)[:60]}", remedy="save an array of numbers"
            )
        expected, size_found = math.prod(shape) * dtype.itemsize, size - stream.tell()
        if min(shape, default=0) < 0 or expected != size_found:
            raise InputError(
                f"{origin} announces {expected:,} bytes of values but holds {size_found:,}",
                remedy="it is truncated or damaged",
            )


def check_npz(stream: IO[bytes], size: int, origin: str) -> None:
    """Check all arrays of an .npz stream of `size` bytes, as `check_npy` does."""
    with damage_as_input_error(origin), zipfile.ZipFile(stream) as archive:
        check_expansion(sum(member.file_size for member in archive.infolist()), size, origin)
        for member in archive.infolist():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{origin} is compressed in a way numpy does not use", remedy="save it again")
            packed = min(member.compress_size, size)
            if member.file_size > MAX_EXPANDED * packed + _SMALL:
                raise InputError(
                    f"{origin} announces {member.file_size:,} bytes in {packed:,} compressed ones",
                    remedy="it is damaged",
                )
            if member.filename.endswith(".npy"):
                with archive.open(member) as array:
                    check_npy(array, member.file_size, f"the array {member.filename[:-4][:60]!r} of {origin}")


def check_expansion(expanded: int, size: int, origin: str) -> None:
    """Raise InputError where a packed file of `size` bytes would fill the memory."""
    if expanded > _ANY_SMALL + USUAL_EXPANDED * size:
        raise InputError(f"{origin} unpacks to far more than its {size:,} bytes", remedy="save it without compression")


def load_npz(stream: IO[bytes], origin: str) -> NpzFile:
    """Return numpy's reader of an .npz stream, whose arrays were all checked; no pickle."""
    check_npz(stream, stream.seek(0, os.SEEK_END), origin)
    stream.seek(0)
    with damage_as_input_error(origin):
        archive: NpzFile = np.load(stream, allow_pickle=False)
        return archive


MATRIX_SCHEMA = 1
_LINES_AT_ONCE = 1000
_DIGITS = 18  # of a number that 64 bits hold for certain


@dataclass(frozen=True)
class MatrixFile:
    """The matrix in a file, and the names of rows and columns if the file has them."""

    matrix: Any  # csr array or dense array of shape (n_documents, n_terms)
    ids: list[str] | None = None
    terms: list[str] | None = None
    display_terms: list[str] | None = None
    classes: list[str] | None = None
    is_weighted: bool = False  # whether the file says that its rows are weighted already
    counts: Array | None = None  # of a weighted csr array: the counts that its entries are made of


def load_matrix_file(path: Path) -> MatrixFile:
    """Return the content of a matrix file, its format chosen by the end of its name."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder, expected a matrix file", remedy="name the .mat, .mtx or .npz file itself"
        )
    if not path.is_file():
        raise InputError(f"{path} does not exist", remedy="check the path")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty, a file of zero bytes", remedy="write it again")
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".mtx"):
        return MatrixFile(_matrix_market(path))
    if name.endswith(".npz"):
        return _npz(path)
    if name.endswith(".npy"):
        return MatrixFile(_npy(path))
    if name.endswith(".mat"):
        text = _content(path).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        return MatrixFile(parse_cluto(text, str(path)))
    raise InputError(
        f"{path} is of no known format", remedy="give a CLUTO .mat, Matrix Market .mtx(.gz), .npz or .npy file"
    )


def _content(path: Path) -> bytes:
    if not _is_packed(path):
        return path.read_bytes()
    size = path.stat().st_size
    with damage_as_input_error(path), gzip.open(path) as stream:
        data = stream.read(_ANY_SMALL + USUAL_EXPANDED * size + 1)
        check_expansion(len(data), size, str(path))
        return data


def _matrix_market(path: Path) -> Matrix:
    with damage_as_input_error(path):
        _check_announced(io.mminfo(path), path)
        text = _content(path)
        # scipy's reader, which is machine code, runs on beyond zero bytes, and where the last line has no end
        if b"\0" in text:
            raise InputError(f"{path} holds zero bytes, so it is not text", remedy="it is damaged")
        matrix = io.mmread(BytesIO(text + b"\n"), spmatrix=False)
    if not sparse.issparse(matrix):
        return _two_dimensional(np.asarray(matrix), path)
    return checked_csr(matrix, name=str(path))[0]


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _check_announced(header: tuple[int, int, int, str, str, str], path: Path) -> None:
    """Raise InputError when a Matrix Market file is too short for the values that its header announces."""
    n_rows, n_columns, n_values, layout, _, symmetry = header
    least = 4 if layout == "coordinate" else 2  # "1 1", "1" and the ends of their lines
    if layout == "array":
        n_values = n_rows * n_columns if symmetry == "general" else n_rows * (n_columns - 1) // 2
    size = path.stat().st_size * (MAX_EXPANDED if _is_packed(path) else 1)
    if n_values < 0 or n_values * least > size + least:
        raise InputError(
            f"{path} announces {n_values:,} values, more than its {size:,} bytes hold", remedy="it is damaged"
        )
    if layout == "coordinate":
        check_sparsity((n_rows, n_columns), n_values, str(path))


def _two_dimensional(array: Array, path: Path) -> Array:
    if array.ndim != 2:
        raise InputError(f"{path} holds an array of {array.ndim} dimension(s), expected 2 (documents, terms).")
    return array


def _npy(path: Path) -> Array:
    # numpy leaves a damaged file open when it opens it itself
    with path.open("rb") as stream:
        if stream.read(2) == b"PK":
            raise InputError(f"{path} holds several arrays", remedy="name it .npz")
        stream.seek(0)
        check_npy(stream, path.stat().st_size, str(path))
        stream.seek(0)
        with damage_as_input_error(path):
            return _two_dimensional(np.load(stream, allow_pickle=False), path)


def _npz(path: Path) -> MatrixFile:
    with path.open("rb") as stream, load_npz(stream, str(path)) as file, damage_as_input_error(path):
        if "doccluster_schema" in file:
            return _own_npz(file, path)
        if "format" not in file and {"data", "indices", "indptr", "shape"} <= set(file.files):
            return MatrixFile(_csr(file, path))
        if "format" not in file:
            arrays = [name for name in file.files if file[name].ndim == 2]
            if len(arrays) == 1:
                return MatrixFile(file[arrays[0]])
            names = ", ".join(file.files)[:200] or "nothing"
            raise InputError(
                f"{path} holds {names}, expected a matrix saved by scipy.sparse.save_npz, "
                "one two-dimensional array, or a file that doccluster wrote."
            )
    with path.open("rb") as stream, damage_as_input_error(path):
        return MatrixFile(_in_file(sparse.load_npz(stream), path))


def _own_npz(file: NpzFile, path: Path) -> MatrixFile:
    schema = int(file["doccluster_schema"])
    if schema != MATRIX_SCHEMA:
        raise SchemaError(f"{path} has schema {schema}, this version reads {MATRIX_SCHEMA}", remedy="update doccluster")
    matrix = _two_dimensional(file["dense"], path) if "dense" in file else _csr(file, path)
    return MatrixFile(
        matrix,
        ids=_strings(file, "ids"),
        terms=_strings(file, "terms"),
        display_terms=_strings(file, "display_terms"),
        classes=_strings(file, "classes"),
        is_weighted=True,
        counts=_counts(file, matrix, path) if "counts" in file else None,
    )


def _counts(file: NpzFile, matrix: Matrix, path: Path) -> CsrArray:
    """Return the counts of the entries of a weighted csr array, whole numbers from 0 up."""
    counts = file["counts"]
    if not is_sparse(matrix) or counts.shape != matrix.data.shape or counts.dtype.kind != "u":
        raise InputError(f"{path} has counts of {counts.dtype} and shape {counts.shape}; write it again.")
    if not np.array_equal(file["indices"], matrix.indices):
        raise InputError(f"{path} has counts, and columns that are not in order; write it again.")
    return np.asarray(counts)


def _csr(file: NpzFile, path: Path) -> sparse.csr_array:
    shape = file["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise InputError(
            f"{path} has a shape of {shape.size} numbers ({shape.dtype}), expected 2", remedy="write it again"
        )
    return _in_file(sparse.csr_array((file["data"], file["indices"], file["indptr"]), shape=shape.tolist()), path)


def _in_file(matrix: CsrArray, path: Path) -> sparse.csr_array:
    """Return a sparse matrix from a file as a csr array, once its parts and its shape are believed."""
    if len(matrix.shape) == 2:
        check_sparsity(matrix.shape, matrix.nnz, str(path))
    return checked_csr(matrix, name=str(path))[0]


def _strings(file: NpzFile, name: str) -> list[str] | None:
    if f"{name}_characters" not in file:
        return None
    return unpack_strings(file[f"{name}_characters"], file[f"{name}_ends"])


def parse_cluto(text: str, name: str) -> Matrix:
    """Return the matrix of a CLUTO file: a csr array of the sparse form, a dense array of the dense form.

    Sparse: a line "n_documents n_terms n_non_zeros", then one line per document of 1-based "term value" pairs, empty
    without terms. Dense: a line "n_documents n_terms", then one line of values per document.
    """
    lines = text.split("\n")
    header = _header(lines[0], name)
    n_documents, n_terms = header[:2]
    rows = lines[1 : 1 + n_documents]
    if len(rows) < n_documents or any(line.strip() for line in lines[1 + n_documents :]):
        n_lines = len("\n".join(lines[1:]).rstrip().split("\n"))
        raise InputError(
            f"{name} announces {n_documents} documents but has {n_lines} lines", remedy="it is truncated or damaged"
        )
    lengths = np.fromiter((len(row.split()) for row in rows), dtype=np.int64, count=n_documents)
    values = _numbers(rows, name)
    if len(header) == 2:
        wrong = np.flatnonzero(lengths != n_terms)
        if wrong.size:
            raise InputError(
                f"{name} line {wrong[0] + 2} has {lengths[wrong[0]]} values, expected {n_terms} (dense CLUTO form)."
            )
        return values.reshape(n_documents, n_terms)
    return _sparse_cluto(values, lengths, n_terms, header[2], name)


def _header(line: str, name: str) -> list[int]:
    fields = line[:200].split()
    header = [int(field) for field in fields if field.isascii() and field.isdigit() and len(field) < _DIGITS]
    if len(header) not in (2, 3) or len(header) != len(fields):
        raise InputError(
            f"{name} begins with {line[:60]!r}, expected the numbers of documents, terms and (sparse form) non-zeros."
        )
    return header


def _numbers(rows: list[str], name: str) -> Floats:
    """Return the numbers of some lines one after the other; a part of the lines at a time, as text takes much room."""
    parts = []
    for begin in range(0, len(rows), _LINES_AT_ONCE):
        part = rows[begin : begin + _LINES_AT_ONCE]
        try:
            text = " ".join(part)
            if "_" in text or not text.isascii():  # digits of Python, not of a file
                raise ValueError(text)
            parts.append(np.array(text.split(), dtype=np.float64))
        except ValueError:
            raise _not_a_number(part, begin, name) from None
    return np.concatenate(parts) if parts else np.empty(0)


def _not_a_number(rows: list[str], before: int, name: str) -> InputError:
    for number, row in enumerate(rows, start=before + 2):
        for field in row.split():
            try:
                float(field if field.isascii() and "_" not in field else "no number")
            except ValueError:
                return InputError(f"{name} line {number} holds {field[:40]!r}, expected a number.")
    return InputError(f"{name} holds something that is not a number", remedy="it is damaged")


def _sparse_cluto(values: Floats, lengths: Integers, n_terms: int, n_entries: int, name: str) -> Any:
    check_sparsity((0, n_terms), n_entries, name)
    odd = np.flatnonzero(lengths % 2)
    if odd.size:
        raise InputError(f"{name} line {odd[0] + 2} has an odd number of fields, expected pairs of term and value.")
    indptr = np.concatenate([[0], np.cumsum(lengths // 2)])
    if indptr[-1] != n_entries:
        raise InputError(
            f"{name} announces {n_entries} non-zeros but holds {indptr[-1]}", remedy="it is truncated or damaged"
        )
    columns, data = values[0::2], values[1::2]
    wrong = np.flatnonzero(~((columns >= 1) & (columns <= n_terms) & (columns == np.floor(columns))))
    if wrong.size:
        line = int(np.searchsorted(indptr, wrong[0], side="right")) + 1
        raise InputError(f"{name} line {line} names term {columns[wrong[0]]:g}, expected a number from 1 to {n_terms}.")
    matrix = sparse.csr_array((data, columns.astype(np.int32) - 1, indptr), shape=(lengths.size, n_terms))
    matrix.sum_duplicates()
    return matrix
