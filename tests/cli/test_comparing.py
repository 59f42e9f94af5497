"""compare as a user types it: which truth was used, labels from elsewhere, own clusterers, sweeps, what is written."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from doccluster import compare, read_matrix

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


@pytest.fixture(scope="module")
def some_articles(newsroom, tmp_path_factory):
    """A third of the articles of the sample."""
    path = tmp_path_factory.mktemp("some") / "articles.jsonl"
    path.write_bytes(b"".join(newsroom.read_bytes().splitlines(keepends=True)[::3]))
    return path


def table(folder, name):
    return pd.read_csv(folder / f"{name}.csv")


def test_text_and_a_matrix_each_have_their_own_truth_and_the_output_says_which(doccluster, newsroom, matrix, tmp_path):
    done = doccluster("compare", newsroom, matrix, "--truth", "story", "--min-df", 2, *FAST, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "articles: 176 documents" in done.out
    assert "k=32; truth: story\n" in done.out
    assert re.search(r"blocks: 6\d documents x \d+ terms, k=3; truth: class\n", done.out)
    assert set(table(tmp_path / "out", "runs")["corpus"]) == {"articles", "blocks"}


def test_of_both_kinds_of_sources_each_takes_the_options_that_belong_to_it(newsroom, matrix, tmp_path):
    classes = tmp_path / "classes.txt"
    vectors, _ = read_matrix(matrix)
    classes.write_text("".join(f"class {row % 2}\n" for row in range(vectors.matrix.shape[0])), encoding="utf-8")
    reader = {"text_column": "title", "classes": classes}
    done = compare([newsroom, matrix], reader=reader, algorithms=["spherical-kmeans:n_init=1"], seeds=1)
    assert done.corpora["n_clusters"].tolist() == [8, 2]


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


def test_own_code_is_fitted_and_what_fails_is_told_with_its_seeds(doccluster, matrix, tmp_path):
    algorithms = ("--algorithm", "tests.selection.own_clusterers:Broken", "--algorithm", "kmeans:n_init=1")
    done = doccluster("compare", matrix, *algorithms, "--seeds", 4, "--measures", "nmi", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    told = "  failed: tests.selection.own_clusterers:Broken on blocks, seeds 1, 3: RuntimeError: no luck with odd seeds"
    assert told in done.out.splitlines()
    assert "Wilcoxon tests, 2 seeds paired (p after Holm" in done.out


def test_figures_and_tables_have_units_and_intervals_(doccluster, some_articles, tmp_path):
    out = tmp_path / "out"
    algorithms = ("--algorithm", "kmeans:n_init=1", "--algorithm", "minibatch-kmeans:n_init=1")
    measures = ("--threads", 1, "--measures", "adjusted_rand,nmi,silhouette,cluster_similarity")
    done = doccluster(
        "compare", some_articles, "--truth", "story", *algorithms, "--seeds", 4, *measures, "--threads", 1, "-o", out
    )
    assert done.code == 0, done.err
    assert "seconds (s)" in (out / "summary.tex").read_text(encoding="utf-8")
    for name in ("adjusted_rand", "nmi", "silhouette", "cluster_similarity", "seconds"):
        assert "kmeans" in "".join(ElementTree.parse(out / f"{name}.svg").getroot().itertext())
    summary = table(out, "summary").dropna(subset="low")
    bounded = summary[summary["measure"].isin(["nmi", "adjusted_rand", "cluster_similarity"])]
    assert (bounded["high"] <= 1).all()
    assert (summary[summary["measure"].isin(["seconds"])]["low"] >= 0).all()


def test_the_figures_of_sharma_and_sharma_are_one_command(doccluster, matrix, tmp_path):
    out, figures = tmp_path / "out", ("skm_objective", "cluster_similarity:largest", "coherence:largest")
    done = doccluster(
        *("compare", matrix, "--algorithm", "spherical-k-means:init=random,n_init=1", "--seeds", 12, "-o", out),
        *("--measures", f"adjusted_rand,{','.join(figures)}"),
    )
    assert done.code == 0, done.err
    shown = [line.split("  ")[1].strip() for line in done.out.splitlines()[1:7]]
    assert shown[1:5] == ["adjusted rand", "skm objective", "cluster similarity (largest)", "coherence (largest)"]
    for name in figures:
        words = "".join(ElementTree.parse(out / f"{name.replace(':', '-')}-runs.svg").getroot().itertext())
        assert "runs in the order of adjusted Rand" in words
    assert not list(out.glob("*ranks*"))  # of one corpus there are none
    told = json.loads(doccluster("compare", matrix, "--measures", "coherence:largest", "-o", out, "--json").out)
    assert {row["measure"] for row in told["tests"]} == {"coherence:largest", "seconds"}
    refused = doccluster("compare", matrix, "--measures", "coherence:widest", "-o", out)
    assert (refused.code, "coherence:widest names no clusters" in refused.err) == (2, True)


def test_several_corpora_are_ranked_and_every_table_is_written_in_three_forms(
    doccluster, some_articles, matrix, tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    out, names = tmp_path / "out", ("k-means:n_init=1", "spherical-k-means:n_init=1", "smoothed")
    algorithms = [word for name in names for word in ("--algorithm", name)]
    asked = (*algorithms, "--seeds", 3, "--measures", "ari,silhouette", "-o", out)
    done = doccluster("compare", some_articles, matrix, *asked)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    assert "  ranks over 2 corpora, 1 is best (p: Friedman; critical difference: Nemenyi)" in lines
    assert "  2 corpora can show no p below 1.000 with 3 pairs of algorithms; add corpora" in lines
    tables = ("summary", "tests", "agreement", "ranks", "corpus_tests")
    assert {path.name for path in out.iterdir() if path.suffix != ".svg"} == {
        "runs.csv",
        *(f"{name}.{form}" for name in tables for form in ("csv", "tex", "md")),
    }
    assert (out / "ari-ranks.svg").exists()
    ranks = table(out, "ranks").set_index("measure")
    assert ranks[[*names]].sum(axis=1).tolist() == [pytest.approx(6.0)] * 2  # 1 + 2 + 3
    bold = [line for line in (out / "ranks.md").read_text(encoding="utf-8").splitlines() if "**" in line]
    assert [line.split(" | ")[0] for line in bold] == ["| ari", "| silhouette"]
    told = json.loads(doccluster("compare", some_articles, matrix, *asked, "--json").out)
    assert [row["measure"] for row in told["ranks"]] == ["ari", "silhouette"]
    assert len(told["corpus_tests"]) == 2 * 3


def test_the_tests_of_three_algorithms_stay_in_one_table_at_80_columns(
    doccluster, some_articles, tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    names = ("spherical-k-means:n_init=1", "bisecting-spherical-k-means:n_init=1", "k-means:n_init=1")
    asked = [word for name in names for word in ("--algorithm", name)]
    asked += ["--truth", "story", "--seeds", 5, "--measures", "nmi,adjusted_rand"]
    done = doccluster("compare", some_articles, *asked, "-o", tmp_path / "c")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    heads = [line.split() for line in lines if "against" in line.split()]
    assert heads == [[*measure, "against", "difference", "effect", "p"] for measure in (["nmi"], ["adjusted", "rand"])]
    row = re.compile(r"  \S+ +\S.* [+-]\d\.\d{3} +[+-]\d\.\d\d +\d\.\d{3}$")
    rows = [line for line in lines if row.match(line)]
    assert len(rows) == 6


def test_made_corpora_are_compared_and_the_same_command_goes_on(doccluster, tmp_path):
    grid = "--set vmf-1 --kappa 50,500 -d 10,30 -k 3 -n 90"
    fast = "--algorithm k-means:n_init=1 --algorithm spherical-k-means:n_init=1"
    call = ("benchmark", "synthetic", "-o", tmp_path / "out", *grid.split(), *fast.split())
    first = doccluster(*call, "--seeds", 1)
    assert first.code == 0, first.err
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "fits").rglob("*.json")}
    assert len(kept) == 4 * 2
    done = doccluster(*call, "--seeds", 2)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    lines = done.out.splitlines()
    heads = [line.split() for line in lines if "oracle" in line]
    algorithms = ["k-means:n_init=1", "spherical-k-means:n_init=1"]
    assert heads == [["adjusted", "rand", "oracle", *algorithms], ["nmi", "oracle", *algorithms]]
    assert sum(line.startswith("  vmf-own kappa=500 d=10 k=3 ") for line in lines) == 3
    assert "  2 seeds can show no p below 0.500 with one pair of algorithms; give --seeds 20" in lines
    assert "  ranks over 4 corpora, 1 is best (p: Friedman; critical difference: Nemenyi)" in lines
    summary = table(tmp_path / "out", "summary")
    assert set(summary["n"]) == {2}
    told = json.loads(doccluster(*call, "--seeds", 2, "--json").out)
    assert len(told["summary"]) == len(summary) == 4 * (2 * 3 + 2)
    assert len(told["tests"]) == 4 * 2
    assert [row["n_corpora"] for row in told["ranks"]] == [4, 4]
    assert doccluster("benchmark", "synthetic", "-o", tmp_path / "x", "--kappa", "a").code == 2


def test_a_standard_set_goes_out_and_labels_come_back(doccluster, tmp_path):
    made, theirs, call = tmp_path / "made", tmp_path / "theirs", ("benchmark", "synthetic")
    written = doccluster(*call, "--set", "sharma-1", "--seeds", 1, "--write", made)
    assert written.code == 0, written.err
    assert written.out == "  sharma-1: 18 files, 18 of 18 as in the standard\n"
    theirs.mkdir()
    for truth in made.rglob("*.rclass"):
        (theirs / f"{truth.stem}.labels").write_bytes(truth.read_bytes())
    done = doccluster(*call, "--score", made, theirs, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["adjusted", "rand", "oracle", "theirs"]
    assert sum(line.split()[-2:] == ["1.000", "1.000"] for line in done.out.splitlines()) == 2 * 6
    assert set(table(tmp_path / "out", "summary")["algorithm"]) == {"oracle", "theirs"}
    told = json.loads(doccluster(*call, "--score", made, theirs, "--json").out)
    assert {row["set"] for row in told["corpora"]} == {"sharma-1"}
    own = json.loads(
        doccluster(*call, "--set", "sharma-1", "-k", 2, "--seeds", 1, "--write", tmp_path / "own", "--json").out
    )
    assert {file["kept"] for file in own["files"]} == {""}
    for wrong in ((), ("--score", made), (theirs, "-o", tmp_path / "out"), ("--write", made, theirs)):
        refused = doccluster(*call, *wrong)
        assert (refused.code, "give -o DIR, --write DIR, or --score DIR LABELS..." in refused.err) == (2, True)
    assert "--set vmf-9 is not known; give one of vmf-1" in doccluster(*call, "--set", "vmf-9", "--write", made).err


def test_the_output_says_what_so_few_seeds_can_show(doccluster, some_articles, tmp_path):
    names = ("k-means:n_init=1", "spherical-k-means:n_init=1", "spherical-k-means:n_init=1,init=random")
    fast = [*(word for name in names for word in ("--algorithm", name)), "--measures", "ari,coherence"]
    five = doccluster("compare", some_articles, "--truth", "story", *fast, "--seeds", 5, "-o", tmp_path / "five")
    assert "5 seeds can show no p below 0.188 with 3 pairs of algorithms; give --seeds 20\n" in five.out
    smallest = min(
        float(line.split()[-1]) for line in five.out.splitlines() if re.search(r"[+-][01]\.\d\d  [01]\.\d{3}$", line)
    )
    assert smallest == 0.188  # an algorithm that is always worse comes to the bound
    assert "coherence (Sharma & Sharma) is near 0 on text" in five.out
    ten = doccluster("compare", some_articles, "--truth", "story", *fast, "--seeds", 10, "-o", tmp_path / "ten")
    assert "can show no p below" not in ten.out
