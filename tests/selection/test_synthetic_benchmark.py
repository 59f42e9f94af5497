"""The table of difficulty on made corpora: what is drawn, what is kept, and that standard sets stay as they are."""

from __future__ import annotations

import hashlib
import itertools
import pickle
import tomllib

import numpy as np
import pandas as pd
import pytest
from scipy import io, stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from doccluster import load_sample, read_matrix, vectorize
from doccluster.clustering.mixtures.vmf_functions import concentration
from doccluster.errors import InputError
from doccluster.lab.synthetic.files import matrix_lines
from doccluster.lab.synthetic_benchmark import (
    STANDARD_SETS,
    cells_of,
    kept_checksums,
    score_labels,
    stem_of,
    write_cells,
)
from doccluster.selection import benchmark_synthetic
from doccluster.synthetic import (
    fit_corpus_model,
    make_sharma,
    make_sparse_vmf,
    make_vmf_mixture,
    plan_vmf_mixture,
    sample_twin,
)

SMALL = {"kappa": [30, 300], "n_terms": [20], "n_clusters": [4], "n_documents": 200}
MAX_NUMBERS = 20_000  # of a matrix whose two forms are both written here


class Counting(KMeans):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


def test_each_seed_draws_a_corpus_of_its_own_and_scores_are_those_of_the_truth():
    comparison = benchmark_synthetic("vmf-1", **SMALL, algorithms={"mine": KMeans(2, n_init=1)}, seeds=[3, 5])
    assert comparison.corpora["corpus"].tolist() == ["vmf-own kappa=30 d=20 k=4", "vmf-own kappa=300 d=20 k=4"]
    runs = comparison.runs[comparison.runs["algorithm"] == "mine"].set_index(["corpus", "seed", "measure"])["value"]
    for seed in (3, 5):
        vectors, truth = make_vmf_mixture(200, 20, 4, kappa=30, random_state=seed)
        labels = KMeans(4, n_init=1, random_state=seed).fit_predict(vectors.matrix)
        name = "vmf-own kappa=30 d=20 k=4"
        assert runs[name, seed, "adjusted_rand"] == pytest.approx(adjusted_rand_score(truth, labels), abs=1e-9)
        assert runs[name, seed, "nmi"] == pytest.approx(normalized_mutual_info_score(truth, labels), abs=1e-9)


@pytest.mark.parametrize("name", STANDARD_SETS)
def test_every_corpus_of_a_standard_set_is_the_same_for_ever(name):
    kept = kept_checksums(name)
    cells = cells_of(name)
    assert len(kept) == len(cells) * 10 * 3
    n_files = 0
    for cell in cells:
        sample, stem = cell.draw(random_state=0), stem_of(cell.name, 0)
        matrix = sample.vectors.matrix
        texts = {"mat": matrix_lines(matrix, is_cluto=True), "rclass": sample.truth}
        if matrix.size <= MAX_NUMBERS:
            texts["mtx"] = matrix_lines(matrix, is_cluto=False)
        for ending, lines in texts.items():
            content = "".join(f"{line}\n" for line in lines).encode()
            assert hashlib.sha256(content).hexdigest() == kept[f"{stem}.{ending}"], (stem, ending)
            n_files += 1
    assert n_files >= 2 * len(cells)


