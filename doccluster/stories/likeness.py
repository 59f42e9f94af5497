"""How like articles of one language are: centred cosines within a window, less what they find in other weeks.

The window and the bar follow the crowd: among few articles a chance likeness is rare, and silences are long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Array, Floats, Integers, SingleFloats
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.compiled import jit

DAY = 86400
WINDOW = 3 * DAY  # seconds: within it articles are compared
WIDEST = 21 * DAY
SPARSE = 30  # articles in 72 hours; where there are fewer, the window is so wide
ON_EACH_SIDE = 100  # that a typical article has as many others before and after it
BAR = 0.18  # likeness from which two stories become one, in a large crowd
HALF_BAR_AT = 200  # articles in a window: the bar is half of that
MIN_BAR = 0.06
HALF_AT_ONCE = 20  # articles in 72 hours: the bar for what has just come in is half of that
YOUNG = 0.75  # by which a single pair counts less, in a large crowd
HALF_YOUNG_AT = 500
MAX_TIMES = 24  # by which the articles of less than a window are multiplied


@dataclass(frozen=True, slots=True)
class Crowd:
    """How a stream or a dump is looked at."""

    window: int  # seconds within which two articles are compared
    bar: float  # the likeness from which two stories become one
    young: float  # the share by which a single pair counts less
    at_once: float = 1.0  # the bar for an article of a stream that has just come in: its likest may be still to come

    @classmethod
    def of(cls, times: Integers, *, is_part: bool = False) -> Crowd:
        """Return the window and bars for articles of sorted times, one at least; of less than a window if a part."""
        window, span = WINDOW, int(times[-1] - times[0])
        n_times = min(WINDOW / span, MAX_TIMES) if is_part and 0 < span < WINDOW else 1.0
        in_72_hours = n_in_window(times, WINDOW) * n_times
        if in_72_hours < SPARSE:
            places = np.arange(times.size)
            before = times - times[np.maximum(places - ON_EACH_SIDE, 0)]
            after = times[np.minimum(places + ON_EACH_SIDE, times.size - 1)] - times
            window = int(min(max(WINDOW, np.median(np.maximum(before, after))), WIDEST))
        n_articles = n_in_window(times, window) * n_times
        bar = max(MIN_BAR, BAR * n_articles / (n_articles + HALF_BAR_AT))
        at_once = max(bar, BAR * in_72_hours / (in_72_hours + HALF_AT_ONCE))
        return cls(window, float(bar), float(YOUNG * n_articles / (n_articles + HALF_YOUNG_AT)), float(at_once))


def n_in_window(times: Integers, window: int) -> float:
    """Return how many articles a window around a typical article holds, half of it to each side."""
    half = window // 2
    return float(np.median(np.searchsorted(times, times + half) - np.searchsorted(times, times - half)))


NAMES = 1.4  # by which a name or a number weighs more than another word
HALF_ALONE_AT = 1_000  # articles: there a word that one article alone has counts half of what another rare one does
SAME_OUTLET = 0.7  # by which a likeness of two articles of one outlet counts: columns, series, teams
SAME_TEXT = 0.8  # the likeness from which two articles have the same text, of whichever outlet
BACKGROUND = 0.3  # share of what two articles find in other weeks that is taken off their likeness
N_SAMPLED = 2_000  # articles of other weeks that are looked at
FLOOR = 0.03  # a smaller likeness is none
MAX_LINKS = 400  # likest earlier articles that are kept of an article
MIN_SPREAD = 0.01  # of what centring leaves of two rows
N_UNRELATED = 20  # articles without a word in common that are thought into the centre: of two, all would be shared
ROWS_AT_ONCE = 500

_DAMPED = np.concatenate([[0.0], 1 + np.log(np.arange(1, 128))])  # 1 + ln tf


@dataclass(frozen=True, eq=False)
class ArticleRows:
    """Articles of one language in the order of time."""

    times: Integers  # of shape (n_articles,), seconds
    outlets: npt.NDArray[np.int32]  # of shape (n_articles,), 0 for one that is not known
    starts: Integers  # of shape (n_articles + 1,): where the terms of each begin
    terms: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int8]  # as of `ArticleWords`

    @classmethod
    def of(
        cls, times: Integers, outlets: Sequence[int], terms: Sequence[Sequence[int]], counts: Sequence[Array]
    ) -> ArticleRows:
        """Return articles of which each has an outlet, terms and their counts."""
        starts, terms_of_all = np.cumsum([0, *map(len, terms)]), np.concatenate(terms).astype(np.int32)
        return cls(times, np.array(outlets, np.int32), starts, terms_of_all, np.concatenate(counts))

    def __len__(self) -> int:
        return int(self.times.size)

    def weighted(self, n_with_term: Integers, n_articles: int) -> sparse.csr_array:
        """Return rows of length 1, of the weights of their words."""
        values = word_weights(self.counts, n_with_term[self.terms], n_articles)
        row_of = np.repeat(np.arange(len(self)), np.diff(self.starts))
        lengths = np.sqrt(np.bincount(row_of, values**2, minlength=len(self)))
        values = (values / np.where(lengths > 0, lengths, 1.0)[row_of]).astype(np.float32)
        return sparse.csr_array((values, self.terms, self.starts), shape=(len(self), n_with_term.size))


def word_weights(counts: npt.NDArray[np.int8], n_with_term: Integers, n_articles: int) -> Floats:
    """Return (1 + ln tf) ln((N + 10) / (df + 1)) of words, 0 at least; of names and numbers 1.4 times that."""
    values = _DAMPED[np.abs(counts.astype(np.int16))]
    values = values * np.maximum(np.log((n_articles + 10) / (n_with_term + 1.0)), 0.0)
    values[counts < 0] *= NAMES
    values[n_with_term < 2] *= HALF_ALONE_AT / (n_articles + HALF_ALONE_AT)
    return values


class EarlierLinks(NamedTuple):
    """What articles have in common with earlier ones."""

    n_links: Integers  # of shape (n_rows,)
    earlier: npt.NDArray[np.int32]  # of shape (n_links.sum(),): the rows of the earlier articles
    likeness: SingleFloats
    first_copy: Integers  # of shape (n_rows,): the first article with the same text, -1 if there is none


NO_LINKS = EarlierLinks(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.int64))


class ArticleLikeness:
    """The likeness of articles of one language, whose unit rows are in the order of time.

    c = (xy - x - y + m) / sqrt((1 - 2x + m) (1 - 2y + m)): what all articles share is taken off the cosine xy, x and y
    being the mean cosines of the two with the articles in the `centre`, m the mean of all pairs of those.
    """

    def __init__(self, rows: sparse.csr_array, times: Integers, outlets: npt.NDArray[np.int32], centre: slice) -> None:
        in_centre = rows[centre]
        total = np.bincount(in_centre.indices, weights=in_centre.data, minlength=rows.shape[1])
        n_others = in_centre.shape[0] - 1 + N_UNRELATED
        row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        to_all = np.bincount(row_of, weights=rows.data * total[rows.indices], minlength=rows.shape[0])
        is_within = np.zeros(rows.shape[0])
        is_within[centre] = 1.0
        self.to_centre = (np.maximum(to_all - is_within, 0.0) / n_others).astype(np.float32)
        n_pairs = max((n_others + 1) * n_others, 1)
        self.common = np.float32(max(float(total @ total) - in_centre.shape[0], 0.0) / n_pairs)
        self.rows, self.times = rows, times
        self._matrix, self._facts = _arrays_of(rows), (times, outlets, self.to_centre, self.common)

    def background(self, rows: Integers, window: int, n_in_window: Integers, n_threads: int | None = 1) -> SingleFloats:
        """Return for rows the likeness that as few articles of other weeks reach as one in those of its window."""
        sample = np.unique(np.linspace(0, len(self.times) - 1, N_SAMPLED).astype(np.int64))
        postings = _arrays_of(self.rows[sample].tocsc())
        matrix, facts = self._matrix, self._facts

        def elsewhere(block: slice) -> SingleFloats:
            background = np.zeros(rows[block].size, np.float32)
            scratch = np.empty(sample.size, np.float32), np.empty(sample.size, np.float32)
            others = np.maximum(n_in_window[rows[block]], 1), sample
            likeness_elsewhere(rows[block], matrix, postings, facts, (window, *others), background, scratch)
            return background

        parts = map_blocks(elsewhere, row_blocks(rows.size, ROWS_AT_ONCE), n_threads=n_threads)
        return np.concatenate([np.zeros(0, np.float32), *parts])

    def links(
        self,
        rows: Integers,
        window: int,
        taken_off: SingleFloats,
        arrival: Integers,
        n_threads: int | None = 1,
    ) -> EarlierLinks:
        """Return the links of some rows to articles within the window that came before them.

        `taken_off`: half of it is taken off the likeness of each pair. `arrival`: smaller for what came before.
        """
        first = np.searchsorted(self.times, self.times - window)
        end = np.searchsorted(self.times, self.times + window, "right")
        matrix, postings, facts = self._matrix, _arrays_of(self.rows.tocsc()), self._facts
        spans = np.column_stack([first, end]).astype(np.int64)

        def linked(block: slice) -> EarlierLinks:
            n_rows, widest = rows[block].size, int((spans[rows[block], 1] - spans[rows[block], 0]).max())
            room = n_rows * min(widest, MAX_LINKS)
            earlier, values = np.empty(room, np.int32), np.empty(room, np.float32)
            links = EarlierLinks(np.zeros(n_rows, np.int64), earlier, values, np.full(n_rows, -1))
            scratch = np.empty(widest, np.float32), np.empty(widest, np.float32)
            n = earlier_links(rows[block], matrix, postings, facts, (spans, taken_off, arrival), links, scratch)
            return links._replace(earlier=earlier[:n].copy(), likeness=values[:n].copy())

        parts = list(map_blocks(linked, row_blocks(rows.size, ROWS_AT_ONCE), n_threads=n_threads))
        return EarlierLinks(*map(np.concatenate, zip(*parts, strict=True))) if parts else NO_LINKS


def _arrays_of(matrix: sparse.csr_array | sparse.csc_array) -> tuple[Array, Array, Array]:
    """Return the starts, indices and values of rows; of columns these are postings."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


