"""The line above a cluster is a title one would print, and the documents behind it come from different outlets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from doccluster import Partition
from doccluster.corpus import read_corpus
from doccluster.headlines import choose_headline, plain_title, title_endings
from doccluster.labeling import representative_documents
from doccluster.overview import overview
from doccluster.pipeline.inspecting import inspect_source
from doccluster.pipeline.main_line import run_pipeline
from doccluster.report.html import render_report
from tests.cli.conftest import doccluster  # noqa: F401 (a fixture)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("UPDATED: Ferry runs aground", "Ferry runs aground"),
        ("Re: Re: Rye bread", "Rye bread"),
        ("VIDEO - Ferry runs aground", "Ferry runs aground"),
        ("Live music returns to the quay", "Live music returns to the quay"),
        ("Ferry runs aground | Courier", "Ferry runs aground"),
        ("Ferry runs aground - twice", "Ferry runs aground - twice"),
        ("UPDATED:", "UPDATED:"),
    ],
)
def test_a_title_is_shown_without_what_is_not_of_the_story(title, shown):
    assert plain_title(title, {"courier"}) == shown


def test_an_ending_is_left_out_if_it_is_an_outlet_or_ends_several_titles():
    titles = [
        "Rain - Daily Post",
        "Rye - Daily Post",
        "Cup - Daily Post",
        "Cup - Daily Post",
        "Fog - soup",
        "Ice - soup",
    ]
    assert title_endings(titles) == {"daily post"}
    assert title_endings(titles, ["Soup"]) == {"daily post", "soup"}


def test_the_headline_is_the_first_plain_title_of_the_cluster_alone():
    assert (
        choose_headline(
            ["OPINION: Sink it", "“Never”", "News in brief", "Ferry runs aground at dawn"], [], {"news in brief"}
        )
        == "Ferry runs aground at dawn"
    )
    assert choose_headline(["OPINION: Sink it"], []) == "OPINION: Sink it"
    assert choose_headline([""], ["$$ in Bash", "How do I split a string in Bash"]) == "How do I split a string in Bash"


def test_representatives_are_the_most_central_of_different_outlets_first():
    angles = np.array([0.0, 0.5, 1.0, 1.5])
    rows = sparse.csr_array(np.column_stack([np.cos(angles), np.sin(angles)]))
    similarity = np.cos(angles)
    partition = Partition.from_labels([0, 0, 0, 0])

    def shown(outlets, n):
        found = representative_documents(rows, partition, similarity, n_documents=n, outlets=outlets)
        return [one.row for one in found[0]]

    assert shown(None, 3) == [0, 1, 2]
    assert shown(["A", "A", "B", "C"], 3) == [0, 2, 3]
    assert shown(["A", "A", "B", "B"], 3) == [0, 1, 2]
    assert shown(["A", "A", "B", "B"], 2) == [0, 2]
    assert shown(["", "", "", ""], 2) == [0, 1]


def test_the_subject_of_a_message_read_as_text_is_its_title(tmp_path):
    (tmp_path / "52550").write_text("From: a@b.c\nSubject: Re: rye bread\n\nBake it longer.", encoding="utf-8")
    (tmp_path / "note").write_text("Subject: none, this is no message.\nIt rains.", encoding="utf-8")
    titles = {name.rpartition("/")[2]: title for name, title in zip(*_titles(tmp_path), strict=True)}
    assert titles == {"52550": "Re: rye bread", "note": ""}


def _titles(folder):
    corpus = read_corpus(folder)
    return corpus.ids, corpus.column("title")


def test_a_date_that_is_not_believed_is_of_no_day(tmp_path, doccluster):  # noqa: F811
    rows = [
        {"text": f"rye bread {n}", "date": f"{year:04}-03-01", "title": "x"}
        for n, year in enumerate((1, 1970, 2020, 2999))
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = run_pipeline(path, n_clusters=1)
    (seen,) = overview(run)
    assert (seen.first.year, seen.last.year) == (1970, 2020)
    report = render_report(run)
    assert '"last":"2020-03-01"' in report
    printed = doccluster("run", path, "-k", 1, "--no-report", "-o", tmp_path / "out").out
    assert "4 documents, 1 Mar 1970 – 1 Mar 2020 (2 dates not believed)" in printed
    found = inspect_source(path)
    assert (found.first_date, found.last_date) == ("1970-03-01", "2020-03-01")
    assert found.doubtful_dates == {"before the year 1000": 1, "more than a year from now": 1}
