"""Arrays as files of a scratch folder, which several processes write to and read from while a run goes on.

Each file, or folder of files, appears whole or not at all, and may be written again by another process that does the
same work.
"""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError

SPARE_FILES = 512  # open besides: libraries, connections, files that are read

# numpy reads a header by way of `ast`, which Python before 3.11.8 and 3.12.1 breaks when two threads use it at once
# (SystemError: AST constructor recursion depth mismatch)
_one_header_at_a_time = threading.Lock()


def open_array(path: Path) -> npt.NDArray[Any]:
    """Return an array that is mapped from its file; one without entries is read.

    Raises InputError if the file is gone or damaged.
    """
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


def write_arrays(folder: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays as the files of a folder that appears whole or not at all.

    Raises InputError if there is no room, or no right to write.
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


def write_in_pieces(path: Path, pieces: Iterable[npt.NDArray[Any]], dtype: npt.DTypeLike, size: int) -> None:
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


def write_rows(path: Path, first: int, rows: npt.NDArray[Any]) -> None:
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