@jit(inner=True)
def centred(product, i, j, facts):
    """Return the centred cosine of two articles, less for those of one outlet."""
    _, outlets, to_centre, common = facts
    spread = (1 - 2 * to_centre[i] + common) * (1 - 2 * to_centre[j] + common)
    if spread < MIN_SPREAD:
        spread = MIN_SPREAD
    value = (product - to_centre[i] - to_centre[j] + common) / np.sqrt(spread)
    if outlets[i] == outlets[j] and outlets[i] > 0 and value < SAME_TEXT:
        value *= SAME_OUTLET
    return value


@jit(inner=True)
def add_products(i, matrix, postings, first, end, products):
    """Add the products of a row with the rows from `first` to `end` of the postings to `products`, from 0 on."""
    starts, terms, values = matrix
    columns, rows, weights = postings
    for place in range(starts[i], starts[i + 1]):
        term, value = terms[place], values[place]
        begin, stop = columns[term], columns[term + 1]
        if stop - begin < 2:
            continue
        at, after = begin, stop
        while at < after:
            middle = (at + after) >> 1
            if rows[middle] < first:
                at = middle + 1
            else:
                after = middle
        while at < stop and rows[at] < end:
            products[rows[at] - first] += value * weights[at]
            at += 1


@jit(inner=True)
def nth_smallest(values, size, n):
    """Return the value at place n of the first `size` values, were they sorted; puts them in another order.

    Hoare 1961, "Algorithm 65: find", CACM 4(7): `np.partition` takes ten times as long to compile.
    """
    low, high = 0, size - 1
    while low < high:
        pivot, i, j = values[(low + high) >> 1], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            break
    return values[n]