def test_a_written_set_holds_the_numbers_that_are_drawn_and_its_files_the_checksums(tmp_path):
    cells = [*cells_of("sharma-1")[:1], *cells_of("vmf-1", kappa=[30.0], n_terms=[12], n_clusters=[3], n_documents=40)]
    files = write_cells(tmp_path, cells, [0, 1])
    again = write_cells(tmp_path / "again", cells, [0, 1])
    assert files["sha256"].tolist() == again["sha256"].tolist()
    assert (files["sha256"] == files["kept"]).tolist() == [True] * 6 + [False] * 6  # a grid of one's own is no standard
    for of_set, rows in files.groupby("set"):
        sums = dict(line.split("  ")[::-1] for line in (tmp_path / of_set / "SHA256SUMS").read_text().splitlines())
        assert sums == dict(zip(rows["file"], rows["sha256"], strict=True))
        for file, digest in sums.items():
            assert hashlib.sha256((tmp_path / of_set / file).read_bytes()).hexdigest() == digest
    for cell in cells:
        place = tmp_path / str(cell.about["set"]) / stem_of(cell.name, 1)
        sample = cell.draw(random_state=1)
        matrix = sample.vectors.matrix
        market = io.mmread(f"{place}.mtx").astype(np.float32)
        assert (abs(market - matrix)).max() == 0  # nine digits are all of a float32
        cluto, classes = read_matrix(f"{place}.mat", weighting="none")
        assert abs(cluto.matrix - matrix).max() == 0
        assert list(map(int, classes)) == sample.truth.tolist()
        entry = tomllib.loads(place.with_name("corpus.toml").read_text(encoding="utf-8"))[place.name]
        assert (entry["corpus"], entry["seed"], entry["set"]) == (cell.name, 1, cell.about["set"])
    kappa = concentration(10, 0.2, 1e7)
    (tmp_path / "full").mkdir()
    write_cells(tmp_path / "full", cells_of("vmf-1")[:1], [0])
    record = tomllib.loads((tmp_path / "full" / "vmf-1" / "corpus.toml").read_text(encoding="utf-8"))
    assert record["vmf-1_kappa-2.07_d-10_k-5_seed-0"]["kappa"] == kappa  # all digits, where the name has four


def test_labels_of_other_programs_are_scored_as_those_made_here(tmp_path):
    cells = cells_of("vmf-1", kappa=[30.0, 300.0], n_terms=[12], n_clusters=[3], n_documents=60)
    write_cells(tmp_path / "made", cells, [0, 1])
    theirs = tmp_path / "their-k-means"
    theirs.mkdir()
    for cell, seed in itertools.product(cells, (0, 1)):
        labels = KMeans(3, n_init=1, random_state=seed).fit_predict(cell.draw(random_state=seed).vectors.matrix)
        text = "".join(f"{label}\n" for label in labels)
        (theirs / f"{stem_of(cell.name, seed)}.mat.clustering.3").write_text(text, encoding="utf-8")
    here = benchmark_synthetic(
        "vmf-1",
        kappa=[30.0, 300.0],
        n_terms=[12],
        n_clusters=[3],
        n_documents=60,
        algorithms={"their-k-means": KMeans(3, n_init=1)},
        seeds=2,
    )
    keys = ["corpus", "algorithm", "seed", "measure"]
    expected = here.runs[here.runs["measure"] != "seconds"].set_index(keys)["value"].sort_index()
    scored = score_labels(tmp_path / "made", [theirs])
    pd.testing.assert_series_equal(scored.runs.set_index(keys)["value"].sort_index(), expected)
    assert set(scored.runs["algorithm"]) == {"their-k-means", "oracle"}
    one = score_labels(tmp_path / "made", [theirs / f"{stem_of(cells[0].name, 1)}.mat.clustering.3"])
    assert set(one.runs.loc[one.runs["algorithm"] != "oracle", "seed"]) == {1}

    short = theirs / f"{stem_of(cells[0].name, 0)}.mat.clustering.3"
    short.write_text("0\n1\n", encoding="utf-8")
    with pytest.raises(InputError, match="has 2 labels for 60 documents"):
        score_labels(tmp_path / "made", [theirs])
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match=r"no file of other is called as a corpus of .*name labels as in vmf-1_kappa"):
        score_labels(tmp_path / "made", [tmp_path / "other"])
    with pytest.raises(InputError, match=r"no corpora are written in .*other"):
        score_labels(tmp_path / "other", [theirs])
    write_cells(tmp_path / "standard", cells_of("sharma-1")[:1], [0])
    truth = next((tmp_path / "standard").rglob("*.rclass"))
    truth.write_text(truth.read_text(encoding="utf-8").replace("0", "1"), encoding="utf-8")
    with pytest.raises(InputError, match=r"rclass is not that of the standard set; write the set again"):
        score_labels(tmp_path / "standard", [tmp_path / "standard"])
    truth.unlink()
    with pytest.raises(InputError, match=r"cannot be used: .*rclass"):
        score_labels(tmp_path / "standard", [tmp_path / "standard"])
    truth.with_name("corpus.toml").write_text("x = [", encoding="utf-8")
    with pytest.raises(InputError, match=r"corpus.toml and its files cannot be used: Invalid value"):
        score_labels(tmp_path / "standard", [tmp_path / "standard"])


