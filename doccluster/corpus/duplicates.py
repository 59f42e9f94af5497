"""Copies of the same text, or nearly so: which articles are one wire story, and how often it was printed.

Two texts are near-duplicates when the Jaccard index of their sets of word shingles reaches a threshold. The candidates
come from prefix filtering (Bayardo, Ma & Srikant 2007, "Scaling up all pairs similarity search", WWW,
doi:10.1145/1242572.1242591; Chaudhuri, Ganti & Kaushik 2006): if shingles are ordered from rare to common, two sets
with an index >= t share one of their first n - ceil(t n) + 1 shingles. Nothing is missed and every pair is checked,
so the result is exact, and the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from doccluster.errors import InputError
from doccluster.validation import check_positive_int

Groups = tuple[tuple[int, ...], ...]

# A word, or one character of a script that writes no spaces between words.
_UNSPACED = r"\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_BLOCK_PAIRS = 2_000_000  # candidate pairs that are held at a time


def find_near_duplicates(texts: Iterable[str], *, threshold: float = 0.9, n_words: int = 3) -> Groups:
    """Return groups of documents that are near-copies of one another.

    Parameters
    ----------
    texts : iterable of str
        The documents. Case, punctuation and white space do not matter; documents without a word are in no group.
    threshold : float in (0, 1]
        The least Jaccard index of two sets of shingles that makes a pair.
    n_words : int
        Words in a shingle; a text with fewer words is one shingle.

    Returns
    -------
    tuple of tuples of int
        The connected components of the pairs, each in ascending order, sorted by the first document. Documents of a
        group may be linked through others: a copy of a copy belongs to the original.

    Raises
    ------
    InputError
        If `threshold` is not in (0, 1].

    Examples
    --------
    >>> wire = "The ministers met on Monday and agreed to raise the price of wheat by two percent in the spring."
    >>> find_near_duplicates([wire, "Rain in the north.", wire.upper() + " Agency"], threshold=0.8)
    ((0, 2),)
    """
    if not 0 < threshold <= 1:
        raise InputError(
            "is not a share of shingles",
            argument="threshold",
            received=threshold,
            expected="a number above 0 and at most 1",
        )
    return similar_sets(shingle_sets(texts, n_words=check_positive_int(n_words, "n_words")), threshold)


def similar_sets(sets: sparse.csr_array, threshold: float) -> Groups:
    """Return the groups of rows linked by a Jaccard index >= threshold.

    sets: csr of ones, columns from rare to common, indices sorted. Empty rows are in no group.
    """
    distinct, copy_of = _collapse_equal_rows(sets)
    left, right = _similar_pairs(distinct, threshold)
    n_distinct = distinct.shape[0]
    links = sparse.coo_array((np.ones(left.size, dtype=np.int8), (left, right)), shape=(n_distinct, n_distinct))
    _, component = connected_components(links.tocsr(), directed=False)
    return _groups(component[copy_of], np.diff(sets.indptr) > 0)


def shingle_sets(texts: Iterable[str], *, n_words: int) -> sparse.csr_array:
    """Return which shingle is in which text: csr of ones, columns from rare to common.

    Shingles are numbered by ranking (first words, next word) again and again, so no two are ever mixed up.
    """
    words, lengths = _word_numbers(texts)
    n_shingles = np.maximum(lengths - n_words + 1, np.minimum(lengths, 1))
    document = np.repeat(np.arange(lengths.size), n_shingles)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    offset = np.arange(document.size) - np.repeat(np.cumsum(n_shingles) - n_shingles, n_shingles)
    first = starts[document] + offset
    last = np.cumsum(lengths)[document] if lengths.size else first
    number = np.zeros(first.size, dtype=np.int64)
    for step in range(n_words):
        place = first + step
        word = np.where(place < last, words[np.minimum(place, max(words.size - 1, 0))] + 1 if words.size else 0, 0)
        _, number = np.unique(number * (words.max(initial=0) + 2) + word, return_inverse=True)
    return sets_of(document, number, lengths.size)


def words_of(text: str) -> list[str]:
    """Return the words that shingles are made of: without case, punctuation and white space.

    >>> words_of("Wheat, rye: 3 % up")
    ['wheat', 'rye', '3', 'up']
    """
    return _WORD.findall(text.casefold())


def _word_numbers(texts: Iterable[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the words of all texts in one row, as numbers in order of first use, and how many each text has."""
    vocabulary: dict[str, int] = {}
    numbers: list[npt.NDArray[np.int64]] = []
    for text in texts:
        found = words_of(text)
        numbered = (vocabulary.setdefault(word, len(vocabulary)) for word in found)
        numbers.append(np.fromiter(numbered, np.int64, len(found)))
    lengths = np.array([one.size for one in numbers], dtype=np.int64)
    return (np.concatenate(numbers) if numbers else np.empty(0, np.int64)), lengths


