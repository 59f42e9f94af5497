"""Files that doccluster wrote and reads again: json with a schema version, npz without pickle; damage is one error."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Matrix
from doccluster.base.json_values import OtherNames, read_as
from doccluster.base.sparse_structure import checked_csr
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import DocclusterError, InputError, SchemaError
from doccluster.vectors.matrix_files import load_npz

T = TypeVar("T")

SCHEMA = 2  # the newest that is read; what older versions can read is written as 1
_MAX_DETAIL = 300  # characters of what another library says of a file

# what np.load and zipfile raise for a file that was cut, changed, or never was an archive (TypeError: a bare npy file)
_DAMAGE = (
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    AttributeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)

Arrays = Mapping[str, npt.NDArray[Any]]


def _fields_of(record: Any) -> dict[str, object]:
    """Return the fields of a dataclass, not copied: the encoder asks for them."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_fields_of).encode


def write_json(path: Path, content: Mapping[str, object], *, schema: int = 1) -> None:
    """Write a JSON object with the schema version first; iterators are written as lists, while they are read.

    An item of a list that is a dataclass is written as an object of its fields.
    """
    # a lone surrogate (from the name of an undecodable file) is written as the escape JSON knows
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(_json_pieces({"schema": schema, **content}, "\n"))
        file.write("\n")


