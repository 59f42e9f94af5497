"""The normaliser, the mean resultant length and its inverse, against their definitions in mpmath."""

from __future__ import annotations

import csv
import pathlib

import mpmath
import numpy as np
import pytest

from doccluster.clustering.mixtures import vmf_functions as vmf
from doccluster.errors import InputError
from experiments.vmf_functions.definition import CONCENTRATIONS, DIMENSIONS, defined_values

ROOT = pathlib.Path(__file__).resolve().parents[2]


def kept_definitions():
    with (ROOT / "experiments" / "vmf_functions" / "results" / "values.csv").open(newline="") as file:
        return {
            (int(line["dimensions"]), float(line["kappa"])): (
                float(line["by_definition"]),
                float(line["resultant_by_definition"]),
            )
            for line in csv.DictReader(file)
        }


@pytest.mark.parametrize("n_dimensions", [2, 58, 10_000])
def test_the_kept_values_are_those_of_the_definition(n_dimensions):
    kept = kept_definitions()
    for kappa in CONCENTRATIONS:
        assert kept[n_dimensions, kappa] == pytest.approx(defined_values(n_dimensions, kappa), rel=1e-14)


@pytest.mark.parametrize("n_dimensions", DIMENSIONS)
def test_normalizer_and_mean_resultant_are_the_integrals_that_define_them(n_dimensions):
    kept = kept_definitions()
    for kappa in CONCENTRATIONS:
        log_peak, resultant = kept[n_dimensions, kappa]
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
    logs, means = vmf.log_normalizer(30, kappas), vmf.mean_resultant(30, kappas)
    assert logs.tolist() == pytest.approx([vmf.log_normalizer(30, kappa) for kappa in kappas], rel=1e-15)
    assert means.tolist() == pytest.approx([vmf.mean_resultant(30, kappa) for kappa in kappas], rel=1e-15)
    np.testing.assert_allclose(vmf.concentration(30, means, 1e7), kappas, rtol=1e-10)


@pytest.mark.parametrize(("n_dimensions", "kappa"), [(1, 1.0), (3, -1.0), (3, [1.0, -0.5]), (3, float("nan"))])
def test_what_no_distribution_has_is_refused(n_dimensions, kappa):
    with pytest.raises(InputError, match="give at least 2 dimensions"):
        vmf.log_normalizer(n_dimensions, kappa)
