"""Sparse non-negative unit rows around sparse mean directions: what von Mises-Fisher samples are not, shaped like text.

As in the von Mises-Fisher distribution, each cluster has a mean direction, the directions have a given cosine to one
another, and rows have a given mean resultant length about it (the number that sets kappa). Unlike it, rows are sparse
and non-negative, so they are not symmetric about the mean and the cosine to it has another distribution.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from doccluster.base.arrays import Array, DType, Floats, Integers
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import RandomState, as_generator, check_float_type, check_n_clusters, check_positive_int
from doccluster.clustering.mixtures.vmf_functions import (
    MAX_CONCENTRATION,
    block_generator,
    concentration,
    spawn_entropy,
)
from doccluster.errors import Argument, InputError, listed_arguments
from doccluster.lab.synthetic.synthetic_vectors import (
    SyntheticVectors,
    check_dimensions,
    check_share,
    check_weights,
    mass_by_cluster,
    row_names,
    seed_record,
)
from doccluster.vectors import DocumentVectors

_BLOCK_VALUES = 2**18
_STEEPEST = 40.0  # rank^-40: the first m terms always, the others never
_SHARED_VOCABULARY = 0.2  # of the columns, for the terms that all clusters use
_TERMS_PER_DOCUMENT = (100, 10)  # by default: the most, and the fewest where the vocabulary has no room for more


@at_the_door
def make_sparse_vmf(
    n_documents: int,
    n_terms: int,
    n_clusters: int,
    *,
    mean_resultant_length: float = 0.3,
    terms_per_document: int | None = None,
    separation: float = 0.1,
    background: float = 0.3,
    value_spread: float = 0.4,
    weights: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    dtype: npt.DTypeLike = np.float32,
    n_threads: int | None = None,
) -> SyntheticVectors:
    """Return sparse non-negative unit rows around sparse mean directions, and the cluster of each.

    Parameters
    ----------
    n_documents, n_terms, n_clusters : int
    mean_resultant_length : float in (0, 1)
        The length of the mean of a cluster's rows, in expectation; its square is the mean cosine of two of its rows.
    terms_per_document : int, optional
        Terms of each row, exactly. By default 100, or fewer where the vocabulary is too small for 100: the largest
        number down to 10 with which the other arguments can be had; `parameters` has it.
    separation : float in [0, 1)
        The cosine between each two cluster means, in expectation. It comes from terms that all clusters share.
    background : float in [0, 1)
        The share of a row's terms that are from the shared vocabulary (a fifth of the columns).
    value_spread : float >= 0
        Values before normalising are log-normal with this standard deviation of the logarithm.
    weights : float array of shape (n_clusters,), or None
        Probabilities of the clusters; None makes them equal.
    random_state : None, int or numpy Generator
    dtype : float32 or float64
    n_threads : int or None
        The rows are the same for any number.

    Returns
    -------
    SyntheticVectors
        csr rows. `parameters["kappa"]` is the concentration of a von Mises-Fisher distribution of that mean resultant
        length in as many dimensions.

    Raises
    ------
    InputError
        If an argument is outside its range, or the vocabulary cannot give rows that near (or that far) apart.

    Notes
    -----
    A row is n unit values on m terms, term t with probability p_t, so the mean has length
    sqrt(sum p_t^2 / m) exp(-value_spread^2 / 2). Each cluster's terms, and the shared ones, follow a power of the rank
    that is solved for, which gives document frequencies like those of text.

    Examples
    --------
    >>> vectors, truth = make_sparse_vmf(400, 5000, 4, random_state=0)
    >>> set(np.diff(vectors.matrix.indptr).tolist())
    {100}
    """
    n_rows = check_positive_int(n_documents, "n_documents")
    k = check_n_clusters(n_clusters, n_rows)
    shares = check_weights(weights, k)
    float_type = check_float_type(dtype)
    plan = _plan_of_length(terms_per_document, n_terms, k, mean_resultant_length, separation, background, value_spread)
    generator = as_generator(random_state)
    # blocks of terms that belong together do not stand side by side
    columns = generator.permutation(plan.n_terms)
    truth = generator.choice(k, size=n_rows, p=shares).astype(np.int64, copy=False)
    matrix = _draw(plan, truth, columns, spawn_entropy(generator), float_type, n_threads)
    parameters = {
        "kind": "sparse-vmf",
        "n_documents": n_rows,
        "n_terms": plan.n_terms,
        "n_clusters": k,
        "mean_resultant_length": float(mean_resultant_length),
        "kappa": float(concentration(plan.n_terms, float(mean_resultant_length), MAX_CONCENTRATION)),
        "terms_per_document": plan.n_own + plan.n_shared,
        "separation": float(separation),
        "background": float(background),
        "value_spread": plan.value_spread,
        "weights": shares.tolist(),
        "dtype": str(float_type),
        "random_state": seed_record(random_state),
    }
    owners = np.full(plan.n_terms, -1)
    first, n_own = plan.shared_part.size, plan.cluster_part.size
    owners[columns[first : first + k * n_own]] = np.repeat(np.arange(k), n_own)
    law = partial(mass_by_cluster, owners, k)
    return SyntheticVectors(DocumentVectors(matrix, row_names(n_rows)), truth, parameters, law)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Inclusion probabilities: of the shared terms, and of each cluster's own, the same by rank for all clusters."""

    n_terms: int
    n_own: int
    n_shared: int
    cluster_part: Floats
    shared_part: Floats
    value_spread: float