def test_the_oracle_is_what_a_plain_sum_over_the_law_says():
    vectors, truth = made = make_vmf_mixture(
        300, 4, 3, kappa=[2.0, 10.0, 80.0], weights=[0.6, 0.3, 0.1], random_state=0
    )
    plan = plan_vmf_mixture(300, 4, 3, kappa=[2.0, 10.0, 80.0], weights=[0.6, 0.3, 0.1], random_state=0)
    densities = np.column_stack(
        # scipy knows the density of a von Mises-Fisher distribution
        [
            weight * stats.vonmises_fisher(mean, kappa).pdf(vectors.matrix.astype(float))
            for mean, kappa, weight in zip(plan.means, plan.kappas, plan.weights, strict=True)
        ]
    )
    np.testing.assert_array_equal(made.oracle(), densities.argmax(axis=1))
    assert np.mean(made.oracle() == truth) > np.mean((vectors.matrix @ plan.means.T).argmax(axis=1) == truth)


def test_the_oracle_of_sparse_corpora_knows_whose_terms_are_whose():
    sparse_vmf = make_sparse_vmf(200, 3000, 6, mean_resultant_length=0.25, random_state=1)
    sharma = make_sharma(6, overlap=1.0, beta=0.0, scale=2, random_state=1)
    for made in (sparse_vmf, sharma):
        np.testing.assert_array_equal(made.oracle(), made.truth)
    with pytest.raises(InputError, match="no law says which cluster"):
        make_sharma(6, structure="dense", random_state=1).oracle()


def test_the_oracle_of_a_twin_takes_the_cluster_in_which_its_terms_are_likeliest():
    vectors = vectorize(load_sample(), language="english")
    model = fit_corpus_model(vectors, 8, random_state=0)
    twin = sample_twin(model, 25, random_state=0)
    likelihoods = np.zeros((25, 8))
    for row in range(25):
        terms = twin.vectors.matrix[[row]].indices
        for cluster in range(8):
            share = model.common_shares[cluster]
            for term in terms:
                own, common = (chance(part, term) for part in (model.cluster_terms[cluster], model.common))
                likelihoods[row, cluster] += np.log(max((1 - share) * own + share * common, 1e-300))
    expected = (likelihoods + np.log(model.weights)).argmax(axis=1)
    np.testing.assert_array_equal(twin.oracle(), expected)
    assert np.mean(twin.oracle() == twin.truth) > 0.95
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(twin)).oracle(), expected)


def chance(part, term):
    """The probability of drawing a term."""
    (place,) = np.flatnonzero(part.columns == term) if term in part.columns else (None,)
    return 0.0 if place is None else np.diff(part.edges, prepend=0.0)[place] / part.edges[-1]


def test_nothing_is_above_the_oracle_in_the_mean_and_the_new_set_has_room():
    comparison = benchmark_synthetic("vmf-2", n_clusters=[40], algorithms=["smoothed"], seeds=1)
    scores = comparison.runs[comparison.runs["measure"] == "adjusted_rand"].set_index(["algorithm", "corpus"])["value"]
    assert scores["oracle"].min() > 0.95
    assert (scores["oracle"] > scores["smoothed"]).all()
    assert scores["smoothed"].min() < 0.5
    assert comparison.ceiling == "oracle"
    assert comparison.tests().empty  # one algorithm, and the oracle is none


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
    assert len(comparison.runs) == 2 * 3 * (3 + 2)  # seconds are not those of the oracle
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
