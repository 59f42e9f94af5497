"""`StoryStream`: dated articles in, living stories out; on disk in a store, or in memory."""

from __future__ import annotations

import json
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from doccluster.base.parameter_fields import at_the_door
from doccluster.base.progress import Progress, silent
from doccluster.corpus import Skipped
from doccluster.errors import DocclusterWarning, InputError
from doccluster.streams.article import ArticlesInOrder, Moment, Replayed, batches_of, by_commit, dated_corpus
from doccluster.streams.settings import DAY, HOUR, StreamSettings
from doccluster.streams.store.access import MEMORY, Finding, back_up, check_store, close, described, open_to_write
from doccluster.streams.store.batches import (
    agreed_settings,
    edited_articles,
    events_since,
    last_batch,
    newest_moment,
    read_meta,
    restored,
    waiting_articles,
    write_batch,
    write_meta,
)
from doccluster.streams.store.clusterer import BatchResult
from doccluster.streams.store.corrections import (
    Correction,
    apply,
    bonds_of,
    correction_of,
    inverse,
    keep,
    last_correction,
)
from doccluster.streams.store.database import transaction
from doccluster.streams.store.diff import compare_sides, side_of
from doccluster.streams.store.intake import take_in
from doccluster.streams.store.tables import StreamTables, events_after, read_tables
from doccluster.streams.store.upkeep import Pruned, prune, prune_by_policy, rebuilt

if TYPE_CHECKING:
    from doccluster.streams.polling.parsing import FeedParser
    from doccluster.streams.polling.poller import Polled, PollOptions

