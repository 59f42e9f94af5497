"""Tables whose texts are HTML: the first rows say so, and then the markup of every row is left out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from doccluster.corpus.draft import Draft, Found, ReadFailure
from doccluster.corpus.markup import holds_tags, strip_markup

_Row = TypeVar("_Row", bound=Found)
_LOOKED_AT = 1000  # rows that say whether the texts of a table are HTML
_FEWEST = 10  # texts: fewer may be about HTML


def without_markup(found: Iterable[_Row], told: Callable[[], None]) -> Iterator[_Row]:
    """Hand over the rows of a table; where most of the first texts hold tags, without any, and `told` is called."""
    rows = iter(found)
    first: list[_Row] = []
    failure: ReadFailure | None = None
    try:
        for row in itertools.islice(rows, _LOOKED_AT):
            first.append(row)
    except ReadFailure as error:  # what came before it is handed over first
        failure = error
    is_html = holds_html(first)
    if is_html:
        told()
    every = itertools.chain(first, rows)
    yield from plain_rows(every) if is_html else every
    if failure is not None:
        raise failure


def plain_rows(rows: Iterable[_Row]) -> Iterator[_Row]:
    """Hand over the rows of a table without markup."""
    for row in rows:
        if isinstance(row, Draft):
            row.text, row.title = strip_markup(row.text), strip_markup(row.title)
        yield row


def holds_html(rows: Iterable[Found]) -> bool:
    """Say whether the first rows of a table are HTML."""
    first = itertools.islice(rows, _LOOKED_AT)
    return _are_html([row.text for row in first if isinstance(row, Draft) and row.text])


def _are_html(texts: list[str]) -> bool:
    return len(texts) >= _FEWEST and sum(map(holds_tags, texts)) > len(texts) / 2
