"""choose-k and compare: their answers as text, as JSON, and as files."""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import redirect_stdout
from functools import cache, partial

import pytest

from doccluster.cli.main import main


@pytest.fixture(scope="module")
def chosen(newsroom):
    """A function that returns what `choose-k --json` tells of the articles; each call is made once."""
    return cache(partial(told_by, "choose-k", str(newsroom)))


def told_by(*arguments):
    with io.StringIO() as printed:
        with redirect_stdout(printed), pytest.raises(SystemExit, match="0"):
            main([*arguments, "--json"])
        return json.loads(printed.getvalue())


def test_choose_k_answers_in_its_first_lines_and_keeps_the_table(doccluster, newsroom, chosen, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "k"
    done = doccluster("choose-k", newsroom, "-o", out)
    assert done.code == 0, done.err
    first, _, levels = done.out.split("\n\n")[:3]
    assert max(map(len, done.out.splitlines()[:-1])) <= 80  # the last has the name of the folder
    answer = r"  (\d+) subtopics, because the documents are dated and come from 4 outlets; also (\d+) topics "
    found, n_topics = map(int, re.match(answer, " ".join(["", *first.split()]).replace(" ", "  ", 1)).groups())
    assert re.search(rf"\n  topics +{n_topics} +\d+  [^\n]+ \(\d+\)\n\* subtopics +{found} +5  [^\n]+ \(\d+\)$", levels)
    assert 32 / 1.5 <= found <= 32 * 1.5  # the sample tells 32 stories
    with (out / "choose_k.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["k"]) for row in rows if row["chosen"] == "subtopics"] == [found]
    assert {path.name for path in out.iterdir()} == {"choose_k.csv", "choose_k.svg"}
    assert "Without -k, `doccluster run` shows the stories of these articles" in done.out
    told = chosen()
    assert told["k"] == found
    assert told["sentence"] in " ".join(done.out.split())


def test_choose_k_takes_a_list_of_numbers_and_says_what_it_would_be_without(doccluster, newsroom):
    told = json.loads(doccluster("choose-k", newsroom, "--k", "1-3, 5,10", "--json").out)
    assert told["k"] == 10
    without = r"10 clusters, the best of your numbers; without them \d+ topics or \d+ subtopics"
    assert re.match(without, told["sentence"])
    assert told["has_structure"]


def test_choose_k_takes_a_granularity(chosen):
    finer, broad = chosen("--granularity", "subtopics"), chosen("--granularity", "topics")
    assert finer["k"] > broad["k"]
    assert f"{finer['k']} subtopics, as you asked; also" in finer["sentence"]
    assert (finer["topics"], finer["subtopics"]) == (broad["k"], finer["k"])


def test_choose_k_and_run_choose_the_same_number(doccluster, newsroom, chosen, tmp_path):
    told = chosen("--granularity", "subtopics")
    # a cluster whose documents all fit no cluster would go
    plain = ("--granularity", "subtopics", "--no-other", "--levels", "none", "--no-report", "--json")
    run = json.loads(doccluster("run", newsroom, "-o", tmp_path / "out", *plain).out)
    assert any(told["sentence"] in note for note in run["notes"])
    assert run["n_clusters"] == told["k"]


def test_choose_k_looks_at_a_sample_if_asked(doccluster, newsroom):
    told = json.loads(doccluster("choose-k", newsroom, "--sample", 100, "--json").out)
    assert told["n_looked_at"] == 100
    assert "judged on 100 of 176 documents" in told["sentence"]


def test_compare_gives_summary_tests_and_agreement(doccluster, newsroom, tmp_path):
    out = tmp_path / "compared"
    arguments = ("--algorithm", "spherical-kmeans:n_init=1", "--algorithm", "bisecting-kmeans", "--seeds", 3)
    done = doccluster("compare", newsroom, "--truth", "topic", *arguments, "-o", out, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert {row["algorithm"] for row in told["summary"]} == {"spherical-kmeans:n_init=1", "bisecting-kmeans"}
    assert {row["measure"] for row in told["tests"]} >= {"adjusted_rand", "seconds"}
    assert any(row["measure"] == "silhouette" for row in told["agreement"])
    assert (out / "summary.tex").read_text(encoding="utf-8").startswith(r"\begin{tabular}")


def test_criteria_of_the_textbooks_stand_beside_the_answer(doccluster, newsroom, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "k"
    typed = (
        "choose-k",
        newsroom,
        "--criterion",
        "silhouette",
        "--criterion",
        "penalised-rss",
        "--k",
        "20,32,40",
        "--sample",
        100,
    )
    finished = doccluster(*typed, "--penalty", "2", "-o", out)
    assert finished.code == 0, finished.err
    assert {path.name for path in out.iterdir()} == {"choose_k.csv", "choose_k.svg", "criteria.csv", "criteria.svg"}
    with (out / "criteria.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    best = max(rows, key=lambda row: float(row["silhouette"]))["k"]
    cheapest = min(rows, key=lambda row: float(row["rss"]) + 2 * int(row["k"]))["k"]
    assert re.search(rf"\n  silhouette +{best}  the largest silhouette\n  penalised-rss +{cheapest}  ", finished.out)
    assert json.loads(doccluster(*typed, "--penalty", "2", "--json").out)["criteria"]["choices"] == {
        "silhouette": int(best),
        "penalised-rss": int(cheapest),
    }
    refused = doccluster(*typed)
    assert refused.code == 2
    assert "'penalised-rss' has no penalty; give --penalty 1.0" in refused.err


def test_tendency_says_that_the_sample_has_clusters(doccluster, newsroom, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    finished = doccluster("tendency", newsroom)
    assert finished.code == 0, finished.err
    assert max(map(len, finished.out.splitlines())) <= 80
    tests = json.loads(doccluster("tendency", newsroom, "--json").out)
    assert [test["name"] for test in tests] == ["hopkins", "distance_kl", "spatial_kl"]
    assert all(test["p_value"] <= 0.05 and test["mean"] > test["null_interval"][1] for test in tests)
    refused = doccluster("tendency", newsroom, "--sample", "2")
    assert refused.code == 2
