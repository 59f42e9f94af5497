"""Paths: names that no system can look up, and output that appears whole or not at all.

Names are refused in one sentence before any work. Output is written in a hidden folder beside its place, then renamed;
of what is unfinished nothing stays, not even after kill -9.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from doccluster.errors import Argument, InputError, Words

_SHOWN = 80  # characters of a long name in a sentence


def usable_path(path: str | os.PathLike[str]) -> Path:
    """Return a path if the system accepts its name; it need not exist.

    >>> usable_path("news" * 100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    doccluster.errors.InputError: 'newsnews... ...' cannot be a file or folder: File name too long; give another.
    """
    if path == "":
        raise InputError("an empty name cannot be a file or folder", remedy="give another")
    for name in (path, *Path(path).parts):  # below a folder that is not there no name is looked at
        try:
            os.lstat(name)
        except ValueError as error:  # UnicodeEncodeError is one
            reason = "half of a character" if isinstance(error, UnicodeError) else "a zero byte"
            problem = f"{shown_path(path)!a} cannot be a file or folder: it holds {reason}"
            raise InputError(problem, remedy="give another") from error
        except OSError as error:
            if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
                problem = f"{shown_path(path)!r} cannot be a file or folder: {error.strerror}"
                raise InputError(problem, remedy="give another") from error
    return Path(path)


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as a sentence shows it: only its beginning where it is very long."""
    name = os.fspath(path)
    return name if len(name) <= 200 else f"{name[:_SHOWN]} ..."


try:
    import fcntl
except ImportError:  # Windows: nothing is known of other processes there, and nothing of theirs is removed
    fcntl = None  # type: ignore[assignment]

INSIDE = "new"  # the folder in it that is yielded
LOCK = "lock"  # a file in the folder that its process holds locked; the system lets go of it when the process ends
_PARTIAL = ".partial-"  # stands in the name of such a folder behind that of the output


@contextmanager
def unfinished_folder(final: Path) -> Iterator[Path]:
    """Yield an empty folder on the same disk as `final`, which is removed at the end whatever happens.

    Folders that processes which are gone have left beside it, for whatever output, are removed first. Those of living
    processes, in whatever container, stay: they are locked.
    """
    clear_abandoned(final.parent)
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

    A device or a pipe is written to as it is: a file in its place would end it.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    with unfinished_folder(path.absolute()) as folder:
        unfinished = folder / path.name
        yield unfinished
        unfinished.replace(path)


def clear_abandoned(place: Path) -> None:
    """Remove the folders that processes which are gone have left in `place`; an earlier run comes back from them."""
    if fcntl is None:
        return
    with suppress(OSError):  # what cannot be listed, or removed, stays
        for entry in list(place.iterdir()):
            name, mark, _ = entry.name[1:].rpartition(_PARTIAL)
            if name and mark and entry.name.startswith(".") and entry.is_dir() and not entry.is_symlink():
                with suppress(OSError):
                    _remove_abandoned(entry, place / name)


def _prefix(final: Path) -> str:
    return f".{final.name}{_PARTIAL}"


def _new_folder(final: Path) -> tuple[Path, int | None]:
    """Return a new folder, and the lock on it that this process holds (None where there are no locks)."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(final), dir=final.parent))
        # before it is locked another process may take it for abandoned: then there is none any more, and we try again
        with suppress(FileNotFoundError, BlockingIOError):
            return folder, locked(folder / LOCK)


def locked(path: Path) -> int | None:
    """Return an open file, made if it is not there, that this process alone holds locked; None without locks.

    Raises BlockingIOError if another process holds it, OSError if it cannot be opened.
    """
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:  # a file system without locks: what a killed process was writing stays, and SQLite has its own
        pass
    return descriptor


def _remove_abandoned(folder: Path, final: Path) -> None:
    """Remove what was to become `final` unless a process holds its lock; it stays locked while one process does so."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        with suppress(OSError):
            folder.rmdir()  # only if it is empty: its process ended before it came to the lock
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _put_back(folder / INSIDE, final)
        _remove(folder)
    except BlockingIOError:
        pass  # its process lives
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last: what is left by a process that is killed here can still be recognised."""
    shutil.rmtree(folder / INSIDE, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


MARK = "run.json"  # what marks a folder that doccluster wrote, which --overwrite may replace
EDITS, BEFORE_EDITS = "edits.json", "before_edits"  # what an editor did, and the run as it was made
NAMES = "names.json"  # what models answered that were asked for names of clusters
CHECKPOINT = "checkpoint.npz"  # how far a run that has not ended has come, until it has
PARQUET_PARTS = "assignments"  # a folder: the rows of assignments.csv for engines that read parts
ENCODED = "encoded.npz"  # what an encoder made of texts
OLD = "old"  # where an earlier run lies while the new one takes its place
# what a run writes; anything else in the folder is the user's, and stays
OURS = {
    *(
        "assignments.csv",
        "clusters.csv",
        "levels.csv",
        "shares.csv",
        "scores.csv",
        "skipped.csv",
        "report.html",
        "model",
    ),
    *(MARK, ENCODED, EDITS, BEFORE_EDITS, NAMES, PARQUET_PARTS),
}


def check_output(folder: Path, *, overwrite: bool) -> None:
    """Raise InputError, before any work is done, if a run cannot be written to `folder`."""
    usable_path(folder)
    for place in (folder.absolute().parent, folder):
        clear_abandoned(place)
    if folder.is_symlink() and not folder.exists():
        raise InputError(f"{folder} is a link to a place that does not exist", remedy="choose another output")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", remedy="choose another output, the name of a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not overwrite:
            checkpoint_hint = (", or go on from its checkpoint with ", Argument("checkpoint"))
            raise InputError(
                f"the output folder {folder} already exists",
                remedy=(
                    "choose another, or give ",
                    Argument("overwrite", True),
                    *(checkpoint_hint if (folder / CHECKPOINT).is_file() else ()),
                ),
            )
        if not (folder / MARK).is_file() and not (folder / CHECKPOINT).is_file():
            raise InputError(
                f"{folder} holds something other than a run of doccluster (no {MARK}) and is not overwritten",
                remedy="choose another output",
            )
    parent = folder.absolute().parent
    check_folder(parent, name=folder)
    if folder.is_dir():  # perhaps of another program
        check_folder(folder)
    with writing(folder):
        parent.mkdir(parents=True, exist_ok=True)
        trial = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=parent))
        with suppress(FileNotFoundError):  # another process took it for abandoned
            trial.rmdir()


def check_folder(folder: Path, *, name: Path | None = None) -> None:
    """Raise InputError, before any work, if files cannot be written to `folder`, which messages call `name`."""
    usable_path(folder)
    nearest = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise InputError(
            f"the output {name or folder} cannot be written: {nearest} is a file", remedy="choose another output"
        )
    with writing(name or folder), tempfile.TemporaryFile(dir=nearest):
        pass


def check_file(path: Path, *, overwrite: bool) -> None:
    """Raise InputError, before any work is done, if a file cannot be written to `path`."""
    usable_path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder", remedy="choose another output, the name of a file")
    if path.exists() and not overwrite:
        raise InputError(
            f"{path} already exists", remedy=("choose another output, or give ", Argument("overwrite", True))
        )
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}", remedy="choose another output")
    check_folder(path.absolute().parent, name=path)


@contextmanager
def writing(
    place: Path, *, problem: str = "the output {} cannot be written: {}", then: Words = "choose another output"
) -> Iterator[None]:
    """Turn errors of the system while `place` is written into an InputError, which says what to do `then`.

    `problem` has two gaps: for the place, and for the reason.
    """
    try:
        yield
    except (OSError, InputError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__  # a writer may have wrapped it
        if not isinstance(cause, OSError):
            raise
        raise InputError(problem.format(place, cause.strerror or cause), remedy=then) from cause


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a name to write to; on success the file takes the name `path`, else what was there is still there."""
    with writing(path), finished_file(path) as unfinished:
        yield unfinished


@contextmanager
def new_files(folder: Path) -> Iterator[Path]:
    """Yield a folder to write files to; without an error they then go into `folder`, made if it is not there.

    After an error what was there is still there, and nothing else; other files in `folder` stay.
    """
    is_new = not folder.exists()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished_folder(folder.absolute()) as beside:
                yield beside
                for file in sorted(beside.iterdir()):
                    file.replace(folder / file.name)
        except BaseException:
            if is_new:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
            raise


@contextmanager
def new_folder(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield an empty folder to fill; on success it takes the name `folder`, else what was there stays."""
    check_output(folder, overwrite=overwrite)
    final = folder.resolve() if folder.is_symlink() else folder.absolute()
    with writing(folder, then="nothing was changed there"), unfinished_folder(final) as beside:
        partial = beside / final.name  # made by mkdir, so that it gets the permissions of any new folder
        partial.mkdir()
        yield partial
        _put_in_place(partial, final, _place_of_old(beside, final))


def _put_back(beside: Path, final: Path) -> None:
    """Put back an earlier run, and the user's files, after a process was killed that had moved them away."""
    old, partial = _place_of_old(beside, final), beside / final.name
    # only a stranger makes links here, and what they lead to is not moved
    if not old.is_dir() or final.exists() or any(path.is_symlink() for path in (beside, old, partial)):
        return
    for entry in partial.iterdir() if partial.is_dir() else ():
        if entry.name not in OURS:  # had been moved already
            shutil.move(entry, old / entry.name)
    old.rename(final)


def _place_of_old(beside: Path, final: Path) -> Path:
    """Return where an earlier run waits, beside the new one, which has its own name there."""
    return beside / (OLD if final.name.casefold() != OLD else f"{OLD}er")


def _put_in_place(partial: Path, final: Path, old: Path) -> None:
    if not final.exists():
        partial.rename(final)
        return
    final.rename(old)
    try:
        for entry in old.iterdir():
            if entry.name not in OURS:
                shutil.move(entry, partial / entry.name)
        partial.rename(final)
    except OSError:
        old.rename(final)
        raise


def write_page(page: str, path: str | os.PathLike[str], *, what: str) -> Path:
    """Write a page and return its path; `what` names it in the error.

    Raises InputError if the file cannot be written.
    """
    target = usable_path(path)
    problem, then = f"the {what} cannot be written to {{}}: {{}}", "name a file in a folder that exists"
    with writing(target, problem=problem, then=then), finished_file(target) as unfinished:
        unfinished.write_text(page, encoding="utf-8", newline="\n")
    return target
