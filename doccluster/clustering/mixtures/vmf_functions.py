"""The special functions of the von Mises-Fisher distribution, for 2 to 100,000 dimensions and concentrations to 1e7.

The density on the unit sphere of R^d is C_d(kappa) exp(kappa mu.x) with

    C_d(kappa) = kappa^(d/2-1) / ((2 pi)^(d/2) I_{d/2-1}(kappa)),      A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa),

where A_d is the mean of mu.x. The Bessel functions themselves overflow long before 100,000 dimensions, so they are
never formed: with v = d/2 - 1 the two quantities used here are log(kappa^v / I_v(kappa)) and the ratio
I_{v+1}(kappa) / (kappa I_v(kappa)), which are finite everywhere, kappa = 0 included. Both come from the uniform
expansions for large orders (DLMF 10.41.3, 10.41.5) where v^2 + kappa^2 is large, and from there by the recurrence in
the order, run downwards, the direction in which errors shrink (DLMF 10.29.1).

Each function takes a number or an array, and gives a number or an array of the same shape; the value for a number does
not depend on the others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Polynomial = dict[int, Fraction]

MAX_CONCENTRATION = 1e7  # the largest concentration that is drawn or estimated; the precision is tested up to here

_N_EXPANSION = 13  # terms of the expansions
_FAR = 30.0  # the expansions are used where sqrt(v^2 + kappa^2) is at least this: the next term is below 1e-15
_STEPS_DOWN = 24  # each step of the recurrence shrinks an error by (kappa / 2 v)^2 at least 5 times where kappa <= v
_MAX_NEWTON = 60


def _expansion_coefficients(n_terms: int) -> tuple[Floats, Floats]:
    """Return the coefficients of U_k and V_k of DLMF 10.41.10 and 10.41.11, exactly, then rounded.

    U_k(p) = p^k times a polynomial in p^2 of degree k; entry [k, j] is the coefficient of p^(k + 2 j). V_k likewise.
    """
    u_terms: list[Polynomial] = [{0: Fraction(1)}]
    v_terms: list[Polynomial] = [{0: Fraction(1)}]
    for _ in range(1, n_terms):
        last = u_terms[-1]
        following: Polynomial = {}
        shifted: Polynomial = {}
        for power, value in last.items():
            # U' = p^2 (1 - p^2) U'/2 + integral of (1 - 5 t^2) U / 8
            _add(following, power + 1, value * (Fraction(power, 2) + Fraction(1, 8 * (power + 1))))
            _add(following, power + 3, -value * (Fraction(power, 2) + Fraction(5, 8 * (power + 3))))
            # V_{k+1} = U_{k+1} - p (1 - p^2) U_k / 2 - p^2 (1 - p^2) U_k'
            _add(shifted, power + 1, -value * (Fraction(1, 2) + power))
            _add(shifted, power + 3, value * (Fraction(1, 2) + power))
        for power, value in following.items():
            _add(shifted, power, value)
        u_terms.append(following)
        v_terms.append(shifted)
    return _as_table(u_terms), _as_table(v_terms)


def _add(polynomial: Polynomial, power: int, value: Fraction) -> None:
    polynomial[power] = polynomial.get(power, Fraction(0)) + value


def _as_table(polynomials: list[Polynomial]) -> Floats:
    table = np.zeros((len(polynomials), len(polynomials)))
    for k, polynomial in enumerate(polynomials):
        for power, value in polynomial.items():
            table[k, (power - k) // 2] = float(value)
    return table


_U, _V = _expansion_coefficients(_N_EXPANSION)


def _expansion(table: Floats, order: Floats, radius: Floats) -> Floats:
    """Return sum_k T_k(p) / v^k with p = v / radius, which is sum_k radius^-k times a polynomial in p^2."""
    square = np.square(order / radius)
    total = np.zeros_like(radius)
    for k in range(_N_EXPANSION - 1, -1, -1):
        polynomial = np.zeros_like(radius)
        for j in range(k, -1, -1):
            polynomial = polynomial * square + table[k, j]
        total = total / radius + polynomial
    return total


def _ratio_over_kappa(order: Floats, kappa: Floats) -> Floats:
    """Return I_{v+1}(kappa) / (kappa I_v(kappa)) for orders v >= 0: arrays of one length."""
    found = np.empty_like(kappa)
    is_far = (kappa > order) & (kappa >= _FAR)
    v, far = order[is_far], kappa[is_far]
    radius = np.hypot(v, far)
    slope = _expansion(_V, v, radius) / _expansion(_U, v, radius)  # I_v' / I_v = slope radius / kappa
    found[is_far] = (radius * (slope - 1.0) + far * (far / (radius + v))) / far / far
    found[~is_far] = _ratio_by_recurrence(order[~is_far], kappa[~is_far])
    return found


def _ratio_by_recurrence(order: Floats, kappa: Floats) -> Floats:
    n_steps = _STEPS_DOWN + np.maximum(0.0, np.ceil(kappa - order))
    top = order + n_steps
    # Amos (1974), Eq. 11 and 16: the ratio lies between these two, which are close
    value: Floats = 1.0 / (top + 0.5 + np.sqrt(kappa * kappa + (top + 1.5) * (top + 0.75)))
    for step in range(int(n_steps.max(initial=0.0)), 0, -1):
        value = np.where(step <= n_steps, 1.0 / (2.0 * (order + step) + kappa * kappa * value), value)
    return value


def _shaped_like(given: Any, found: Floats) -> Any:
    return found.reshape(np.shape(given)) if np.ndim(given) else float(found[0])


def mean_resultant(n_dimensions: int, kappa: Any) -> Any:
    """Return A_d(kappa), the expected cosine between a draw and its mean direction, in [0, 1)."""
    flat = np.atleast_1d(np.asarray(kappa, np.float64))
    order = np.full_like(flat, 0.5 * n_dimensions - 1.0)
    return _shaped_like(kappa, np.minimum(flat * _ratio_over_kappa(order, flat), 1.0))


def log_normalizer_plus_kappa(n_dimensions: int, kappa: Any) -> Any:
    """Return log C_d(kappa) + kappa, the logarithm of the density at the mean direction itself."""
    flat = np.atleast_1d(np.asarray(kappa, np.float64))
    order, steps_sum = np.full_like(flat, 0.5 * n_dimensions - 1.0), np.zeros_like(flat)
    while (is_near := np.hypot(order, flat) < _FAR).any():
        steps_sum[is_near] += np.log(_ratio_over_kappa(order[is_near], flat[is_near]))
        order[is_near] += 1.0
    radius = np.hypot(order, flat)
    log_power_ratio = (  # log(kappa^v / I_v(kappa)) + kappa
        -order * (order / (flat + radius))
        + order * np.log(order + radius)
        + 0.5 * np.log(2.0 * np.pi * radius)
        - np.log(_expansion(_U, order, radius))
    )
    found = log_power_ratio + steps_sum - 0.5 * n_dimensions * np.log(2.0 * np.pi)
    return _shaped_like(kappa, found)


def log_normalizer(n_dimensions: int, kappa: Any) -> Any:
    """Return log C_d(kappa), the logarithm of the normalising constant of the density."""
    return log_normalizer_plus_kappa(n_dimensions, kappa) - kappa


def concentration(n_dimensions: int, resultant: Any, largest: float) -> Any:
    """Return the kappa in [0, largest] with A_d(kappa) = resultant (the nearest end where there is none).

    Newton's method on A_d, started at the approximation of Banerjee et al. (2005), Eq. 4.4, and kept between the two
    bounds that follow from Amos (1974) and Simpson and Spector (1984), as in Hornik and Gruen (2014).
    """
    wanted = np.atleast_1d(np.asarray(resultant, np.float64))
    kappa = np.where(wanted > 0.0, float(largest), 0.0)
    is_inside = (wanted > 0.0) & (wanted < 1.0) & (wanted < mean_resultant(n_dimensions, float(largest)))
    kappa[is_inside] = _by_newton(n_dimensions, wanted[is_inside], float(largest))
    return _shaped_like(resultant, kappa)


def _by_newton(n_dimensions: int, wanted: Floats, largest: float) -> Floats:
    half = 0.5 * n_dimensions - 0.5
    low = np.minimum(_bound(wanted, half, np.sqrt(half * (half + 1.0))), largest)
    high = np.minimum(_bound(wanted, half, half + 1.0), largest)
    kappa = wanted * (n_dimensions - wanted * wanted) / ((1.0 - wanted) * (1.0 + wanted))
    kappa = np.minimum(np.maximum(kappa, low), high)
    open_ = np.arange(kappa.size)
    for _ in range(_MAX_NEWTON):
        if not open_.size:
            break
        now, value = kappa[open_], mean_resultant(n_dimensions, kappa[open_])
        error = value - wanted[open_]
        high[open_] = np.where(error > 0.0, now, high[open_])
        low[open_] = np.where(error < 0.0, now, low[open_])
        at = np.maximum(now, np.finfo(float).tiny)
        slope = np.where(now > 0.0, 1.0 - value * value - (n_dimensions - 1.0) * value / at, 1.0 / n_dimensions)
        rises = slope > 0.0
        following = np.where(rises, now - error / np.where(rises, slope, 1.0), low[open_])
        is_between = (low[open_] < following) & (following < high[open_])
        following = np.where(is_between, following, 0.5 * (low[open_] + high[open_]))
        following = np.where(error == 0.0, now, following)
        kappa[open_] = following
        open_ = open_[np.abs(following - now) > 1e-15 * now]
    return kappa


def _bound(resultant: Floats, a: float, b: float) -> Floats:
    """Return the kappa with resultant = kappa / (a + sqrt(kappa^2 + b^2))."""
    spread = (1.0 - resultant) * (1.0 + resultant)
    return resultant / spread * (a + np.sqrt(resultant * resultant * a * a + spread * b * b))
