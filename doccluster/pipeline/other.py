"""Other: the documents that belong nowhere, where the number of clusters was left to the data.

A document belongs nowhere if its cluster without it is less like it than another cluster is. A cluster of which fewer
than two documents would stay keeps them all, so that there are as many clusters as were counted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doccluster.labeling import Placement
from doccluster.partition import Partition
from doccluster.pipeline.fitting import Fit, new_numbers

LEAST_STAYING = 2
Flags = npt.NDArray[np.bool_]


def set_aside(fit: Fit, placed: Placement) -> tuple[Fit, Placement, Flags]:
    """Return the clusters, how each document sits in its nearest, and which documents belong nowhere.

    Every document keeps its cluster. Clusters are numbered by how many documents stay.

    Parameters
    ----------
    placed : Placement
        Of the documents of the fit.
    """
    labels, k = fit.partition.labels, fit.partition.n_clusters
    is_other = is_nearer_to_another(labels, placed)
    is_other &= (np.bincount(labels[~is_other], minlength=k) >= LEAST_STAYING)[labels]
    if not is_other.any():
        return fit, placed, is_other
    order = np.argsort(-np.bincount(labels[~is_other], minlength=k), kind="stable")
    numbers = new_numbers(order, k)
    partition = Partition(numbers[labels], tuple(range(k)))
    rule = None if fit.rule is None else fit.rule.renumbered(numbers)
    placed = replace(placed, runner_up=numbers[placed.runner_up])
    return replace(fit, partition=partition, centroids=fit.centroids[order], rule=rule), placed, is_other


def is_nearer_to_another(labels: npt.NDArray[np.int64], placed: Placement) -> Flags:
    """Return which documents are less like their cluster without them than like another cluster.

    The sum ``s`` of the unit rows of a cluster is as long as the sum of their cosines to its centroid; without row x it
    is ``s - x``, whose cosine to x is ``(x.s - 1) / |s - x|``.
    """
    length = np.bincount(labels, weights=placed.similarity)[labels]
    product = length * placed.similarity
    rest = np.sqrt(np.maximum(length**2 - 2 * product + 1, 0))
    own = np.divide(product - 1, rest, out=np.zeros_like(rest), where=rest > 1e-6)
    nearer: Flags = own < placed.runner_up_similarity  # never where there is no other
    return nearer


def other_note(is_other: Flags | None) -> str | None:
    """Return the note of a run; None where every document belongs to a cluster."""
    n_other = 0 if is_other is None else int(is_other.sum())
    if n_other == 0:
        return None
    subject = "1 document belongs" if n_other == 1 else f"{n_other:,} documents belong"
    return f"{subject} nowhere: Other. assignments.csv has the nearest cluster of each; --no-other gives it that."
