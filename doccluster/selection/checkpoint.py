"""Finished pieces of long work, kept in a folder so that interrupted work goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from doccluster.base.unfinished import finished_file
from doccluster.errors import Argument, InputError, SchemaError


class Checkpoint:
    """A folder of finished pieces of one piece of work, each a small json file; with no folder, nothing is kept."""

    def __init__(self, folder: str | os.PathLike[str] | None, *, fingerprint: str) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is None:
            return
        stamp = self._folder / "fingerprint"
        with self._writing():
            self._folder.mkdir(parents=True, exist_ok=True)
        if stamp.exists() and stamp.read_text(encoding="utf-8") != fingerprint:
            raise InputError(
                f"{self._folder} holds the pieces of other work (other data or parameters)",
                remedy="choose another folder or delete this one",
            )
        with self._writing():
            stamp.write_text(fingerprint, encoding="utf-8")

    def load(self, name: str) -> Any | None:
        """Return the finished piece of that name, or None if it is still to be done."""
        if self._folder is None:
            return None
        path = self._folder / f"{name}.json"
        if not path.exists():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise SchemaError(f"{path} is damaged ({error})", remedy="delete it to do that piece again") from error

    def save(self, name: str, piece: Any) -> None:
        """Keep a finished piece; it appears whole or not at all."""
        if self._folder is None:
            return
        path = self._folder / f"{name}.json"
        with self._writing(), finished_file(path) as unfinished:
            unfinished.write_text(json.dumps(piece), encoding="utf-8")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise InputError(
                f"finished pieces cannot be kept in {self._folder}: {reason}",
                remedy=("choose another folder for ", Argument("checkpoint")),
            ) from error
