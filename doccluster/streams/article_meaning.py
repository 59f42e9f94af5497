"""What articles mean, beside their words: a row for each, of an encoder, or of embeddings that were given.

Rows are rounded so that products of them are the same however they are summed up: those of an article with others are
whole parts of 2^-22, whose sums float32 holds exactly.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.streams.article import Article
from doccluster.streams.article_terms import MOST_CHARACTERS
from doccluster.streams.store import last_batch, read_meta, write_meta
from doccluster.vectors.encoders import encode, get_encoder

GIVEN = "given"  # the name of embeddings from elsewhere
PARTS = 2048.0  # of 1, that a rounded number is a multiple of: 11 bits, as many as float16 has

Row = npt.NDArray[np.float32]
Rows = npt.NDArray[np.float32]


def rounded(rows: Any) -> Rows:
    """Return rows of length 1, rounded; one without a direction stays zero.

    Raises InputError if they are not a table of numbers.
    """
    found = np.asarray(rows)
    if found.ndim != 2 or not found.shape[1] or found.dtype.kind not in "fiu" or not np.isfinite(found).all():
        raise InputError(f"embeddings of {found.dtype} and shape {found.shape} are no row of numbers for each article")
    lengths = np.linalg.norm(found.astype(np.float64), axis=1, keepdims=True)
    made: Rows = (np.rint(PARTS * found / np.maximum(lengths, 1e-12)) / PARTS).astype(np.float32)
    return made


class ArticleMeaning:
    """Makes the rows of a store's articles; its encoder is read when it is first needed.

    Parameters
    ----------
    kept : mapping
        What the store keeps of the model: name, digest and dimensions.
    encoder : str, object or function, optional
        The encoder; the one of that name if left out.
    """

    def __init__(self, kept: dict[str, Any], encoder: Any = None) -> None:
        self._kept, self._encoder = kept, encoder
        self._encode: Callable[[list[str]], Any] | None = None
        self.given: dict[str, Row] = {}  # by the keys of articles

    def __call__(self, articles: Sequence[Article]) -> Rows:
        """Return the rows of articles; of embeddings that were given, zeros for an article that has none."""
        found = np.zeros((len(articles), self._kept["dimensions"]), dtype=np.float32)
        if self._kept["name"] == GIVEN:
            for row, one in zip(found, articles, strict=True):
                row[:] = self.given.get(one.key, 0.0)
        elif articles:
            self._encode = self._encode or self._read()
            found[:] = rounded(self._encode([f"{one.title}\n{one.text[:MOST_CHARACTERS]}" for one in articles]))
        return found

    @property
    def can_repeat(self) -> bool:
        """Whether the rows of articles that came in earlier can be made again."""
        return bool(self._kept["name"] != GIVEN)

    def take(self, keys: Sequence[str], embeddings: Any) -> None:
        """Take the embeddings of the articles of some keys, a row for each in their order, until others are given.

        Raises InputError if they are not one row of the store's dimensions for each.
        """
        rows = rounded(embeddings)
        expected = len(keys), self._kept["dimensions"]
        if rows.shape != expected or self._kept["name"] != GIVEN:
            raise InputError(f"embeddings of shape {rows.shape} for {self._kept['name']} rows of shape {expected}")
        self.given = dict(zip(keys, rows, strict=True))

    def _read(self) -> Callable[[list[str]], Any]:
        name = self._kept["name"]
        found = get_encoder(self._encoder if self._encoder is not None else name, n_threads=1)
        if found.digest != self._kept["digest"]:
            raise InputError(f"the encoder {name} is not the one that the store was made with; give that one")
        return lambda texts: encode(found, texts)


def kept_meaning(connection: sqlite3.Connection, encoder: Any = None) -> ArticleMeaning | None:
    """Return the maker of the rows of a store, None if it keeps none; `encoder` is the one it was made with."""
    kept = read_meta(connection).get("encoder")
    return None if kept is None else ArticleMeaning(json.loads(kept), encoder)


def agreed_meaning(
    connection: sqlite3.Connection, encoder: Any = None, *, n_dimensions: int = 0
) -> ArticleMeaning | None:
    """Return the maker of the rows of a store; a new one takes this encoder, or embeddings of `n_dimensions`.

    Raises InputError if the store was made with another encoder, or without one.
    """
    kept = read_meta(connection).get("encoder")
    if encoder is None and not n_dimensions:
        return kept_meaning(connection)
    if encoder is None:
        asked = {"name": GIVEN, "digest": "", "dimensions": n_dimensions}
    else:
        found = get_encoder(encoder, n_threads=1)
        name = found.name
        kind, _, place = name.partition(":")
        name = f"{kind}:{Path(place).absolute()}" if place and Path(place).exists() else name
        asked = {"name": name, "digest": found.digest, "dimensions": encode(found, ["a"]).shape[1]}
    if kept is None and last_batch(connection) is None:
        write_meta(connection, encoder=json.dumps(asked))
    elif kept is None:
        raise InputError("the store was made without an encoder; leave it out, or begin a new store")
    else:
        other = json.loads(kept)
        if other["digest"] != asked["digest"] or (not asked["digest"] and other["name"] != asked["name"]):
            raise InputError(
                f"the store was made with the encoder {other['name']}, not with {asked['name']}; give that one, or "
                "begin a new store"
            )
    return kept_meaning(connection, encoder)