def _plan_of_length(terms_per_document: int | None, *settings: Any) -> _Plan:
    """Return the plan for this many terms in a document; by default for the most that can be had."""
    if terms_per_document is not None:
        return _plan(terms_per_document, *settings)
    try:
        return _plan(_TERMS_PER_DOCUMENT[0], *settings)
    except InputError:
        for fewer in range(_TERMS_PER_DOCUMENT[0] - 1, _TERMS_PER_DOCUMENT[1] - 1, -1):
            with suppress(InputError):
                return _plan(fewer, *settings)
        raise


def _plan(
    terms_per_document: int,
    n_terms: int,
    n_clusters: int,
    resultant: float,
    separation: float,
    background: float,
    value_spread: float,
) -> _Plan:
    dimensions = check_dimensions(n_terms)
    m = check_positive_int(terms_per_document, "terms_per_document")
    length = check_share(resultant, "mean_resultant_length")
    cosine = check_share(separation, "separation")
    spread = check_share(value_spread, "value_spread", highest=3.0)
    n_shared = round(m * check_share(background, "background"))
    shared_columns = int(dimensions * _SHARED_VOCABULARY) if n_shared else 0
    own_columns = (dimensions - shared_columns) // n_clusters  # no term is of two clusters but the shared ones
    if own_columns < m - n_shared or shared_columns < n_shared or m == n_shared:
        raise InputError(
            f"leaves each of {n_clusters} clusters {own_columns} terms of its own, for "
            f"{m - n_shared} of them in each document",
            argument="n_terms",
            received=dimensions,
            remedy="choose more terms, fewer clusters or less background",
        )
    squares = length**2 * m * np.exp(spread**2)
    cluster_part = _part(own_columns, m - n_shared, squares, 1.0 - cosine, length, "own")
    shared_part = _part(shared_columns, n_shared, squares, cosine, length, "shared")
    return _Plan(dimensions, m - n_shared, n_shared, cluster_part, shared_part, spread)


def _part(n_columns: int, n_chosen: int, squares: float, share: float, length: float, which: str) -> Floats:
    """Return the inclusion probabilities of one part, whose squares sum to `share` of `squares`."""
    low, high = squares_range(n_columns, n_chosen)
    if not low * (1 - 1e-9) <= squares * share <= high * (1 + 1e-9):
        # with so few terms a document cannot be as near to, or as far from, its centre
        problem = f"cannot be reached with {n_chosen} of {n_columns} {which} terms in a document: "
        most = listed_arguments(("mean_resultant_length", "separation", "background", "terms_per_document"))
        raise InputError(
            (problem, *_reach(low, high, squares * share, length, which)),
            argument="mean_resultant_length",
            received=length,
            remedy=("change ", *most, " or ", Argument("n_terms")),
        )
    return inclusion_with_squares(n_columns, n_chosen, squares * share)


