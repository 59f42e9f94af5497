"""Synthetic vectors: what every generator returns (vectors, truth, parameters), and how it checks its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Matrix
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import RandomState, check_positive_int
from doccluster.clustering.mixtures.vmf_functions import MAX_CONCENTRATION
from doccluster.errors import InputError
from doccluster.vectors import DocumentVectors


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticVectors(ShortRepr):
    """Synthetic vectors with a known truth; unpacks as ``vectors, truth = make_...()``.

    Attributes
    ----------
    vectors : DocumentVectors
        Unit rows.
    truth : int64 array of shape (n_documents,)
        The cluster that each row was drawn from, 0..n_clusters-1. A cluster of small weight may have no row.
    parameters : mapping
        All that was given or chosen, as it is written to `corpus.toml`.
    law : function of rows, optional
        How likely each row is in each cluster, as a logarithm but for what is the same for all clusters.
    """

    vectors: DocumentVectors
    truth: Integers
    parameters: Mapping[str, Any] = field(default_factory=dict)
    law: Callable[[Matrix], Floats] | None = field(default=None, repr=False)

    def oracle(self) -> Integers:
        """Return the likeliest cluster of each row by the law it was drawn by; raise InputError if there is none."""
        if self.law is None:
            raise InputError("no law says which cluster a row is of", remedy="make the vectors with clusters")
        return np.asarray(self.law(self.vectors.matrix).argmax(axis=1), dtype=np.int64)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.vectors, self.truth))


def mass_by_cluster(owners: Integers, n_clusters: int, rows: Matrix) -> Floats:
    """Return the sum of each row over the columns that only one cluster has; owner -1: a column of several."""
    own = np.flatnonzero(owners >= 0)
    members = sparse.csr_array((np.ones(own.size), (own, owners[own])), shape=(owners.size, n_clusters))
    return np.asarray((rows @ members).toarray())


def row_names(n_documents: int) -> tuple[str, ...]:
    """Return the ids of made documents: "1", "2", ..., the names that readers give to rows without names."""
    return tuple(map(str, range(1, n_documents + 1)))


MAX_DIMENSIONS = 100_000  # the special functions are tested up to here
WEIGHT_TOLERANCE = 1e-6


def check_number(value: object, name: str, lowest: int, highest: int, what: str) -> int:
    """Return a number of things within its limits, or raise InputError."""
    number = check_positive_int(value, name)
    if not lowest <= number <= highest:
        expected = f"a number of {what} from {lowest} to {highest:,}"
        raise InputError("is out of range", argument=name, received=number, expected=expected)
    return number


def check_dimensions(n_terms: object, name: str = "n_terms") -> int:
    """Return the number of dimensions, 2..100,000, or raise InputError."""
    return check_number(n_terms, name, 2, MAX_DIMENSIONS, "dimensions")


def check_concentrations(kappa: object, n_clusters: int) -> Floats:
    """Return one concentration per cluster from a number or one number per cluster, or raise InputError."""
    kappas = _numbers(kappa, "kappa")
    if kappas.ndim == 0:
        kappas = np.full(n_clusters, float(kappas))
    if kappas.shape != (n_clusters,):
        raise InputError(
            f"has {_size(kappas)} for {n_clusters} clusters", argument="kappa", expected="one number, or one for each"
        )
    bad = ~((kappas >= 0) & (kappas <= MAX_CONCENTRATION))  # NaN fails both
    if bad.any():
        raise InputError(
            "is not a concentration",
            argument="kappa",
            received=kappas[bad][0],
            expected=f"a finite number between 0 and {MAX_CONCENTRATION:g}",
        )
    return kappas


def check_weights(weights: object, n_clusters: int) -> Floats:
    """Return the shares of the clusters, which sum to one (None: equal shares), or raise InputError."""
    if weights is None:
        return np.full(n_clusters, 1.0 / n_clusters)
    shares = _numbers(weights, "weights")
    if shares.shape != (n_clusters,):
        raise InputError(
            f"has {_size(shares)} for {n_clusters} clusters", argument="weights", expected="one number for each"
        )
    if not (shares >= 0).all():  # NaN fails too
        raise InputError("has a negative or missing number", argument="weights", expected="shares between 0 and 1")
    total = float(shares.sum())
    if not abs(total - 1) <= WEIGHT_TOLERANCE:
        raise InputError(f"sums to {total:g}, not to 1", argument="weights", remedy="divide the weights by their sum")
    return shares / total


def check_direction(mean: object) -> Floats:
    """Return a unit vector in float64 with its rounding removed, or raise InputError."""
    direction = _numbers(mean, "mean")
    if direction.ndim != 1:
        raise InputError(f"has {direction.ndim} dimensions", argument="mean", expected="a vector of shape (n_terms,)")
    check_dimensions(direction.size, "the length of mean")
    length = float(np.linalg.norm(direction))
    if length == 0:
        raise InputError("has length zero, so it has no direction", argument="mean", remedy="give a unit vector")
    if not abs(length - 1) <= 1e-5:  # NaN and infinity fail too
        raise InputError(f"has length {length:g}, expected 1", argument="mean", remedy="divide it by its length")
    return direction / length


def check_share(value: object, name: str, *, lowest: float = 0.0, highest: float = 1.0) -> float:
    """Return a number between `lowest` and `highest`, or raise InputError."""
    number = _numbers(value, name)
    if number.ndim != 0 or not lowest <= float(number) <= highest:
        raise InputError(
            "is out of range", argument=name, received=value, expected=f"a number from {lowest:g} to {highest:g}"
        )
    return float(number)


def seed_record(random_state: RandomState) -> int | str:
    """Return the seed for the record of parameters, or say that a generator (or nothing) was given."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return "none" if random_state is None else "a generator"


def _size(values: Floats) -> str:
    """Return how many numbers were given, or their shape where they are not a list."""
    if values.ndim > 1:
        return f"shape {values.shape}"
    return "1 number" if values.size == 1 else f"{values.size} numbers"


def _numbers(values: object, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("is not numeric", argument=name, received=values, expected="a number or numbers") from error
