"""The von Mises-Fisher mixture: likelihoods by their definition, limits that are known, and degenerate input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from doccluster.clustering import SphericalKMeans, VonMisesFisherMixture
from doccluster.clustering.mixtures import _vmf_steps
from doccluster.clustering.mixtures._vmf_steps import MixtureParameters, unit_blocks
from doccluster.clustering.mixtures.vmf_functions import log_normalizer
from doccluster.errors import DocclusterWarning, InputError, NothingUsable
from doccluster.synthetic import make_sparse_vmf, make_vmf_mixture, plan_vmf_mixture

READS_CLASSIFIER_TAGS = (
    "scikit-learn reads classifier_tags, which a clusterer has not, of every sparse estimator with predict_proba"
)
EXPECTED_FAILURES = {
    "check_estimator_sparse_array": READS_CLASSIFIER_TAGS,
    "check_estimator_sparse_matrix": READS_CLASSIFIER_TAGS,
}


@parametrize_with_checks([VonMisesFisherMixture(n_init=2)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def three_clusters(n_documents=600, n_terms=20, dtype=np.float64, seed=0):
    return make_vmf_mixture(
        n_documents, n_terms, 3, kappa=[15.0, 30.0, 60.0], separation=0.3, random_state=seed, dtype=dtype
    )


def naive_log_joint(model, rows):
    """Return log(weight density) of each row and cluster, by scipy's density."""
    means = model.means_.toarray() if sparse.issparse(model.means_) else model.means_
    columns = [
        np.log(weight) + stats.vonmises_fisher(mean / np.linalg.norm(mean), kappa).logpdf(rows)
        for mean, kappa, weight in zip(means, model.concentrations_, model.weights_, strict=True)
    ]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("options", [{}, {"assignment": "hard"}, {"concentration": "shared"}, {"concentration": 20.0}])
def test_probabilities_and_densities_are_those_of_the_definition(options):
    vectors, _ = three_clusters()
    model = VonMisesFisherMixture(3, random_state=0, **options).fit(vectors.matrix)
    joint = naive_log_joint(model, vectors.matrix)
    density = special.logsumexp(joint, axis=1)
    shares = np.exp(joint - density[:, None])
    np.testing.assert_allclose(model.score_samples(vectors.matrix), density, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(vectors.matrix), shares, atol=1e-9)
    np.testing.assert_allclose(model.entropy(vectors.matrix), stats.entropy(shares, axis=1), atol=1e-9)
    assert (model.predict(vectors.matrix) == joint.argmax(axis=1)).all()
    assert (model.labels_ == model.predict(vectors.matrix)).all()
    expected = joint.max(axis=1).sum() if options.get("assignment") == "hard" else density.sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-10)
    assert model.score(vectors.matrix) == pytest.approx(density.mean(), rel=1e-10)


def naive_iteration(rows, shares):
    """Return the mixture weights, directions and mean resultant lengths of one maximisation, from dense products."""
    sums = shares.T @ rows
    lengths = np.linalg.norm(sums, axis=1)
    return shares.mean(axis=0), sums / lengths[:, None], lengths / shares.sum(axis=0)


def test_a_converged_fit_is_a_fixed_point_of_the_equations():
    vectors, _ = three_clusters()
    options = {"concentration": "free", "n_init": 1, "tol": 1e-13, "max_iter": 2000}
    model = VonMisesFisherMixture(3, random_state=0, **options).fit(vectors.matrix)
    weights, means, resultants = naive_iteration(vectors.matrix, model.predict_proba(vectors.matrix))
    np.testing.assert_allclose(model.weights_, weights, atol=1e-6)
    np.testing.assert_allclose(model.means_, means, atol=1e-6)
    ratio = special.ive(10, model.concentrations_) / special.ive(9, model.concentrations_)
    np.testing.assert_allclose(ratio, resultants, rtol=1e-6)


@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("concentration", ["free", "shared", 25.0])
@pytest.mark.parametrize("seed", range(2))
def test_likelihood_never_falls(assignment, concentration, seed):
    vectors, _ = make_vmf_mixture(150, 12, 4, kappa=8.0, separation=0.5, random_state=seed, dtype=np.float64)
    options = {"assignment": assignment, "concentration": concentration, "init": "random", "n_init": 2}
    # one iteration at a time from given labels, so that no stopping rule can hide a fall
    values = []
    for max_iter in (1, 2, 3, 4, 6, 8):
        model = VonMisesFisherMixture(4, max_iter=max_iter, tol=0.0, random_state=seed, **options).fit(vectors.matrix)
        values.append(naive_log_joint(model, vectors.matrix))
    alive = [v[:, np.isfinite(v).all(axis=0)] for v in values]
    totals = [v.max(axis=1).sum() if assignment == "hard" else special.logsumexp(v, axis=1).sum() for v in alive]
    assert totals[-1] > totals[0]
    assert (np.diff(totals) >= -1e-9 * abs(totals[-1])).all()
    assert (np.diff(model.history_) > 0).all()


