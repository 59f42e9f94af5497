"""Opening what a path names, without ever waiting for what may never come, and files behind addresses (s3://...).

Addresses are opened by fsspec and the drivers that the user has installed; only those of the kinds that
`base.named_places` lists. Web pages are not fetched: that is what `feeds` is for, or a download.
"""

from __future__ import annotations

import io
import os
import re
import selectors
import stat
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from doccluster.base.named_places import check_address
from doccluster.base.paths import usable_path
from doccluster.base.plain_values import format_size
from doccluster.corpus.reader import ReadFailure, boundary, counted_stream
from doccluster.errors import InputError, MissingDependency, importing

# a path keeps only one of the slashes; what stands before :: is refused, and not taken for a path
_FORM = re.compile(r"((?:[a-z0-9+._-]+::)*[a-z][a-z0-9+._-]+):/+(.*)", re.IGNORECASE | re.DOTALL)
_NOT_FILES = frozenset({"http", "https", "feed"})
_THIS_MACHINE = "file"
MAX_BYTES = 256 * 1024**2  # of a pipe or device, which may never end; a file ends by itself
PATIENCE = 10.0  # seconds that a pipe which the user names may stay without its first byte
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a file that only streams, as /proc has them, says that it has nothing yet
_PROCESS_FILES = ("/proc/", "/dev/")  # where the shell puts the pipe of a process substitution


class FoundFile(NamedTuple):
    """A file behind an address: the address as a path, where it lies below what the user named, its size if known."""

    path: Path
    place: PurePosixPath
    n_bytes: int | None


def address_of(path: Path) -> str | None:
    """Return the address that a path stands for; None for a path of this machine, or of what is not files.

    A folder may be called "s3:", so that its files look like addresses: what is there is a path.

    >>> address_of(Path("s3://bucket/a.jsonl")), address_of(Path("data/a.jsonl")), address_of(Path("https://a.org/b"))
    ('s3://bucket/a.jsonl', None, None)
    """
    match = _FORM.fullmatch(str(path))
    if match is None or match[1].lower() in (_THIS_MACHINE, *_NOT_FILES) or os.path.lexists(path):
        return None
    return f"{match[1].lower()}://{match[2]}"


def on_this_machine(path: Path) -> Path:
    """Return the path that a file:// address names, other paths as they are.

    >>> on_this_machine(Path("file:///data/a.csv")).as_posix()
    '/data/a.csv'
    """
    match = _FORM.fullmatch(str(path))
    is_address = match is not None and match[1].lower() == _THIS_MACHINE and not os.path.lexists(path)
    return Path(f"/{match[2]}") if match is not None and is_address else path


def find_files(address: str) -> list[FoundFile]:
    """Return the files that an address names: one, those below a folder, or those that fit a pattern, by name."""
    system, path = _system(address)
    scheme = address.partition("://")[0]
    try:
        if any(character in path for character in "*?["):
            facts_by_name, top = system.glob(path, detail=True), None
            facts_by_name = {name: facts for name, facts in facts_by_name.items() if facts.get("type") == "file"}
        elif system.isdir(path):
            facts_by_name, top = system.find(path, detail=True), path.rstrip("/")
        else:
            facts_by_name, top = ({path: system.info(path)} if system.exists(path) else {}), None
    except Exception as error:  # whatever a driver raises on what cannot be reached
        raise _unreachable(address, error) from error
    if not facts_by_name:
        raise InputError(f"there is nothing at {address}", remedy="give the address of files, of a folder or a pattern")
    files = []
    for name, facts in sorted(facts_by_name.items()):
        place = PurePosixPath(PurePosixPath(name).name if top is None else name.removeprefix(top).lstrip("/"))
        files.append(FoundFile(Path(f"{scheme}://{name.lstrip('/')}"), place, facts.get("size")))
    return files


def _system(address: str) -> tuple[Any, str]:
    check_address(address)
    with importing(f"{address} needs", "fsspec", install="doccluster[dask]"):
        import fsspec
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise MissingDependency(f"{address} needs a driver ({error})", remedy="install it with pip") from error
    except Exception as error:  # an unknown kind of address, or a driver that finds no account
        raise _unreachable(address, error) from error
    return system, str(path)


def _unreachable(address: str, error: Exception) -> InputError:
    return InputError(
        f"{address} cannot be read ({type(error).__name__}: {str(error)[:200]})",
        remedy="check the address, and the account that its driver uses",
    )


def open_path(path: Path, *, is_explicit: bool) -> tuple[Any, bool]:
    """Return an open file, and whether it is a plain one; a pipe or device has to be named by the user."""
    with boundary("unreadable"):
        address = address_of(path)
        if address is not None:
            system, name = _system(address)
            return system.open(name, "rb"), False
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
    """Return all bytes of a file, pipe or device that the user names; raise ReadFailure beyond `limit`.

    A pipe may stay `PATIENCE` seconds without its first byte. By default only pipes and devices have a limit.
    """
    place = usable_path(path)
    with boundary("unreadable"):
        file, is_plain = open_path(place, is_explicit=True)
        max_bytes = MAX_BYTES if limit is None and not is_plain else limit
        with file:
            stream = counted_stream(file)
            data = stream.read() if max_bytes is None else stream.read(max_bytes + 1)
    if max_bytes is not None and len(data) > max_bytes:
        raise ReadFailure("too-large", f"it is larger than {format_size(max_bytes)}")
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
