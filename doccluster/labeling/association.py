"""How much having a term says about being in a cluster."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def mutual_information(support: Floats, frequency: Floats, size: Floats, n_documents: int) -> Floats:
    """Return the mutual information, in bits, of having a term and of being in a cluster; 0 where it is rarer inside.

    Manning, Raghavan and Schuetze (2008), equation 13.17.

    Parameters
    ----------
    support, frequency : float64 arrays of shape (n,)
        How many documents of the cluster, and of all, have the term.
    size : float64 array of shape (n,)
        How many documents the cluster has.

    Examples
    --------
    >>> mutual_information(np.array([4.0, 2.0]), np.array([4.0, 4.0]), np.array([4.0, 4.0]), 8).round(3)
    array([1., 0.])
    """
    n = float(n_documents)
    total = np.zeros(support.size)
    for count, with_term, of_cluster in (
        (support, frequency, size),
        (frequency - support, frequency, n - size),
        (size - support, n - frequency, size),
        (n - size - frequency + support, n - frequency, n - size),
    ):
        expected = with_term * of_cluster
        some = (count > 0) & (expected > 0)
        ratio = np.divide(count * n, expected, out=np.ones_like(total), where=some)
        total += np.where(some, count / n * np.log2(ratio), 0.0)
    return np.where(support * n > frequency * size, np.maximum(total, 0.0), 0.0)
