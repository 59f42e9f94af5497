"""Opening what a path names, without ever waiting for what may never come."""

from __future__ import annotations

import io
import os
import selectors
import stat
from pathlib import Path
from typing import Any

from doccluster.corpus.addresses import address_of, open_address
from doccluster.corpus.boundary import boundary
from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.input_file import counted_stream
from doccluster.file_names import usable_path
from doccluster.sizes import format_size

MOST_BYTES = 256 * 1024**2  # of a pipe or device, which may never end; a file ends by itself
PATIENCE = 10.0  # seconds that a pipe which the user names may stay without its first byte
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a file that only streams, as /proc has them, says that it has nothing yet
_PROCESS_FILES = ("/proc/", "/dev/")  # where the shell puts the pipe of a process substitution


def open_path(path: Path, *, is_explicit: bool) -> tuple[Any, bool]:
    """Return an open file, and whether it is a plain one; raise ReadFailure for what cannot be read.

    A pipe or device that the user names is meant; one that is found in a folder would wait for ever.
    """
    with boundary("unreadable"):
        address = address_of(path)
        if address is not None:
            return open_address(address), False
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return _opened(path, _AT_ONCE), True
        if not is_explicit or not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
            raise ReadFailure("not-a-file", "a folder" if stat.S_ISDIR(mode) else "a socket, pipe or device")
        if stat.S_ISFIFO(mode):
            return _opened_pipe(path), False
        device = _opened(path, _AT_ONCE)
        os.set_blocking(device.fileno(), device.isatty())
        return device, False


def read_whole(path: str | os.PathLike[str], *, limit: int | None = None) -> bytes:
    """Return all bytes of a file, pipe or device that the user names.

    Raises InputError if no file can have this name. Raises ReadFailure if it cannot be read, or has more bytes.

    Parameters
    ----------
    path : path
        What to read; a pipe may stay `PATIENCE` seconds without its first byte.
    limit : int, optional
        The most bytes it may have; by default only pipes and devices have a limit, `MOST_BYTES`.
    """
    place = usable_path(path)
    with boundary("unreadable"):
        file, is_plain = open_path(place, is_explicit=True)
        most = MOST_BYTES if limit is None and not is_plain else limit
        with file:
            stream = counted_stream(file)
            data = stream.read() if most is None else stream.read(most + 1)
    if most is not None and len(data) > most:
        raise ReadFailure("too-large", f"it is larger than {format_size(most)}")
    return data


def _opened(path: Path, flags: int) -> io.FileIO:
    return io.FileIO(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | flags))


def _opened_pipe(path: Path) -> io.FileIO:
    """Return an open pipe once a writer has opened it too, which may never happen to one that lies in a folder."""
    if os.path.realpath(path).startswith(_PROCESS_FILES):
        return _opened(path, 0)
    pipe = _opened(path, _AT_ONCE)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        if not selector.select(PATIENCE):
            pipe.close()
            raise ReadFailure("not-a-file", f"a pipe to which nothing was written for {PATIENCE:g} seconds")
    os.set_blocking(pipe.fileno(), True)
    return pipe
