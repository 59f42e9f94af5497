"""How common clusters are in groups: against scipy cell by cell, and what is answered in a sentence."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from doccluster import load_run, run
from doccluster.errors import InputError

WORDS = "ferry harbour tide pier", "wheat harvest rain field", "goal keeper match striker"


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    topics = rng.integers(3, size=120)
    frame = pd.DataFrame(
        {
            "text": [
                f"{WORDS[topic]} {WORDS[topic]} {' '.join(rng.permutation(WORDS[topic].split()))}" for topic in topics
            ],
            "party": np.where((topics == 0) & (rng.random(120) < 0.8), "D", np.where(rng.random(120) < 0.5, "R", "D")),
            "score": rng.random(120).round(6),
            "seats": rng.integers(4, size=120),
            "row": [f"r{number}" for number in range(120)],
            "rare": ["common"] * 100 + ["small"] * 3 + [""] * 7 + ["other"] * 10,
            "same": ["one"] * 120,
            "date": [f"20{20 + number % 2}-0{1 + number % 3}-05" for number in range(120)],
            "label": topics.astype(str),
        }
    )
    return run(frame, n_clusters=3, report=False, reader={"label_columns": ["label"]})


def test_every_cell_is_that_of_scipy(made):
    result = made.prevalence("party")
    parties = np.array(made.documents.columns["party"])
    assert result.group_sizes == {"D": int((parties == "D").sum()), "R": int((parties == "R").sum())}
    p_values = []
    for row in result.table.itertuples():
        in_group, in_cluster = parties == row.group, made.shown_labels == row.cluster
        n_both = int((in_group & in_cluster).sum())
        assert row.n == n_both
        assert row.share == n_both / in_group.sum()
        interval = stats.binomtest(n_both, int(in_group.sum())).proportion_ci(method="wilson")
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
        assert row.lift == pytest.approx(row.share / in_cluster.mean())
        table = [
            [n_both, (in_cluster & ~in_group).sum()],
            [(in_group & ~in_cluster).sum(), (~in_group & ~in_cluster).sum()],
        ]
        one_sided = [stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
        assert row.p == pytest.approx(min(1, 2 * min(one_sided)))
        assert row.bootstrap_low <= row.share <= row.bootstrap_high
        p_values.append(row.p)
    ranked = sorted(p_values)
    assert result.table["p_holm"].min() == pytest.approx(ranked[0] * len(ranked))
    assert result.shares().sum().tolist() == pytest.approx([1, 1])
    assert r"$^*$" in result.to_latex()


def test_bootstrap_agrees_with_drawing_documents(made):
    result = made.prevalence("party").table.iloc[0]
    rng = np.random.default_rng(1)
    parties, labels = np.array(made.documents.columns["party"]), made.shown_labels
    shares = []
    for _ in range(2_000):
        rows = rng.integers(120, size=120)
        in_group = parties[rows] == result["group"]
        shares.append((labels[rows][in_group] == result["cluster"]).mean())
    assert (result["bootstrap_low"], result["bootstrap_high"]) == pytest.approx(
        np.quantile(shares, [0.025, 0.975]), abs=0.02
    )


def test_numbers_dates_and_labels_are_groups(made):
    quarters = made.prevalence("score")
    assert [name[:2] for name in quarters.group_sizes] == ["1:", "2:", "3:", "4:"]
    assert set(quarters.group_sizes.values()) == {30}
    assert "cut into quarters" in quarters.notes[0]
    assert list(made.prevalence("seats").group_sizes) == ["0", "1", "2", "3"]
    assert list(made.prevalence("year").group_sizes) == ["2020", "2021"]
    assert len(made.prevalence("month").group_sizes) == 6
    assert list(made.prevalence("label").group_sizes) == ["0", "1", "2"]


def test_small_groups_and_missing_values_are_said(made):
    result = made.prevalence("rare")
    assert result.group_sizes == {"common": 100, "other": 10}
    assert result.notes == (
        "7 documents without a rare are left out.",
        "Groups of fewer than 5 documents are left out: small (3 documents).",
    )


@pytest.mark.parametrize(
    ("by", "sentence"),
    [("same", "'same' has one value, 'one'"), ("row", "a different value for each"), ("nope", "no column 'nope'")],
)
def test_a_column_that_makes_no_groups_is_answered(made, by, sentence):
    with pytest.raises(InputError, match=sentence):
        made.prevalence(by)


def test_words_set_periods_of_a_cluster_apart():
    months = ["harbour pier ferry storm flood"] * 6, ["harbour pier ferry strike union"] * 6
    frame = pd.DataFrame(
        {
            "text": [*months[0], *months[1], *["wheat field rain"] * 12],
            "date": (["2020-01-03"] * 6 + ["2020-02-03"] * 6) * 2,
        }
    )
    made = run(frame, n_clusters=2, report=False, clustering={"n_init": 2})
    sea = int(made.labels_[0])
    words = made.words_over_time(sea, "month", n_words=2)
    assert {month: set(terms) for month, terms in words.items()} == {
        "2020-01": {"storm", "flood"},
        "2020-02": {"strike", "union"},
    }
    with pytest.raises(InputError, match="from 0 to 1"):
        made.words_over_time(7)


def test_the_command_prints_every_form(doccluster, newsroom, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "run"
    assert doccluster("run", newsroom, "-o", out, "-k", "6", "--no-report").code == 0
    wide = doccluster("prevalence", out, "--by", "source")
    assert wide.code == 0, wide.err
    assert "differs from the others, p below 0.05 after Holm's correction" in wide.out
    many = doccluster("prevalence", out, "--by", "story")
    assert "cells that differ most" in many.out
    assert max(len(line) for line in (wide.out + many.out).splitlines()) <= 80
    table = json.loads(doccluster("prevalence", out, "--by", "source", "--json").out)
    assert len(table["table"]) == 6 * len(table["group_sizes"])
    assert doccluster("prevalence", out, "--by", "source", "--csv").out.startswith("cluster,label,group,n,share,")
    assert doccluster("prevalence", out, "--by", "month", "--words", "0").code == 0
    assert doccluster("prevalence", out, "--by", "nope").code == 2
    refused = doccluster("prevalence", out, "--by", "month", "--words", "0", "--csv")
    assert refused.code == 2
    assert "leave out --latex, --csv and --output" in refused.err


@pytest.mark.parametrize("by", ["party", "month"])
def test_shares_are_drawn_with_their_intervals(made, tmp_path, by):
    from doccluster.report.figures import bar_chart, prevalence_chart

    result = made.prevalence(by)
    shares = 100 * result.shares().to_numpy()
    low, high = (100 * result.table[end].to_numpy().reshape(shares.shape) for end in ("low", "high"))
    labels, groups = [cluster.label for cluster in made.clusters], list(result.group_sizes)
    series = {group: shares[:, column] for column, group in enumerate(groups)}
    spread = {group: np.stack([shares - low, high - shares])[:, :, column] for column, group in enumerate(groups)}
    figure = bar_chart(labels, series, spread=spread, title=f"share of the documents by {by}", y_label="percent")
    assert (
        prevalence_chart(result).save(tmp_path / "a.svg").read_bytes() == figure.save(tmp_path / "b.svg").read_bytes()
    )


def test_many_groups_are_drawn_by_the_largest_clusters(doccluster, newsroom, tmp_path):
    assert doccluster("run", newsroom, "-o", tmp_path / "run", "-k", 5).code == 0
    done = doccluster("prevalence", tmp_path / "run", "--by", "story", "-o", tmp_path / "shares.svg")
    assert done.code == 0, done.err
    drawn = (tmp_path / "shares.svg").read_text(encoding="utf-8")
    labels = [cluster.label for cluster in load_run(tmp_path / "run").clusters]
    assert [label.split(",")[0] in drawn for label in labels] == [True] * 4 + [False]
    assert doccluster("prevalence", tmp_path / "run", "--by", "topic", "-o", tmp_path / "shares.png").code == 2


def test_columns_are_not_crossed_and_none_is_dropped_in_silence(doccluster, finished, made):
    done = doccluster("prevalence", finished, "--by", "source", "--by", "month")
    assert done.code == 2
    assert "ask for source and month one after the other" in done.err
    with pytest.raises(InputError, match=r"by=\['source', 'month'\] is not a column"):
        made.prevalence(["source", "month"])
