"""The loops of expectation maximisation for von Mises-Fisher mixtures: posteriors of rows, weighted sums of rows.

Tables have a row for each term or document and a lane for each cluster, the lanes rounded up to whole cache lines of
float64, so that all clusters of one term lie together and are read in vectors; the lanes beyond the clusters are zero.
Sums run in float64, in the order of the rows.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.exponential import LOWEST_POWER, exponential
from doccluster.kernels.jit import jit
from doccluster.kernels.prefetching import later_row, prefetch_row
from doccluster.kernels.simd import sum_lines
from doccluster.kernels.simd.lanes import WIDE_LINE

NEGLIGIBLE = -46.0  # exp of this is 1e-20: such a share of a document is below the rounding of the others


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
    """Write `powers` over `total` into `share`, add that to `masses`, and return how many are above zero."""
    inverse = 1.0 / total
    count = 0
    for j in range(powers.size):
        share[j] = powers[j] * inverse
        count += powers[j] > 0.0
    for j in range(powers.size):
        masses[j] += share[j]
    return count


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
def posteriors(
    values,
    columns,
    starts,
    table,
    kappas,
    offsets,
    is_hard,
    shares,
    n_positive,
    masses,
    labels,
    log_densities,
    entropies,
):
    """Write the posterior of each row of a block.

    Parameters
    ----------
    values, columns : arrays of a csr matrix of unit rows
    starts : int64 array of shape (n_rows + 1,)
        Where the rows of the block begin, and where the last ends.
    table : float array of shape (n_terms, n_lanes)
        Mean directions.
    kappas, offsets : float64 arrays of shape (n_lanes,)
        Concentrations; log weight + log normaliser (-inf for a cluster that has died, and beyond the clusters).
    is_hard : bool
        Whether each row goes to its most probable cluster as a whole.
    shares : float32 or float64 array of shape (n_rows, n_lanes), written
        Posterior probabilities, computed in float64; 0 for rows without values.
    n_positive : int32 array of shape (n_rows,), written
        How many posterior probabilities are above zero; where it is 1, that one is exactly 1.
    masses : float64 array of shape (n_lanes,), written
        The sums of `shares` as they are stored, so that of equal rows sums and masses have the same rounding.
    labels : int32 array of shape (n_rows,), written
        The most probable cluster, the lowest on ties; -1 for rows without values.
    log_densities : float64 array of shape (n_rows,), written
        Log density of the mixture, or of the best cluster with its weight if `is_hard`; nan for rows without values.
    entropies : float64 array of shape (n_rows,), written
        Entropy of the posterior in nats; nan for rows without values.
    """
    n_lanes = table.shape[1]
    nothing, scores, powers = np.zeros(n_lanes), np.empty(n_lanes), np.empty(n_lanes)
    masses[:] = 0.0
    for i in range(labels.size):
        share = shares[i]
        if starts[i] == starts[i + 1]:
            share[:] = 0.0
            n_positive[i] = 0
            labels[i] = -1
            log_densities[i] = np.nan
            entropies[i] = np.nan
            continue
        sum_lines(values, columns, starts[i], starts[i + 1], table, 0, n_lanes // WIDE_LINE, nothing, False, scores)
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
            n_positive[i] = 1
        else:
            n_positive[i] = write_shares(powers, total, share, masses)


@jit
def add_certain_rows(values, columns, starts, labels, low, high, sums):
    """Add each row whose label is one of the clusters `low` to `high` - 1 to the sum of that cluster, rows ascending.

    A cluster is added up where its numbers lie close together; only then do the sums go to the table.

    Parameters
    ----------
    values, columns : arrays of a csr matrix
    starts : int64 array of shape (n_rows + 1,)
    labels : int32 array of shape (n_rows,)
    low, high : int
    sums : float64 array of shape (n_terms, n_lanes), added to
    """
    begins = np.zeros(high - low + 1, np.int64)
    for i in range(labels.size):
        if low <= labels[i] < high:
            begins[labels[i] - low + 1] += 1
    for cluster in range(high - low):
        begins[cluster + 1] += begins[cluster]
    if begins[high - low] == 0:
        return
    members = np.empty(begins[high - low], np.int64)
    following = begins[:-1].copy()
    for i in range(labels.size):
        if low <= labels[i] < high:
            members[following[labels[i] - low]] = i
            following[labels[i] - low] += 1
    store = np.zeros((high - low, sums.shape[0]))
    for cluster in range(high - low):
        own = store[cluster]
        own_members = members[begins[cluster] : begins[cluster + 1]]
        for place in range(own_members.size):
            i = own_members[place]
            prefetch_row(values, columns, starts[later_row(own_members, place)])
            for at in range(starts[i], starts[i + 1]):
                own[columns[at]] += values[at]
    for term in range(sums.shape[0]):
        for cluster in range(high - low):
            sums[term, low + cluster] += store[cluster, term]


@jit
def add_by_cluster(values, columns, starts, shares, n_positive, low, high, sums):
    """Add the rows of a block that count in more than one cluster, times their shares, to clusters `low` to `high` - 1.

    For blocks whose rows count in few clusters. A cluster's numbers are added in the order of the rows, whatever range
    it is computed in, so the sums do not depend on how the clusters are divided among threads.

    Parameters
    ----------
    values, columns, starts, shares, n_positive
        As in `posteriors`.
    low, high : int
    sums : float64 array of shape (n_terms, n_lanes), added to
    """
    for j in range(low, high):
        for i in range(shares.shape[0]):
            if n_positive[i] < 2 or shares[i, j] == 0.0:
                continue
            share = np.float64(shares[i, j])
            for at in range(starts[i], starts[i + 1]):
                sums[columns[at], j] += share * np.float64(values[at])


@jit
def count_terms(columns, first, last, counts):
    """Make `counts` the number of entries of each term among those from `first` on and before `last`."""
    counts[:] = 0
    for at in range(first, last):
        counts[columns[at]] += 1


@jit
def find_places(counts, ends):
    """Turn the counts of each part (n_parts, n_terms) into where its entries of each term go, part after part.

    ends: int32 array of shape (n_terms,), receives where each term ends.
    """
    total = 0
    for term in range(ends.size):
        for part in range(counts.shape[0]):
            count = counts[part, term]
            counts[part, term] = total
            total += count
        ends[term] = total


@jit
def sort_by_term(values, columns, starts, low, high, places, sorted_values, rows):
    """Write the values and rows of the rows `low` to `high` - 1 of a block term by term, rows ascending.

    Parameters
    ----------
    values, columns, starts
        As in `posteriors`.
    low, high : int
    places : int32 array of shape (n_terms,)
        Where the next entry of each term goes; moved on.
    sorted_values, rows : float and uint16 arrays with a place for each entry of the block, written
    """
    for i in range(low, high):
        for at in range(starts[i], starts[i + 1]):
            place = places[columns[at]]
            places[columns[at]] = place + 1
            sorted_values[place] = values[at]
            rows[place] = i


@jit
def add_by_term(sorted_values, rows, ends, low, high, shares, sums):
    """Add the rows of a block, times their shares, to the sums of the terms `low` to `high` - 1.

    For blocks whose rows count in many clusters: the sums of one term stay in registers while the rows that have the
    term pass by. Each term's numbers are added in the order of the rows, whatever range it is computed in.

    Parameters
    ----------
    sorted_values, rows : arrays
        As from `sort_by_term`.
    ends : int32 array of shape (n_terms,)
        As from `find_places`.
    low, high : int
    shares : float array of shape (n_rows, n_lanes)
    sums : float64 array of shape (n_terms, n_lanes), added to
    """
    first = ends[low - 1] if low > 0 else 0
    for term in range(low, high):
        if first < ends[term]:
            n_lines = shares.shape[1] // WIDE_LINE
            sum_lines(sorted_values, rows, first, ends[term], shares, 0, n_lines, sums[term], True, sums[term])
        first = ends[term]
