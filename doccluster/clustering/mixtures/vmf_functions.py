"""The special functions of the von Mises-Fisher distribution, for 2 to 100,000 dimensions and concentrations to 1e7.

The density on the unit sphere of R^d is C_d(kappa) exp(kappa mu.x) with

    C_d(kappa) = kappa^(d/2-1) / ((2 pi)^(d/2) I_{d/2-1}(kappa)),      A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa),

where A_d is the mean of mu.x. The Bessel functions themselves overflow long before 100,000 dimensions, so they are
never formed: with v = d/2 - 1 the two quantities used here are log(kappa^v / I_v(kappa)) and the ratio
I_{v+1}(kappa) / (kappa I_v(kappa)), which are finite everywhere, kappa = 0 included. Both come from the uniform
expansions for large orders (DLMF 10.41.3, 10.41.5) where v^2 + kappa^2 is large, and from there by the recurrence in
the order, run downwards, the direction in which errors shrink (DLMF 10.29.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from doccluster.base.arrays import Floats

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


def _expansion(table: Floats, order: Any, radius: Any) -> Any:
    """Return sum_k T_k(p) / v^k with p = v / radius, which is sum_k radius^-k times a polynomial in p^2."""
    polynomials = np.power.outer((order / radius) ** 2, np.arange(_N_EXPANSION)) @ table.T
    return np.sum(polynomials * np.power.outer(radius, -np.arange(float(_N_EXPANSION))), axis=-1)


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


def log_normalizer(n_dimensions: int, kappa: object) -> Any:
    """Return log C_d(kappa), the logarithm of the normalising constant of the density; of a number or an array."""
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
