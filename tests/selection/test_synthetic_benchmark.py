"""The table of difficulty on made corpora: what is drawn, what is kept, and that standard sets stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from doccluster import load_sample, vectorize
from doccluster.errors import InputError
from doccluster.lab.synthetic_benchmark import STANDARD_SETS, cells_of
from doccluster.selection import benchmark_synthetic
from doccluster.synthetic import fit_corpus_model, make_vmf_mixture, sample_twin

SMALL = {"kappa": [30, 300], "n_terms": [20], "n_clusters": [4], "n_documents": 200}
# how many corpora, the first and the last; of the first with seed 0 the documents of a cluster and a moment of its rows
STANDARD = {
    "vmf-1": (18, "vmf-1 kappa=2.07 d=10 k=5", "vmf-1 kappa=937 d=1000 k=20", 199, 127.8976),
    "sparse-vmf-1": (12, "sparse-vmf-1 kappa=1042 d=5000 k=10", "sparse-vmf-1 kappa=6593 d=20000 k=20", 109, 2.0255),
    "sharma-1": (6, "sharma-1 overlap=0.3 k=5", "sharma-1 overlap=1 k=20", 12, -6.8900),
}


class Counting(KMeans):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


def test_each_seed_draws_a_corpus_of_its_own_and_scores_are_those_of_the_truth():
    comparison = benchmark_synthetic("vmf-1", **SMALL, algorithms={"mine": KMeans(2, n_init=1)}, seeds=[3, 5])
    assert comparison.corpora["corpus"].tolist() == ["vmf-own kappa=30 d=20 k=4", "vmf-own kappa=300 d=20 k=4"]
    runs = comparison.runs.set_index(["corpus", "seed", "measure"])["value"]
    for seed in (3, 5):
        vectors, truth = make_vmf_mixture(200, 20, 4, kappa=30, random_state=seed)
        labels = KMeans(4, n_init=1, random_state=seed).fit_predict(vectors.matrix)
        name = "vmf-own kappa=30 d=20 k=4"
        assert runs[name, seed, "adjusted_rand"] == pytest.approx(adjusted_rand_score(truth, labels), abs=1e-9)
        assert runs[name, seed, "nmi"] == pytest.approx(normalized_mutual_info_score(truth, labels), abs=1e-9)


@pytest.mark.parametrize("name", STANDARD_SETS)
def test_a_standard_set_never_changes_without_another_version(name):
    cells = list(cells_of(name, None, None, None, 1_000))
    vectors, truth = cells[0].draw(random_state=0)
    matrix = vectors.matrix
    moment = float((matrix @ np.cos(np.arange(matrix.shape[1]))) @ np.sin(np.arange(matrix.shape[0])) * 10)
    *expected, expected_moment = STANDARD[name]
    assert [len(cells), cells[0].name, cells[-1].name, int((truth == 0).sum())] == expected
    assert moment == pytest.approx(expected_moment, abs=0.01)


def test_what_was_stopped_goes_on_where_it_was(tmp_path):
    def stop(stage, n_done, total=None):
        assert total == 6
        if n_done == 3:
            raise KeyboardInterrupt

    options = {**SMALL, "algorithms": {"counting": Counting(2, n_init=1)}, "checkpoint": tmp_path, "n_threads": 1}
    with pytest.raises(KeyboardInterrupt):
        benchmark_synthetic("vmf-1", **options, seeds=3, progress=stop)
    Counting.fits = 0
    comparison = benchmark_synthetic("vmf-1", **options, seeds=3)
    assert len(comparison.runs) == 2 * 3 * 3
    n_fits = Counting.fits
    assert n_fits <= 2 * (6 - 3)  # and the first fit of an algorithm on a corpus, which warms it up
    again = benchmark_synthetic("vmf-1", **options, seeds=3)
    assert Counting.fits == n_fits
    np.testing.assert_array_equal(again.runs["value"], comparison.runs["value"])


def test_twins_of_a_corpus_are_drawn_from_one_description():
    vectors = vectorize(load_sample(), language="english")
    comparison = benchmark_synthetic((), like=vectors, n_clusters=[3], algorithms=["k-means:n_init=1"], seeds=2)
    model = fit_corpus_model(vectors, 3, random_state=0)
    kappa = float(model.weights @ model.kappas)
    assert comparison.corpora["kappa"].tolist() == [pytest.approx(kappa)]
    _, truth = sample_twin(model, 176, random_state=1)
    assert len(truth) == comparison.corpora["n_documents"][0]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="vmf-9"):
        benchmark_synthetic("vmf-9")
    with pytest.raises(InputError, match="a twin needs a number of clusters"):
        benchmark_synthetic((), like=vectorize(load_sample(), language="english"))
