"""The von Mises-Fisher distribution: its special functions, for 2 to 100,000 dimensions and concentrations to 1e7.

The density on the unit sphere of R^d is C_d(kappa) exp(kappa mu.x) with

    C_d(kappa) = kappa^(d/2-1) / ((2 pi)^(d/2) I_{d/2-1}(kappa)),      A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa),

where A_d is the mean of mu.x. The Bessel functions themselves overflow long before 100,000 dimensions, so they are
never formed: with v = d/2 - 1 the two quantities used here are log(kappa^v / I_v(kappa)) and the ratio
I_{v+1}(kappa) / (kappa I_v(kappa)), which are finite everywhere, kappa = 0 included. Both come from the uniform
expansions for large orders (DLMF 10.41.3, 10.41.5) where v^2 + kappa^2 is large, and from there by the recurrence in
the order, run downwards, the direction in which errors shrink (DLMF 10.29.1).

And draws from it, in blocks of rows. The cosine to the mean comes from the rejection of Ulrich (1984) as corrected by
Wood (1994), the direction across it from normal numbers, and one Householder reflection per cluster takes the first
axis to the mean direction: O(n d) time and nothing of size d x d. Each block has a generator of its own, whose seed
depends on the number of the block only, so the rows are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

from doccluster.base.arrays import Array, Floats, Integers, Reals
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.compiled import jit
from doccluster.base.validation import RandomState, as_generator
from doccluster.errors import InputError

MAX_CONCENTRATION = 1e7  # the largest concentration that is drawn or estimated; the precision is tested up to here


_N_EXPANSION = 13  # terms of the expansions
_FAR = 30.0  # the expansions are used where sqrt(v^2 + kappa^2) is at least this: the next term is below 1e-15
_STEPS_DOWN = 24  # each step of the recurrence shrinks an error by (kappa / 2 v)^2 at least 5 times where kappa <= v
_MAX_NEWTON = 60


def _expansion_coefficients() -> tuple[Floats, Floats]:
    """Return the coefficients of U_k and V_k of DLMF 10.41.10 and 10.41.11.

    U_k(p) = p^k times a polynomial in p^2 of degree k; entry [k, j] is the coefficient of p^(k + 2 j). V_k likewise.
    """
    u_table, v_table = np.zeros((2, _N_EXPANSION, _N_EXPANSION))
    u = v = Polynomial([1.0])
    for k in range(_N_EXPANSION):
        u_table[k, : k + 1], v_table[k, : k + 1] = u.coef[k::2], v.coef[k::2]
        slope = Polynomial([0, 0, 1, 0, -1]) * u.deriv()  # p^2 (1 - p^2) U_k'
        following = slope / 2 + (Polynomial([1, 0, -5]) * u).integ() / 8
        v = following - Polynomial([0, 1, 0, -1]) * u / 2 - slope
        u = following
    return u_table, v_table


_U, _V = _expansion_coefficients()


def _expansion(table: Floats, order: Floats, radius: Floats) -> Floats:
    """Return sum_k T_k(p) / v^k with p = v / radius, which is sum_k radius^-k times a polynomial in p^2."""
    polynomials = np.power.outer((order / radius) ** 2, np.arange(_N_EXPANSION)) @ table.T
    return np.asarray(np.sum(polynomials * np.power.outer(radius, -np.arange(float(_N_EXPANSION))), axis=-1))


def _ratio_over_kappa(order: Floats, kappa: Floats) -> Floats:
    """Return I_{v+1}(kappa) / (kappa I_v(kappa)) for orders v >= 0; 1 / (2 v + 2) at kappa = 0."""
    ratios = np.empty_like(kappa)
    is_far = (kappa > order) & (kappa >= _FAR)
    v, k = order[is_far], kappa[is_far]
    radius = np.hypot(v, k)
    slope = _expansion(_V, v, radius) / _expansion(_U, v, radius)  # I_v' / I_v = slope radius / kappa
    ratios[is_far] = (radius * (slope - 1.0) + k * (k / (radius + v))) / k / k
    v, k = order[~is_far], kappa[~is_far]
    n_steps = _STEPS_DOWN + max(0, int(np.ceil(np.max(k - v, initial=0.0))))
    # Amos (1974), Eq. 11 and 16: the ratio lies between these two, which are close
    fraction = 1.0 / (v + n_steps + 0.5 + np.sqrt(k * k + (v + n_steps + 1.5) * (v + n_steps + 0.75)))
    for step in range(n_steps):
        fraction = 1.0 / (2.0 * (v + n_steps - step) + k * k * fraction)
    ratios[~is_far] = fraction
    return ratios


def _like(argument: Any, values: Floats) -> Any:
    """Return a number where a number was given, else an array."""
    return values.item() if np.ndim(argument) == 0 else values


def mean_resultant(n_dimensions: int, kappa: object) -> Any:
    """Return A_d(kappa), the expected cosine between a draw and its mean direction, in [0, 1); of a number or array."""
    kappas = np.atleast_1d(np.asarray(kappa, np.float64))
    ratios = np.minimum(kappas * _ratio_over_kappa(np.full_like(kappas, 0.5 * n_dimensions - 1.0), kappas), 1.0)
    return _like(kappa, ratios)


def log_normalizer_plus_kappa(n_dimensions: int, kappa: object) -> Any:
    """Return log C_d(kappa) + kappa, the logarithm of the density at the mean direction; of a number or an array."""
    kappas = np.atleast_1d(np.asarray(kappa, np.float64))
    order, steps = np.full_like(kappas, 0.5 * n_dimensions - 1.0), np.zeros_like(kappas)
    while (is_near := np.hypot(order, kappas) < _FAR).any():
        steps[is_near] += np.log(_ratio_over_kappa(order[is_near], kappas[is_near]))
        order[is_near] += 1.0
    radius = np.hypot(order, kappas)
    log_power_ratio = (  # log(kappa^v / I_v(kappa)) + kappa
        -order * (order / (kappas + radius))
        + order * np.log(order + radius)
        + 0.5 * np.log(2.0 * np.pi * radius)
        - np.log(_expansion(_U, order, radius))
    )
    return _like(kappa, log_power_ratio + steps - 0.5 * n_dimensions * np.log(2.0 * np.pi))


def log_normalizer(n_dimensions: int, kappa: Any) -> Any:
    """Return log C_d(kappa), the logarithm of the normalising constant of the density; of a number or an array.

    Raises InputError if a concentration is below 0, or there are fewer than 2 dimensions.
    """
    if n_dimensions < 2 or not np.min(kappa, initial=0.0) >= 0:
        raise InputError(
            f"no von Mises-Fisher distribution has {n_dimensions} dimensions and the concentration {kappa}",
            remedy="give at least 2 dimensions and concentrations >= 0",
        )
    return log_normalizer_plus_kappa(n_dimensions, kappa) - kappa


def concentration(n_dimensions: int, resultant: object, largest: float) -> Any:
    """Return the kappa in [0, largest] with A_d(kappa) = resultant (the nearest end where there is none).

    Of a number or an array. Newton's method on A_d, started at the approximation of Banerjee et al. (2005), Eq. 4.4,
    and kept between the two bounds that follow from Amos (1974) and Simpson and Spector (1984), as in Hornik and Gruen
    (2014).
    """
    lengths = np.atleast_1d(np.asarray(resultant, np.float64))
    kappas = np.where(lengths <= 0.0, 0.0, float(largest))
    is_inside = (lengths > 0.0) & (lengths < min(1.0, mean_resultant(n_dimensions, largest)))
    r = lengths[is_inside]
    half = 0.5 * n_dimensions - 0.5
    low = np.minimum(_bound(r, half, np.sqrt(half * (half + 1.0))), largest)
    high = np.minimum(_bound(r, half, half + 1.0), largest)
    kappa = np.clip(r * (n_dimensions - r * r) / ((1.0 - r) * (1.0 + r)), low, high)
    for _ in range(_MAX_NEWTON):
        value = mean_resultant(n_dimensions, kappa)
        error = value - r
        low, high = np.where(error < 0.0, kappa, low), np.where(error > 0.0, kappa, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            following = kappa - error / (1.0 - value * value - (n_dimensions - 1.0) * value / kappa)
        # a step of Newton that leaves the bracket is replaced by its middle
        is_between = (low < following) & (following < high)
        following = np.where(error == 0.0, kappa, np.where(is_between, following, 0.5 * (low + high)))
        is_settled = np.abs(following - kappa) <= 1e-15 * kappa
        kappa = following
        if is_settled.all():
            break
    kappas[is_inside] = kappa
    return _like(resultant, kappas)


def _bound(resultant: Floats, a: float, b: float) -> Floats:
    """Return the kappa with resultant = kappa / (a + sqrt(kappa^2 + b^2))."""
    spread = (1.0 - resultant) * (1.0 + resultant)
    return resultant / spread * (a + np.sqrt(resultant * resultant * a * a + spread * b * b))


@jit(fastmath={"reassoc", "contract"})
def rotate_tangents(rows, labels, reflectors, signs, gaps):
    """Turn rows of normal numbers, in place, into unit rows with given cosines to their mean directions.

    The last d - 1 numbers of a row give a uniform direction across the first axis; with the cosine w = 1 - gap to that
    axis this is a draw about the axis, and one Householder reflection takes the axis to the mean direction.

    `rows` of shape (n_rows, n_terms): standard normal numbers; overwritten. `labels` of shape (n_rows,): the cluster of
    each row. `reflectors` of shape (n_clusters, n_terms): the normals u of the reflections x - 2 u (u.x). `signs` of
    shape (n_clusters,): 1 or -1: the reflection takes `sign` times the first axis to the mean direction. `gaps` of
    shape (n_rows,): 1 - w of each row, in [0, 2]: close to the mean, w itself would have no digits left.
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


