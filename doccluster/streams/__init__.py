"""Streams of dated articles: what comes in, which story it belongs to, and what happens to the stories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

_HOMES = {
    "Replayed": "doccluster.streams.article",
    "StoryStream": "doccluster.streams.stream",
    "StreamSettings": "doccluster.streams.settings",
    "StreamTables": "doccluster.streams.store.tables",
}

__all__ = ["Replayed", "StoryStream", "StreamSettings", "StreamTables"]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.streams.article import Replayed as Replayed
    from doccluster.streams.settings import StreamSettings as StreamSettings
    from doccluster.streams.store.tables import StreamTables as StreamTables
    from doccluster.streams.stream import StoryStream as StoryStream
