"""From what the user named to single files: folders are walked in sorted order, archives opened, stdin is one file.

gz, bz2, xz, zip and tar are opened in place: nothing is written to disk, and nothing outside the archive is read.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

from doccluster.base.named_places import CHAIN, why_not_from_record
from doccluster.base.paths import shown_path
from doccluster.base.progress import LOOPS
from doccluster.corpus._office_files import as_office_file
from doccluster.corpus.document import Skipped
from doccluster.corpus.opening import address_of, find_files, open_path
from doccluster.corpus.reader import Budget, InputFile, ReadFailure, boundary, counted_stream, failure_listed, guarded
from doccluster.errors import InputError

STDIN = "-"
_WRITTEN_BY_RUNS = ("run.json", "assignments.csv", "clusters.csv")  # in every folder of a run, and in no other
_JUNK = {"__MACOSX", "Thumbs.db", "desktop.ini"}


def holds_run(folder: Path) -> bool:
    """Return whether a folder is what a run wrote."""
    return all(os.path.lexists(folder / name) for name in _WRITTEN_BY_RUNS)


class _Entry(NamedTuple):
    """A file or folder: its path, its place below the source, and its path without links."""

    path: Path
    place: PurePosixPath
    real: str

    def below(self, name: str) -> _Entry:
        """List this folder; only a link is resolved again, which would take long in deep folders."""
        path = self.path / name
        path = path.absolute() if why_not_from_record(str(path)) else path  # a folder may be called "s3:"
        is_link = os.path.islink(path)  # noqa: PTH114  Path.is_symlink raises where a name is too long
        return _Entry(path, self.place / name, resolved(path) if is_link else f"{self.real}{os.sep}{name}")


def resolved(path: Path) -> str:
    """Return a path without links; the path itself where a link cannot be read, as those of processes in /proc."""
    try:
        return os.path.realpath(path)
    except OSError:
        return str(path)


@dataclass(frozen=True)
class ListedFile:
    """A file that a walk lists and has not opened yet."""

    path: Path
    place: PurePosixPath
    root: str
    is_only: bool = False
    is_explicit: bool = True
    is_stdin: bool = False
    n_bytes: int | None = None  # of one behind an address, where its driver says

    @property
    def size(self) -> int:
        """How many bytes it has; 0 if it is gone again, or its driver does not say."""
        if address_of(self.path) is not None:
            return self.n_bytes or 0
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


class Walk:
    """The files below some paths, each once, in a fixed order."""

    def __init__(self, paths: list[Path], expanded_size: int) -> None:
        self._paths = paths
        self._expanded_size = expanded_size
        self._paths_seen: set[str] = set()

    def files(self) -> Iterator[InputFile | Skipped]:
        """Return files and what was skipped; read each file before asking for the next."""
        yield from self.files_of(self.listed())

    def files_of(self, items: Iterable[ListedFile | Skipped]) -> Iterator[InputFile | Skipped]:
        """Return the contents of listed files, and what was skipped."""
        for item in items:
            if isinstance(item, Skipped):
                yield item
            elif item.is_stdin:
                # a test or a notebook replaces it by text
                stream = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode())
                yield from self.unpacked(stream_file(stream, "stdin", is_only=item.is_only))
            else:
                yield from self.read(item)

    def listed(self) -> Iterator[ListedFile | Skipped]:
        """Return the files, none of them opened, and what was skipped."""
        is_only = len(self._paths) == 1
        for path in self._paths:
            if str(path) == STDIN:
                yield ListedFile(path, PurePosixPath(STDIN), "", is_only, is_stdin=True)
            elif (address := address_of(path)) is not None:
                yield from self._addressed(address, is_only=is_only)
            elif os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises where a name is too long
                if holds_run(path):
                    raise InputError(
                        f"{shown_path(path)!r} is the folder of a run and holds no documents",
                        remedy=(
                            "see its clusters with doccluster report or explain, or put new documents into them "
                            "with assign"
                        ),
                    )
                yield from self._folder(path)
            else:
                entry = _Entry(path, PurePosixPath(path.name), os.path.realpath(path))
                yield from self._file(entry, root=str(path.parent), is_only=is_only)

    def read(self, listed: ListedFile) -> Iterator[InputFile | Skipped]:
        """Return the contents of a listed file: itself, or the members of an archive."""
        name = str(listed.place)
        try:
            raw, is_plain = open_path(listed.path, is_explicit=listed.is_explicit)
        except ReadFailure as failure:
            yield Skipped(name, failure.reason, failure.detail)
            return
        with raw, LOOPS.counting(os.fstat(raw.fileno()).st_size if is_plain else 0) as count:
            local = listed.path if is_plain else None
            stream = counted_stream(raw, spend=count)
            file = InputFile(name, listed.place, stream, listed.root, listed.is_explicit, listed.is_only, local=local)
            yield from self.unpacked(file)

    def _folder(self, top: Path) -> Iterator[ListedFile | Skipped]:
        """Return everything below a folder, in the order of names; folders may be nested thousands deep."""
        levels = [self._entries(_Entry(top, PurePosixPath(), os.path.realpath(top)), str(top))]
        while levels:
            entry = next(levels[-1], None)
            if entry is None:
                levels.pop()
            elif isinstance(entry, Skipped):
                yield entry
            elif os.path.isdir(entry.path):  # noqa: PTH112
                levels.append(self._entries(entry, str(entry.place)))
            else:
                yield from self._file(entry, root=str(top), is_only=False, is_explicit=False)

    def _entries(self, folder: _Entry, shown: str) -> Iterator[_Entry | Skipped]:
        """Return the entries of one folder, unless it was read under another name: links may lead in circles."""
        if self._is_known(folder.real):
            return
        if holds_run(folder.path):
            yield Skipped(shown, "run-folder", "what a run of doccluster wrote, not documents")
            return
        try:
            names = sorted(path.name for path in folder.path.iterdir())
        except OSError as error:
            yield Skipped(shown, "unreadable", error.strerror or str(error))
            return
        for name in names:
            entry = folder.below(name)
            if is_junk(entry.place):
                yield Skipped(str(entry.place), "hidden", "hidden files and folders are not read")
            else:
                yield entry

    def _addressed(self, address: str, *, is_only: bool) -> Iterator[ListedFile | Skipped]:
        """Return the files behind an address, each once."""
        files = find_files(address)
        is_one = len(files) == 1 and len(files[0].place.parts) == 1
        for path, place, n_bytes in files:
            if any(is_junk(PurePosixPath(part)) for part in place.parts):
                yield Skipped(str(place), "hidden", "hidden files and folders are not read")
            elif CHAIN in str(path):  # who may write there names files
                yield Skipped(str(place), "unreadable", f"its name holds {CHAIN}, which would open another address")
            elif not self._is_known(str(path)):
                yield ListedFile(path, place, address, is_only and is_one, is_explicit=is_one, n_bytes=n_bytes)

    def _file(self, entry: _Entry, *, root: str, is_only: bool, is_explicit: bool = True) -> Iterator[ListedFile]:
        if not self._is_known(entry.real):
            yield ListedFile(entry.path, entry.place, root, is_only, is_explicit)

    def unpacked(self, file: InputFile) -> Iterator[InputFile | Skipped]:
        """Return a file itself, or what is packed in it."""
        for item in failure_listed(open_packed(file, self._expanded_size), file.name):
            if isinstance(item, InputFile) and item.in_archive and is_junk(item.place):
                yield Skipped(item.name, "hidden", "hidden files and folders are not read")
            else:
                yield item

    def _is_known(self, real: str) -> bool:
        """Say whether this file or folder was seen under any name."""
        is_known = real in self._paths_seen
        self._paths_seen.add(real)
        return is_known


def is_junk(place: PurePosixPath) -> bool:
    """Say whether a file is the system's and not the user's: hidden, or left by a file manager."""
    return place.name.startswith(".") or bool(_JUNK.intersection(place.parts))


def stream_file(stream: io.BufferedIOBase, name: str, *, is_only: bool = True) -> InputFile:
    """Return an open binary stream as a file to read."""
    return InputFile(name, PurePosixPath(name), counted_stream(stream), is_explicit=True, is_only=is_only)


_OPENERS: dict[str, Callable[[Any], Any]] = {
    "gz": lambda stream: gzip.GzipFile(fileobj=stream),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}
_SIGNATURES = {
    "gz": rb"\x1f\x8b\x08",
    "bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "zip": rb"PK(\x03\x04|\x05\x06)",
}
_COMPRESSED_NAME = re.compile(r"\.(gz|bz2|xz|lzma|tgz|tbz2?|txz)$", re.IGNORECASE)
_NESTED_ZIP = 256 * 1024**2  # bytes: a zip inside another archive is held in memory, because its list stands at its end
_LONGEST_EXTRA = 1024**2  # bytes: long names and other extra headers of a tar, which are held in memory
_EXTRA_HEADERS = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
_UNSAFE = "unsafe-path", "it points out of the archive, or is a link"
MAX_MEMBERS = 1_000_000  # of an archive
MAX_DEPTH = 4  # of archives inside one another
_BLOCK = 512  # bytes: the header of a tar member


def container_kind(head: bytes, name: str) -> str | None:
    """Return the kind of archive or compression (gz, bz2, xz, zip, tar) by its first bytes; else None."""
    kind = next((kind for kind, pattern in _SIGNATURES.items() if re.match(pattern, head)), None)
    return kind or ("tar" if _is_tar(head, name) else None)


def _is_tar(head: bytes, name: str) -> bool:
    if head[257:262] != b"ustar" and not name.lower().endswith(".tar"):
        return False
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def open_packed(
    file: InputFile, expanded_size: int, *, budget: Budget | None = None, depth: int = 0
) -> Iterator[InputFile | Skipped]:
    """Return `file` itself, or what is packed in it; read each item before you ask for the next one."""
    kind = container_kind(file.head, file.name)
    if kind is None:
        yield file
        return
    if depth >= MAX_DEPTH:
        yield Skipped(file.name, "nested-too-deep", f"more than {MAX_DEPTH} archives inside one another")
        return
    if kind == "zip":
        file, is_document = as_office_file(file)
        if is_document:
            yield file
            return
    if budget is None:
        budget = Budget(expanded_size, 0 if file.local is None else file.local.stat().st_size)
        if file.local is None:
            file = replace(file, stream=counted_stream(file.stream, spend=budget.receive))
    file.budget = budget
    if kind in _OPENERS:
        stream = counted_stream(_OPENERS[kind](file.stream), spend=budget.spend, broken="broken-archive")
        place = file.place.with_name(_COMPRESSED_NAME.sub("", file.place.name) or file.place.name)
        inner = replace(file, place=place, stream=stream, local=None)
        yield from open_packed(inner, expanded_size, budget=budget, depth=depth + 1)
        return
    members = _zip_members if kind == "zip" else _tar_members
    for member in failure_listed(guarded(members(file, budget), "broken-archive"), file.name):
        if isinstance(member, Skipped):
            yield member
        else:  # one that is broken from its first byte on does not stop the others
            documents = open_packed(member, expanded_size, budget=budget, depth=depth + 1)
            yield from failure_listed(documents, member.name)
        if budget.is_exceeded:
            return


def _member(archive: InputFile, inner: str, stream: io.BufferedReader) -> InputFile:
    """Return a member as a file of its own; the archive's name is part of its place unless the user named it."""
    below = PurePosixPath() if archive.is_explicit and not archive.in_archive else archive.place
    return replace(
        archive,
        name=f"{archive.name}/{inner}",
        place=below / inner,
        stream=stream,
        root=archive.root if archive.in_archive else archive.name,
        is_only=False,
        is_explicit=False,
        in_archive=True,
        local=None,
        guessed=set(),
    )