def sets_of(document: npt.NDArray[np.int64], number: npt.NDArray[np.int64], n_documents: int) -> sparse.csr_array:
    """Return pairs (document, number) as csr of ones, columns from rare to common, indices sorted."""
    n_columns = int(number.max(initial=-1)) + 1
    ones = np.ones(number.size, dtype=np.int32)
    sets = sparse.coo_array((ones, (document, number)), shape=(n_documents, max(n_columns, 1))).tocsr()
    sets.sum_duplicates()
    sets.data[:] = 1
    frequency = np.bincount(sets.indices, minlength=sets.shape[1])
    rank = np.empty(sets.shape[1], dtype=np.int64)
    rank[np.lexsort((np.arange(sets.shape[1]), frequency))] = np.arange(sets.shape[1])
    ordered = sparse.csr_array((sets.data, rank[sets.indices], sets.indptr), shape=sets.shape)
    ordered.sort_indices()
    return ordered


def _collapse_equal_rows(sets: sparse.csr_array) -> tuple[sparse.csr_array, npt.NDArray[np.int64]]:
    """Return the distinct rows and, for each row, which of them it is: a thousand exact copies are one candidate."""
    seen: dict[bytes, int] = {}
    kept: list[int] = []
    copy_of = np.empty(sets.shape[0], dtype=np.int64)
    for row in range(sets.shape[0]):
        key = sets.indices[sets.indptr[row] : sets.indptr[row + 1]].tobytes()
        copy_of[row] = seen.setdefault(key, len(seen))
        if copy_of[row] == len(kept):
            kept.append(row)
    return sets[kept], copy_of


def _similar_pairs(sets: sparse.csr_array, threshold: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all pairs (smaller, larger) of rows with Jaccard index >= threshold."""
    sizes = np.diff(sets.indptr)
    prefixes = _prefixes(sets, sizes, threshold)
    transposed = prefixes.T.tocsr()
    lefts: list[npt.NDArray[np.int64]] = []
    rights: list[npt.NDArray[np.int64]] = []
    for rows in _blocks_of_candidates(prefixes, transposed):
        shared = (prefixes[rows] @ transposed).tocoo()
        left, right = shared.coords[0] + rows.start, shared.coords[1]
        small, large = np.minimum(sizes[left], sizes[right]), np.maximum(sizes[left], sizes[right])
        wanted = (left < right) & (small >= threshold * large - 1e-9)  # sizes bound the index: |small| / |large|
        left, right = left[wanted].astype(np.int64), right[wanted].astype(np.int64)
        similar = _jaccard(sets, sizes, left, right) >= threshold - 1e-12
        lefts.append(left[similar])
        rights.append(right[similar])
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *lefts]), np.concatenate([empty, *rights])


def _prefixes(sets: sparse.csr_array, sizes: npt.NDArray[np.int64], threshold: float) -> sparse.csr_array:
    """Return the first shingles of each set, of which two similar sets must share one."""
    lengths = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    lengths = np.where(sizes > 0, np.minimum(lengths, sizes), 0)
    offset = np.arange(sets.indices.size) - np.repeat(sets.indptr[:-1], sizes)
    kept = offset < np.repeat(lengths, sizes)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((sets.data[kept], sets.indices[kept], indptr), shape=sets.shape)


def _blocks_of_candidates(prefixes: sparse.csr_array, transposed: sparse.csr_array) -> list[slice]:
    """Return blocks of rows with a bounded number of candidate pairs each (a row of its own if it has more)."""
    per_shingle = np.diff(transposed.indptr)
    entries = per_shingle[prefixes.indices]
    cumulated = np.concatenate([[0], np.cumsum(entries)])[prefixes.indptr]
    blocks: list[slice] = []
    start = 0
    while start < prefixes.shape[0]:
        stop = int(np.searchsorted(cumulated, cumulated[start] + _BLOCK_PAIRS, side="right")) - 1
        stop = min(max(stop, start + 1), prefixes.shape[0])
        blocks.append(slice(start, stop))
        start = stop
    return blocks


def _jaccard(
    sets: sparse.csr_array, sizes: npt.NDArray[np.int64], left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the Jaccard index of each pair of rows."""
    shared = np.empty(left.size, dtype=np.float64)
    step = max(1, _BLOCK_PAIRS // max(int(sizes.max(initial=1)), 1))
    for start in range(0, left.size, step):
        pairs = slice(start, start + step)
        shared[pairs] = np.asarray(sets[left[pairs]].multiply(sets[right[pairs]]).sum(axis=1)).ravel()
    return shared / (sizes[left] + sizes[right] - shared)


def _groups(component: npt.NDArray[np.int64], has_words: Sequence[bool] | npt.NDArray[np.bool_]) -> Groups:
    members: dict[int, list[int]] = {}
    for number in np.flatnonzero(has_words):
        members.setdefault(int(component[number]), []).append(int(number))
    return tuple(sorted(tuple(group) for group in members.values() if len(group) > 1))
