"""Articles are read in a process of their own, ahead of the line, which finds their terms there when it needs them.

What an article says does not depend on the stories, so the stories are the same with and without this process; one
that fails only leaves the reading to the line. It takes blocks of titles and texts from standard input, each after its
length, and answers each with its terms. So that it takes little memory, this module imports little.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, TYPE_CHECKING

import numpy as np

from doccluster.streams.article_terms import ArticleTerms, Reader, TermReader
from doccluster.streams.words import plain_words, word_codes

if TYPE_CHECKING:
    from doccluster.streams.replay import Batch

BLOCKS_AHEAD = 2  # that are read or being read while one is placed
LEAST_ARTICLES = 2000  # of a replay for which another process is worth its start, 0.2 s
_LENGTH = struct.Struct(">Q")
_COUNTS = (("<i4", 4), ("<i4", 4), ("?", 1))  # in the title, in the text, whether a name
Text = tuple[str, str]


class ReaderAhead:
    """Gives the terms of articles that were announced, and reads the others itself; a context manager."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[Text, ArticleTerms] = {}
        self._process = _started()
        self._asking = ThreadPoolExecutor(1)

    def read(self, title: str, text: str) -> ArticleTerms:
        """Return the terms of an article."""
        known = self._known.get((title, text))
        return self._reader.read(title, text) if known is None else known

    def through(self, blocks: Iterator[list[Batch]]) -> Iterator[list[Batch]]:
        """Yield blocks of batches, each when its articles have been read."""
        waiting: deque[tuple[list[Batch], list[Text], Future[bytes]]] = deque()
        for block in blocks:
            texts = [(article.title, article.text) for _, together in block for article in together]
            waiting.append((block, texts, self._asking.submit(self._ask, texts)))
            if len(waiting) > BLOCKS_AHEAD:
                yield self._first_of(waiting)
        while waiting:
            yield self._first_of(waiting)

    def __enter__(self) -> ReaderAhead:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._process is not None:
            self._process.kill()
        self._asking.shutdown(cancel_futures=True)
        if self._process is not None:
            self._process.communicate()

    def _first_of(self, waiting: deque[tuple[list[Batch], list[Text], Future[bytes]]]) -> list[Batch]:
        block, texts, answer = waiting.popleft()
        answered = answer.result()
        self._known = dict(zip(texts, decoded(answered), strict=True)) if answered else {}
        return block

    def _ask(self, texts: Sequence[Text]) -> bytes:
        """Return what the process answers, nothing if it has ended."""
        if self._process is None:
            return b""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = json.dumps(texts).encode()
        with suppress(OSError):
            self._process.stdin.write(_LENGTH.pack(len(asked)) + asked)
            self._process.stdin.flush()
            return _read_block(self._process.stdout)
        return b""


def command() -> list[str]:
    """Return the command of the process, which imports from where this one does."""
    code = f"import sys; sys.path[:] = sys.argv[1:]; from {ReaderAhead.__module__} import main; main()"
    return [sys.executable, "-P", "-c", code, *sys.path]


def _started() -> subprocess.Popen[bytes] | None:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command(), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True)
    except OSError:  # without it the replay only takes longer
        return None


def encoded(read: Sequence[ArticleTerms]) -> bytes:
    """Return the terms of articles as bytes; `decoded` gives the same terms back."""
    head = {
        "terms": [one.terms for one in read],
        "languages": [one.language for one in read],
        "n_codes": [-1 if one.codes is None else one.codes.size for one in read],
    }
    words = json.dumps(head).encode()
    columns = [
        np.concatenate([one.in_title for one in read]),
        np.concatenate([one.in_text for one in read]),
        np.concatenate([one.is_name for one in read]),
    ]
    parts = [column.astype(kind).tobytes() for column, (kind, _) in zip(columns, _COUNTS, strict=True)]
    codes = [one.codes for one in read if one.codes is not None]
    parts.append(np.concatenate(codes).astype("<u8").tobytes() if codes else b"")
    return _LENGTH.pack(len(words)) + words + b"".join(parts)


def decoded(data: bytes) -> list[ArticleTerms]:
    """Return what `encoded` was called on."""
    (length,) = _LENGTH.unpack_from(data)
    offset = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : offset])
    ends = np.cumsum([len(terms) for terms in head["terms"]])
    columns = []
    for kind, size in _COUNTS:
        column = np.frombuffer(data, dtype=kind, count=int(ends[-1]), offset=offset)
        columns.append(np.split(column, ends[:-1]))
        offset += size * int(ends[-1])
    codes = np.frombuffer(data, dtype="<u8", offset=offset)
    code_ends = np.cumsum(np.maximum(head["n_codes"], 0)).tolist()
    return [
        ArticleTerms(tuple(terms), in_title, in_text, is_name, language, None if n < 0 else codes[end - n : end])
        for terms, in_title, in_text, is_name, language, n, end in zip(
            head["terms"], *columns, head["languages"], head["n_codes"], code_ends, strict=True
        )
    ]


def _read_block(stream: IO[bytes]) -> bytes:
    """Return the bytes that follow their length, nothing at the end of a stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return b""
    (length,) = _LENGTH.unpack(head)
    block = stream.read(length)
    return block if len(block) == length else b""


def main() -> None:
    """Answer blocks of titles and texts until there are no more."""
    with suppress(BrokenPipeError):
        _answer(sys.stdin.buffer, sys.stdout.buffer)


def _answer(requests: IO[bytes], answers: IO[bytes]) -> None:
    reader = TermReader()
    while block := _read_block(requests):
        found = []
        for title, text in json.loads(block):
            words = plain_words(f"{title}\n{text}")
            found.append(reader.read(title, text, None if words is None else word_codes(words)))
        answer = encoded(found)
        answers.write(_LENGTH.pack(len(answer)) + answer)
        answers.flush()