def test_parameters_are_recovered():
    mixture = plan_vmf_mixture(
        20_000,
        30,
        3,
        kappa=[10.0, 40.0, 160.0],
        weights=[0.5, 0.3, 0.2],
        separation=0.2,
        random_state=1,
        dtype=np.float64,
    )
    vectors, truth = mixture.draw()
    model = VonMisesFisherMixture(3, concentration="free", random_state=0).fit(vectors.matrix)
    order = np.argmax(mixture.means @ model.means_.T, axis=1)
    assert sorted(order.tolist()) == [0, 1, 2]
    np.testing.assert_allclose(model.concentrations_[order], mixture.kappas, rtol=0.05)
    np.testing.assert_allclose(model.weights_[order], mixture.weights, atol=0.02)
    assert (np.sum(mixture.means * model.means_[order], axis=1) > 0.99).all()
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_large_shared_concentration_is_spherical_k_means():
    vectors, _ = make_vmf_mixture(400, 15, 5, kappa=10.0, separation=0.4, random_state=3, dtype=np.float32)
    start = VonMisesFisherMixture(5, concentration=1e6, init="random", max_iter=1, random_state=0).fit(vectors.matrix)
    mixture = VonMisesFisherMixture(5, concentration=1e6, init=start.labels_, tol=0, max_iter=300).fit(vectors.matrix)
    centroids = np.stack([vectors.matrix[start.labels_ == j].sum(axis=0, dtype=np.float64) for j in range(5)])
    k_means = SphericalKMeans(5, init=centroids / np.linalg.norm(centroids, axis=1)[:, None], tol=0, max_iter=300)
    assert (mixture.labels_ == k_means.fit(vectors.matrix).labels_).all()
    assert mixture.predict_proba(vectors.matrix).max(axis=1).min() > 0.99


def test_sparse_and_dense_rows_and_both_index_types_give_one_result():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((200, 30)) < 0.2, rng.random((200, 30)), 0.0)
    rows[:, 0] += 0.01
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    model = VonMisesFisherMixture(4, n_init=2, random_state=0)
    dense = clone(model).fit(rows)
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        other = clone(model).fit(container(rows))
        assert (other.labels_ == dense.labels_).all()
        assert other.log_likelihood_ == dense.log_likelihood_
        assert sparse.issparse(other.means_)
        np.testing.assert_array_equal(other.means_.toarray(), dense.means_)
        assert other.predict_proba(container(rows)).shape == (200, 4)
    wide = sparse.csr_array(rows)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert (clone(model).fit(wide).labels_ == dense.labels_).all()


def test_float32_rows_give_nearly_the_float64_result():
    vectors, _ = three_clusters()
    wide = VonMisesFisherMixture(3, random_state=0).fit(vectors.matrix)
    narrow = VonMisesFisherMixture(3, random_state=0).fit(vectors.matrix.astype(np.float32))
    assert narrow.means_.dtype == np.float32
    np.testing.assert_allclose(narrow.concentrations_, wide.concentrations_, rtol=1e-4)
    assert narrow.log_likelihood_ == pytest.approx(wide.log_likelihood_, rel=1e-5)


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_result_does_not_depend_on_threads(assignment, monkeypatch):
    monkeypatch.setattr(_vmf_steps, "BLOCK_SHARES", 300 * 20)  # several blocks
    vectors, _ = make_vmf_mixture(2000, 25, 20, kappa=20.0, random_state=0)
    fits = [
        VonMisesFisherMixture(20, n_init=2, max_iter=5, random_state=0, n_threads=n, assignment=assignment).fit(
            vectors.matrix
        )
        for n in (1, 3)
    ]
    assert fits[0].history_ == fits[1].history_
    assert fits[0].means_.tobytes() == fits[1].means_.tobytes()