def _safe_name(name: str) -> str | None:
    """Return the member's name with forward slashes, or None when it points out of the archive."""
    name = name.replace("\\", "/")
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
        return None
    return str(PurePosixPath(name))


def _zip_members(file: InputFile, budget: Budget) -> Iterator[InputFile | Skipped]:
    source: Any = file.local if file.local is not None else io.BytesIO(file.read(_NESTED_ZIP))
    with zipfile.ZipFile(source) as archive:
        files = (member for member in archive.infolist() if not member.filename.endswith("/"))
        members = sorted(files, key=lambda member: member.filename)
        for count, member in enumerate(members):
            if count >= MAX_MEMBERS:
                yield _too_many(file)
                return
            name, shown = _safe_name(member.filename), f"{file.name}/{member.filename}"
            if name is None or stat.S_ISLNK(member.external_attr >> 16):
                yield Skipped(shown, *_UNSAFE)
            elif member.flag_bits & 1:
                yield Skipped(shown, "encrypted", "the member has a password")
            else:
                yield from failure_listed(_zip_member(file, archive, member, name, budget), shown)


def _zip_member(
    file: InputFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, budget: Budget
) -> Iterator[InputFile]:
    with boundary("broken-archive"):
        stream = archive.open(member)
    with stream:
        yield _member(file, name, counted_stream(stream, spend=budget.spend, broken="broken-archive"))


