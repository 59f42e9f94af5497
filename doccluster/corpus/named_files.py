"""What names files: paths, and texts that look like paths; each pattern in place of the files that fit it."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from doccluster.base.named_places import query_in
from doccluster.base.paths import shown_path
from doccluster.corpus.opening import address_of, on_this_machine
from doccluster.corpus.walking import STDIN, resolved
from doccluster.errors import InputError

MAX_SOURCES = 50_000  # named one by one; a folder may hold any number of files
_ADDRESS = re.compile(r"(https?|feed|file):/+", re.IGNORECASE)


class Files:
    """Files and folders that a person named, with what fits a pattern in its place: they are there.

    Raises InputError for the first that is not, or that cannot hold documents.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = expanded(paths)
        check_paths(self.paths)


def files_named(source: object) -> Files | None:
    """Return the files that a source means, None where it holds the texts themselves."""
    if isinstance(source, Files):
        return source
    paths = as_paths(source)
    return None if paths is None else Files(paths)


def as_paths(source: object) -> list[Path] | None:
    """Return the paths that `source` means, or None when it holds the texts themselves."""
    if isinstance(source, str) and not source:
        raise InputError("the source is an empty name", remedy="give a file or a folder; . is this one")
    if query_in(source) is not None:
        return None
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    if not isinstance(source, list | tuple) or not source:
        return None
    if all(isinstance(item, os.PathLike) for item in source):
        return [Path(item) for item in source]
    if all(isinstance(item, str | os.PathLike) and _looks_like_path(item) for item in source):
        paths = [Path(item) for item in source]
        if any(str(path) == "-" or address_of(path) or os.path.exists(path) for path in paths):  # noqa: PTH110  never raises
            return paths
    return None


def _looks_like_path(text: str | os.PathLike[str]) -> bool:
    if isinstance(text, os.PathLike) or text == "-":
        return True
    if not text or len(text) > 1000 or "\n" in text or "\0" in text:
        return False
    return not any(character.isspace() for character in text) or os.path.exists(text)  # noqa: PTH110


def expanded(paths: Sequence[Path]) -> list[Path]:
    """Return the paths with patterns (`art*.jsonl`) that the shell left as they are in place of what fits them."""
    _check_number(paths)
    paths_found: list[Path] = []
    for path in map(on_this_machine, paths):
        if address_of(path) is not None or os.path.lexists(path) or not glob.has_magic(str(path)):
            paths_found.append(path)
            continue
        if path.is_absolute() and _is_everything(Path(os.path.normpath(path)).parts[1:]):
            raise _everything(path)
        fitting = sorted(map(Path, glob.iglob(str(path), recursive=True)))  # noqa: PTH207  of the whole path
        if not fitting:
            raise InputError(
                f"no file fits the pattern {shown_path(path)!r}", remedy="give files, a folder, or another pattern"
            )
        paths_found += fitting
    _check_number(paths_found)
    return paths_found


def _is_everything(parts: tuple[str, ...]) -> bool:
    """Return whether a pattern from the root names no folder: `/art*`, `/*/*`, `/*/**/*.txt`."""
    wild = list(takewhile(lambda part: set(part) <= {"*", "?"}, parts))
    return "**" in wild or len(wild) == len(parts) or (len(parts) == 1 and glob.has_magic(parts[0]))


def _check_number(paths: Sequence[Path]) -> None:
    if len(paths) > MAX_SOURCES:
        raise InputError(
            f"{len(paths):,} sources are more than the {MAX_SOURCES:,} that can be named",
            remedy="give the folder that holds them",
        )


def _everything(path: Path) -> InputError:
    return InputError(
        f"{shown_path(path)!r} is everything on this machine", remedy="give the folder that holds the documents"
    )


def check_paths(paths: list[Path]) -> None:
    """Raise InputError for the first path that does not exist, is an address, or that cannot hold documents."""
    for path in paths:
        if str(path) == STDIN or address_of(path) is not None:
            continue
        shown = shown_path(path)
        try:
            path.lstat()
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.ENOTDIR):
                raise InputError(f"{shown!r} cannot be read: {error.strerror or error}.") from error
            address = _ADDRESS.match(shown)
            if address is not None:  # a path keeps only one of the slashes
                raise InputError(
                    f"{address[1]}://{shown[address.end() :]} is an address",
                    remedy="nothing is fetched, so download it first and give the file",
                ) from error
            places = "give a file, a folder, or - for standard input"
            remedy = f"{places}; a text goes into a list" if " " in shown else places
            raise InputError(f"{shown!r} does not exist", remedy=remedy) from error
        real = resolved(path)
        if real == path.absolute().anchor:
            raise _everything(path)
        if real.startswith("/proc") and os.path.isdir(path):  # noqa: PTH112
            raise InputError(f"{shown!r} describes processes and holds no documents", remedy="give another folder")
