"""Copies of a text, exact or nearly so: which articles are one wire story, and how often it was printed.

Two texts are near-duplicates when the Jaccard index of their sets of word shingles reaches a threshold. Shingles are
numbers of 64 bits that do not depend on the corpus. Candidates come from prefix filtering (Bayardo, Ma & Srikant 2007,
"Scaling up all pairs similarity search", WWW, doi:10.1145/1242572.1242591; Chaudhuri, Ganti & Kaushik 2006): in any
common order two sets with an index >= t share one of the first n - ceil(t n) + 1 shingles. Nothing is missed, every
pair is checked.

Vectors that are there anyway say which few documents have to be compared so: near-copies have nearly the same terms.
MinHash (Broder 1997, doi:10.1109/SEQUEN.1997.666900) in 8 bands of 5 minima picks out every document that shares a band
with another one: it misses one in 1,300 of the pairs whose sets of terms have a Jaccard index of 0.9, one in 150,000 of
those with 0.95. Those of them that have half of their terms in common with another one of their band are then compared
exactly.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from doccluster.base.arrays import Flags, Floats, Integers
from doccluster.base.blocks import entry_blocks, row_blocks
from doccluster.base.sparse_structure import checked_csr
from doccluster.base.validation import check_positive_int
from doccluster.errors import InputError
from doccluster.text.tokens import plain_words, word_codes

Groups = tuple[tuple[int, ...], ...]
Shingles = npt.NDArray[np.uint64]
Hashes = npt.NDArray[np.uint64]

TEXTS_AT_ONCE = 1 << 12  # whose shingles are made together
PAIRS_AT_ONCE = 1 << 20  # that share an item
COMPARED_AT_ONCE = 1 << 12

# of the search for near-copies by their vectors
THRESHOLD = 0.9
N_BANDS = 8
BAND_SIZE = 5
MAX_COMPARED = 32  # others of one band
MIN_ALIKE = 0.5  # as sets of terms: two near-copies are far more
ROWS_COMPARED_AT_ONCE = 4096  # pairs of rows whose sets of terms are compared
BLOCK_SIZE = 2**14  # rows whose columns are hashed at a time

# A word, or one character of a script that writes no spaces between words.
_UNSPACED = r"\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


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
    n_words = check_positive_int(n_words, "n_words")
    return similar_sets(_shingle_sets(texts, n_words), threshold)


def _shingle_sets(texts: Iterable[str], n_words: int) -> sparse.csr_array:
    """Return which text (rows) has which shingle (columns), a 1 for each."""
    codes = [codes_of(text) for text in texts]
    sizes = np.array([words.size for words in codes], dtype=np.int64)
    short = np.flatnonzero((sizes > 0) & (sizes < n_words))
    shingles = [np.zeros(0, np.uint64), *(mix_shingles(codes[row], n_words) for row in short.tolist())]
    rows = [short]
    for block in row_blocks(len(codes), TEXTS_AT_ONCE):
        n_shingles = np.maximum(sizes[block] - n_words + 1, 0)
        # where in the joined codes a shingle begins that ends in the same text
        begins = np.cumsum(sizes[block]) - sizes[block] - (np.cumsum(n_shingles) - n_shingles)
        places = np.arange(n_shingles.sum()) + np.repeat(begins, n_shingles)
        shingles.append(_mixed(np.concatenate(codes[block]), places, n_words))
        rows.append(np.repeat(np.arange(block.start, block.stop), n_shingles))
    values, columns = np.unique(np.concatenate(shingles), return_inverse=True)
    places_of_ones = np.concatenate(rows), columns
    sets = sparse.csr_array((np.ones(columns.size, np.int32), places_of_ones), shape=(len(codes), values.size))
    sets.data[:] = 1  # a text may say something twice
    return sets


def similar_sets(sets: sparse.csr_array, threshold: float) -> Groups:
    """Return the groups of rows linked by a Jaccard index >= threshold of their sets of columns, which are 1."""
    firsts, copies = _first_rows(sets)
    distinct = sparse.csr_array(sets[firsts])
    prefixes = _prefixes(distinct, threshold)
    links = [np.stack([firsts[copies], np.arange(sets.shape[0])])]
    transposed = sparse.csr_array(prefixes.T)
    # how many pairs each row takes part in, so that as many rows are looked at together as there is room for
    n_pairs = prefixes @ np.diff(transposed.indptr)
    for rows in entry_blocks(np.concatenate([[0], np.cumsum(n_pairs)]), PAIRS_AT_ONCE):
        shared = sparse.coo_array(prefixes[rows] @ transposed)
        first, second = shared.row.astype(np.int64) + rows.start, shared.col.astype(np.int64)
        first, second = first[first < second], second[first < second]
        for block in row_blocks(first.size, COMPARED_AT_ONCE):
            near = jaccard(distinct[first[block]], distinct[second[block]]) >= threshold - 1e-12
            links.append(np.stack([firsts[first[block][near]], firsts[second[block][near]]]))
    first, second = np.concatenate(links, axis=1)
    graph = sparse.coo_array((np.ones(first.size, np.int8), (first, second)), shape=(sets.shape[0],) * 2)
    labels = connected_components(graph, directed=False)[1]
    order = np.argsort(labels, kind="stable")
    order = order[np.diff(sets.indptr)[order] > 0]
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return tuple(sorted(tuple(group.tolist()) for group in groups if group.size > 1))


def _first_rows(sets: sparse.csr_array) -> tuple[Integers, Integers]:
    """Return the first row of each distinct set, and for each row which of them it repeats."""
    sets.sort_indices()
    numbers: dict[bytes, int] = {}
    firsts: list[int] = []
    copies = np.empty(sets.shape[0], dtype=np.int64)
    for row, (start, end) in enumerate(itertools.pairwise(sets.indptr.tolist())):
        copies[row] = number = numbers.setdefault(sets.indices[start:end].tobytes(), len(numbers))
        if number == len(firsts):
            firsts.append(row)
    return np.array(firsts, dtype=np.int64), copies


def _prefixes(sets: sparse.csr_array, threshold: float) -> sparse.csr_array:
    """Return the sets cut to the n - ceil(t n) + 1 rarest items, of which two similar sets have one in common."""
    n_sets_with = np.bincount(sets.indices, minlength=sets.shape[1])
    rank = np.empty_like(n_sets_with)
    rank[np.argsort(n_sets_with, kind="stable")] = np.arange(rank.size)
    ordered = sparse.csr_array((rank[sets.indices], rank[sets.indices], sets.indptr), shape=sets.shape)
    ordered.sort_indices()
    sizes = np.diff(sets.indptr)
    lengths = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    place = np.arange(sets.nnz) - np.repeat(sets.indptr[:-1], sizes)
    is_in = (place < np.repeat(lengths, sizes)) & (np.sort(n_sets_with)[ordered.indices] > 1)
    starts = np.concatenate([[0], np.cumsum(is_in)])[sets.indptr]
    return sparse.csr_array((np.ones(starts[-1], np.int32), ordered.indices[is_in], starts), shape=sets.shape)


def jaccard(first: sparse.csr_array, second: sparse.csr_array) -> Floats:
    """Return the Jaccard index of the set of columns of each row of one matrix and the same row of another."""
    shared = np.asarray(first.multiply(second).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(shared / (np.diff(first.indptr) + np.diff(second.indptr) - shared))


def words_of(text: str) -> list[str]:
    """Return the words that shingles are made of: without case, punctuation and white space.

    >>> words_of("Wheat, rye: 3 % up")
    ['wheat', 'rye', '3', 'up']
    """
    return _WORD.findall(text.casefold())


def codes_of(text: str) -> Shingles:
    """Return the numbers of the words that `words_of` returns."""
    words = plain_words(text)
    return word_codes(words_of(text) if words is None else words)


def mix_shingles(codes: Shingles, n_words: int) -> Shingles:
    """Return the distinct shingles of a text, ascending, from the codes of its words; a shorter text is one shingle.

    >>> a, b = (mix_shingles(codes_of(text), 3) for text in ("The price of wheat rose.", "the PRICE of wheat, rose"))
    >>> a.size, bool((a == b).all())
    (3, True)
    """
    if not codes.size:
        return codes
    size = min(n_words, codes.size)
    return np.unique(_mixed(codes, np.arange(codes.size - size + 1), size))


def _mixed(codes: Shingles, places: Integers, n_words: int) -> Shingles:
    """Return the number of the shingle of n words that begins at each place."""
    mixed = np.full(places.size, np.uint64(n_words), dtype=np.uint64)
    for word in range(n_words):
        mixed = (mixed ^ codes[places + word]) * _MULTIPLIER
        mixed ^= mixed >> _SHIFT
    return mixed


def find_near_copies(
    matrix: sparse.csr_array,
    texts: Sequence[str] | None = None,
    *,
    threshold: float = THRESHOLD,
    candidates: Integers | None = None,
) -> Groups:
    """Return groups of documents that are near-copies of one another.

    Parameters
    ----------
    matrix : csr array of shape (n_documents, n_terms)
        Which document has which term. A document without a term is in no group.
    texts : sequence of str of length n_documents, optional
        With them two documents are near-copies if `find_near_duplicates` says so; without them, if the Jaccard index of
        their sets of terms reaches `threshold`.
    threshold : float in (0, 1]
    candidates : int64 array, optional
        What `alike_in_a_band` says of the rows, where that was found elsewhere.

    Returns
    -------
    tuple of tuples of int
        Each in ascending order, sorted by the first document.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[0.6, 0.8, 0], [0, 0, 1.0], [0.6, 0.8, 0]]))
    >>> find_near_copies(rows)
    ((0, 2),)
    """
    matrix = checked_csr(matrix, name="matrix")[0]
    if candidates is None:
        candidates = alike_in_a_band(matrix, band_signatures(matrix))
    if texts is not None:
        groups = find_near_duplicates([texts[row] for row in candidates.tolist()], threshold=threshold)
    else:
        rows = matrix[candidates]
        values = np.ones(rows.nnz, np.int32)
        groups = similar_sets(sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape), threshold)
    return tuple(tuple(candidates[list(group)].tolist()) for group in groups)


def band_signatures(matrix: sparse.csr_array) -> Hashes:
    """Return a hash of the terms of each row in each band, array of shape (N_BANDS, n_rows); 0 without terms."""
    random = np.random.default_rng(1)  # fixed: the same documents have the same near-copies everywhere
    factors = random.integers(1 << 62, 1 << 63, (N_BANDS, BAND_SIZE), dtype=np.uint64) | np.uint64(1)
    filled = np.flatnonzero(np.diff(matrix.indptr))
    table = np.zeros((N_BANDS, matrix.shape[0]), dtype=np.uint64)
    for block in row_blocks(filled.size, BLOCK_SIZE):
        rows = filled[block]
        for factors_of_band, signatures in zip(factors, table, strict=True):
            signatures[rows] = np.maximum(_band(matrix, rows, factors_of_band), np.uint64(1))
    return table


def alike_in_a_band(matrix: sparse.csr_array, signatures: Hashes) -> Integers:
    """Return the rows that have a band and many terms in common with another row, ascending.

    Many share a band with one that is nothing like them, so the sets of terms are compared: of each with the next
    `MAX_COMPARED`, those first that share another band too.
    """
    is_alike, values = np.zeros(matrix.shape[0], dtype=bool), np.ones(matrix.nnz, np.int8)
    terms = sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    for number, band in enumerate(signatures):
        mark_alike(lambda rows: sparse.csr_array(terms[rows]), band, signatures[(number + 1) % N_BANDS], is_alike)
    return np.flatnonzero(is_alike)


def mark_alike(
    terms_of: Callable[[Integers], sparse.csr_array], band: Hashes, next_band: Hashes, is_alike: Flags
) -> None:
    """Set `is_alike` for rows alike by one band; `terms_of` returns rows with a 1 in place of each value."""
    order = np.lexsort((next_band, band))
    starts = np.flatnonzero(np.diff(band[order], prepend=np.uint64(0)))  # of runs; rows without terms have a 0
    sizes = np.diff(starts, append=order.size)
    for apart in range(1, MAX_COMPARED + 1):
        has_pair = sizes > apart
        starts, sizes = starts[has_pair], sizes[has_pair]
        pairs_of_run = sizes - apart
        within = np.arange(pairs_of_run.sum()) - np.repeat(np.cumsum(pairs_of_run) - pairs_of_run, pairs_of_run)
        first = np.repeat(starts, pairs_of_run) + within
        pairs = np.stack([order[first], order[first + apart]])
        pairs = pairs[:, ~is_alike[pairs].all(axis=0)]
        for piece in row_blocks(pairs.shape[1], ROWS_COMPARED_AT_ONCE):
            is_alike[pairs[:, piece][:, jaccard(*map(terms_of, pairs[:, piece])) >= MIN_ALIKE]] = True


def _band(matrix: sparse.csr_array, rows: npt.NDArray[np.intp], factors: npt.NDArray[np.uint64]) -> Hashes:
    """Return for each of some ascending rows, none empty, one number made of the minima of its hashed columns."""
    first, end = matrix.indptr[rows[0]], matrix.indptr[rows[-1] + 1]
    columns = matrix.indices[first:end].astype(np.uint64) + np.uint64(1)
    band = np.zeros(rows.size, dtype=np.uint64)
    for factor in factors:
        band = _mixed_bits(band + np.minimum.reduceat(columns * factor, matrix.indptr[rows] - first))
    return band


def _mixed_bits(values: Hashes) -> Hashes:
    """Return the values with their bits mixed (the finisher of SplitMix64: Steele, Lea & Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