class _Header(tarfile.TarInfo):
    """The header of a tar member; headers that only extend another one are held in memory, so they must be short."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _EXTRA_HEADERS:
            _check_claim(header.size, _LONGEST_EXTRA)
        return header


def _tar_members(file: InputFile, budget: Budget) -> Iterator[InputFile | Skipped]:
    # "r|" reads forward only, so a compressed tar is expanded once and never held as a whole
    # a member that claims more would be looked for without end
    max_bytes = max(budget.bytes_left, file.local.stat().st_size if file.local is not None else 0)

    with tarfile.open(fileobj=file.stream, mode="r|", tarinfo=_Header) as archive:
        for count, member in enumerate(archive):
            _check_claim(archive.offset - member.offset_data, max_bytes)
            if count >= MAX_MEMBERS:
                yield _too_many(file)
                return
            if member.isdir():
                continue
            name = _safe_name(member.name)
            if name is None or not member.isfile():
                yield Skipped(f"{file.name}/{member.name}", *_UNSAFE)
                continue
            stream = archive.extractfile(member)
            if stream is not None:
                holes = budget.spend if member.issparse() else None  # it expands; others were counted before
                yield _member(file, name, counted_stream(stream, spend=holes, broken="broken-archive"))


def _check_claim(size: int, max_bytes: int) -> None:
    if not 0 <= size <= max_bytes:
        raise ReadFailure("broken-archive", f"a member claims {size:,} bytes, more than the {max_bytes:,} there can be")


def _too_many(file: InputFile) -> Skipped:
    return Skipped(file.name, "too-many-members", f"only the first {MAX_MEMBERS:,} members were read")
