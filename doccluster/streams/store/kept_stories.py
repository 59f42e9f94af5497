"""The stories in memory and in the store, in step: what changes is in both, or in neither."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from doccluster.errors import InputError
from doccluster.streams.article import Moment
from doccluster.streams.store._clock import StreamClock
from doccluster.streams.store.batches import edited_articles, read_meta, restored, waiting_articles, write_batch
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
from doccluster.streams.store.rebuilding import rebuilt


class KeptStories:
    """The stories of a store that is open to be written to, as its last batch left them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._clusterer = restored(connection)
        self._n_edits = self._count_edits()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let what is done inside be in the store as a whole, or not at all; the stories in memory go with it."""
        try:
            with transaction(self._connection):
                yield
        except BaseException:
            self._clusterer = restored(self._connection)
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
        is_idle = kind == "replay" or not self._clusterer.has_ended_stories(moment, is_sure=is_sure)
        if is_idle and not waiting and not edited:
            return 0
        if self._n_edits != self._count_edits():
            self._clusterer.forget_cleaning()
            self._n_edits = self._count_edits()
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
            self._clusterer.bonds = bonds_of(self._connection)
        return correction

    def undo(self) -> Correction:
        """Take the last correction back; what it moved is again where it was, and the correction holds no more."""
        with self.writing():
            batch, correction = last_correction(self._connection)
            undone = self._write_edit(inverse(self._connection, self._clusterer, batch))
            self._connection.execute("UPDATE correction SET undone = ? WHERE batch_id = ?", (undone, batch))
            self._clusterer.bonds = bonds_of(self._connection)
        return correction

    def rebuild(self, batch: int) -> tuple[int, list[str]]:
        """Build all stories again in the order of dates; return how many changed, and which corrections were lost.

        Stories keep the ids that they had after a batch.
        """
        with rebuilt(self._connection, batch) as (copy, lost):
            difference = compare_sides(side_of(self._connection, "before"), side_of(copy, "after"))
            copy.backup(self._connection)
        self._clusterer = restored(self._connection)
        return sum(change.kind != "stayed" for change in difference.changes), lost

    def _write_edit(self, result: BatchResult) -> int:
        return write_batch(self._connection, self._clusterer, result, self._clusterer.time, "edit")

    def _count_edits(self) -> int:
        """Return how many texts have changed so far."""
        return int(read_meta(self._connection).get("n_edits", 0))
