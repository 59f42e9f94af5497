"""The options of `read_corpus`, checked once and handed to every reader as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from doccluster.errors import InputError
from doccluster.sizes import parse_size
from doccluster.validation import check_positive_int

STRIPPABLE = ("headers", "footers", "quotes")


@dataclass(frozen=True)
class Limits:
    """How much is read at most: characters of a document, and what archives may expand to."""

    document_length: int = 10_000_000
    expanded_size: int = 4 * 1024**3
    members: int = 1_000_000
    depth: int = 4

    @property
    def document_bytes(self) -> int:
        """No encoding needs more than four bytes for a character (and a mark in front)."""
        return 4 * self.document_length + 4


@dataclass(frozen=True)
class ReadOptions:
    """Which columns mean what, and how text is to be read; see `read_corpus` for each."""

    text_columns: tuple[str, ...] = ()
    id_column: str | None = None
    title_column: str | None = None
    date_column: str | None = None
    link_column: str | None = None
    source_column: str | None = None
    label_columns: tuple[str, ...] | None = None
    keep_columns: tuple[str, ...] = ()
    label_separator: str | None = None
    header: bool = True
    delimiter: str | None = None
    encoding: str | None = None
    strip: frozenset[str] = frozenset()
    html: str = "text"
    strip_html: bool | None = None
    limits: Limits = Limits()


def as_names(value: str | Sequence[str] | None, name: str) -> tuple[str, ...]:
    """Return one or several column names as a tuple of text; None is no name."""
    if value is None:
        return ()
    names = [value] if isinstance(value, str | int) else list(value)
    for one in names:
        if not isinstance(one, str | int):
            raise InputError(
                "is not a column name", argument=name, received=value, expected="a name or a list of names"
            )
    return tuple(str(one) for one in names)


def as_name(value: str | None, name: str) -> str | None:
    """Return one column name as text, or None."""
    names = as_names(value, name)
    if len(names) > 1:
        raise InputError(f"names {len(names)} columns", argument=name, received=value, expected="one column")
    return names[0] if names else None


def check_strip(strip: str | Sequence[str]) -> frozenset[str]:
    """Return what is to be stripped from newsgroup messages, or raise InputError."""
    parts = frozenset([strip] if isinstance(strip, str) else strip)
    if parts == {"all"}:
        return frozenset(STRIPPABLE)
    unknown = sorted(str(part) for part in parts.difference(STRIPPABLE))
    if unknown:
        raise InputError(
            "is not known", argument="strip", received=unknown[0], remedy=f"choose among {', '.join(STRIPPABLE)}"
        )
    return parts


def check_limits(
    max_document_length: int, max_expanded_size: int | str, max_members: int, max_archive_depth: int
) -> Limits:
    """Return the limits, or raise InputError for one that is not a positive number."""
    return Limits(
        document_length=check_positive_int(max_document_length, "max_document_length"),
        expanded_size=parse_size(max_expanded_size),
        members=check_positive_int(max_members, "max_members"),
        depth=check_positive_int(max_archive_depth, "max_archive_depth"),
    )
