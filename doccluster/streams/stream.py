"""`StoryStream`: dated articles in, living stories out; on disk in a store, or in memory."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from doccluster.corpus import Corpus, Skipped, read_corpus
from doccluster.errors import InputError
from doccluster.progress import Progress, silent
from doccluster.streams.article import Article, Moment, articles_of, as_moment, in_order
from doccluster.streams.check import Finding, check_store
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.database import back_up, close, open_to_write, transaction
from doccluster.streams.intake import take_in
from doccluster.streams.retention import Pruned, prune
from doccluster.streams.settings import DAY, HOUR, StreamSettings
from doccluster.streams.store import last_batch, restore, settings_of, waiting_articles, write_batch, write_meta
from doccluster.streams.tables import StreamTables, read_tables

if TYPE_CHECKING:
    from doccluster.streams.polling.poller import Polled, PollOptions
    from doccluster.streams.polling.subscribing import Subscription

STAGE = "cluster"
ARTICLES_PER_COMMIT = 200  # of a replay
MOST_SLEEP = 900.0  # seconds between two looks at what is due
_Batch = tuple[Moment, list[Article]]
_Self = TypeVar("_Self", bound="StoryStream")


@dataclass(frozen=True)
class Replayed:
    """What a replay has done.

    Attributes
    ----------
    n_articles, n_new, n_edited : int
        Articles that were given, and how many of them were new, or known with another text.
    n_batches : int
    events : mapping of event to int
        How often stories were born, grew, merged, split, closed and resumed.
    skipped : tuple of Skipped
        What could not be read, with the reasons.
    """

    n_articles: int
    n_new: int
    n_edited: int
    n_batches: int
    events: Mapping[str, int]
    skipped: tuple[Skipped, ...] = ()


class StoryStream:
    """A stream of articles and its stories.

    Parameters
    ----------
    store : path, optional
        The SQLite file to keep the stream in, made if it is not there; without one it lives in memory.
    settings : StreamSettings, optional
        For a new store; an old one has its own.

    Examples
    --------
    >>> stream = StoryStream()
    >>> done = stream.replay([
    ...     ("2026-03-02T08:00:00Z", "Ferry runs aground off Skerrow, all passengers safe"),
    ...     ("2026-03-02T10:00:00Z", "All passengers safe after ferry runs aground off Skerrow harbour"),
    ...     ("2026-03-02T11:00:00Z", "Central bank leaves interest rates unchanged at two percent"),
    ... ])
    >>> done.n_new, stream.tables().stories["documents"]
    (3, [2, 1])
    """

    def __init__(self, store: str | os.PathLike[str] | None = None, *, settings: StreamSettings | None = None) -> None:
        self._connection, self._lock = open_to_write(None if store is None else Path(store))
        try:
            self.settings = self._agree(settings)
            self._clusterer = Clusterer(self.settings)
            restore(self._connection, self._clusterer)
        except BaseException:
            self.close()
            raise

    def replay(
        self,
        source: Any,
        *,
        batch: float = HOUR,
        now: Moment | None = None,
        progress: Progress = silent,
        **reader: Any,
    ) -> Replayed:
        """Feed dated documents in the order of their dates, as if they had come in then.

        Parameters
        ----------
        source : Corpus, path, paths, DataFrame, or sequence of (date, text) or (date, text, title) tuples
        batch : float
            Seconds between two polls: what is dated between two moments of this grid comes in together.
        now : int, optional
            Seconds since 1970; a date later than this cannot be. Left out, the present.
        progress : callable
            Told how many articles have been placed.
        **reader
            Arguments of `read_corpus`.

        Raises
        ------
        InputError
            If a source cannot be read, or `batch` is not above 0.
        """
        if not batch >= 1:
            raise InputError(f"batch={batch!r} is not a time; give 1 second or more.")
        corpus = _as_corpus(source, reader)
        articles = in_order(articles_of(corpus, now=int(time.time()) if now is None else now))
        outcomes = {"new": 0, "edited": 0, "known": 0, "elsewhere": 0}
        begins = last_batch(self._connection)
        n_done = 0
        for batches in _by_commit(_grid(articles, int(batch))):
            with self._writing():
                for moment, together in batches:
                    for one in together:
                        outcomes[take_in(self._connection, one, moment).outcome] += 1
                    self._cluster(moment, "replay")
                    n_done += len(together)
                    progress(STAGE, n_done, len(articles))
        n_batches, events = self._events_after(0 if begins is None else begins[0])
        return Replayed(len(articles), outcomes["new"], outcomes["edited"], n_batches, events, corpus.skipped)

    def poll(
        self,
        feeds: str | os.PathLike[str] | Sequence[str],
        *,
        force: bool = False,
        allow_network: Sequence[str] = (),
        options: PollOptions | None = None,
        progress: Progress = silent,
    ) -> Polled:
        """Ask the feeds that are due, store what is new, and place it.

        Parameters
        ----------
        feeds : path, address, or sequence of them
            An OPML file, a text file with an address a line, or addresses.
        force : bool
            Ask the others too, unless they were asked less than a minute ago.
        allow_network : sequence of str
            Ranges of addresses, such as 10.0.0.0/8, that may be asked although they are not public.
        options : PollOptions, optional
            How feeds are asked; its ranges count besides `allow_network`.
        progress : callable
            Told how many feeds have answered.

        Raises
        ------
        InputError
            If a list cannot be read or names no address, or a range is none.
        """
        # what opens connections is imported only here
        from doccluster.streams.polling.poller import PollOptions, due_feeds, poll_feeds
        from doccluster.streams.polling.subscribing import subscribe, subscriptions

        listed = subscriptions([os.fspath(feeds)] if isinstance(feeds, str | os.PathLike) else list(feeds))
        chosen = _reaching(options or PollOptions(), allow_network, listed)
        begins = last_batch(self._connection)
        with self._writing():
            numbers = subscribe(self._connection, listed)
        due = due_feeds(self._connection, numbers, int(chosen.clock.now()), force=force)
        done = poll_feeds(self._connection, due, chosen, commit=self._writing, progress=progress)
        self.cluster(int(chosen.clock.now()))
        done.n_feeds = len(numbers)
        _, done.events = self._events_after(0 if begins is None else begins[0])
        return done

    def follow(
        self, feeds: str | os.PathLike[str] | Sequence[str], *, options: PollOptions | None = None, **more: Any
    ) -> Iterator[Polled]:
        """Poll again and again, whenever a feed is due, until the caller stops; arguments as for `poll`."""
        from doccluster.streams.polling.poller import PollOptions

        chosen = options or PollOptions()
        clock = chosen.clock
        while True:
            done = self.poll(feeds, options=chosen, **more)
            if done.n_due:
                yield done
            (soonest,) = self._connection.execute("SELECT MIN(next_poll_at) FROM feed WHERE state <> 'gone'").fetchone()
            clock.sleep(min(max(1.0, (soonest or 0) - clock.now()), MOST_SLEEP))

    def cluster(self, moment: Moment, kind: str = "poll") -> int:
        """Place what has come in and is in no story yet; return how many articles that was."""
        with self._writing():
            return self._cluster(moment, kind)

    def tables(self, *, at: str | Moment | None = None) -> StreamTables:
        """Return documents, stories and lineage as they are, or as they were at a moment."""
        return read_tables(self._connection, at=at)

    def check(self) -> list[Finding]:
        """Return what is wrong with the store; nothing in a sound one."""
        return check_store(self._connection)

    def prune(self, before: Moment) -> Pruned:
        """Delete the texts of articles published before a moment whose stories have ended, and requests made before.

        The articles and their stories stay.
        """
        return prune(self._connection, before)

    def back_up(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the store."""
        back_up(self._connection, Path(path))

    def close(self) -> None:
        """Close the store."""
        close(self._connection, self._lock)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let what is done inside be in the store as a whole, or not at all; the state in memory goes with it."""
        try:
            with transaction(self._connection):
                yield
        except BaseException:
            self._clusterer = Clusterer(self.settings)
            restore(self._connection, self._clusterer)
            raise

    def _agree(self, settings: StreamSettings | None) -> StreamSettings:
        """Return the settings of the store, which are the given ones if it is new."""
        kept = settings_of(self._connection)
        if kept is None:
            chosen = settings or StreamSettings()
            with transaction(self._connection):
                write_meta(self._connection, settings=json.dumps(chosen.to_dict(), sort_keys=True))
            return chosen
        if settings is not None and settings != kept:
            raise InputError("the store was made with other settings; leave settings out, or begin a new store.")
        return kept

    def _cluster(self, moment: Moment, kind: str) -> int:
        waiting = waiting_articles(self._connection)
        last = last_batch(self._connection)
        moment = moment if last is None else max(moment, last[1])
        if not waiting and (kind == "replay" or not self._clusterer.has_ended_stories(moment)):
            return 0
        result = self._clusterer.run_batch(waiting, moment)
        write_batch(self._connection, self._clusterer, result, moment, kind)
        return len(waiting)

    def _events_after(self, batch: int) -> tuple[int, dict[str, int]]:
        (n_batches,) = self._connection.execute("SELECT COUNT(*) FROM batch WHERE batch_id > ?", (batch,)).fetchone()
        counts = self._connection.execute(
            "SELECT event, COUNT(*) FROM lineage WHERE batch_id > ? GROUP BY event ORDER BY event", (batch,)
        )
        return int(n_batches), dict(counts.fetchall())


def _reaching(options: PollOptions, allowed: Sequence[str], listed: Sequence[Subscription]) -> PollOptions:
    """Return the options with the ranges that are allowed, and the ports that the list names."""
    from doccluster.streams.polling.addresses import parse_networks

    ports = {urlsplit(feed.url).netloc.rpartition(":")[2] for feed in listed}
    named = frozenset(int(port) for port in ports if port.isdecimal() and len(port) <= 5)
    reach = options.reach
    networks = (*reach.allowed, *parse_networks(allowed))
    return replace(options, reach=replace(reach, allowed=networks, ports=reach.ports | named))


def _grid(articles: Sequence[Article], batch: int) -> Iterator[_Batch]:
    """Yield the moments of a grid at which something has come in, and what."""
    together: list[Article] = []
    for one in articles:
        if together and one.time // batch != together[0].time // batch:
            yield (together[0].time // batch + 1) * batch, together
            together = []
        together.append(one)
    if together:
        yield (together[0].time // batch + 1) * batch, together


def _by_commit(batches: Iterable[_Batch]) -> Iterator[list[_Batch]]:
    """Yield batches that are committed together: a commit costs as much as placing many articles."""
    together: list[_Batch] = []
    n_articles = 0
    for one in batches:
        together.append(one)
        n_articles += len(one[1])
        if n_articles >= ARTICLES_PER_COMMIT:
            yield together
            together, n_articles = [], 0
    if together:
        yield together


def _as_corpus(source: Any, reader: Mapping[str, Any]) -> Corpus:
    """Return the documents of a source; tuples are (date, text) or (date, text, title)."""
    if not isinstance(source, list | tuple) or not source or not isinstance(source[0], tuple):
        return read_corpus(source, **reader)
    wrong = next((one for one in source if not isinstance(one, tuple) or len(one) not in (2, 3)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r} is not a dated text; give tuples (date, text) or (date, text, title).")
    undated = next((one[0] for one in source if as_moment(str(one[0])) is None), None)
    if undated is not None:
        raise InputError(f"{undated!r} is not a date; give ISO 8601, such as 2026-03-02T08:00:00Z.")
    columns = {"date": [str(one[0]) for one in source], "title": [one[2] if len(one) == 3 else "" for one in source]}
    names = tuple(map(str, np.arange(1, len(source) + 1)))
    return Corpus(names, tuple(str(one[1]) for one in source), metadata=columns)


__all__ = ["DAY", "HOUR", "Replayed", "StoryStream"]