@pytest.mark.parametrize("kappa", [2.0, 30.0, 1000.0])  # documents count in all clusters, in some, mostly in one
@pytest.mark.parametrize("n_clusters", [1, 9, 150])
def test_sums_are_the_product_of_posteriors_and_rows(monkeypatch, kappa, n_clusters):
    rng = np.random.default_rng(0)
    rows = sparse.random_array((900, 70), density=0.2, random_state=rng, format="csr")
    rows.data[rows.indptr[4] : rows.indptr[5]] = 0  # a row without values
    parameters = MixtureParameters(
        rng.random((70, n_clusters)), np.full(n_clusters, kappa), np.full(n_clusters, 1 / n_clusters)
    )
    shares = np.empty((900, n_clusters))
    for block_shares in (2**22, 2**12):  # one block, and several
        monkeypatch.setattr(_vmf_steps, "BLOCK_SHARES", block_shares)
        found = _vmf_steps.expect(unit_blocks(rows, n_clusters), parameters, shares=shares, n_threads=2)
        np.testing.assert_allclose(np.delete(shares, 4, axis=0).sum(axis=1), 1, rtol=1e-14)
        np.testing.assert_allclose(found.sums, rows.T @ shares, rtol=1e-12, atol=1e-18)
        np.testing.assert_allclose(found.masses, shares.sum(axis=0), rtol=1e-12, atol=1e-18)


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("kappa", [0.5, 500.0])
def test_steps_in_blocks_do_not_depend_on_threads(monkeypatch, kappa):
    monkeypatch.setattr(_vmf_steps, "BLOCK_SHARES", 3000 * 20)
    rows = make_sparse_vmf(8000, 3000, 3, terms_per_document=20, background=0.2, random_state=0).vectors.matrix
    parameters = MixtureParameters(np.random.default_rng(0).random((3000, 20)), np.full(20, kappa), np.full(20, 0.05))
    one, three = (_vmf_steps.expect(unit_blocks(rows, 20), parameters, n_threads=n) for n in (1, 3))
    assert one.sums.tobytes() == three.sums.tobytes()
    assert one.masses.tobytes() == three.masses.tobytes()
    assert one.log_densities.tobytes() == three.log_densities.tobytes()


@pytest.mark.parametrize("kappa", [2.0, 40.0, 2000.0])
def test_densities_of_float32_documents_are_those_of_float64_arithmetic(kappa):
    rows = make_sparse_vmf(500, 2000, 6, terms_per_document=20, random_state=0).vectors.matrix
    assert rows.dtype == np.float32
    model = VonMisesFisherMixture(6, concentration=kappa, random_state=0, max_iter=3).fit(rows)
    offsets = log_normalizer(2000, model.concentrations_) + np.log(model.weights_)
    joint = kappa * (rows.astype(np.float64) @ model.means_.toarray().astype(np.float64).T) + offsets
    np.testing.assert_allclose(model.score_samples(rows), special.logsumexp(joint, axis=1), rtol=1e-13)
    np.testing.assert_allclose(model.predict_proba(rows), special.softmax(joint, axis=1), rtol=1e-11, atol=1e-19)
    assert model.log_likelihood_ == pytest.approx(special.logsumexp(joint, axis=1).sum(), rel=1e-13)


def test_the_likelihood_never_falls():
    rows = make_sparse_vmf(800, 600, 5, terms_per_document=15, random_state=1).vectors.matrix
    documents, options = unit_blocks(rows, 5), {"concentration_rule": "shared", "largest": 1e7}
    parameters = _vmf_steps.maximize(_vmf_steps.expect_labels(documents, np.arange(800) % 5, 5), before=None, **options)
    values = []
    for _ in range(60):
        found = _vmf_steps.expect(documents, parameters)
        values.append(found.log_likelihood)
        parameters = _vmf_steps.maximize(found, before=parameters, **options)
    assert values[-1] > values[0]
    assert (np.diff(values) >= -1e-12 * abs(values[-1])).all()


@pytest.mark.filterwarnings("ignore:X has rows that are not of unit length")
def test_zero_rows_have_the_weights_as_probabilities_and_do_not_count():
    vectors, _ = three_clusters(200)
    rows = np.vstack([vectors.matrix, np.zeros((2, 20))])
    plain = VonMisesFisherMixture(3, init=np.arange(200) % 3).fit(vectors.matrix)
    model = VonMisesFisherMixture(3, init=np.arange(202) % 3).fit(rows)
    np.testing.assert_allclose(model.concentrations_, plain.concentrations_, rtol=1e-6)
    assert np.isnan(model.score_samples(rows)[-2:]).all()
    assert np.isnan(model.entropies_[-2:]).all()
    np.testing.assert_allclose(model.predict_proba(rows)[-1], model.weights_)
    assert model.labels_[-1] == np.argmax(model.weights_)
    assert np.isfinite(model.bic(rows))
    with pytest.raises(NothingUsable, match="no row with a non-zero value"):
        VonMisesFisherMixture(2).fit(np.zeros((4, 3)))


def test_duplicates_run_the_concentration_to_its_bound_and_are_named():
    vectors, _ = three_clusters(100)
    rows = np.vstack([vectors.matrix, np.repeat(np.eye(20)[:1], 30, axis=0)])
    labels = np.repeat([0, 1], [100, 30])
    with pytest.warns(DocclusterWarning, match="cluster 1 ran to its bound 1e\\+07"):
        model = VonMisesFisherMixture(2, init=labels, concentration="free").fit(rows)
    assert model.at_bound_.tolist() == [False, True]
    assert np.isfinite(model.log_likelihood_)
    shared = VonMisesFisherMixture(2, init=labels, concentration="shared").fit(rows)
    assert not shared.at_bound_.any()


