"""Other: the documents that fit no cluster, where the number of clusters was left to the data.

A document fits no cluster if its cluster without it is less like it than another cluster is. A cluster of which fewer
than two documents would stay keeps them all, so that there are as many clusters as were counted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doccluster.labeling.placement import Placement, fit_none
from doccluster.partition import Partition
from doccluster.pipeline.fitting import Fit, new_numbers

Flags = npt.NDArray[np.bool_]


def set_aside(fit: Fit, placed: Placement) -> tuple[Fit, Placement, Flags]:
    """Return the clusters, how each document sits in its nearest, and which documents fit no cluster.

    Every document keeps its cluster. Clusters are numbered by how many documents stay.

    Parameters
    ----------
    placed : Placement
        Of the documents of the fit.
    """
    labels, k = fit.partition.labels, fit.partition.n_clusters
    is_other = fit_none(labels, placed)
    if not is_other.any():
        return fit, placed, is_other
    order = np.argsort(-np.bincount(labels[~is_other], minlength=k), kind="stable")
    numbers = new_numbers(order, k)
    partition = Partition(numbers[labels], tuple(range(k)))
    rule = None if fit.rule is None else fit.rule.renumbered(numbers)
    placed = replace(placed, runner_up=numbers[placed.runner_up])
    return replace(fit, partition=partition, centroids=fit.centroids[order], rule=rule), placed, is_other


def other_note(is_other: Flags | None) -> str | None:
    """Return the note of a run; None where every document belongs to a cluster."""
    n_other = 0 if is_other is None else int(is_other.sum())
    if n_other == 0:
        return None
    subject = "1 document fits" if n_other == 1 else f"{n_other:,} documents fit"
    return f"{subject} no cluster: see Other. assignments.csv names the nearest one, and --no-other uses it."
