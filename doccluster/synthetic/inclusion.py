"""How often each term of a vocabulary occurs in a document, and documents of exactly m terms that keep to it.

The inclusion probabilities follow a power of the rank, as Zipf's law has it, cut at 1. The power is solved for, so that
the sum of the squares, which sets how near documents are to one another, comes out as asked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import optimize

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_STEEPEST = 40.0  # rank^-40: the first m terms always, the others never


def power_inclusion(n_terms: int, n_chosen: int, exponent: float) -> Floats:
    """Return min(1, c rank^-exponent) with c such that the sum is `n_chosen`, descending, shape (n_terms,)."""
    weights = np.arange(1, n_terms + 1, dtype=np.float64) ** -exponent
    rest = np.cumsum(weights[::-1])[::-1]  # sum from each rank on
    n_certain = np.arange(n_terms)
    scales = (n_chosen - n_certain[:n_chosen]) / rest[:n_chosen]
    # the first number of certain terms after which no other term would be above 1
    fitting = np.flatnonzero(scales * weights[:n_chosen] <= 1.0 + 1e-12)
    certain = int(fitting[0]) if fitting.size else n_chosen
    probabilities = np.ones(n_terms)
    probabilities[certain:] = np.minimum(1.0, scales[certain] * weights[certain:]) if certain < n_chosen else 0.0
    return probabilities


def squares_range(n_terms: int, n_chosen: int) -> tuple[float, float]:
    """Return the least and the largest sum of squared inclusion probabilities: all terms alike, or always the same."""
    if n_chosen == 0:
        return 0.0, 0.0
    steepest = power_inclusion(n_terms, n_chosen, _STEEPEST)
    return n_chosen**2 / n_terms, float(steepest @ steepest)


def inclusion_with_squares(n_terms: int, n_chosen: int, squares: float) -> Floats:
    """Return inclusion probabilities of sum `n_chosen` whose squares sum to `squares`, within `squares_range`."""
    if n_chosen == 0:
        return np.zeros(n_terms)

    def excess(exponent: float) -> float:
        probabilities = power_inclusion(n_terms, n_chosen, exponent)
        return float(probabilities @ probabilities) - squares

    if excess(0.0) >= 0:
        return power_inclusion(n_terms, n_chosen, 0.0)
    if excess(_STEEPEST) <= 0:
        return power_inclusion(n_terms, n_chosen, _STEEPEST)
    return power_inclusion(n_terms, n_chosen, float(optimize.brentq(excess, 0.0, _STEEPEST, xtol=1e-12)))


def draw_terms(probabilities: Floats, n_documents: int, n_chosen: int, generator: np.random.Generator) -> Ints:
    """Return distinct terms for each document, int64 array of shape (n_documents, n_chosen), ascending in a row.

    The probabilities, laid end to end, cover n_chosen units of length; one uniform point in each unit picks its term.
    Each term is so included with its probability, and points of different units are independent. A term across a border
    that two points pick is picked once and the second point drawn again.
    """
    edges = np.cumsum(probabilities)
    edges[-1] = max(edges[-1], n_chosen)
    points = np.arange(n_chosen) + generator.random((n_documents, n_chosen))
    terms = np.searchsorted(edges, points, side="right")
    while True:
        rows, units = np.nonzero(terms[:, 1:] <= terms[:, :-1])
        if not rows.size:
            return np.minimum(terms, probabilities.size - 1)
        again = units + 1 + generator.random(rows.size)
        terms[rows, units + 1] = np.searchsorted(edges, again, side="right")
