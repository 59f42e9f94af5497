"""The stories in memory and in the store, in step: what changes is in both, or in neither."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from doccluster.streams.article import Moment
from doccluster.streams.clock import StreamClock
from doccluster.streams.clusterer import Clusterer
from doccluster.streams.database import transaction
from doccluster.streams.restoring import restore
from doccluster.streams.settings import StreamSettings
from doccluster.streams.store import waiting_articles, write_batch


class KeptStories:
    """The stories of a store, as its last batch left them.

    Parameters
    ----------
    connection : sqlite3.Connection
        A store that is open to be written to.
    settings : StreamSettings
        Those of the store.
    """

    def __init__(self, connection: sqlite3.Connection, settings: StreamSettings) -> None:
        self._connection, self._settings = connection, settings
        self._clusterer = self._restored()

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
        """Place what has come in and is in no story yet, inside `writing`; return how many articles that was."""
        waiting = waiting_articles(self._connection)
        if not waiting and (kind == "replay" or not self._clusterer.has_ended_stories(moment, is_sure=is_sure)):
            return 0
        result = self._clusterer.run_batch(waiting, moment, is_sure=is_sure)
        write_batch(self._connection, self._clusterer, result, moment, kind)
        return len(waiting)

    def _restored(self) -> Clusterer:
        clusterer = Clusterer(self._settings)
        restore(self._connection, clusterer)
        return clusterer