def _json_pieces(value: object, line: str) -> Iterator[str]:
    """Yield a value as JSON, with a line for each key of an object and each item of a list that is not within a list.

    `line` begins a line of the object that holds the value. json's own indentation has no fast encoder.
    """
    if isinstance(value, Mapping) and value:
        before = "{"
        for name, member in value.items():
            yield f"{before}{line} {_ENCODE(str(name))}: "
            yield from _json_pieces(member, line + " ")
            before = ","
        yield line + "}"
    elif isinstance(value, list | tuple | Iterator):
        before = "["
        for item in value:
            yield f"{before}{line} {_ENCODE(item)}"
            before = ","
        yield "[]" if before == "[" else line + "]"
    else:
        yield _ENCODE(value)


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file that doccluster wrote.

    Raises InputError if there is no such file, or it cannot be read. Raises SchemaError if it is cut short, is not
    ours, or was written by a newer version.
    """
    try:
        content = json.loads(read_whole(path).decode("utf-8"))
    except ReadFailure as error:
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else OSError(error.detail)
        raise _unreadable(path, cause) from error
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error
    if not isinstance(content, dict) or not isinstance(content.get("schema"), int):
        raise damaged(path, "it has no schema version")
    if content["schema"] > SCHEMA:
        raise SchemaError(
            f"{path} has schema version {content['schema']}, this doccluster reads up to {SCHEMA}",
            remedy="it was written by a newer version: upgrade doccluster",
        )
    return content


def read_record(path: Path, kind: type[T]) -> T:
    """Return the JSON object of a file that doccluster wrote, as a dataclass; see `read_json` for the errors."""
    content = read_json(path)
    del content["schema"]
    try:
        return read_as(kind, content)
    except ValueError as error:
        raise unfit(path, error) from error


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays of numbers or fixed-width text; objects are refused, because reading them would need pickle."""
    for name, values in arrays.items():
        if values.dtype.hasobject:
            raise TypeError(f"the array {name!r} holds Python objects and cannot be saved without pickle")
    with path.open("wb") as file:
        # mypy reads the arrays as the flag allow_pickle, which np.savez takes by name too
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read_arrays(path: Path, *, needs: tuple[str, ...] = ()) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an npz file; see `read_json` for the errors."""
    try:
        # np.load given a name leaves the file open when it is not an archive
        with path.open("rb") as file, load_npz(file, str(path)) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        if error.errno is not None:
            raise _unreadable(path, error) from error
        raise damaged(path, str(error)) from error
    except (InputError, *_DAMAGE) as error:
        raise damaged(path, str(error)) from error
    missing = [name for name in needs if name not in arrays]
    if missing:
        raise unfit(path, OtherNames(f"it lacks {', '.join(map(repr, missing))}"))
    return arrays


def pack_matrix(matrix: Matrix) -> dict[str, npt.NDArray[Any]]:
    """Return a csr or dense matrix as plain arrays."""
    if isinstance(matrix, np.ndarray):
        return {"dense": matrix}
    rows = sparse.csr_array(matrix)
    return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape, np.int64)}


def unpack_matrix(arrays: Arrays, path: Path) -> Matrix:
    """Return the matrix that `pack_matrix` took apart; SchemaError if the parts do not fit together."""
    try:
        if "dense" in arrays:
            return check_numbers(arrays, "dense", kinds="f", n_dimensions=2)
        return _sparse_matrix(arrays)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise damaged(path, str(error)) from error


def _sparse_matrix(arrays: Arrays) -> CsrArray:
    """Return a csr array whose every index was looked at: kernels read memory where the indices say."""
    data = check_numbers(arrays, "data", kinds="f")
    indices, starts, shape = (check_numbers(arrays, name, kinds="i") for name in ("indices", "indptr", "shape"))
    if shape.size != 2 or shape.min() < 0:
        raise ValueError(f"its shape is {shape.tolist()[:4]}")
    if starts.size != shape[0] + 1 or starts[-1] != indices.size:
        raise ValueError("its row starts do not fit its entries")
    parts = (data, indices, starts)
    matrix, is_canonical = checked_csr(sparse.csr_array(parts, shape=shape.tolist()), name="its matrix")
    if not is_canonical:
        raise ValueError("the columns of its rows are not sorted, or repeated")
    return matrix


def check_numbers(arrays: Arrays, name: str, *, kinds: str, n_dimensions: int = 1) -> npt.NDArray[Any]:
    """Return an array that has one of the `kinds` of numbers (as in numpy: f, i, u) and `n_dimensions` dimensions.

    Raises ValueError if it is another array, or has values that are infinite or not numbers.
    """
    values = arrays[name]
    is_half = values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8)  # or longer: no code is compiled for it
    if is_half or values.dtype.kind not in kinds or values.ndim != n_dimensions or values.dtype.byteorder == ">":
        raise ValueError(f"{name} is an array of {values.dtype} in {values.ndim} dimensions")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{name} has values that are not finite")
    return values


def damaged(path: Path, reason: str) -> SchemaError:
    """Return the error for a file that cannot be what doccluster wrote."""
    detail = " ".join(reason.split()).rstrip(".")[:_MAX_DETAIL]
    return SchemaError(f"{path} is damaged, cut short or not a file of doccluster ({detail})", remedy=_next_step(path))


def unfit(path: Path, error: ValueError) -> SchemaError:
    """Return the error for a file that holds something else than this version writes."""
    if not isinstance(error, OtherNames):
        return damaged(path, str(error))
    problem = f"{path} is of an older version of doccluster, or was changed ({str(error).removeprefix('it.')})"
    return SchemaError(problem, remedy=_next_step(path))


@contextmanager
def as_damage(path: Path) -> Iterator[None]:
    """Turn what Python raises where parts of a file are not as they should be into the error of a damaged file."""
    try:
        yield
    except DocclusterError:
        raise
    except (*_DAMAGE, IndexError) as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise damaged(path, f"{kind}{error}") from error


def lacking(path: Path) -> InputError:
    """Return the error for a file that a run should have."""
    return InputError(f"the run in {_run_folder(path)} lacks its file {path}", remedy=_next_step(path))


def _next_step(path: Path) -> str:
    """Say what to do about a damaged file: the run can be repeated while its run.json is whole."""
    record = _run_folder(path) / "run.json"
    if path == record or not record.is_file():
        return "make the run again"
    return f"make the run again with `doccluster rerun {record} -o NEW_FOLDER`"


def _run_folder(path: Path) -> Path:
    return path.parent.parent if path.parent.name == "model" else path.parent


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        folder = _run_folder(path)
        if (folder / "model" / "model.json").is_file() or (folder / "run.json").is_file():
            return lacking(path)
        return InputError(f"there is no file {path}", remedy="give the folder of a finished run")
    return InputError(f"{path} cannot be read: {error.strerror or error}.")
