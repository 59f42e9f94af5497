"""What a reader hands over, and the border around readers: whatever reading a file raises becomes a listed reason.

Readers stand on libraries that raise what they like on a file that is damaged or made to harm. Their calls are not
wrapped one by one: `reading.py` and `archives.py` draw every item through here, and readers of many records make each
record through here, so that one bad record costs that record alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from doccluster.corpus.document import Skipped
from doccluster.errors import DocclusterError, InputError

_Parameters = ParamSpec("_Parameters")
_Item = TypeVar("_Item")


@dataclass(slots=True)
class Draft:
    """One document as a reader found it; empty strings stand for what the input does not say.

    `date` is as it is written, or a value that stands for a moment: dates are read where they come together.
    `where` names the place for a person (and for the list of what was skipped); it is the id of a document that has
    none of its own. `is_whole_file` is true when the file is the document, so that its folder can be its class.
    """

    text: str
    where: str
    id: str = ""
    title: str = ""
    date: Any = ""
    source: str = ""
    link: str = ""
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    is_whole_file: bool = False
    text_columns: tuple[str, ...] = ()  # of a table: where the text stands


Found = Draft | Skipped  # what a reader may hand over


class ReadFailure(Exception):
    """A file (or what is left of it) cannot be read; the run goes on and lists `reason` and `detail`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnknownColumn(InputError):
    """A column that was named, or one with the text, is not in a table; the message lists the columns there are."""


def with_title(title: str, body: str) -> str:
    """Return the body under its title, unless it begins with it."""
    if not title or body.lstrip().startswith(title):
        return body
    return f"{title}\n\n{body}" if body.strip() else title


@contextmanager
def boundary(reason: str) -> Iterator[None]:
    """Turn whatever is raised inside into a ReadFailure with this reason; doccluster's own errors pass."""
    try:
        yield
    except (ReadFailure, DocclusterError):
        raise
    except Exception as error:  # no list of what libraries raise on hostile input is ever complete
        raise ReadFailure(reason, described(error)) from error


def guarded(source: Iterable[_Item], reason: str) -> Iterator[_Item]:
    """Hand over what `source` gives; what it raises after that is a ReadFailure."""
    items = iter(source)
    end = object()
    while True:
        with boundary(reason):
            item = next(items, end)
        if item is end:
            return
        yield item  # type: ignore[misc]  # the end is told apart by identity


def failure_listed(source: Iterable[_Item], name: str) -> Iterator[_Item | Skipped]:
    """Hand over what `source` gives; a ReadFailure ends it, and is handed over as what was skipped."""
    try:
        yield from source
    except ReadFailure as failure:
        yield Skipped(name, failure.reason, failure.detail)


def record(
    where: str,
    make: Callable[_Parameters, Draft | Skipped],
    *arguments: _Parameters.args,
    **options: _Parameters.kwargs,
) -> Draft | Skipped:
    """Return the document that `make` makes of one record, or why there is none; other records go on."""
    try:
        with boundary("bad-record"):
            return make(*arguments, **options)
    except ReadFailure as failure:
        return Skipped(where, failure.reason, failure.detail)


def described(error: Exception) -> str:
    """Return an exception in words for the list of skipped documents."""
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    message = str(error)
    return (
        message
        if message and isinstance(error, ValueError | OSError)
        else f"{type(error).__name__}: {message}".rstrip(": ")
    )