@jit
def earlier_links(rows, matrix, postings, facts, pairs, links, scratch):
    """Write the `EarlierLinks` of some rows, one after the other, and return how many there are.

    `pairs`: where the window of each row begins and ends, what is taken off its likeness and when it came. `links`: as
    many as there may be, no `first_copy` yet. `scratch`: two values for each row of the widest window.
    """
    spans, taken_off, arrival = pairs
    n_links, earlier, likeness, first_copy = links
    products, values = scratch
    total = 0
    for row in range(rows.size):
        i = rows[row]
        first, n_near = spans[i, 0], spans[i, 1] - spans[i, 0]
        for place in range(n_near):
            products[place] = 0.0
        add_products(i, matrix, postings, first, first + n_near, products)
        n_like = 0
        for place in range(n_near):
            j, value = first + place, 0.0
            if products[place] > 0 and arrival[j] < arrival[i]:
                value = centred(products[place], i, j, facts)
                if value >= SAME_TEXT and (first_copy[row] < 0 or arrival[j] < arrival[first_copy[row]]):
                    first_copy[row] = j
                value -= (taken_off[i] + taken_off[j]) / 2
            products[place] = value
            if value >= FLOOR:
                values[n_like] = value
                n_like += 1
        least = np.float32(FLOOR)
        if n_like > MAX_LINKS:
            least = nth_smallest(values, n_like, n_like - MAX_LINKS)
        for place in range(n_near):
            if products[place] >= least and n_links[row] < MAX_LINKS:
                earlier[total], likeness[total] = first + place, products[place]
                n_links[row] += 1
                total += 1
    return total


@jit
def likeness_elsewhere(rows, matrix, postings, facts, others, background, scratch):
    """Write the `ArticleLikeness.background` of some rows that have any.

    `others`: the window, how many articles are in that of each row, and the sample that the postings are of. `scratch`:
    two values for each article of the sample.
    """
    times, (window, n_in_window, sample), (products, values) = facts[0], others, scratch
    for row in range(rows.size):
        i = rows[row]
        for place in range(sample.size):
            products[place] = 0.0
        add_products(i, matrix, postings, np.int64(0), sample.size, products)
        n_outside = np.int64(0)
        for place in range(sample.size):
            j = sample[place]
            if abs(times[i] - times[j]) > window:
                values[n_outside] = -centred(products[place], i, j, facts) if products[place] > 0 else 0.0
                n_outside += 1
        if n_outside:
            lowest = nth_smallest(values, n_outside, (n_outside - 1) // n_in_window[row])
            background[row] = -lowest if lowest < 0 else 0.0
