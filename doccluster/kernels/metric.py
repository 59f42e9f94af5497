"""How documents are compared, as kernels are told it: one set of numbers for all of them."""

from __future__ import annotations

from enum import IntEnum


class Metric(IntEnum):
    """The metrics of `choices.METRICS`; kernels are given the number."""

    EUCLIDEAN = 0
    SQEUCLIDEAN = 1
    COSINE = 2


EUCLIDEAN, SQEUCLIDEAN, COSINE = (int(metric) for metric in Metric)


def metric_code(name: str) -> int:
    """Return the number of a metric given by its name."""
    return int(Metric[name.upper()])
