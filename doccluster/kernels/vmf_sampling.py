"""The inner loop of drawing from a von Mises-Fisher distribution: normal numbers become unit rows about their mean."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit


@jit(fastmath={"reassoc", "contract"})
def rotate_tangents(rows, labels, reflectors, signs, gaps):
    """Turn rows of normal numbers, in place, into unit rows with given cosines to their mean directions.

    The last d - 1 numbers of a row give a uniform direction across the first axis; with the cosine w = 1 - gap to that
    axis this is a draw about the axis, and one Householder reflection takes the axis to the mean direction.

    Parameters
    ----------
    rows : float array of shape (n_rows, n_terms)
        Standard normal numbers; overwritten.
    labels : int64 array of shape (n_rows,)
        The cluster of each row.
    reflectors : float array of shape (n_clusters, n_terms), unit rows
        The normals u of the reflections x - 2 u (u.x).
    signs : float64 array of shape (n_clusters,)
        1 or -1: the reflection takes `sign` times the first axis to the mean direction.
    gaps : float64 array of shape (n_rows,)
        1 - w of each row, in [0, 2]: close to the mean, w itself would have no digits left.
    """
    n_terms = rows.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        reflector = reflectors[labels[i]]
        square = 0.0
        dot = 0.0
        for t in range(1, n_terms):
            value = np.float64(row[t])
            square += value * value
            dot += value * np.float64(reflector[t])
        gap = gaps[i]
        scale = np.sqrt(gap * (2.0 - gap) / square) if square > 0.0 else 0.0
        along = signs[labels[i]] * (1.0 - gap)
        twice = 2.0 * (scale * dot + along * np.float64(reflector[0]))
        row[0] = along - twice * np.float64(reflector[0])
        for t in range(1, n_terms):
            row[t] = scale * np.float64(row[t]) - twice * np.float64(reflector[t])
