"""What numpy files say of their arrays, checked before memory is asked for: a changed byte may announce terabytes."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from doccluster.errors import DocclusterError, InputError

MOST_EXPANDED = 1100  # deflate makes at most 1032 bytes of one
_SMALL = 4096
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@contextmanager
def damage_as_input_error(origin: str | os.PathLike[str], kind: str = "a matrix") -> Iterator[None]:
    """Turn whatever a reader of files raises into one sentence: each library has errors of its own for damage.

    Raises InputError for every error but those of this package, which say what is wrong already.
    """
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
    """Check that a .npy stream of `size` bytes has room for the array that it announces.

    Raises InputError if it is not an array of plain values, or has another length.
    """
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
    """Check all arrays of an .npz stream of `size` bytes, as `check_npy` does.

    Raises InputError if it is not a zip archive of arrays, or an array is larger than what is packed can hold.
    """
    with damage_as_input_error(origin), zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{origin} is compressed in a way numpy does not use", remedy="save it again")
            packed = min(member.compress_size, size)
            if member.file_size > MOST_EXPANDED * packed + _SMALL:
                raise InputError(
                    f"{origin} announces {member.file_size:,} bytes in {packed:,} compressed ones",
                    remedy="it is damaged",
                )
            if member.filename.endswith(".npy"):
                with archive.open(member) as array:
                    check_npy(array, member.file_size, f"the array {member.filename[:-4][:60]!r} of {origin}")


def load_npz(stream: IO[bytes], origin: str) -> Any:
    """Return numpy's reader of an .npz stream, whose arrays were all checked; no pickle."""
    check_npz(stream, stream.seek(0, os.SEEK_END), origin)
    stream.seek(0)
    with damage_as_input_error(origin):
        return np.load(stream, allow_pickle=False)
