"""Which documents are like no cluster: how near to its own cluster a document would be if it were not in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

# share of the documents of a run that are nearer than this to the rest of their cluster: one in ten would be called new
SHARE_BELOW = 0.1


def leave_one_out_similarity(
    labels: npt.NDArray[np.int64], similarity: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    r"""Return the cosine of each document to the centroid of the other documents of its cluster.

    The sum s of the unit vectors of a cluster has the length L, which is the sum of the cosines of the members to the
    centroid s / L. Without the document x it is s - x, and with c the cosine of x to the centroid

    .. math:: \cos(x, s - x) = \frac{c L - 1}{\sqrt{L^2 - 2 c L + 1}}

    so that no vector is needed.

    `labels` of shape (n_documents,): clusters 0..k-1. `similarity` of shape (n_documents,): the cosine of each document
    to the centroid of its cluster, the normalised sum of its members.

    Returned: float64 array of shape (n_documents,): nan for the only document of a cluster.

    Two documents at 60 degrees are each at 30 degrees from their centroid.

    >>> leave_one_out_similarity(np.array([0, 0]), np.cos(np.radians([30.0, 30.0]))).round(3)
    array([0.5, 0.5])
    """
    length = np.bincount(labels, weights=similarity)[labels]
    is_alone = np.bincount(labels)[labels] == 1
    squared_rest = length * length - 2 * similarity * length + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (similarity * length - 1) / np.sqrt(np.maximum(squared_rest, 0))
    similarities: npt.NDArray[np.float64] = np.where(is_alone | (squared_rest <= 0), np.nan, np.clip(cosine, -1.0, 1.0))
    return similarities


def learn_threshold(
    labels: Any, similarity: Any, *, counted: npt.NDArray[np.bool_] | None = None, share: float = SHARE_BELOW
) -> float | None:
    """Return the cosine below which a new document fits no cluster: a low quantile of `leave_one_out_similarity`.

    `counted` are the documents of which the quantile is taken, all by default. None if each of them is alone in its
    cluster.

    >>> learn_threshold(np.array([0, 0, 1]), np.cos(np.radians([30.0, 30.0, 0.0])))
    0.5
    """
    usual = leave_one_out_similarity(np.asarray(labels), np.asarray(similarity, dtype=np.float64))
    usual = usual[~np.isnan(usual) & (True if counted is None else counted)]
    return round(float(np.quantile(usual, share)), 6) if usual.size else None
