"""Where output is prepared: a hidden folder beside its place, of which nothing stays, not even after kill -9."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
