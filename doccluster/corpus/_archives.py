"""gz, bz2, xz, zip and tar are opened in place: nothing is written to disk, and nothing outside the archive is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Self

from doccluster.corpus._office_files import as_office_file
from doccluster.corpus.document import Skipped
from doccluster.corpus.reader import Budget, InputFile, ReadFailure, boundary, counted_stream, failure_listed, guarded

_OPENERS: dict[str, Callable[[Any], Any]] = {
    "gz": lambda stream: gzip.GzipFile(fileobj=stream),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
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
    if head.startswith(b"\x1f\x8b\x08"):
        return "gz"
    if re.match(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", head):
        return "bz2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if _is_tar(head, name) else None


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
    """Return `file` itself, or what is packed in it, one `InputFile` (or `Skipped`) after the other.

    An item is to be read before the next one is asked for.
    """
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
    budget = budget if budget is not None else Budget(expanded_size)
    if kind in _OPENERS:
        stream = counted_stream(_OPENERS[kind](file.stream), budget=budget, broken="broken-archive")
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
        if budget.is_spent:
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
        yield _member(file, name, counted_stream(stream, budget=budget, broken="broken-archive"))


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
                holes = budget if member.issparse() else None  # a sparse member expands; others were counted before
                yield _member(file, name, counted_stream(stream, budget=holes, broken="broken-archive"))


def _check_claim(size: int, max_bytes: int) -> None:
    if not 0 <= size <= max_bytes:
        raise ReadFailure("broken-archive", f"a member claims {size:,} bytes, more than the {max_bytes:,} there can be")


def _too_many(file: InputFile) -> Skipped:
    return Skipped(file.name, "too-many-members", f"only the first {MAX_MEMBERS:,} members were read")
