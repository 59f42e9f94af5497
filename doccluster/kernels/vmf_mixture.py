"""The loops of expectation maximisation for von Mises-Fisher mixtures: posteriors of rows, weighted sums of rows.

Tables have a row for each term or document and a lane for each cluster, the lanes rounded up to whole cache lines of
float64, so that all clusters of one term lie together and are read in vectors; the lanes beyond the clusters are zero.
Sums run in float64, in the order of the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.kernels.simd.lanes import MOST_LINES, WIDE_LINE
from doccluster.kernels.simd.line_sums import add_lines

LOWEST_POWER = -700.0  # exp of less than this is not a normal number
_PER_OCTAVE = 1.4426950408889634  # 1 / log 2
_OCTAVE_HIGH = 6.93147180369123816490e-01  # log 2 with the last 32 bits zero: a whole number times it is exact
_OCTAVE_LOW = 1.90821492927058770002e-10  # the rest of log 2
_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: a number added to it is rounded, and the low bits are that whole number

NEGLIGIBLE = -46.0  # exp of this is 1e-20: such a share of a document is below the rounding of the others


@jit(fastmath={"contract"})
def exponential(power):
    """Return exp(power) for LOWEST_POWER <= power <= 0, within two units in the last place.

    With n the nearest whole number to power / log 2, it is 2^n times the Taylor polynomial of the rest, which is at
    most log(2) / 2 in size: the first term left out is below 5e-18.
    """
    rounded = power * _PER_OCTAVE + _ROUNDER
    octaves = rounded - _ROUNDER
    rest = (power - octaves * _OCTAVE_HIGH) - octaves * _OCTAVE_LOW
    value = 1 / 6227020800.0
    value = value * rest + 1 / 479001600.0
    value = value * rest + 1 / 39916800.0
    value = value * rest + 1 / 3628800.0
    value = value * rest + 1 / 362880.0
    value = value * rest + 1 / 40320.0
    value = value * rest + 1 / 5040.0
    value = value * rest + 1 / 720.0
    value = value * rest + 1 / 120.0
    value = value * rest + 1 / 24.0
    value = value * rest + 1 / 6.0
    value = value * rest + 0.5
    value = value * rest + 1.0
    value = value * rest + 1.0
    bits = np.float64(value).view(np.int64) + (np.float64(rounded).view(np.int64) << 52)
    return np.int64(bits).view(np.float64)


class Densities(NamedTuple):
    """The log densities of a mixture: ``kappas[j] x.table[:, j] + offsets[j]``."""

    table: Any  # float array of shape (n_terms, n_lanes), mean directions
    kappas: Any  # float64 array of shape (n_lanes,), concentrations
    offsets: Any  # float64 array (n_lanes,), log weight + log normaliser; -inf for dead clusters and beyond the last


class Posteriors(NamedTuple):
    """What is written of each row of a block, and of the block."""

    shares: Any  # float array of shape (n_rows, n_lanes), posterior probabilities; 0 for rows without values
    labels: Any  # int32 array of shape (n_rows,), the most probable cluster, lowest on ties; -1 for rows without values
    log_densities: Any  # float64 array (n_rows,), of the mixture, of the best cluster if hard; nan without values
    entropies: Any  # float64 array of shape (n_rows,), of the posterior in nats; nan for rows without values


@jit(forceinline=True, inner=True)
def sum_lines(values, columns, first, last, table, sums):
    """Add the products of some terms with their lines of `table` to `sums`, all its lanes."""
    for lane in range(0, sums.size, MOST_LINES * WIDE_LINE):
        n_lines = min(MOST_LINES, (sums.size - lane) // WIDE_LINE)
        add_lines(values, columns, first, last, table, lane, n_lines, sums)


@jit(fastmath={"contract"}, forceinline=True, inner=True)
def scale_scores(scores, kappas, offsets):
    """Make the cosines in `scores` log densities with weights."""
    for j in range(scores.size):
        scores[j] = kappas[j] * scores[j] + offsets[j]


@jit(forceinline=True, inner=True)
def exponentiate(scores, top, powers):
    """Make `scores` their distances from `top`, and `powers` the exponentials of these, 0 for negligible ones."""
    for j in range(scores.size):
        scores[j] = max(scores[j] - top, LOWEST_POWER)
    for j in range(scores.size):
        power = exponential(scores[j])
        powers[j] = power if scores[j] > NEGLIGIBLE else 0.0


@jit(fastmath={"contract"}, forceinline=True, inner=True)
def add_up(powers, gaps):
    """Return the sum of `powers`, and that of its products with `gaps`; four sums each, so that none waits for another.

    The number of lanes is a multiple of four.
    """
    a = b = c = d = 0.0
    e = f = g = h = 0.0
    for j in range(0, powers.size, 4):
        a += powers[j]
        b += powers[j + 1]
        c += powers[j + 2]
        d += powers[j + 3]
        e += powers[j] * gaps[j]
        f += powers[j + 1] * gaps[j + 1]
        g += powers[j + 2] * gaps[j + 2]
        h += powers[j + 3] * gaps[j + 3]
    return (a + b) + (c + d), (e + f) + (g + h)


@jit(forceinline=True, inner=True)
def write_shares(powers, total, share, masses):
    """Write `powers` over `total` into `share`, and add that to `masses`."""
    inverse = 1.0 / total
    for j in range(powers.size):
        share[j] = powers[j] * inverse
    for j in range(powers.size):
        masses[j] += share[j]


@jit(forceinline=True, inner=True)
def highest_of_fours(scores):
    """Return the largest of some scores, a multiple of four of them: four chains of comparisons wait less than one."""
    a, b, c, d = scores[0], scores[1], scores[2], scores[3]
    for j in range(4, scores.size, 4):
        a = max(a, scores[j])
        b = max(b, scores[j + 1])
        c = max(c, scores[j + 2])
        d = max(d, scores[j + 3])
    return max(max(a, b), max(c, d))


@jit
def posteriors(rows, densities, is_hard, found):
    """Write the posteriors of some unit rows (`Csr`) to `found`, computed in float64.

    Returns the sums of the shares as they are stored, so that of equal rows sums and masses have the same rounding.
    With `is_hard` each row goes to its most probable cluster as a whole.
    """
    starts, columns, values = rows
    table, kappas, offsets = densities
    shares, labels, log_densities, entropies = found
    n_lanes = table.shape[1]
    scores, powers = np.empty(n_lanes), np.empty(n_lanes)
    masses = np.zeros(n_lanes)
    for i in range(labels.size):
        share = shares[i]
        if starts[i] == starts[i + 1]:
            share[:] = 0.0
            labels[i] = -1
            log_densities[i] = np.nan
            entropies[i] = np.nan
            continue
        scores[:] = 0.0
        sum_lines(values, columns, starts[i], starts[i + 1], table, scores)
        scale_scores(scores, kappas, offsets)
        top = highest_of_fours(scores)
        best = 0
        while best + 1 < n_lanes and scores[best] != top:
            best += 1
        exponentiate(scores, top, powers)
        total, gap = add_up(powers, scores)
        labels[i] = best
        log_total = np.log(total)
        entropies[i] = max(log_total - gap / total, 0.0)
        log_densities[i] = top if is_hard else top + log_total
        if is_hard:
            share[:] = 0.0
            share[best] = 1.0
            masses[best] += 1.0
        else:
            write_shares(powers, total, share, masses)
    return masses


FEW = 2  # clusters of a row, up to which their sums are added to one by one


@jit
def add_rows(rows, shares, low, high, sums):
    """Add some rows (`Csr`), times their shares, to the sums of the clusters `low` to `high` - 1.

    Each number is added in the order of the rows, so the sums do not depend on how threads divide the clusters.
    `shares` are those of `Posteriors`, `sums` is a float64 array of shape (n_terms, n_lanes).
    """
    starts, columns, values = rows
    own, held = np.empty(high - low), np.empty(high - low, np.int64)
    for i in range(shares.shape[0]):
        n_held = 0
        for j in range(high - low):
            own[j] = shares[i, low + j]
            if own[j] > 0.0:
                held[n_held] = j
                n_held += 1
        if n_held > FEW:
            for at in range(starts[i], starts[i + 1]):
                value, term = np.float64(values[at]), np.uint64(columns[at])
                for j in range(own.size):  # no index counts from the end, so that this becomes vectors
                    sums[term, np.uint64(low + j)] += own[np.uint64(j)] * value
        else:
            for place in range(n_held):
                j = held[place]
                for at in range(starts[i], starts[i + 1]):
                    sums[columns[at], low + j] += own[j] * np.float64(values[at])