_BLOCK_VALUES = 2**18  # numbers per block: 1 MiB of float32, so that a block is rotated while it is in the cache


def spawn_entropy(random_state: RandomState) -> tuple[int, ...]:
    """Return the numbers from which the generators of the blocks are made; the given generator moves on."""
    return tuple(map(int, as_generator(random_state).integers(0, 2**32, size=4, dtype=np.uint64)))


def block_generator(entropy: tuple[int, ...], *key: int) -> np.random.Generator:
    """Return the generator of one block: a function of the entropy and of the numbers in `key` alone."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


class VmfRows:
    """The rows of a von Mises-Fisher mixture whose clusters are known, drawn block by block.

    `means` of shape (n_clusters, n_terms): the mean directions. `kappas` of shape (n_clusters,): the concentrations.
    `labels` of shape (n_documents,): the cluster of each row. `entropy`: of `spawn_entropy`. `dtype`: the type of the
    rows.
    """

    def __init__(
        self, means: Floats, kappas: Floats, labels: Integers, *, entropy: tuple[int, ...], dtype: npt.DTypeLike
    ) -> None:
        self.labels = labels
        self.shape = (labels.size, means.shape[1])
        self.dtype = np.dtype(dtype)
        self._kappas = kappas
        self._entropy = entropy
        self._reflectors, self._signs = _reflectors(means, self.dtype)
        self._blocks = row_blocks(labels.size, max(1, _BLOCK_VALUES // means.shape[1]))

    def draw(self, *, n_threads: int | None = None) -> Reals:
        """Return all rows."""
        drawn = np.empty(self.shape, self.dtype)
        for block, rows in zip(self._blocks, self.blocks(n_threads=n_threads), strict=True):
            drawn[block] = rows
        return drawn

    def blocks(self, *, n_threads: int | None = None) -> Iterator[Reals]:
        """Yield the rows block by block; only the blocks in work are held."""

        def draw(number: int) -> Reals:
            labels, generator = self.labels[self._blocks[number]], block_generator(self._entropy, number)
            gaps = draw_gaps(self._kappas[labels], self.shape[1], generator)
            rows = np.empty((labels.size, self.shape[1]), self.dtype)
            generator.standard_normal(out=rows, dtype="float32" if self.dtype == np.float32 else "float64")
            rotate_tangents(rows, labels, self._reflectors, self._signs, gaps)
            return rows

        return map_blocks(draw, range(len(self._blocks)), n_threads=n_threads)


def draw_gaps(kappas: Floats, n_dimensions: int, generator: np.random.Generator) -> Floats:
    """Return draws of 1 - mu.x, float64 array of the shape of `kappas`, each in [0, 2].

    Wood (1994), algorithm VM*, written in 1 - w instead of w so that no digits are lost at large concentrations.
    """
    span = n_dimensions - 1.0
    envelope = span / (2.0 * kappas + np.sqrt(4.0 * kappas**2 + span**2))
    edge = 2.0 * envelope / (1.0 + envelope)  # 1 - x0
    gaps = np.empty_like(kappas)
    pending = np.arange(kappas.size)
    while pending.size:
        b, e = envelope[pending], edge[pending]
        z = generator.beta(0.5 * span, 0.5 * span, size=pending.size)
        gap = 2.0 * b * z / (1.0 - (1.0 - b) * z)
        bound = kappas[pending] * (e - gap) + span * np.log((e + (1.0 - e) * gap) / (e * (2.0 - e)))
        accepted = bound >= -generator.standard_exponential(pending.size)
        gaps[pending[accepted]] = gap[accepted]
        pending = pending[~accepted]
    return np.clip(gaps, 0.0, 2.0)


def _reflectors(means: Floats, dtype: npt.DTypeLike) -> tuple[Array, Floats]:
    """Return the unit normals of the reflections of the first axis to plus or minus each mean, and those signs.

    The sign is the one that keeps the normal away from zero: the axis goes to the farther of the two.
    """
    signs = np.where(means[:, 0] > 0, -1.0, 1.0)
    normals = means.astype(dtype)  # a copy
    lengths = np.sqrt(2.0 * (1.0 + np.abs(means[:, 0])))  # of mean - sign e1
    normals[:, 0] = means[:, 0] - signs
    normals /= lengths[:, None].astype(dtype)
    return normals, signs
