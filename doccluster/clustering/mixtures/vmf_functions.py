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

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from doccluster.kernels.jit import jit

MAX_CONCENTRATION = 1e7  # the largest concentration that is drawn or estimated; the precision is tested up to here

_N_EXPANSION = 13  # terms of the expansions
FloatArray = npt.NDArray[np.float64]
Polynomial = dict[int, Fraction]  # power: coefficient

_FAR = 30.0  # the expansions are used where sqrt(v^2 + kappa^2) is at least this: the next term is below 1e-15
_STEPS_DOWN = 24  # each step of the recurrence shrinks an error by (kappa / 2 v)^2 at least 5 times where kappa <= v
_MAX_NEWTON = 60


def _expansion_coefficients(n_terms: int) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of U_k and V_k of DLMF 10.41.10 and 10.41.11, exactly, then rounded.

    U_k(p) = p^k times a polynomial in p^2 of degree k; entry [k, j] is the coefficient of p^(k + 2 j). V_k likewise.
    """
    u_terms = [{0: Fraction(1)}]
    v_terms = [{0: Fraction(1)}]
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


def _as_table(polynomials: list[Polynomial]) -> FloatArray:
    table = np.zeros((len(polynomials), len(polynomials)))
    for k, polynomial in enumerate(polynomials):
        for power, value in polynomial.items():
            table[k, (power - k) // 2] = float(value)
    return table


_U, _V = _expansion_coefficients(_N_EXPANSION)


@jit(inner=True)
def _expansion(table, order, radius):
    """Return sum_k T_k(p) / v^k with p = v / radius, which is sum_k radius^-k times a polynomial in p^2."""
    square = (order / radius) ** 2
    total = 0.0
    for k in range(_N_EXPANSION - 1, -1, -1):
        polynomial = 0.0
        for j in range(k, -1, -1):
            polynomial = polynomial * square + table[k, j]
        total = total / radius + polynomial
    return total


@jit(inner=True)
def _ratio_over_kappa(order, kappa):
    """Return I_{v+1}(kappa) / (kappa I_v(kappa)) for order v >= 0; 1 / (2 v + 2) at kappa = 0."""
    if kappa > order and kappa >= _FAR:
        radius = np.hypot(order, kappa)
        slope = _expansion(_V, order, radius) / _expansion(_U, order, radius)  # I_v' / I_v = slope radius / kappa
        return (radius * (slope - 1.0) + kappa * (kappa / (radius + order))) / kappa / kappa
    n_steps = _STEPS_DOWN + max(0, int(np.ceil(kappa - order)))
    top = order + n_steps
    # Amos (1974), Eq. 11 and 16: the ratio lies between these two, which are close
    value = 1.0 / (top + 0.5 + np.sqrt(kappa * kappa + (top + 1.5) * (top + 0.75)))
    for step in range(n_steps):
        value = 1.0 / (2.0 * (top - step) + kappa * kappa * value)
    return value


@jit
def mean_resultant(n_dimensions, kappa):
    """Return A_d(kappa), the expected cosine between a draw and its mean direction, in [0, 1)."""
    return min(kappa * _ratio_over_kappa(0.5 * n_dimensions - 1.0, kappa), 1.0)


@jit
def log_normalizer_plus_kappa(n_dimensions, kappa):
    """Return log C_d(kappa) + kappa, the logarithm of the density at the mean direction itself."""
    order = 0.5 * n_dimensions - 1.0
    steps_sum = 0.0
    while np.hypot(order, kappa) < _FAR:
        steps_sum += np.log(_ratio_over_kappa(order, kappa))
        order += 1.0
    radius = np.hypot(order, kappa)
    log_power_ratio = (  # log(kappa^v / I_v(kappa)) + kappa
        -order * (order / (kappa + radius))
        + order * np.log(order + radius)
        + 0.5 * np.log(2.0 * np.pi * radius)
        - np.log(_expansion(_U, order, radius))
    )
    return log_power_ratio + steps_sum - 0.5 * n_dimensions * np.log(2.0 * np.pi)


@jit
def log_normalizer(n_dimensions, kappa):
    """Return log C_d(kappa), the logarithm of the normalising constant of the density."""
    return log_normalizer_plus_kappa(n_dimensions, kappa) - kappa


@jit
def concentration(n_dimensions, resultant, largest):
    """Return the kappa in [0, largest] with A_d(kappa) = resultant (the nearest end where there is none).

    Newton's method on A_d, started at the approximation of Banerjee et al. (2005), Eq. 4.4, and kept between the two
    bounds that follow from Amos (1974) and Simpson and Spector (1984), as in Hornik and Gruen (2014).
    """
    if resultant <= 0.0:
        return 0.0
    if resultant >= 1.0 or mean_resultant(n_dimensions, largest) <= resultant:
        return largest
    half = 0.5 * n_dimensions - 0.5
    low = min(_bound(resultant, half, np.sqrt(half * (half + 1.0))), largest)
    high = min(_bound(resultant, half, half + 1.0), largest)
    kappa = resultant * (n_dimensions - resultant * resultant) / ((1.0 - resultant) * (1.0 + resultant))
    kappa = min(max(kappa, low), high)
    for _ in range(_MAX_NEWTON):
        value = mean_resultant(n_dimensions, kappa)
        error = value - resultant
        if error > 0.0:
            high = kappa
        elif error < 0.0:
            low = kappa
        else:
            break
        slope = 1.0 - value * value - (n_dimensions - 1.0) * value / kappa if kappa > 0.0 else 1.0 / n_dimensions
        following = kappa - error / slope if slope > 0.0 else low
        if not (low < following < high):
            following = 0.5 * (low + high)
        if abs(following - kappa) <= 1e-15 * kappa:
            kappa = following
            break
        kappa = following
    return kappa


@jit(inner=True)
def _bound(resultant, a, b):
    """Return the kappa with resultant = kappa / (a + sqrt(kappa^2 + b^2))."""
    spread = (1.0 - resultant) * (1.0 + resultant)
    return resultant / spread * (a + np.sqrt(resultant * resultant * a * a + spread * b * b))


@jit
def log_normalizers(n_dimensions, kappas, out):
    """Write log C_d(kappa) of each concentration into `out`, both float64 arrays of one length."""
    for i in range(kappas.size):
        out[i] = log_normalizer(n_dimensions, kappas[i])


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
