"""Dated documents as a stream: who comes in together, and what is committed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doccluster.base.plain_values import ShortRepr
from doccluster.corpus import Corpus, Skipped
from doccluster.corpus.dates import iso_date
from doccluster.corpus.reading import read_to_disk
from doccluster.errors import InputError
from doccluster.streams.article import Article, Moment

ARTICLES_PER_COMMIT = 200
Batch = tuple[Moment, list[Article]]


@dataclass(frozen=True, repr=False)
class Replayed(ShortRepr):
    """The result of a replay.

    Attributes
    ----------
    n_articles, n_new, n_edited : int
        Articles that were given, and how many of them were new, or known with another text.
    n_batches : int
    events : mapping of event to int
        How often stories were born, grew, merged, split, closed and resumed.
    skipped : tuple of Skipped
        What could not be read, with the reasons.
    ahead : int
        By how many seconds the newest article is ahead of the stream's clock, which did not believe it; 0 for less than
        a day.
    n_late : int
        How many of the new articles were a day or more older than what had come in before; those of an earlier replay
        count too, if that was interrupted.
    n_changed : int or None
        How many stories became others as all were built again in the order of dates, since some articles were late;
        None if they were not built again.
    lost : tuple of str
        The corrections that could not be made again then.
    """

    n_articles: int
    n_new: int
    n_edited: int
    n_batches: int
    events: Mapping[str, int]
    skipped: tuple[Skipped, ...] = ()
    ahead: int = 0
    n_late: int = 0
    n_changed: int | None = None
    lost: tuple[str, ...] = ()


def dated_corpus(source: Any, reader: Mapping[str, Any], folder: Path) -> Corpus:
    """Return the documents of a source; tuples are (date, text) or (date, text, title). Texts may be in a folder."""
    if not isinstance(source, list | tuple) or not source or not isinstance(source[0], tuple):
        return read_to_disk(source, folder, **reader)
    wrong = next((item for item in source if not isinstance(item, tuple) or len(item) not in (2, 3)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r} is not a dated text; give tuples (date, text) or (date, text, title).")
    dates = [iso_date(item[0]) for item in source]
    if "" in dates:
        undated = source[dates.index("")][0]
        raise InputError(f"{undated!r} is not a date; give ISO 8601, such as 2026-03-02T08:00:00Z.")
    columns = {"date": dates, "title": [item[2] if len(item) == 3 else "" for item in source]}
    names = tuple(str(number) for number in range(1, len(source) + 1))
    return Corpus(ids=names, texts=tuple(str(item[1]) for item in source), metadata=columns)


def batches_of(articles: Iterable[Article], batch: int) -> Iterator[Batch]:
    """Yield the moments of a grid at which something has come in, and what."""
    together: list[Article] = []
    for article in articles:
        if together and article.time // batch != together[0].time // batch:
            yield (together[0].time // batch + 1) * batch, together
            together = []
        together.append(article)
    if together:
        yield (together[0].time // batch + 1) * batch, together


def by_commit(batches: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Yield batches that are committed together: a commit costs as much as placing many articles."""
    together: list[Batch] = []
    n_articles = 0
    for batch in batches:
        together.append(batch)
        n_articles += len(batch[1])
        if n_articles >= ARTICLES_PER_COMMIT:
            yield together
            together, n_articles = [], 0
    if together:
        yield together