def _reach(low: float, high: float, squares: float, length: float, which: str) -> tuple[str | Argument, ...]:
    """Return why a part cannot have squares that sum to `squares`, given the least and the largest sum it can have."""
    if squares <= 0 and length > 0:
        if which == "shared":
            return Argument("separation", 0), " needs ", Argument("background", 0)
        return Argument("separation", 1), " leaves them no weight"
    if high <= 0:
        return ("a separation above 0 needs a background above 0",)
    reach = [length * np.sqrt(bound / squares) if squares > 0 else 0.0 for bound in (low, high)]
    return (f"for this separation they can give {reach[0]:.3g} to {reach[1]:.3g}",)


def _draw(
    plan: _Plan,
    truth: Integers,
    columns: Integers,
    entropy: tuple[int, ...],
    dtype: DType,
    n_threads: int | None,
) -> sparse.csr_array:
    m = plan.n_own + plan.n_shared
    blocks = row_blocks(truth.size, max(1, _BLOCK_VALUES // m))
    indices = np.empty((truth.size, m), dtype=np.int32)
    values = np.empty((truth.size, m), dtype=dtype)

    def one(index: int) -> tuple[npt.NDArray[np.int32], Array]:
        block = blocks[index]
        generator = block_generator(entropy, index)
        n_rows = block.stop - block.start
        cluster_terms = draw_terms(plan.cluster_part, n_rows, plan.n_own, generator) + plan.shared_part.size
        # columns: the shared ones, then those of each cluster in turn; `columns` gives them their random places
        cluster_terms += truth[block, None] * plan.cluster_part.size
        shared_terms = (
            draw_terms(plan.shared_part, n_rows, plan.n_shared, generator) if plan.n_shared else cluster_terms[:, :0]
        )
        chosen = columns[np.concatenate([shared_terms, cluster_terms], axis=1)]
        order = np.argsort(chosen, axis=1)
        raw = np.exp(plan.value_spread * generator.standard_normal((n_rows, m)))
        unit = raw / np.linalg.norm(raw, axis=1)[:, None]
        return np.take_along_axis(chosen, order, axis=1).astype(np.int32), unit.astype(dtype)

    for block, parts in zip(blocks, map_blocks(one, range(len(blocks)), n_threads=n_threads), strict=True):
        indices[block], values[block] = parts
    starts = np.arange(truth.size + 1, dtype=np.int64) * m
    starts = starts.astype(np.int32) if starts[-1] < 2**31 else starts
    return sparse.csr_array((values.ravel(), indices.ravel(), starts), shape=(truth.size, plan.n_terms))


# How often each term of a vocabulary occurs in a document, and documents of exactly m terms that keep to it: inclusion
# probabilities follow a power of the rank, as Zipf's law has it, cut at 1. The power is solved for, so that the sum of
# the squares, which sets how near documents are to one another, comes out as it should.


def power_inclusion(n_terms: int, n_chosen: int, exponent: float) -> Floats:
    """Return min(1, c rank^-exponent) with c such that the sum is `n_chosen`, descending, shape (n_terms,)."""
    weights = np.arange(1, n_terms + 1, dtype=np.float64) ** -exponent
    tail_sums = np.cumsum(weights[::-1])[::-1]  # sum from each rank on
    n_certain = np.arange(n_terms)
    scales = (n_chosen - n_certain[:n_chosen]) / tail_sums[:n_chosen]
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


def draw_terms(probabilities: Floats, n_documents: int, n_chosen: int, generator: np.random.Generator) -> Integers:
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
