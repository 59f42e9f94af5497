"""Paths: names that no system can look up, and hidden folders in which output is prepared.

Names are refused in one sentence before any work. Of a folder of unfinished output nothing stays, not even after
kill -9.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from doccluster.errors import InputError

_SHOWN = 80  # characters of a long name in a sentence


def usable_path(path: str | os.PathLike[str]) -> Path:
    """Return a path whose name the system takes; whether it is there is not asked.

    Raises InputError if the name is empty or too long, or holds a zero byte or half of a pair of surrogates.

    >>> usable_path("news" * 100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    doccluster.errors.InputError: 'newsnews... ...' cannot be a file or folder: File name too long; give another.
    """
    if path == "":
        raise InputError("an empty name cannot be a file or folder", remedy="give another")
    for name in (path, *Path(path).parts):  # below a folder that is not there no name is looked at
        _look_up(name, path)
    return Path(path)


def _look_up(name: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    try:
        os.lstat(name)
    except ValueError as error:  # UnicodeEncodeError is one
        reason = "half of a character" if isinstance(error, UnicodeError) else "a zero byte"
        raise InputError(
            f"{shown_path(path)!a} cannot be a file or folder: it holds {reason}", remedy="give another"
        ) from error
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise InputError(
                f"{shown_path(path)!r} cannot be a file or folder: {error.strerror}", remedy="give another"
            ) from error


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as a sentence shows it: only its beginning where it is very long."""
    name = os.fspath(path)
    return name if len(name) <= 200 else f"{name[:_SHOWN]} ..."


try:
    import fcntl
except ImportError:  # Windows: nothing is known of other processes there, and nothing of theirs is removed
    fcntl = None  # type: ignore[assignment]

Rescue = Callable[[Path], None]

INSIDE = "new"  # the folder in it that is yielded
LOCK = "lock"  # a file in the folder that its process holds locked; the system lets go of it when the process ends


@contextmanager
def unfinished_folder(final: Path, *, rescue: Rescue | None = None) -> Iterator[Path]:
    """Yield an empty folder on the same disk as `final`, which is removed at the end whatever happens.

    Folders that processes which are gone have left here for the same output are removed first. Those of living
    processes, in whatever container, stay: they are locked. `rescue` is called with each before it is removed.

    Raises OSError if no folder can be made there.
    """
    clear_abandoned(final, rescue=rescue)
    folder, lock = _new_folder(final)
    try:
        inside = folder / INSIDE
        inside.mkdir()
        yield inside
    finally:
        _remove(folder)
        if lock is not None:
            os.close(lock)


@contextmanager
def finished_file(path: Path) -> Iterator[Path]:
    """Yield a name to write to; without an error the file then takes the name `path`, else what was there stays.

    Raises OSError if the file cannot be written there.
    """
    with unfinished_folder(path.absolute()) as folder:
        unfinished = folder / path.name
        yield unfinished
        unfinished.replace(path)


def clear_abandoned(final: Path, *, rescue: Rescue | None = None) -> None:
    """Remove the folders that processes which are gone have left beside `final`, after `rescue` has seen each."""
    if fcntl is None:
        return
    prefix = _prefix(final)
    with suppress(OSError):  # what cannot be listed, or removed, stays
        for entry in list(final.parent.iterdir()):
            if entry.name.startswith(prefix) and entry.is_dir() and not entry.is_symlink():
                _remove_abandoned(entry, rescue)


def _prefix(final: Path) -> str:
    return f".{final.name}.partial-"


def _new_folder(final: Path) -> tuple[Path, int | None]:
    """Return a new folder, and the lock on it that this process holds (None where there are no locks)."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(final), dir=final.parent))
        if fcntl is None:
            return folder, None
        # before it is locked another process may take it for abandoned: then there is none any more, and we try again
        with suppress(FileNotFoundError):
            descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
            except OSError:  # a file system without locks: the folder will stay if the process is killed
                return folder, descriptor
            else:
                return folder, descriptor


def _remove_abandoned(folder: Path, rescue: Rescue | None) -> None:
    """Remove a folder unless a process holds its lock; it stays locked meanwhile, so that only one process does so."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        with suppress(OSError):
            folder.rmdir()  # only if it is empty: its process ended before it came to the lock
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if rescue is not None:
            rescue(folder / INSIDE)
        _remove(folder)
    except BlockingIOError:
        pass  # its process lives
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last: what is left by a process that is killed here can still be recognised."""
    shutil.rmtree(folder / INSIDE, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
