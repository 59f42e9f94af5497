"""Documents of a corpus larger than memory, one at a time: from a file, or from a function that makes them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from doccluster.errors import DocclusterWarning, InputError
from doccluster.text.counting import as_text

Documents = Iterable[Any]  # strings, or (id, string) pairs
Source = str | os.PathLike[str] | Documents | Callable[[], Documents]
Named = tuple[str, str]

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class DocumentStream:
    """A source that can be read from its beginning as often as needed; each reading yields (id, text).

    Parameters
    ----------
    source : path, iterable, or function that returns an iterable
        A .jsonl or .ndjson file (one object per line) or any other text file (one document per line), also .gz, .bz2
        and .xz. An iterable holds texts or (id, text) pairs; so does what the function returns.
    text_field, id_field : str
        The fields of a JSON line.
    """

    def __init__(self, source: Source, *, text_field: str = "text", id_field: str = "id") -> None:
        self._source = source
        self._text_field = text_field
        self._id_field = id_field
        self._told = False
        if isinstance(source, str | os.PathLike) and not Path(source).is_file():
            raise InputError(
                f"{source} does not exist or is not a file", remedy="give a file, an iterable or a function"
            )

    @property
    def is_repeatable(self) -> bool:
        """Whether a second reading starts from the beginning again."""
        if isinstance(self._source, str | os.PathLike) or callable(self._source):
            return True
        return iter(self._source) is not self._source

    def __iter__(self) -> Iterator[Named]:
        if isinstance(self._source, str | os.PathLike):
            yield from self._lines(Path(self._source))
            return
        documents = self._source() if callable(self._source) else self._source
        for number, document in enumerate(documents, start=1):
            if isinstance(document, tuple) and len(document) == 2:
                yield str(document[0]), as_text(document[1], number)
            else:
                yield str(number), as_text(document, number)

    def batches(self, characters: int) -> Iterator[tuple[list[str], list[str]]]:
        """Yield (ids, texts) of consecutive documents of about `characters` characters."""
        ids: list[str] = []
        texts: list[str] = []
        size = 0
        for name, text in self:
            ids.append(name)
            texts.append(text)
            size += len(text)
            if size >= characters:
                yield ids, texts
                ids, texts, size = [], [], 0
        if ids:
            yield ids, texts

    def _lines(self, path: Path) -> Iterator[Named]:
        opener = _OPENERS.get(path.suffix.lower(), open)
        is_json = (
            path.name.lower().removesuffix(path.suffix if opener is not open else "").endswith((".jsonl", ".ndjson"))
        )
        bad: list[int] = []
        try:
            with opener(path, "rt", encoding="utf-8-sig", errors="replace") as lines:
                for number, line in enumerate(lines, start=1):
                    named = self._json_line(line, number) if is_json else (str(number), line.rstrip("\r\n"))
                    if named is not None:
                        yield named
                    elif line.strip():
                        bad.append(number)
        except (EOFError, OSError, lzma.LZMAError) as error:
            raise InputError(
                f"{path} cannot be read to its end ({error})", remedy="it is truncated or damaged"
            ) from error
        self._tell(path, bad)

    def _json_line(self, line: str, number: int) -> Named | None:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            return None
        if not isinstance(record, dict):
            return None
        text = record.get(self._text_field)
        return str(record.get(self._id_field, number)), text if isinstance(text, str) else ""

    def _tell(self, path: Path, bad: list[int]) -> None:
        if bad and not self._told:
            self._told = True
            shown = ", ".join(map(str, bad[:5])) + (", ..." if len(bad) > 5 else "")
            warnings.warn(
                f"{len(bad)} line(s) of {path} hold no JSON object and were left out (line {shown}).",
                DocclusterWarning,
                stacklevel=2,
            )