STAGE = "cluster"
UNTOLD = "untold"  # in the store: a batch, and how many of the events after it have been taken
MAX_SLEEP = 900.0  # seconds between two looks at what is due


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

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        settings: StreamSettings | None = None,
    ) -> None:
        self._path = Path(MEMORY if store is None else store)
        self._connection, self._lock = open_to_write(None if store is None else self._path)
        self._parser: FeedParser | None = None  # begun by the first poll, used again by the next ones
        try:
            with self._described():
                self.settings = agreed_settings(self._connection, settings)
                self._clusterer = restored(self._connection)
                self._n_edits = self._count_edits()
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> str:
        """Raise InputError: pickle and copy cannot take an open store along."""
        remedy = "open its file there, or take what `tables` returns"
        raise InputError("a stream is an open store, which cannot be pickled or copied", remedy=remedy)

    @at_the_door
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

        If some are a day or more older than what had come in before, all stories are built again at the end in the
        order of dates, as `stream rebuild` does.

        Parameters
        ----------
        source : Corpus, path, paths, DataFrame, or sequence of (date, text) or (date, text, title) tuples
        batch : float
            Seconds between two polls: what is dated between two moments of this grid comes in together.
        now : int, optional
            Seconds since 1970; a date later than this cannot be. Left out, the present.
        progress : callable
            Called with the number of articles placed.
        **reader
            Arguments of `read_corpus`.

        Raises
        ------
        InputError
            If a source cannot be read, or `batch` is not above 0.
        """
        if not batch >= 1:
            raise InputError(f"batch={batch!r} is not a time; give 1 second or more.")
        with tempfile.TemporaryDirectory(prefix="doccluster-") as folder:
            progress("read", 0)
            corpus = dated_corpus(source, reader, Path(folder))
            if corpus.dates.doubts:
                warnings.warn(DocclusterWarning(corpus.dates.doubts), stacklevel=2)
            articles = ArticlesInOrder(corpus, now=int(time.time()) if now is None else now)
            return self._replay(articles, int(batch), corpus.skipped, progress)

    def _replay(
        self, articles: ArticlesInOrder, batch: int, skipped: tuple[Skipped, ...], progress: Progress
    ) -> Replayed:
        outcomes: Counter[str] = Counter()
        with self._described():
            begins, latest = last_batch(self._connection)[0], newest_moment(self._connection) - DAY
            n_late, known = json.loads(read_meta(self._connection).get("late", f"[0, {begins}]"))
            for batches in by_commit(batches_of(articles, batch)):
                with self._writing():
                    for moment, together in batches:
                        for article in together:
                            outcome = take_in(self._connection, article, moment)
                            outcomes[outcome] += 1
                            n_late += outcome == "new" and article.time < latest
                        self._place_waiting(moment, "replay")
                        if n_late:  # until all stories are built again
                            write_meta(self._connection, late=json.dumps([n_late, known]))
                        progress(STAGE, outcomes.total(), len(articles))
            n_batches, events = events_since(self._connection, begins)
            if n_late:
                progress("rebuild", 0)
            n_changed, lost = self._rebuild(known) if n_late else (None, [])
            ahead = articles.newest - (self._clusterer.clock.time or 0)
        ahead = ahead if ahead > DAY else 0
        new, edited = outcomes["new"], outcomes["edited"]
        return Replayed(len(articles), new, edited, n_batches, events, skipped, ahead, n_late, n_changed, tuple(lost))

    @at_the_door
    def poll(
        self,
        feeds: str | os.PathLike[str] | Sequence[str],
        *,
        force: bool = False,
        allow_network: Sequence[str] = (),
        options: PollOptions | None = None,
        progress: Progress = silent,
    ) -> Polled:
        """Poll the feeds that are due, store new articles, and place them.

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
            Called with the number of feeds that answered.

        Raises
        ------
        InputError
            If a list cannot be read or names no address, or a range is none.
        """
        return self._poll(feeds, force, allow_network, options, progress, is_first=True)[0]

    def _poll(
        self,
        feeds: str | os.PathLike[str] | Sequence[str],
        force: bool,
        allow_network: Sequence[str],
        options: PollOptions | None,
        progress: Progress,
        *,
        is_first: bool,
    ) -> tuple[Polled, list[int]]:
        """Make one pass; return what it has done, and the numbers of the feeds in the list."""
        from doccluster.streams.polling.parsing import FeedParser  # what opens connections is imported only here
        from doccluster.streams.polling.poller import Poller, PollOptions
        from doccluster.streams.polling.scheduling import believed_now

        chosen = (options or PollOptions()).allowing(allow_network)
        self._parser = self._parser or FeedParser()
        lists = [os.fspath(feeds)] if isinstance(feeds, str | os.PathLike) else list(feeds)
        with self._described():
            begins, last = self.last_batch, self._clusterer.clock.time
            poller = Poller(self._connection, chosen, self._parser, last, self._writing, progress)
            done, numbers = poller.poll(lists, force=force, is_first=is_first)
            machine = int(chosen.clock.now())
            moment = believed_now(machine, done.feeds_say, last)
            done.ahead = machine - moment
            is_confirmed = done.feeds_say is not None and abs(done.feeds_say - machine) <= DAY
            if not done.ahead and not is_confirmed and machine < (last or 0) - DAY:
                done.ahead = machine - (last or 0)
            # by a server, now or before a poll died
            confirmed = int(read_meta(self._connection).get("confirmed", -DAY))
            self.cluster(moment, is_sure=abs(moment - confirmed) <= DAY)
            prune_by_policy(self._connection, self._clusterer.clock.time or 0)
            _, done.events = events_since(self._connection, begins)
        return done, numbers

    @at_the_door
    def follow(
        self,
        feeds: str | os.PathLike[str] | Sequence[str],
        *,
        force: bool = False,
        allow_network: Sequence[str] = (),
        options: PollOptions | None = None,
        progress: Progress = silent,
    ) -> Iterator[Polled]:
        """Poll again and again, whenever a feed is due, until the caller stops; arguments as for `poll`.

        `force` holds for the first pass alone. The list is read again before each pass.
        """
        from doccluster.streams.polling.poller import PollOptions
        from doccluster.streams.polling.scheduling import soonest_poll

        chosen = options or PollOptions()
        clock, is_first = chosen.clock, True
        while True:
            done, numbers = self._poll(feeds, force and is_first, allow_network, chosen, progress, is_first=is_first)
            if done.n_due:
                yield done
            is_first = False
            with self._described():
                soonest = soonest_poll(self._connection, numbers)
            clock.sleep(min(max(1.0, soonest - clock.now()), MAX_SLEEP))

    def cluster(self, moment: Moment, kind: str = "poll", *, is_sure: bool = False) -> int:
        """Place the articles that are in no story yet; return their number.

        `is_sure` says that the moment is known from elsewhere, so that the stream's clock can follow however far it is.
        """
        with self._described(), self._writing():
            return self._place_waiting(moment, kind, is_sure=is_sure)

    @property
    def last_batch(self) -> int:
        """The number of the last batch, 0 for a store without any."""
        return last_batch(self._connection)[0]

    def expect_events(self) -> None:
        """Remember what happens from now on for `tell_events`, beside what an earlier poll has left to tell."""
        with self._described(), self._writing():
            if not read_meta(self._connection).get(UNTOLD):
                write_meta(self._connection, **{UNTOLD: json.dumps([self.last_batch, 0])})

    def tell_events(self, take: Callable[[Mapping[str, object]], str]) -> str:
        """Hand the events that were not taken yet to a function, until it returns why it could not take one.

        Returns that reason; that event is the first of the next call, also after this process has ended.
        """
        with self._described():
            batch, n_taken = json.loads(read_meta(self._connection).get(UNTOLD) or f"[{self.last_batch}, 0]")
            events = list(events_after(self._connection, batch))
            reason = ""
            for event in events[n_taken:]:
                reason = take(event)
                if reason:
                    break
                n_taken += 1
            with self._writing():
                write_meta(self._connection, **{UNTOLD: json.dumps([batch, n_taken]) if reason else ""})
        return reason

    def correct(self, verb: str, *stories: str, documents: Sequence[str] = (), text: str = "") -> Correction:
        """Correct the stories as an editor does; every later batch respects it.

        Parameters
        ----------
        verb : str
            ``merge`` (the other stories into the first), ``split`` (documents off a story), ``move`` (documents to a
            story), ``rename`` (to `text`), ``pin`` (first on the page), or ``mute`` (articles of ``title=...`` or
            ``outlet=...``, where ``*`` stands for anything, are put to no story).
        *stories : str
            Ids of stories.
        documents : sequence of str
            Ids or keys of documents.
        text : str

        Raises
        ------
        InputError
            For an id that is not known, or where there is nothing to correct.
        """
        if self._clusterer.clock.time is None:
            raise InputError(
                "nothing has come in yet; fill the store with `doccluster stream poll` or `stream replay`."
            )
        with self._described(), self._writing():
            correction = correction_of(self._connection, verb, stories, documents, text)
            result = apply(self._connection, self._clusterer, correction, BatchResult())
            keep(self._connection, self._write_edit(result), correction)
            self._clusterer.bonds = bonds_of(self._connection)
        return correction

    def undo(self) -> Correction:
        """Take back the last correction that holds, with what it moved; call it again for the one before.

        Raises InputError if there is none.
        """
        with self._described(), self._writing():
            batch, correction = last_correction(self._connection)
            undone = self._write_edit(inverse(self._connection, self._clusterer, batch))
            self._connection.execute("UPDATE correction SET undone = ? WHERE batch_id = ?", (undone, batch))
            self._clusterer.bonds = bonds_of(self._connection)
        return correction

    def tables(self, *, at: str | Moment | None = None) -> StreamTables:
        """Return documents, stories and lineage as they are, or as they were at a moment."""
        with self._described():
            return read_tables(self._connection, at=at)

    def check(self) -> list[Finding]:
        """Return the faults of the store; none in a sound one."""
        return check_store(self._connection)

    def prune(self, before: Moment) -> Pruned:
        """Delete the texts of articles published before a moment whose stories have ended, and requests made before.

        The articles and their stories stay.
        """
        with self._described():
            return prune(self._connection, before)

    def back_up(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the store."""
        with self._described():
            back_up(self._connection, Path(path))

    def _described(self) -> AbstractContextManager[None]:
        return described(self._path, self._connection)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let what is done inside be in the store as a whole, or not at all; the stories in memory go with it."""
        try:
            with transaction(self._connection):
                yield
        except BaseException:
            self._clusterer = restored(self._connection)
            raise

    def _place_waiting(self, moment: Moment, kind: str, *, is_sure: bool = False) -> int:
        """Place what is in no story yet, and anew what was edited much, inside `_writing`; return how many articles."""
        waiting, edited = waiting_articles(self._connection), edited_articles(self._connection)
        is_idle = kind == "replay" or not self._clusterer.has_ended_stories(moment, is_sure=is_sure)
        if is_idle and not waiting and not edited:
            return 0
        if self._n_edits != self._count_edits():
            self._clusterer.forget_cleaning()
            self._n_edits = self._count_edits()
        result = self._clusterer.run_batch(waiting, moment, is_sure=is_sure, edited=edited)
        write_batch(self._connection, self._clusterer, result, moment, kind)
        return len(waiting)

    def _rebuild(self, batch: int) -> tuple[int, list[str]]:
        """Build all stories again by date, with the ids of a batch; return how many changed, and which corrections
        were lost.
        """
        with rebuilt(self._connection, batch) as (copy, lost):
            difference = compare_sides(side_of(self._connection, "before"), side_of(copy, "after"))
            copy.backup(self._connection)
        self._clusterer = restored(self._connection)
        return sum(change.kind != "stayed" for change in difference.changes), lost

    def _write_edit(self, result: BatchResult) -> int:
        return write_batch(self._connection, self._clusterer, result, self._clusterer.time, "edit")

    def _count_edits(self) -> int:
        return int(read_meta(self._connection).get("n_edits", 0))

    def close(self) -> None:
        """Close the store."""
        if self._parser is not None:
            self._parser.close()
        close(self._connection, self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
