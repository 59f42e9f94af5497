"""Terms that go to columns by a hash and keep names: the sums by hash, and the commonest term of each.

The rows do not depend on the names, and what is kept for the names does not grow with the collection: they are learned
from at most `NAMING_DOCUMENTS` documents, evenly spread, which are the same ones however the documents are divided.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doccluster.vectors.row_store import RowStore
from doccluster.vectors.term_counts import TermCounts, TermStatistics

NAMING_DOCUMENTS = 100_000

Hashes = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


class HashedStatistics(TermStatistics):
    """How common each hash is in batches of documents, and (in the base class) the terms of those that name columns."""

    def __init__(self) -> None:
        super().__init__()
        self._hashes = np.zeros(0, dtype=np.int32)
        self._sums = np.zeros((2, 0), dtype=np.int64)
        self._n_hashed = 0
        self._met: set[str] = set()
        self._width = 1

    def add_hashed(self, counts: TermCounts, named: TermCounts, n_features: int) -> None:
        """Add a batch: the counts of all its documents by hash, and those by term of the ones that name columns."""
        assert counts.hashes is not None  # `hash_columns` made them
        self.add(named)
        sums = np.array([counts.document_frequency, counts.term_frequency])
        self._join_hashed(counts.hashes, sums, counts.n_documents, counts.stop_words_met, n_features)

    def absorb(self, other: TermStatistics) -> None:
        """Add what is known of other batches."""
        assert isinstance(other, HashedStatistics)  # all batches are counted alike
        super().absorb(other)
        self._join_hashed(other._hashes, other._sums, other._n_hashed, other._met, other._width)

    def summary(self, vocabulary: object = None) -> TermCounts:
        """Return all batches together, without rows, by hash; each column has the name of its commonest term."""
        named = super().summary(None)
        names, sharing = self._names(named)
        rows = RowStore(n_empty=self._n_hashed)
        document_frequency, term_frequency = self._sums
        of_columns = document_frequency, term_frequency, named.written, self._met, self._hashes, sharing
        return TermCounts(names, rows, *of_columns)

    def _join_hashed(self, hashes: Hashes, sums: Integers, n_documents: int, met: set[str], n_features: int) -> None:
        every = np.union1d(self._hashes, hashes)
        total = np.zeros((2, every.size), dtype=np.int64)
        total[:, np.searchsorted(every, self._hashes)] += self._sums
        total[:, np.searchsorted(every, hashes)] += sums
        self._hashes, self._sums = every, total
        self._n_hashed += n_documents
        self._met = self._met | met
        self._width = n_features

    def _names(self, named: TermCounts) -> tuple[list[str], Integers]:
        """Return the name of each hash, and how many terms share it; one that no naming document has gets a number."""
        hashes = hashes_of(named.terms, self._width)
        order = np.lexsort((-named.document_frequency, hashes))  # of equally common terms the alphabetically first
        found, first, sizes = np.unique(hashes[order], return_index=True, return_counts=True)
        commonest = [named.terms[place] for place in order[first].tolist()]
        taken, sharing = set(commonest), np.ones(self._hashes.size, dtype=np.int64)
        at = np.searchsorted(self._hashes, found)
        sharing[at] = sizes
        of_hash = dict(zip(at.tolist(), commonest, strict=True))
        names = [of_hash.get(place) or _number(number, taken) for place, number in enumerate(self._hashes.tolist())]
        return names, sharing


def hash_columns(counts: TermCounts, n_features: int, *, binary: bool, n_threads: int | None) -> TermCounts:
    """Return counts by the hashes of their terms, ascending and without names; `counts` are used up."""
    hashes, column = np.unique(hashes_of(counts.terms, n_features), return_inverse=True)
    rows = counts.rows
    rows.settle([column.astype(np.int32)], hashes.size, binary=binary, n_threads=n_threads)
    document_frequency, term_frequency = rows.frequencies(hashes.size)
    return replace(
        counts, terms=[], document_frequency=document_frequency, term_frequency=term_frequency, hashes=hashes
    )


def hashes_of(terms: Sequence[str], n_features: int) -> Hashes:
    """Return the hash of each term."""
    return np.fromiter((hashed_column(term, n_features) for term in terms), dtype=np.int32, count=len(terms))


def hashed_column(term: str, n_features: int) -> int:
    """Return the column of a term: the absolute value of its signed 32-bit murmur hash, modulo the width."""
    code = int(_murmurhash()(term.encode("utf-8", "surrogatepass"), seed=0))
    if code == -(2**31):  # its absolute value does not fit into 32 bits; scikit-learn sends it here
        return (2**31 - 1 - (n_features - 1)) % n_features
    return abs(code) % n_features


@functools.cache
def _murmurhash() -> Callable[..., int]:
    from sklearn.utils import murmurhash3_32  # without hashed columns scikit-learn is not imported

    hash_of_bytes: Callable[..., int] = murmurhash3_32
    return hash_of_bytes


def columns_of_hashes(hashes: Hashes, known: Hashes) -> Hashes:
    """Return the place of each hash among the known ones, which ascend; -1 for one that is not."""
    place = np.minimum(np.searchsorted(known, hashes), max(0, known.size - 1))
    return np.where(known[place] == hashes, place, -1).astype(np.int32)


def naming_step(n_documents: int | None) -> int:
    """Return which documents name columns: every n-th; all where their number is not known."""
    return max(1, -(-(n_documents or 0) // NAMING_DOCUMENTS))


def _number(number: int, taken: set[str]) -> str:
    """Return a name that no term has."""
    name = f"#{number}"
    while name in taken:
        name = f"#{name}"
    taken.add(name)
    return name
