"""compare as a user types it: which truth was used, labels from elsewhere, own clusterers, sweeps, what is written."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

# one process that fits is enough, and costs the imports of one
FAST = (
    *("--threads", 1, "--algorithm", "spherical-kmeans:n_init=1", "--seeds", 2),
    *("--measures", "adjusted_rand,nmi,silhouette"),
)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    """A matrix with classes of its own: 60 rows of three clusters."""
    from doccluster.synthetic import make_sharma, write_vectors

    path = tmp_path_factory.mktemp("made") / "blocks.npz"
    write_vectors(path, make_sharma(3, documents_per_cluster=20, random_state=0))
    return path


def table(folder, name):
    return pd.read_csv(folder / f"{name}.csv")


@pytest.mark.usefixtures("in_short")
def test_text_and_a_matrix_each_have_their_own_truth_and_the_output_says_which(doccluster, newsroom, matrix, tmp_path):
    done = doccluster("compare", newsroom, matrix, "--truth", "story", "--min-df", 2, *FAST, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "articles: 176 documents" in done.out
    assert "k=32; truth: story\n" in done.out
    assert re.search(r"blocks: 6\d documents x \d+ terms, k=3; truth: class\n", done.out)
    corpora = table(tmp_path / "out", "corpora").set_index("corpus")
    assert corpora["truth"].to_dict() == {"articles": "story", "blocks": "class"}
    assert corpora.loc["articles", "n_clusters"] == corpora.loc["articles", "n_classes"] > 30


@pytest.mark.usefixtures("in_short")
def test_a_truth_can_be_named_for_one_source_and_without_any_the_first_is_used_and_told(
    doccluster, newsroom, matrix, tmp_path
):
    arguments = ("compare", newsroom, matrix, *FAST, "--json")
    named = json.loads(doccluster(*arguments, "--truth", "articles=story", "-o", tmp_path / "a").out)
    assert {row["corpus"]: row["truth"] for row in named["corpora"]} == {"articles": "story", "blocks": "class"}
    bare = json.loads(doccluster(*arguments, "-o", tmp_path / "b").out)
    assert {row["corpus"]: row["truth"] for row in bare["corpora"]} == {"articles": "topic", "blocks": "class"}
    assert bare["corpora"][0]["label_columns"] == "topic, story"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["NEWS", "--truth", "nothing"], "nothing"),
        (["NEWS", "--truth", "story", "--truth", "topic"], "write SRC=COLUMN"),
        (["MATRIX", "--truth", "story"], "no source has a label column 'story'"),
        (["NEWS", "MATRIX", "--labels", "labels.csv"], "do not say which source they are of"),
        ([], "give either sources to compare on, or --generate KIND"),
        (["NEWS", "--generate", "vmf"], "give either sources to compare on, or --generate KIND"),
        (["NEWS", "--vary", "k=2,3"], "give --generate KIND too"),
        (["--generate", "vmf", "--truth", "a"], "has its own truth"),
        (["--generate", "vfm"], "there is no generator 'vfm'"),
        (["--generate", "vmf", "--vary", "kapa=2,3"], "did you mean kappa?"),
        (["--generate", "vmf", "--vary", "k"], "write for instance k=5,10,20"),
        (["--generate", "vmf", "--vary", "k=2", "--vary", "k=3"], "given twice"),
        (["--generate", "vmf", "--set", "k=2,3"], "give one, or --vary k"),
        (["--generate", "vmf", "--set", "k=2", "--vary", "k=3,4"], "both fixed and varied"),
        (["NEWS", "--algorithm", "dbscan"], "or in compare your own as module:factory"),
        (["NEWS", "--algorithm", "tests.selection.own_clusterers:nothing"], "not a clusterer"),
    ],
)
def test_wrong_use_is_one_sentence(doccluster, newsroom, matrix, tmp_path, arguments, told):
    places = {"NEWS": newsroom, "MATRIX": matrix}
    done = doccluster("compare", *(places.get(one, one) for one in arguments), "-o", tmp_path / "out")
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("in_short")
def test_labels_from_elsewhere_are_joined_by_id_and_judged_beside_the_algorithms(doccluster, newsroom, tmp_path):
    lines = newsroom.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    stories = "".join(f"{record['id']},{record['story']}\n" for record in reversed(records))
    (tmp_path / "perfect.csv").write_text(f"id,cluster\n{stories}", encoding="utf-8")
    arguments = ("compare", newsroom, "--truth", "story", *FAST, "-o", tmp_path / "out")
    done = doccluster(*arguments, "--labels", tmp_path / "perfect.csv", "--json")
    assert done.code == 0, done.err
    means = {(row["algorithm"], row["measure"]): row["mean"] for row in json.loads(done.out)["summary"]}
    assert means["perfect", "adjusted_rand"] == 1.0
    assert means["spherical-kmeans:n_init=1", "adjusted_rand"] < 1.0
    (tmp_path / "short.csv").write_text("id,cluster\n" + "".join(stories.splitlines(True)[5:]), encoding="utf-8")
    lacking = doccluster(*arguments, "--labels", f"articles={tmp_path / 'short.csv'}")
    assert lacking.code == 2
    assert "short lack 5 of the 176 documents" in lacking.err


@pytest.mark.usefixtures("in_short")
def test_own_code_is_fitted_and_what_fails_is_told_with_its_seeds(doccluster, matrix, tmp_path):
    algorithms = ("--algorithm", "tests.selection.own_clusterers:Broken", "--algorithm", "kmeans:n_init=1")
    done = doccluster("compare", matrix, *algorithms, "--seeds", 4, "--measures", "nmi", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    told = "  failed: tests.selection.own_clusterers:Broken on blocks, seeds 1, 3: RuntimeError: no luck with odd seeds"
    assert told in done.out.splitlines()
    assert table(tmp_path / "out", "failures")["seed"].tolist() == [1, 3]
    assert "Wilcoxon's signed-rank test over paired seeds" in done.out


@pytest.mark.usefixtures("in_short")
def test_a_sweep_over_the_knobs_of_a_generator_is_one_command(doccluster, tmp_path):
    knobs = ("--vary", "k=2,4", "--vary", "kappa=20,60", "--set", "n=80", "--set", "d=12")
    algorithms = ("--algorithm", "kmeans:n_init=1", "--algorithm", "spherical-kmeans:n_init=1")
    few = ("--threads", 1, "--seeds", 2, "--measures", "adjusted_rand", "-o", tmp_path / "out")
    done = doccluster("compare", "--generate", "vmf", *knobs, *algorithms, *few)
    assert done.code == 0, done.err
    corpora = table(tmp_path / "out", "corpora")
    assert corpora[["k", "kappa"]].to_numpy().tolist() == [[2, 20], [2, 60], [4, 20], [4, 60]]
    assert (corpora["n_documents"] == 80).all()
    assert (corpora["n_clusters"] == corpora["k"]).all()
    runs = table(tmp_path / "out", "runs")
    seconds = runs[runs["measure"] == "seconds"]
    assert seconds.groupby(["corpus", "algorithm"])["seed"].apply(list).map(tuple).unique().tolist() == [(0, 1)]
    wide = runs[runs["measure"] == "adjusted_rand"].groupby("corpus")["value"].mean()
    assert wide["vmf k=2 kappa=60"] > wide["vmf k=4 kappa=20"]
    drawn = {path.name for path in (tmp_path / "out").iterdir()}
    assert {f"adjusted_rand-over-{knob}.svg" for knob in ("k", "kappa")} <= drawn


@pytest.mark.usefixtures("in_short")
@pytest.mark.parametrize(("kind", "knobs"), [("sharma", "overlap=0.1,0.4"), ("zipf", "overlap=0.1,0.5")])
def test_the_other_generators_have_knobs_too(doccluster, tmp_path, kind, knobs):
    sizes = {"sharma": ("--set", "k=3"), "zipf": ("--set", "n=60", "--set", "k=3", "--set", "n_terms=2000")}
    arguments = ("--threads", 1, "--algorithm", "kmeans:n_init=1", "--seeds", 1, "--measures", "nmi")
    arguments += ("-o", tmp_path / "out")
    done = doccluster("compare", "--generate", kind, "--vary", knobs, *sizes[kind], *arguments)
    assert done.code == 0, done.err
    assert table(tmp_path / "out", "corpora")["n_clusters"].tolist() == [3, 3]


def test_figures_and_tables_have_units_and_intervals_in_every_format(doccluster, newsroom, tmp_path):
    out = tmp_path / "out"
    algorithms = ("--algorithm", "kmeans:n_init=1", "--algorithm", "minibatch-kmeans:n_init=1")
    measures = ("--threads", 1, "--measures", "adjusted_rand,nmi,silhouette,coherence")
    done = doccluster(
        "compare", newsroom, "--truth", "story", *algorithms, "--seeds", 4, *measures, "--threads", 1, "-o", out
    )
    assert done.code == 0, done.err
    assert "peak memory (MiB)" in done.out
    assert "seconds (s)" in (out / "summary.tex").read_text(encoding="utf-8")
    assert "peak memory (MiB)" in (out / "summary.tex").read_text(encoding="utf-8")
    beginnings = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    for name in ("adjusted_rand", "nmi", "silhouette", "coherence", "seconds", "peak_memory", "agreement"):
        for kind, beginning in beginnings.items():
            assert (out / f"{name}.{kind}").read_bytes().startswith(beginning)
    summary = table(out, "summary").dropna(subset="low")
    bounded = summary[summary["measure"].isin(["nmi", "adjusted_rand", "coherence"])]
    assert (bounded["high"] <= 1).all()
    assert (summary[summary["measure"].isin(["seconds", "peak_memory"])]["low"] >= 0).all()
    runs = table(out, "runs")
    memory = runs[runs["measure"] == "peak_memory"]["value"]
    assert np.isnan(memory).all() or (memory > 0).mean() > 0.5
