"""From what the user named to single files: folders are walked in sorted order, archives opened, stdin is one file."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from doccluster.corpus.archives import open_packed
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.input_file import InputFile, counted_stream
from doccluster.corpus.options import Limits
from doccluster.errors import InputError

STDIN = "-"
_JUNK = {"__MACOSX", "Thumbs.db", "desktop.ini"}


def check_paths(paths: list[Path]) -> None:
    """Raise InputError for the first path that does not exist."""
    for path in paths:
        if str(path) != STDIN and not os.path.lexists(path):
            shown = str(path) if len(str(path)) <= 200 else f"{str(path)[:80]} ..."
            raise InputError(
                f"{shown!r} does not exist; give a file, a folder, or - for standard input (texts go in a list)."
            )


class Walk:
    """The files below some paths, each once, in a fixed order."""

    def __init__(self, paths: list[Path], limits: Limits) -> None:
        self._paths = paths
        self._limits = limits
        self._seen: set[str] = set()

    def files(self) -> Iterator[InputFile | Skipped]:
        """Return files and what was skipped; read each file before asking for the next."""
        is_only = len(self._paths) == 1
        for path in self._paths:
            if str(path) == STDIN:
                yield from self._unpacked(_standard_input(is_only))
            elif path.is_dir():
                yield from self._folder(path, path)
            else:
                yield from self._file(path, PurePosixPath(path.name), root=str(path.parent), is_only=is_only)

    def opened(self, stream: io.BufferedIOBase, name: str) -> Iterator[InputFile | Skipped]:
        """Return what is in an open binary stream."""
        yield from self._unpacked(stream_file(stream, name))

    def linked(self, path: Path, by: InputFile) -> Iterator[InputFile | Skipped]:
        """Return the file that the file `by` (an OPML list) points to, unless it has been read."""
        base = by.local.parent.resolve() if by.local is not None else path.parent
        place = by.place.parent / path.relative_to(base).as_posix()
        yield from self._file(path, place, root=by.root, is_only=False, is_explicit=False)

    def _folder(self, folder: Path, top: Path) -> Iterator[InputFile | Skipped]:
        if self._is_known(folder):
            return
        place = PurePosixPath(folder.relative_to(top).as_posix())
        try:
            names = sorted(path.name for path in folder.iterdir())
        except OSError as error:
            yield Skipped(str(place) if folder != top else str(top), "unreadable", error.strerror or str(error))
            return
        for name in names:
            path, inner = folder / name, place / name
            if is_junk(inner):
                yield Skipped(str(inner), "hidden", "hidden files and folders are not read")
            elif path.is_dir():
                yield from self._folder(path, top)
            else:
                yield from self._file(path, inner, root=str(top), is_only=False, is_explicit=False)

    def _file(
        self, path: Path, place: PurePosixPath, *, root: str, is_only: bool, is_explicit: bool = True
    ) -> Iterator[InputFile | Skipped]:
        if self._is_known(path):
            return
        name = str(place)
        try:
            mode = path.stat().st_mode
            # a pipe that the user names is meant (process substitution); one found in a folder would wait forever
            if not stat.S_ISREG(mode) and not (is_explicit and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode))):
                yield Skipped(name, "not-a-file", "a socket, pipe or device")
                return
            raw = path.open("rb")
        except OSError as error:
            yield Skipped(name, "unreadable", error.strerror or str(error))
            return
        with raw:
            local = path if stat.S_ISREG(mode) else None
            stream = counted_stream(raw)
            yield from self._unpacked(InputFile(name, place, stream, root, is_explicit, is_only, local=local))

    def _unpacked(self, file: InputFile) -> Iterator[InputFile | Skipped]:
        try:
            for item in open_packed(file, self._limits):
                if isinstance(item, InputFile) and item.in_archive and is_junk(item.place):
                    yield Skipped(item.name, "hidden", "hidden files and folders are not read")
                else:
                    yield item
        except ReadFailure as failure:
            yield Skipped(file.name, failure.reason, failure.detail)

    def _is_known(self, path: Path) -> bool:
        """Say whether this file or folder was seen under any name: links may lead in circles."""
        real = os.path.realpath(path)
        known = real in self._seen
        self._seen.add(real)
        return known


def is_junk(place: PurePosixPath) -> bool:
    """Say whether a file is the system's and not the user's: hidden, or left by a file manager."""
    return place.name.startswith(".") or bool(_JUNK.intersection(place.parts))


def _standard_input(is_only: bool) -> InputFile:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:  # a test or a notebook replaced it by text
        stream = io.BytesIO(sys.stdin.read().encode())
    return stream_file(stream, "stdin", is_only=is_only)


def stream_file(stream: io.BufferedIOBase, name: str, *, is_only: bool = True) -> InputFile:
    """Return an open binary stream as a file to read."""
    file = InputFile(name, PurePosixPath(name), counted_stream(stream))
    return replace(file, is_explicit=True, is_only=is_only)
