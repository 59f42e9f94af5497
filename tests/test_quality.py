"""`run` in one call: what each quality does, what it says where a step cannot be done, and what odd corpora come to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

import doccluster
from doccluster.clustering import DocumentClustering, MultinomialMixture, SphericalKMeans
from doccluster.clustering.algorithms import QUALITIES
from doccluster.clustering.smoothed.document_spaces import shared_term_rows
from doccluster.errors import InputError, MemoryLimitError
from doccluster.lab.comparing import compare_sources
from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.in_process import canonical_order
from doccluster.pipeline.inspecting import write_vectors
from doccluster.pipeline.main_line import RunInterrupted, run_pipeline
from doccluster.results.run_folder import load_run
from doccluster.selection import LabelledCorpus, compare

NEWSROOM = Path(__file__).resolve().parent.parent / "corpora" / "samples" / "newsroom" / "articles.jsonl"
SEA = ["herring boats in the harbour", "the harbour pier and the boats", "storm nets and herring boats"]
BREAD = ["rye bread from the oven", "the baker bakes rye bread", "flour and rye for the oven"]


def same_partition(one, other):
    return adjusted_rand_score(one, other) == 1.0


@pytest.fixture(scope="module")
def by_quality():
    given = {"n_clusters": 32, "truth": "story", "levels": "none"}
    return {quality: run_pipeline(NEWSROOM, quality=quality, **given) for quality in QUALITIES}


@pytest.fixture(scope="module")
def plain():
    return run_pipeline(NEWSROOM, n_clusters=32, truth="story", algorithm="spherical-k-means", levels="none")


def test_left_out_the_quality_is_the_default_and_the_record_names_its_algorithm(by_quality):
    run = run_pipeline(NEWSROOM, n_clusters=32, levels="none")
    assert run.parameters["algorithm"] == "smoothed"
    assert np.array_equal(run.partition.labels, by_quality["default"].partition.labels)
    assert {name: one.parameters["algorithm"] for name, one in by_quality.items()} == QUALITIES


def test_the_plain_algorithm_has_the_labels_of_its_estimator_on_the_rows_in_order_of_content(plain):
    order = canonical_order(plain.vectors.matrix)
    expected = SphericalKMeans(32, random_state=0).fit(plain.vectors.matrix[order]).labels_
    assert same_partition(plain.partition.labels[order], expected)
    assert plain.rule is None


def test_smoothing_finds_more_of_the_stories_than_the_plain_algorithm(by_quality, plain):
    nmi = {name: run.evaluation.get("nmi").value for name, run in by_quality.items()}
    before = plain.evaluation.get("nmi").value
    assert nmi["fast"] >= before
    assert nmi["default"] > before + 0.03


def test_a_quality_and_an_algorithm_are_not_both_given():
    with pytest.raises(InputError, match="give one of the two"):
        run_pipeline(SEA, n_clusters=2, quality="fast", algorithm="k-means")
    with pytest.raises(InputError, match="give one of fast, default"):
        run_pipeline(SEA, n_clusters=2, quality="good")


def test_the_counts_are_those_of_a_plain_count_and_are_kept_with_the_run(tmp_path):
    run = run_pipeline([*SEA, *BREAD], n_clusters=2, language="none", output=tmp_path / "run", report=False)
    counter = CountVectorizer(vocabulary={term: column for column, term in enumerate(run.vectors.terms)})
    expected = counter.fit_transform([*SEA, *BREAD]).toarray()
    assert np.array_equal(run.vectors.counts.toarray(), expected)
    assert np.array_equal(load_run(tmp_path / "run").vectors.counts.toarray(), expected)


def test_a_file_of_vectors_keeps_the_counts_so_that_its_labels_are_those_of_the_texts(tmp_path):
    write_vectors(NEWSROOM, tmp_path / "x.npz")
    direct, through = (run_pipeline(source, n_clusters=12, levels="none") for source in (NEWSROOM, tmp_path / "x.npz"))
    assert np.array_equal(direct.partition.labels, through.partition.labels)
    assert direct.notes == through.notes == ()


@pytest.fixture
def fractions(tmp_path):
    """tf-idf values in a file of another program: no counts can be had from it."""
    rng = np.random.default_rng(4)
    topics = np.repeat([0, 1, 2], 15)
    share = np.kron(np.eye(3), np.ones(20)) * 0.3 + 0.02
    rows = (rng.random((45, 60)) < share[topics]) * rng.uniform(0.5, 1.5, (45, 60))
    rows[:, 0] += 0.1
    sparse.save_npz(tmp_path / "fractions.npz", sparse.csr_array(rows))
    sparse.save_npz(tmp_path / "signed.npz", sparse.csr_array(rows - (rows > 0) * 0.9))
    np.save(tmp_path / "dense.npy", rows)
    return tmp_path, topics


@pytest.mark.filterwarnings("ignore:.*holds fractions:doccluster.errors.DocclusterWarning")
def test_a_matrix_without_counts_is_not_settled_and_the_run_says_so(fractions):
    folder, topics = fractions
    run = run_pipeline(folder / "fractions.npz", n_clusters=3)
    assert run.notes == ("The counts of terms were left aside: the matrix holds none.",)
    assert doccluster.score("adjusted_rand", run.partition.labels, truth=topics).value > 0.9
    assert run.rule is None
    signed = run_pipeline(folder / "signed.npz", n_clusters=3)
    assert any("left aside: the rows have negative values" in note for note in signed.notes)
    dense = run_pipeline(folder / "dense.npy", n_clusters=3)
    assert dense.notes == run.notes  # the same rows, of which most are zeros


def test_a_mixture_of_multinomials_is_fitted_to_the_counts():
    how = {"algorithm": "multinomial-mixture", "clustering": {"n_init": 2}, "levels": "none"}
    run = run_pipeline(NEWSROOM, n_clusters=12, **how)
    order = canonical_order(run.vectors.matrix)
    model = MultinomialMixture(12, n_init=2, random_state=0).fit(run.vectors.counts[order])
    assert same_partition(run.partition.labels[order], model.labels_)
    assert run.rule.on_counts
    assert run.notes == ()


@pytest.mark.filterwarnings("ignore:.*holds fractions:doccluster.errors.DocclusterWarning")
def test_a_mixture_of_multinomials_takes_weighted_rows_but_no_negative_values(fractions):
    folder, topics = fractions
    given = {"n_clusters": 3, "algorithm": "multinomial-mixture"}
    run = run_pipeline(folder / "fractions.npz", **given)
    assert run.notes == ("The mixture was fitted to weights of terms: the matrix holds no counts.",)
    assert doccluster.score("adjusted_rand", run.partition.labels, truth=topics).value > 0.9
    assert np.array_equal(run.rule.labels(run.vectors.matrix), run.partition.labels)
    with pytest.raises(InputError, match="needs counts of terms >= 0"):
        run_pipeline(folder / "signed.npz", **given)


@pytest.mark.filterwarnings("ignore:.*holds fractions:doccluster.errors.DocclusterWarning")
def test_clusters_that_counts_made_ask_for_counts(fractions, tmp_path):
    folder, _ = fractions
    counts = np.random.default_rng(1).poisson(0.5, (30, 60))
    counts[:, 0] += 1
    sparse.save_npz(tmp_path / "counts.npz", sparse.csr_array(counts))
    run_pipeline(tmp_path / "counts.npz", n_clusters=3, output=tmp_path / "run", report=False)
    table = assign_documents(tmp_path / "run", tmp_path / "counts.npz")
    assert np.array_equal(table["cluster"].to_numpy(np.int64), load_run(tmp_path / "run").partition.labels)
    with pytest.raises(InputError, match="give counts"):
        assign_documents(tmp_path / "run", folder / "fractions.npz")


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")  # each case warns of what it is made of
@pytest.mark.parametrize("quality", sorted(QUALITIES))
@pytest.mark.parametrize(
    ("texts", "k", "sizes"),
    [
        pytest.param([*SEA, *BREAD], 1, [6], id="one cluster"),
        pytest.param([*SEA, *BREAD], 6, None, id="as many clusters as documents"),
        pytest.param([SEA[0], BREAD[0]], 2, [1, 1], id="two documents"),
        pytest.param(["herring boats"] * 8, 3, [8], id="all equal"),
        pytest.param([*SEA, *SEA, *BREAD, *BREAD], 2, [6, 6], id="half of them copies"),
        pytest.param([*SEA, *BREAD, "???", "1 2 3 - !"], 2, [3, 3], id="documents without terms"),
        pytest.param([*SEA, *BREAD, "rye bread oven " * 20_000], 2, [4, 3], id="one giant document"),
        pytest.param(["oil price", "price oil gas", "wheat rain", "rain wheat", "cup goal"], 3, None, id="pieces"),
    ],
)
def test_odd_corpora_give_sensible_clusters(texts, k, sizes, quality):
    run = run_pipeline(texts, n_clusters=k, language="english", quality=quality, vectorizer={"token_pattern": "[a-z]+"})
    if sizes is not None:
        assert run.partition.sizes.tolist() == sizes
    assert 1 <= run.n_clusters <= k
    assert run.n_documents == sum(any(letter.isalpha() for letter in text) for text in texts)
    if run.n_clusters < k:
        assert any("could be filled" in note for note in run.notes)
    if set(texts) >= {*SEA, *BREAD} and run.n_clusters == 2:
        of = dict(zip((texts[place] for place in run.documents.positions), run.partition.labels, strict=True))
        assert len({of[text] for text in SEA}) == len({of[text] for text in BREAD}) == 1


def test_more_clusters_than_documents_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="choose n_clusters <= 6"):
        run_pipeline([*SEA, *BREAD], n_clusters=7, language="english")


def test_as_many_clusters_as_documents_are_had_though_copies_share_a_place():
    pairs = [("oil", "gas"), ("rye", "bread"), ("sea", "boat"), ("cup", "goal")]  # each nearly a copy of the other
    texts = [text for one, other in pairs for text in (f"{one} {other} " * 5, f"{one} {other} " * 5 + one)]
    run = run_pipeline(texts, n_clusters=8, language="none", vectorizer={"token_pattern": "[a-z]+"}, quality="default")
    assert run.n_clusters == 8
    assert any("fewer than 8 documents would still differ" in note for note in run.notes)


def test_smoothing_keeps_to_the_memory_it_is_given_or_says_what_it_needs():
    given = {"n_clusters": 12, "algorithm": "smoothed", "levels": "none"}
    with pytest.raises(
        MemoryLimitError, match=r"too little to smooth .*; give \d+\.\dMiB, or quality='fast'"
    ) as refused:
        run_pipeline(NEWSROOM, clustering={"max_memory": "2M"}, **given)
    size = str(refused.value).split("give ")[1].split(",")[0]
    free = run_pipeline(NEWSROOM, **given)
    kept = run_pipeline(NEWSROOM, clustering={"max_memory": size}, **given)
    assert np.array_equal(free.partition.labels, kept.partition.labels)


def interrupt(*_given, **_more):
    raise KeyboardInterrupt


def test_a_person_who_stops_the_settling_keeps_the_labels_before_it(monkeypatch):
    monkeypatch.setattr("doccluster.clustering.smoothed.document_clusters.settle_labels", interrupt)
    with pytest.raises(RunInterrupted) as stopped:
        run_pipeline(NEWSROOM, n_clusters=12, levels="none")
    assert stopped.value.run.provenance.interrupted
    assert stopped.value.run.n_clusters == 12
    assert any("interrupted" in note for note in stopped.value.run.notes)


def test_a_person_who_stops_before_the_first_labels_gets_none(monkeypatch):
    monkeypatch.setattr("doccluster.clustering.smoothed.document_clusters.nearest_neighbours", interrupt)
    with pytest.raises(KeyboardInterrupt) as stopped:
        run_pipeline(NEWSROOM, n_clusters=12)
    assert not isinstance(stopped.value, RunInterrupted)


def test_k_left_to_the_data_is_that_of_the_plain_algorithm():
    names = "spherical-k-means", "smoothed"
    chosen = [run_pipeline(NEWSROOM, algorithm=name, granularity="topics", levels="none").n_clusters for name in names]
    assert chosen[0] == chosen[1] > 1


def test_a_comparison_gives_counts_to_the_algorithms_that_need_them():
    rng = np.random.default_rng(3)
    topics = np.repeat([0, 1, 2], 30)
    counts = sparse.csr_array(rng.poisson((np.kron(np.eye(3), np.ones(20)) * 0.3 + 0.15)[topics]) + 0.0)
    rows = shared_term_rows(counts, 3, n_threads=1).rows
    corpora = [
        LabelledCorpus(name, rows, topics.tolist(), 3, counts=with_counts)
        for name, with_counts in (("counts", counts), ("rows", None))
    ]
    compared = compare(corpora, algorithms=["settled:n_init=2"], seeds=[0], measures=["nmi"])
    labels = DocumentClustering(3, quality="fast", n_init=2, random_state=0).fit(counts).labels_
    expected = doccluster.score("nmi", labels, truth=topics).value
    runs = compared.runs
    value = runs[runs["measure"] == "nmi"].set_index("corpus")["value"]
    assert value["counts"] == pytest.approx(expected)
    assert value["counts"] > 0.3
    assert value["rows"] != pytest.approx(expected)  # the counts were what settled it


def test_texts_are_compared_with_their_counts():
    found = compare_sources([NEWSROOM], truth="story", algorithms=["spherical-k-means", "smoothed"], seeds=[0])
    nmi = found.runs[found.runs["measure"] == "nmi"].set_index("algorithm")["value"]
    assert nmi["smoothed"] > nmi["spherical-k-means"] + 0.03


def test_the_run_of_the_command_line_takes_a_quality_and_an_algorithm(tmp_path):
    from click.testing import CliRunner

    from doccluster.cli.main import commands

    arguments = ["run", str(NEWSROOM), "-o", str(tmp_path / "run"), "-k", "8", "--levels", "none", "--no-report"]
    shown = CliRunner().invoke(commands, [*arguments, "--quality", "fast"], catch_exceptions=False).output
    assert "8 clusters: spherical k-means, then a multinomial mixture, best of 10 starts" in shown
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["parameters"]["algorithm"] == "settled"
    both = CliRunner().invoke(commands, [*arguments, "--overwrite", "--quality", "fast", "--algorithm", "k-means"])
    assert "give one of the two" in str(both.exception)
