"""The line above a cluster is a title one would print, and the documents behind it come from different outlets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from doccluster import Partition
from doccluster.corpus import read_corpus
from doccluster.labeling import representative_documents
from doccluster.pipeline.inspecting import inspect_source
from doccluster.pipeline.main_line import run_pipeline
from doccluster.report.html import render_report
from doccluster.report.summary import summarize
from doccluster.report.wording import one_line
from doccluster.results.document_table import without_openings
from doccluster.results.overview import HEADLINE_LENGTH, choose_headline, overview, plain_title, title_endings
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
    division = "each record of rows.jsonl is a document"
    assert f"4 documents ({division}; text: text), 1 Mar 1970 – 1 Mar 2020 (2 dates not believed)" in " ".join(
        printed.split()
    )
    found = inspect_source(path)
    assert (found.first_date, found.last_date) == ("1970-03-01", "2020-03-01")
    assert found.doubtful_dates == {"before the year 1000": 1, "more than a year from now": 1}


NEWS = ("The council closed the old bridge", "A ferry ran aground off the islands", "Bakers of the town went on strike",
        "The Rovers won the cup in extra time")  # fmt: skip
REST = "and the people who live there talked of little else for the rest of the week, as one of them said on Sunday."


def press_releases(n=40):
    days = ("Monday", "Friday")
    dateline = "FOR IMMEDIATE RELEASE {}, March {}, 2026 WASHINGTON, D.C. -- {} in street {}, {}"
    return [dateline.format(days[row // 4 % 2], row + 1, NEWS[row % 4], row, REST) for row in range(n)]


def test_openings_that_documents_of_many_clusters_share_are_cut():
    shorter = without_openings(press_releases(), [row % 4 for row in range(40)])
    assert [text[:20] for text in shorter[:4]] == [news[:20] for news in NEWS]


def test_what_the_documents_of_one_cluster_begin_with_stays():
    texts = press_releases()
    assert without_openings(texts, [0] * 40) == texts
    copies = [f"{NEWS[row % 4]} in the year {row}, {REST}" for row in range(40)]
    assert without_openings(copies, [row % 4 for row in range(40)]) == copies


def test_short_texts_keep_their_openings():
    questions = [f"What is the capital of {name}?" for name in map(str, range(40))]
    assert without_openings(questions, [row % 8 for row in range(40)]) == questions


def test_clusters_without_titles_are_called_by_their_words_and_without_those_by_how_they_begin():
    run = run_pipeline(press_releases(), n_clusters=4, reader={"keep_boilerplate": True}, random_state=0)
    assert not any("IMMEDIATE" in excerpt for excerpt in run.documents.excerpts)
    seen = overview(run)
    named = [one for one in seen if one.label != f"cluster {one.cluster}"]
    assert len(named) == 3
    assert all((one.name, one.beneath) == (one.label, one.headline) for one in named)
    assert {(one.name, one.beneath) for one in seen if one not in named} == {(seen[-1].headline, "")}
    assert {one.headline[:20] for one in seen} == {news[:20] for news in NEWS}
    assert summarize(run).names == {one.cluster: one_line(one.name, HEADLINE_LENGTH) for one in seen}
    titled = run_pipeline({"text": press_releases(), "title": [NEWS[row % 4] for row in range(40)]}, n_clusters=4)
    assert [text[:13] for text in titled.documents.excerpts[:2]] == ["FOR IMMEDIATE"] * 2