def test_one_cluster_is_the_distribution_itself():
    vectors, _ = make_vmf_mixture(5000, 10, 1, kappa=12.0, random_state=0, dtype=np.float64)
    model = VonMisesFisherMixture(1).fit(vectors.matrix)
    assert model.concentrations_[0] == pytest.approx(12.0, rel=0.05)
    assert (model.labels_ == 0).all()
    assert (model.entropies_ == 0).all()
    assert model.weights_.tolist() == [1.0]


def test_cluster_that_loses_all_documents_is_named():
    vectors, _ = three_clusters(60)
    with pytest.warns(DocclusterWarning, match="lost all its documents"):
        model = VonMisesFisherMixture(3, init=np.arange(60) % 2, assignment="hard").fit(vectors.matrix)
    assert model.weights_[2] == 0
    assert (model.predict(vectors.matrix) != 2).all()
    assert np.isfinite(model.log_likelihood_)


def test_information_criteria_count_their_parameters():
    vectors, _ = three_clusters()
    free = VonMisesFisherMixture(3, random_state=0, concentration="free").fit(vectors.matrix)
    shared = VonMisesFisherMixture(3, random_state=0, concentration="shared").fit(vectors.matrix)
    assert free.n_parameters_ == 3 * 19 + 3 + 2
    assert shared.n_parameters_ == 3 * 19 + 1 + 2
    likelihood = free.score_samples(vectors.matrix).sum()
    assert free.aic(vectors.matrix) == pytest.approx(2 * 62 - 2 * likelihood)
    assert free.bic(vectors.matrix) == pytest.approx(62 * np.log(600) - 2 * likelihood)
    assert free.icl(vectors.matrix) == pytest.approx(free.bic(vectors.matrix) + 2 * free.entropies_.sum())
    rows, own = vectors.matrix, {"concentration": "free", "random_state": 0}
    scores = {k: VonMisesFisherMixture(k, n_init=3, **own).fit(rows).bic(rows) for k in (2, 3, 4)}
    assert min(scores, key=scores.get) == 3


def test_sample_draws_from_the_fitted_mixture():
    vectors, _ = three_clusters()
    options = {"concentration": "free", "random_state": 0}
    model = VonMisesFisherMixture(3, **options).fit(sparse.csr_array(vectors.matrix))
    rows, labels = model.sample(5000, random_state=1)
    again = VonMisesFisherMixture(3, init=labels, concentration="free").fit(rows)
    np.testing.assert_allclose(again.concentrations_, model.concentrations_, rtol=0.15)
    np.testing.assert_allclose(again.weights_, model.weights_, atol=0.03)


def test_more_starts_never_end_lower():
    vectors, _ = make_vmf_mixture(300, 12, 6, kappa=12.0, random_state=5, dtype=np.float64)
    one = VonMisesFisherMixture(6, init="random", n_init=1, random_state=0).fit(vectors.matrix)
    five = VonMisesFisherMixture(6, init="random", n_init=5, random_state=0).fit(vectors.matrix)
    assert five.log_likelihood_ >= one.log_likelihood_


def test_high_dimensions_do_not_overflow():
    rows = sparse.random_array((60, 100_000), density=0.001, random_state=np.random.default_rng(0), format="csr")
    with pytest.warns(DocclusterWarning, match="not of unit length"):
        model = VonMisesFisherMixture(4, random_state=0).fit(rows)
    assert np.isfinite(model.log_likelihood_)
    assert np.isfinite(model.concentrations_).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 61}, "n_clusters=61 exceeds"),
        ({"assignment": "medium"}, "give 'soft' or 'hard'"),
        ({"concentration": "tied"}, "give 'shared', 'free' or a number"),
        ({"concentration": -1.0}, "concentration=-1.0 is out of range"),
        ({"concentration": float("nan")}, "concentration=nan is not a number"),
        ({"max_concentration": 0}, "max_concentration=0 is out of range"),
        ({"init": "best"}, "init='best' is unknown"),
        ({"init": np.zeros(3, int)}, "give one whole number for each of 60"),
        ({"init": np.full(60, 7)}, "labels 7..7"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1}, "tol=-1"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(options, words):
    vectors, _ = three_clusters(60)
    with pytest.raises(InputError, match=words) as caught:
        VonMisesFisherMixture(**{"n_clusters": 3, **options}).fit(vectors.matrix)
    assert "\n" not in str(caught.value)


def test_a_mixture_interrupted_at_once_is_not_fitted():
    def interrupt(stage, done, total=None):
        raise KeyboardInterrupt

    rows = np.eye(6)[np.arange(30) % 6]
    model = VonMisesFisherMixture(2, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows)
    with pytest.raises(NotFittedError):
        model.predict(rows)
