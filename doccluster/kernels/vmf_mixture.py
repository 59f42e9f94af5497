"""The two loops of expectation maximisation for von Mises-Fisher mixtures: posteriors of rows, weighted sums of rows.

Both read a table of shape (n_terms, n_clusters), so that all clusters of one term lie together: a row of a sparse
matrix then costs one short contiguous sweep per term.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

NEGLIGIBLE = -46.0  # exp of this is 1e-20: such a share of a document is below the rounding of the others


@jit(fastmath={"contract"})
def cosines_of_row(values, columns, start, stop, table, out):
    """Write the dot products of one sparse row with all columns of the table into `out`, in float64."""
    n_clusters = table.shape[1]
    for j in range(n_clusters):
        out[j] = 0.0
    at = start
    while at + 4 <= stop:  # four terms per sweep: the sums stay in registers for longer
        v0, v1 = np.float64(values[at]), np.float64(values[at + 1])
        v2, v3 = np.float64(values[at + 2]), np.float64(values[at + 3])
        r0, r1 = table[columns[at]], table[columns[at + 1]]
        r2, r3 = table[columns[at + 2]], table[columns[at + 3]]
        for j in range(n_clusters):
            out[j] += (v0 * r0[j] + v1 * r1[j]) + (v2 * r2[j] + v3 * r3[j])
        at += 4
    while at < stop:
        value = np.float64(values[at])
        row = table[columns[at]]
        for j in range(n_clusters):
            out[j] += value * row[j]
        at += 1


@jit
def posteriors(
    values, columns, starts, first, table, kappas, offsets, is_hard, shares, labels, log_densities, entropies
):
    """Write the posterior of each row of a block.

    Parameters
    ----------
    values, columns, starts : arrays of a csr matrix of unit rows
    first : int
        The row of the matrix that is row 0 of the block.
    table : float array of shape (n_terms, n_clusters)
        Mean directions.
    kappas, offsets : float64 arrays of shape (n_clusters,)
        Concentrations; log weight + log normaliser (-inf for a cluster that has died).
    is_hard : bool
        Whether each row goes to its most probable cluster as a whole.
    shares : float64 array of shape (n_rows, n_clusters), written
        Posterior probabilities; 0 for rows without values.
    labels : int32 array of shape (n_rows,), written
        The most probable cluster, the lowest on ties; -1 for rows without values.
    log_densities : float64 array of shape (n_rows,), written
        Log density of the mixture, or of the best cluster with its weight if `is_hard`; nan for rows without values.
    entropies : float64 array of shape (n_rows,), written
        Entropy of the posterior in nats; nan for rows without values.
    """
    n_clusters = table.shape[1]
    scores = np.empty(n_clusters)
    for i in range(labels.size):
        start, stop = starts[first + i], starts[first + i + 1]
        share = shares[i]
        if start == stop:
            share[:] = 0.0
            labels[i] = -1
            log_densities[i] = np.nan
            entropies[i] = np.nan
            continue
        cosines_of_row(values, columns, start, stop, table, scores)
        best = 0
        for j in range(n_clusters):
            scores[j] = kappas[j] * scores[j] + offsets[j]
            if scores[j] > scores[best]:
                best = j
        top = scores[best]
        total = 0.0
        for j in range(n_clusters):
            gap = scores[j] - top
            share[j] = np.exp(gap) if gap > NEGLIGIBLE else 0.0
            total += share[j]
        entropy = np.log(total)
        for j in range(n_clusters):
            if share[j] > 0.0:
                share[j] /= total
                entropy -= share[j] * (scores[j] - top)
        labels[i] = best
        entropies[i] = max(entropy, 0.0)
        log_densities[i] = top if is_hard else top + np.log(total)
        if is_hard:
            share[:] = 0.0
            share[best] = 1.0


@jit
def add_weighted_rows(values, columns, starts, first, shares, low, high, sums, masses):
    """Add the rows of a block, times their shares, to the sums of the clusters `low` to `high` - 1.

    A cluster's numbers are added in the order of the rows, whatever range it is computed in, so the sums do not depend
    on how the clusters are divided among threads.

    Parameters
    ----------
    values, columns, starts, first, shares
        As in `posteriors`.
    low, high : int
    sums : float64 array of shape (n_terms, n_clusters), added to
    masses : float64 array of shape (n_clusters,), added to
    """
    active = np.empty(high - low, np.int64)
    for i in range(shares.shape[0]):
        share = shares[i]
        n_active = 0
        for j in range(low, high):
            if share[j] > 0.0:
                masses[j] += share[j]
                active[n_active] = j
                n_active += 1
        start, stop = starts[first + i], starts[first + i + 1]
        if 2 * n_active > high - low:
            for at in range(start, stop):
                value = np.float64(values[at])
                row = sums[columns[at]]
                for j in range(low, high):
                    row[j] += value * share[j]
        elif n_active == 1:
            j = active[0]
            for at in range(start, stop):
                sums[columns[at], j] += share[j] * np.float64(values[at])
        elif n_active:
            for at in range(start, stop):
                value = np.float64(values[at])
                row = sums[columns[at]]
                for a in range(n_active):
                    row[active[a]] += value * share[active[a]]


@jit(fastmath={"contract"})
def add_by_term(values, rows, term_starts, low, high, shares, sums):
    """Add the rows of a block, times their shares, to the sums of the terms `low` to `high` - 1.

    For blocks whose rows count in most clusters: one row of the sums stays in the cache while the rows that have the
    term pass by. Each term's numbers are added in the order of the rows, whatever range it is computed in.

    Parameters
    ----------
    values, rows, term_starts : arrays of the block as a csc matrix
    low, high : int
    shares : float64 array of shape (n_rows, n_clusters)
    sums : float64 array of shape (n_terms, n_clusters), added to
    """
    n_clusters = shares.shape[1]
    for term in range(low, high):
        total = sums[term]
        at, stop = term_starts[term], term_starts[term + 1]
        while at + 4 <= stop:
            v0, v1 = np.float64(values[at]), np.float64(values[at + 1])
            v2, v3 = np.float64(values[at + 2]), np.float64(values[at + 3])
            r0, r1 = shares[rows[at]], shares[rows[at + 1]]
            r2, r3 = shares[rows[at + 2]], shares[rows[at + 3]]
            for j in range(n_clusters):
                total[j] += (v0 * r0[j] + v1 * r1[j]) + (v2 * r2[j] + v3 * r3[j])
            at += 4
        while at < stop:
            value = np.float64(values[at])
            row = shares[rows[at]]
            for j in range(n_clusters):
                total[j] += value * row[j]
            at += 1
