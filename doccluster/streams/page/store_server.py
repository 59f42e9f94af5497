"""`stream serve`: the page of a store, its feeds and its stories as JSON, for this machine alone."""

from __future__ import annotations

import json
import os
import re
import secrets
from http import HTTPStatus
from pathlib import Path
from typing import Any

from doccluster.cli.page_server import LoopbackRequests, LoopbackServer
from doccluster.errors import DocclusterError, InputError
from doccluster.report.page import POLICY, render_front_page
from doccluster.streams.page.front_page import feed_of, front_page
from doccluster.streams.store.access import reading
from doccluster.streams.store.tables import stories_with, story_told

MIN_OF_A_TOKEN, MAX_OF_A_TOKEN = 20, 200  # letters
WITH_SCRIPT = f"{POLICY}; script-src 'unsafe-inline'"  # the page's own


class StoreServer(LoopbackServer):
    """Serves one store, as it is at each request."""

    def __init__(self, store: str, port: int = 0, token: str = "") -> None:
        self.store = store
        super().__init__(_StoreRequests, port, token)


def token_of(path: Path) -> str:
    """Return the token in a file; a new one is written where there is no file, for its owner alone to read.

    Raises InputError if the file cannot be read or made, or holds anything else.
    """
    try:
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(f"{secrets.token_urlsafe(24)}\n")
        with path.open("rb") as file:
            token = file.read(MAX_OF_A_TOKEN + 2).decode("ascii", "replace").strip()
    except OSError as error:
        raise InputError(f"{path} cannot be used as the token file: {error.strerror or error}") from error
    if re.fullmatch(rf"[A-Za-z0-9_-]{{{MIN_OF_A_TOKEN},{MAX_OF_A_TOKEN}}}", token) is None:
        expected = f"one line of {MIN_OF_A_TOKEN} to {MAX_OF_A_TOKEN} letters, digits, - and _"
        raise InputError(f"{path} holds no token ({expected}); delete it, or name another file, and one is made.")
    return token


class _StoreRequests(LoopbackRequests):
    server: StoreServer

    def do_GET(self) -> None:
        """Answer with the page, a feed, or stories as JSON."""
        words = self.query.get("words", [""])[0].split()
        try:
            with self._turn():
                told = self._told(words)
        except DocclusterError as error:
            self._answer(HTTPStatus.BAD_REQUEST, str(error))
            return
        if told is None:
            self._answer(HTTPStatus.NOT_FOUND, "there is no such page")
        elif isinstance(told, str):
            kind = {"/": "text/html", "/feed.atom": "application/atom+xml"}.get(self.place, "application/feed+json")
            self._answer(HTTPStatus.OK, told, kind, WITH_SCRIPT)
        else:
            self._answer(HTTPStatus.OK, json.dumps(told, ensure_ascii=False), "application/json")

    def _told(self, words: list[str]) -> Any:
        store = self.server.store
        if self.place not in ("/", "/stories.json", "/story.json", "/feed.atom", "/feed.json"):
            return None
        with reading(Path(store)) as connection:
            if self.place == "/stories.json":
                return {"stories": stories_with(connection, words)}
            if self.place == "/story.json":
                return story_told(connection, self.query.get("id", [""])[0])
            if self.place == "/":
                return render_front_page(front_page(connection, name=store))
            return feed_of(connection, words, name="Stories", is_json=self.place == "/feed.json")
