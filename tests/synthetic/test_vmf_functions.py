"""The normaliser, the mean resultant length and its inverse, against their definitions in mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from doccluster.kernels import vmf

DIMENSIONS = (2, 3, 4, 5, 10, 57, 58, 59, 60, 61, 100, 1000, 10_000, 100_000)
CONCENTRATIONS = (0.0, 1e-6, 1e-3, 0.9, 10.0, 25.0, 29.99, 30.01, 1e3, 1e4, 1e5, 1e6, 1e7)


def defined_values(n_dimensions: int, kappa: float) -> tuple[float, float]:
    """Return log C_d + kappa and A_d by integrating exp(kappa cos t) sin^(d-2) t over the sphere, in 30 digits."""
    with mpmath.workdps(30):
        d, k = mpmath.mpf(n_dimensions), mpmath.mpf(kappa)
        cosine = 2 * k / ((d - 2) + mpmath.sqrt((d - 2) ** 2 + 4 * k * k)) if k else mpmath.mpf(0)
        peak = mpmath.acos(cosine) if n_dimensions > 2 else mpmath.mpf(0)

        def exponent(angle):
            sines = (d - 2) * mpmath.log(mpmath.sin(angle)) if n_dimensions > 2 else mpmath.mpf(0)
            return k * (mpmath.cos(angle) - 1) + sines

        def density(angle):
            if n_dimensions > 2 and not 0 < angle < mpmath.pi:
                return mpmath.mpf(n_dimensions == 2)
            return mpmath.exp(exponent(angle) - top)

        top = exponent(peak)
        curvature = k * mpmath.cos(peak) + ((d - 2) / mpmath.sin(peak) ** 2 if n_dimensions > 2 else 0)
        width = 1 / mpmath.sqrt(max(curvature, 1))
        inner = [peak + j * width for j in (-40, -20, -10, -5, 0, 5, 10, 20, 40)]
        points = sorted({mpmath.mpf(0), +mpmath.pi, *(point for point in inner if 0 < point < mpmath.pi)})
        mass = mpmath.quad(density, points)
        gap = mpmath.quad(lambda angle: (1 - mpmath.cos(angle)) * density(angle), points) / mass
        log_belt = mpmath.log(2) + (d - 1) / 2 * mpmath.log(mpmath.pi) - mpmath.loggamma((d - 1) / 2)
        return float(-(log_belt + mpmath.log(mass) + top)), float(1 - gap)


@pytest.mark.parametrize("n_dimensions", DIMENSIONS)
def test_normalizer_and_mean_resultant_are_the_integrals_that_define_them(n_dimensions):
    for kappa in CONCENTRATIONS:
        log_peak, resultant = defined_values(n_dimensions, kappa)
        assert vmf.log_normalizer_plus_kappa(n_dimensions, kappa) == pytest.approx(log_peak, rel=1e-13, abs=1e-13)
        assert vmf.mean_resultant(n_dimensions, kappa) == pytest.approx(resultant, rel=1e-13, abs=1e-25)


@pytest.mark.parametrize("n_dimensions", [2, 3, 7, 20, 100, 1000])
def test_normalizer_and_mean_resultant_agree_with_bessel_functions(n_dimensions):
    order = n_dimensions / 2 - 1
    for kappa in (0.1, 1.0, 5.0, 50.0, 300.0):
        with mpmath.workdps(40):
            low, high = mpmath.besseli(order, kappa), mpmath.besseli(order + 1, kappa)
            log_constant = order * mpmath.log(kappa) - n_dimensions / 2 * mpmath.log(2 * mpmath.pi) - mpmath.log(low)
        assert vmf.log_normalizer(n_dimensions, kappa) == pytest.approx(float(log_constant), rel=1e-13, abs=1e-13)
        assert vmf.mean_resultant(n_dimensions, kappa) == pytest.approx(float(high / low), rel=1e-13)


@pytest.mark.parametrize("n_dimensions", DIMENSIONS)
def test_concentration_inverts_the_mean_resultant(n_dimensions):
    for kappa in CONCENTRATIONS:
        found = vmf.concentration(n_dimensions, vmf.mean_resultant(n_dimensions, kappa), vmf.MAX_CONCENTRATION)
        # 1 - A_d is about (d - 1) / (2 kappa), so rounding of A_d leaves this much of kappa undetermined
        conditioning = 1 + 2 * kappa / (n_dimensions - 1)
        assert found == pytest.approx(kappa, rel=1e-14 * conditioning, abs=1e-14)


def test_concentration_of_identical_rows_is_the_bound_and_of_opposed_rows_zero():
    assert vmf.concentration(50, 1.0, 1e7) == 1e7
    assert vmf.concentration(50, 1.0 - 1e-16, 1e7) == 1e7
    assert vmf.concentration(50, 0.0, 1e7) == 0.0
    assert vmf.concentration(50, 0.99, 10.0) == 10.0


def test_arrays_hold_the_values_of_the_single_numbers():
    kappas = np.array([0.0, 2.5, 1e4])
    logs, means, back = np.empty(3), np.empty(3), np.empty(3)
    vmf.log_normalizers(30, kappas, logs)
    vmf.mean_resultants(30, kappas, means)
    vmf.concentrations(30, means, 1e7, back)
    assert logs.tolist() == [vmf.log_normalizer(30, kappa) for kappa in kappas]
    assert means.tolist() == [vmf.mean_resultant(30, kappa) for kappa in kappas]
    np.testing.assert_allclose(back, kappas, rtol=1e-10)
