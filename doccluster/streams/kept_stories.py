"""The stories in memory and in the store, in step: what changes is in both, or in neither."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from doccluster.errors import InputError
from doccluster.streams.article import Moment
from doccluster.streams.article_meaning import ArticleMeaning
from doccluster.streams.changes import BatchResult
from doccluster.streams.clock import StreamClock
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.corrections import Correction, apply, correction_of, inverse, keep, last_correction, links_of
from doccluster.streams.database import transaction
from doccluster.streams.diff import compare_sides, side_of
from doccluster.streams.rebuilding import rebuilt
from doccluster.streams.restoring import restore
from doccluster.streams.settings import StreamSettings
from doccluster.streams.store import edited_articles, waiting_articles, weights_of, write_batch


class KeptStories:
    """The stories of a store, as its last batch left them.

    Parameters
    ----------
    connection : sqlite3.Connection
        A store that is open to be written to.
    settings : StreamSettings
        Those of the store.
    meaning : ArticleMeaning, optional
        What makes the rows of its articles.
    """

    def __init__(
        self, connection: sqlite3.Connection, settings: StreamSettings, meaning: ArticleMeaning | None = None
    ) -> None:
        self._connection, self._settings, self.meaning = connection, settings, meaning
        self._clusterer = self._restored()

    def mean(self, meaning: ArticleMeaning) -> None:
        """Let the rows of articles be made by this from now on."""
        self.meaning, self._clusterer.meaning_of = meaning, meaning

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let what is done inside be in the store as a whole, or not at all; the stories in memory go with it."""
        try:
            with transaction(self._connection):
                yield
        except BaseException:
            self._clusterer = self._restored()
            raise

    @property
    def clock(self) -> StreamClock:
        """The clock of the stream."""
        return self._clusterer.clock

    def place_waiting(self, moment: Moment, kind: str, *, is_sure: bool = False) -> int:
        """Place what has come in and is in no story yet, inside `writing`; return how many articles that was.

        What was edited much is filed anew.
        """
        waiting, edited = waiting_articles(self._connection), edited_articles(self._connection)
        if not (waiting or edited) and (
            kind == "replay" or not self._clusterer.has_ended_stories(moment, is_sure=is_sure)
        ):
            return 0
        result = self._clusterer.run_batch(waiting, moment, is_sure=is_sure, edited=edited)
        write_batch(self._connection, self._clusterer, result, moment, kind)
        return len(waiting)

    def correct(self, verb: str, stories: Sequence[str], documents: Sequence[str], text: str) -> Correction:
        """Apply a correction of an editor, and keep it."""
        if self._clusterer.clock.time is None:
            raise InputError(
                "nothing has come in yet; fill the store with `doccluster stream poll` or `stream replay`."
            )
        with self.writing():
            correction = correction_of(self._connection, verb, stories, documents, text)
            result = apply(self._connection, self._clusterer, correction, BatchResult())
            keep(self._connection, self._write_edit(result), correction)
            self._clusterer.links = links_of(self._connection)
        return correction

    def undo(self) -> Correction:
        """Take the last correction back; what it moved is again where it was, and the correction holds no more."""
        with self.writing():
            made, correction = last_correction(self._connection)
            taken = self._write_edit(inverse(self._connection, self._clusterer, made))
            self._connection.execute("UPDATE correction SET undone = ? WHERE batch_id = ?", (taken, made))
            self._clusterer.links = links_of(self._connection)
        return correction

    def rebuild(self, known: int) -> tuple[int, list[str]]:
        """Build all stories again in the order of dates; return how many changed, and which corrections were lost.

        Stories keep the ids that they had after batch `known`.
        """
        with rebuilt(self._connection, self.meaning, known) as (copy, lost):
            found = compare_sides(side_of(self._connection, "before"), side_of(copy, "after"))
            copy.backup(self._connection)
        self._clusterer = self._restored()
        return sum(one.kind != "stayed" for one in found.changes), lost

    def _write_edit(self, result: BatchResult) -> int:
        return write_batch(self._connection, self._clusterer, result, self._clusterer.time, "edit")

    def _restored(self) -> Clusterer:
        clusterer = Clusterer(self._settings, weights_of(self._connection), self.meaning)
        restore(self._connection, clusterer)
        return clusterer
