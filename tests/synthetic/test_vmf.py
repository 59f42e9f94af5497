"""Samples of von Mises-Fisher distributions against their density, moments and symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from doccluster.clustering.mixtures.vmf_functions import mean_resultant
from doccluster.errors import InputError
from doccluster.synthetic import make_vmf_mixture, plan_vmf_mixture, sample_vmf

CASES = [(2, 0.5), (2, 1e4), (3, 2.0), (5, 1e7), (10, 10.0), (50, 300.0), (1000, 100.0), (1000, 1e5)]


def direction(n_terms, seed=0):
    row = np.random.default_rng(seed).normal(size=n_terms)
    return row / np.linalg.norm(row)


def draw(n_terms, kappa, size=4000, seed=1, **options):
    mean = direction(n_terms)
    return mean, sample_vmf(mean, kappa, size, seed, dtype=np.float64, **options)


def angle_distribution(n_terms, kappa):
    """Return the distribution function of the angle to the mean, by quadrature of its density on a fine grid."""
    spread = min(np.pi, 12 * np.sqrt(n_terms / max(kappa, 1.0)) + 12 / np.sqrt(max(kappa, 1.0)))
    angles = np.linspace(0, spread, 400_001)[1:-1]
    log_density = kappa * (np.cos(angles) - 1) + (n_terms - 2) * np.log(np.sin(angles))
    mass = np.concatenate([[0], integrate.cumulative_trapezoid(np.exp(log_density - log_density.max()), angles)])
    return lambda values: np.interp(values, angles, mass / mass[-1])


@pytest.mark.parametrize(("n_terms", "kappa"), CASES)
def test_angles_follow_the_exact_density(n_terms, kappa):
    mean, rows = draw(n_terms, kappa)
    # the chord keeps the digits of the angle that the cosine loses near 1
    angles = 2 * np.arcsin(np.minimum(np.linalg.norm(rows - mean, axis=1) / 2, 1))
    assert stats.kstest(angles, angle_distribution(n_terms, kappa)).pvalue > 0.01


@pytest.mark.parametrize(("n_terms", "kappa"), [*CASES, (100_000, 1e5)])
def test_mean_resultant_length_is_the_ratio_of_bessel_functions(n_terms, kappa):
    size = 20 if n_terms == 100_000 else 4000
    mean, rows = draw(n_terms, kappa, size)
    cosines = rows @ mean
    expected = mean_resultant(n_terms, kappa)
    assert cosines.mean() == pytest.approx(expected, abs=4 * cosines.std() / np.sqrt(size) + 1e-12)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("n_terms", [2, 3, 40])
def test_no_concentration_is_uniform(n_terms):
    mean, rows = draw(n_terms, 0.0)
    # (1 + cosine) / 2 of a uniform direction to any axis is Beta((d - 1) / 2, (d - 1) / 2)
    for axis in (mean, direction(n_terms, 7)):
        uniform = stats.beta((n_terms - 1) / 2, (n_terms - 1) / 2)
        assert stats.kstest((1 + rows @ axis) / 2, uniform.cdf).pvalue > 0.01


def test_directions_across_the_mean_are_uniform():
    mean, rows = draw(12, 30.0)
    across = rows - np.outer(rows @ mean, mean)
    across /= np.linalg.norm(across, axis=1)[:, None]
    axis = direction(12, 5)
    axis -= (axis @ mean) * mean
    axis /= np.linalg.norm(axis)
    assert stats.kstest((1 + across @ axis) / 2, stats.beta(5, 5).cdf).pvalue > 0.01  # uniform in 11 dimensions


def test_rotating_the_mean_rotates_the_distribution():
    first, second = direction(8, 1), -direction(8, 2)
    a = sample_vmf(first, 5.0, 5000, 1, dtype=np.float64)
    b = sample_vmf(second, 5.0, 5000, 2, dtype=np.float64)
    # a reflection that takes one mean to the other takes one sample to the other
    normal = (first - second) / np.linalg.norm(first - second)
    reflected = a - 2 * np.outer(a @ normal, normal)
    for axis in (second, direction(8, 3)):
        assert stats.ks_2samp(reflected @ axis, b @ axis).pvalue > 0.01


def test_mean_equal_to_an_axis_or_its_opposite_is_reached():
    for sign in (1.0, -1.0):
        mean = np.zeros(6)
        mean[0] = sign
        rows = sample_vmf(mean, 1e6, 50, 0)
        assert (rows[:, 0] * sign > 0.99).all()


@pytest.mark.parametrize(("n_terms", "kappa"), [(2, 3.0), (3, 8.0), (6, 20.0)])
def test_moments_agree_with_scipy(n_terms, kappa):
    mean, rows = draw(n_terms, kappa, 20_000)
    other = stats.vonmises_fisher(mean, kappa, seed=3).rvs(20_000)
    standard_error = 4 * np.sqrt(2) / np.sqrt(20_000)
    np.testing.assert_allclose(rows.mean(axis=0), other.mean(axis=0), atol=standard_error)
    np.testing.assert_allclose(rows.T @ rows / 20_000, other.T @ other / 20_000, atol=standard_error)


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bytes_for_any_number_of_threads(dtype):
    options = {"kappa": [5.0, 80.0, 1e4], "random_state": 4, "dtype": dtype}
    one = make_vmf_mixture(3000, 300, 3, n_threads=1, **options)
    three = make_vmf_mixture(3000, 300, 3, n_threads=3, **options)
    assert one.vectors.matrix.dtype == dtype
    assert one.vectors.matrix.tobytes() == three.vectors.matrix.tobytes()
    assert (one.truth == three.truth).all()
    blocks = list(plan_vmf_mixture(3000, 300, 3, **options).blocks(n_threads=2))
    assert len(blocks) > 1
    assert np.concatenate(blocks).tobytes() == one.vectors.matrix.tobytes()


def test_a_generator_moves_on_and_a_seed_does_not():
    generator = np.random.default_rng(0)
    mean = direction(5)
    assert (sample_vmf(mean, 1.0, 3, generator) != sample_vmf(mean, 1.0, 3, generator)).any()
    assert (sample_vmf(mean, 1.0, 3, 0) == sample_vmf(mean, 1.0, 3, 0)).all()


@pytest.mark.parametrize(
    ("n_clusters", "n_terms", "separation"),
    [(5, 5, 0.3), (5, 4, -0.25), (3, 2, -0.5), (2, 2, 0.9), (4, 10, 1.0), (2, 3, -1.0), (7, 300, 0.0)],
)
def test_separation_is_the_cosine_between_the_means(n_clusters, n_terms, separation):
    means = plan_vmf_mixture(10, n_terms, n_clusters, kappa=1, separation=separation, random_state=0).means
    cosines = means @ means.T
    np.testing.assert_allclose(cosines[~np.eye(n_clusters, dtype=bool)], separation, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(cosines), 1, atol=1e-12)


def test_random_means_are_independent_and_separated_ones_are_randomly_placed():
    first = plan_vmf_mixture(10, 400, 3, kappa=1, random_state=0).means
    assert np.abs((first @ first.T)[~np.eye(3, dtype=bool)]).max() < 0.3
    placed = [plan_vmf_mixture(10, 40, 3, kappa=1, separation=0.5, random_state=s).means[0] for s in (0, 1)]
    assert abs(placed[0] @ placed[1]) < 0.9


def test_clusters_have_their_own_concentrations_and_weights():
    mixture = plan_vmf_mixture(20_000, 20, 2, kappa=[5.0, 500.0], weights=[0.8, 0.2], random_state=0, dtype=np.float64)
    vectors, truth = mixture.draw()
    assert np.bincount(truth)[0] / 20_000 == pytest.approx(0.8, abs=0.02)
    for cluster, kappa in enumerate((5.0, 500.0)):
        cosines = vectors.matrix[truth == cluster] @ mixture.means[cluster]
        assert cosines.mean() == pytest.approx(mean_resultant(20, kappa), abs=0.01)


def test_mean_resultant_length_in_three_dimensions_is_the_langevin_function():
    assert mean_resultant(3, 2.0) == pytest.approx(1 / np.tanh(2.0) - 0.5, rel=1e-13)
    assert mean_resultant(2, 2.0) == pytest.approx(special.i1(2.0) / special.i0(2.0), rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kappa": -1}, "kappa=-1.0 is not a concentration"),
        ({"kappa": float("nan")}, "kappa=nan"),
        ({"kappa": float("inf")}, "kappa=inf"),
        ({"kappa": [1, 2]}, "one number, or one for each"),
        ({"n_clusters": 11}, "n_clusters=11 exceeds the number of documents"),
        ({"weights": [0.5, 0.2, 0.2]}, "sums to 0.9"),
        ({"weights": [1.5, -0.5, 0.0]}, "negative"),
        ({"weights": [0.5, 0.5]}, "one number for each|for 3 clusters"),
        ({"separation": -0.6}, "least cosine"),
        ({"separation": 0.5, "n_terms": 2}, "need 3 dimensions"),
        ({"separation": 1.5}, "separation=1.5 is out of range"),
        ({"n_terms": 1}, "n_terms=1 is out of range"),
        ({"n_terms": 100_001}, "from 2 to 100,000"),
        ({"dtype": np.int64}, "float32 or float64"),
        ({"n_documents": 0}, "n_documents=0"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(arguments, words):
    request = {"n_documents": 10, "n_terms": 20, "n_clusters": 3, "kappa": 5.0, **arguments}
    with pytest.raises(InputError, match=words) as caught:
        make_vmf_mixture(**request)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("mean", "words"), [([0.0, 0.0], "length zero"), ([3.0, 4.0], "length 5"), ([[1.0]], "vector")]
)
def test_bad_means_are_refused(mean, words):
    with pytest.raises(InputError, match=words):
        sample_vmf(mean, 1.0)
