"""The second space of documents: what they mean, as dense rows that were given or that an encoder made.

Words and meaning are never one matrix in storage. Labels, terms and measures read the words; clustering reads both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.blocks import row_blocks
from doccluster.base.digests import matrix_checksum
from doccluster.base.executors import ArrayFile, InMemory, TablePlace, opened
from doccluster.base.short_repr import ShortRepr
from doccluster.base.validation import check_matrix, unit_rows
from doccluster.errors import InputError

Floats = npt.NDArray[np.float32]

SPACES = ("both", "words", "meaning")
BLOCK_ROWS = 2048  # whose sum is made at a time
BALANCED_AT = 20  # known words in a document on average, up to which meaning counts as much as they do
AT_THE_CENTRE = 1e-5  # a distance that is the rounding of float32


@dataclass(frozen=True, eq=False, repr=False)
class Meaning(ShortRepr):
    """Documents as points of a space of meaning.

    Attributes
    ----------
    rows : float32 array of shape (n_documents, n_dimensions), unit rows
        Directions from the centre. A zero row is that of a document that only its words place. While a run works in
        blocks, what stands for such an array in files.
    centre : float32 array of shape (n_dimensions,)
        The mean of the unit rows of the collection, from which all directions are taken.
    model : str
        What made the rows: the name of an encoder, or "given".
    digest : str
        Of the encoder, or of the rows that were given.
    weight : float
        How much meaning counts beside the words; 1 for as much.
    pooling : str
        How the encoder made one row of those of its tokens, where that is known.
    """

    rows: Any
    centre: Floats
    model: str
    digest: str
    weight: float = 1.0
    pooling: str = ""

    @property
    def n_dimensions(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])

    @property
    def told(self) -> dict[str, Any]:
        """What is kept of it beside its arrays."""
        facts = {name: getattr(self, name) for name in ("model", "digest", "weight", "pooling")}
        return {**facts, "dimensions": self.n_dimensions}

    def take(self, rows: npt.NDArray[np.int64]) -> Meaning:
        """Return the meaning of these documents, in this order."""
        return replace(self, rows=self.rows[rows])

    def beside(self, words: Any) -> Any:
        """Return unit rows that hold words and meaning side by side, csr where the rows of words are.

        The cosine of two of them is the weighted mean of the cosines in the two spaces.
        """
        return beside(words, self.rows, self.weight)


def beside(words: Any, meaning: Floats, weight: float) -> Any:
    """Return unit rows that hold words and meaning side by side, as `Meaning.beside` does."""
    rows = np.float32(np.sqrt(weight)) * meaning
    if sparse.issparse(words):
        both = sparse.csr_array(sparse.hstack([words, sparse.csr_array(rows)]))
    else:
        both = np.hstack([words, rows])
    return unit_rows(both, warn=False).astype(np.float32)


def meaning_of(
    rows: Any,
    *,
    model: str = "given",
    digest: str | None = None,
    weight: float = 1.0,
    place: TablePlace | None = None,
) -> Meaning:
    """Return embeddings of documents as their meaning: unit rows, centred on the collection, unit again.

    Embeddings of one model point to one side, so that all cosines are high; seen from their mean they differ.

    Raises InputError if they are not a table of at least two columns of finite numbers, or all point the same way.

    Parameters
    ----------
    rows : array of shape (n_documents, n_dimensions)
        Of any length; a zero row stays zero.
    model, digest, weight
        As in `Meaning`; the digest of the rows by default.
    place : TablePlace, optional
        Where the rows are made and kept; in memory by default. What stands for files may be given.

    Examples
    --------
    >>> meaning_of([[3.0, 4.0], [4.0, 3.0], [0.0, 0.0]]).rows.round(3)
    array([[-0.707,  0.707],
           [ 0.707, -0.707],
           [ 0.   ,  0.   ]], dtype=float32)
    """
    vectors = check_matrix(opened(rows), name="embeddings")
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    if vectors.shape[1] < 2:
        raise InputError("embeddings have one dimension", remedy="give at least two; one number tells no direction")
    digest = matrix_checksum(vectors) if digest is None else digest
    place, blocks = place or InMemory(), row_blocks(vectors.shape[0], BLOCK_ROWS)
    table = rows if isinstance(rows, ArrayFile) else place.keep(vectors)
    parts = list(place.map(sum_of_directions, blocks, table))
    n_filled = sum(number for _, number in parts)
    total = np.sum([sums for sums, _ in parts], axis=0)
    centre = (total / max(n_filled, 1)).astype(np.float32)
    centred = rows_from(centre, table, place)
    if not opened(centred).any():
        problem = "are all zero" if not n_filled else "all point the same way"
        raise InputError(f"the embeddings {problem}", remedy="they tell no documents apart; leave them out")
    return Meaning(centred, centre, model, digest, weight)


def rows_from(centre: Floats, rows: Any, place: TablePlace) -> Any:
    """Return the directions of rows from a centre, where `place` keeps them."""
    n_rows, width = opened(rows).shape
    return place.table(block_seen_from, row_blocks(n_rows, BLOCK_ROWS), width, np.float32, place.keep(rows), centre)


def sum_of_directions(block: slice, rows: Any) -> tuple[npt.NDArray[np.float64], int]:
    """Return the sum of some rows after normalising them, and how many of them are not zero."""
    unit = unit_rows(rows[block], warn=False).astype(np.float32)
    return unit.sum(axis=0, dtype=np.float64), int(unit.any(axis=1).sum())


def block_seen_from(block: slice, rows: Any, centre: Floats) -> Floats:
    """Return the directions of some rows from a centre."""
    return seen_from(centre, unit_rows(rows[block], warn=False))


def usual_weight(n_words: float) -> float:
    """Return how much meaning counts beside the words, from 0.5 to 1, by the mean number of known words.

    Many words say more than their meaning in one row does. More than 1 for few words helps little with one model, and
    harms with another (`experiments.quality.meaning --weights`).

    >>> usual_weight(20), usual_weight(80), usual_weight(3)
    (1.0, 0.5, 1.0)
    """
    return float(np.clip(np.sqrt(BALANCED_AT / max(n_words, 1.0)), 0.5, 1.0))


def seen_from(centre: Floats, rows: Any) -> Floats:
    """Return the unit directions of rows from a centre; zero rows, and those at the centre, are zero."""
    unit = unit_rows(np.asarray(rows, dtype=np.float32), warn=False)
    moved = np.where(unit.any(axis=1)[:, None], unit - centre, np.float32(0))
    lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved, dtype=np.float64))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > AT_THE_CENTRE)
    centred: Floats = (moved * scale[:, None]).astype(np.float32)
    return centred
