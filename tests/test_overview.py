"""What is seen first of each cluster: the headline nobody else has, dates, outlets that are outlets, copies."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pandas as pd
import pytest

from doccluster.pipeline.main_line import run_pipeline
from doccluster.results.overview import first_sentence, outlets_of, overview

OIL = ["Oil prices rise as OPEC cuts exports", "OPEC cuts exports of oil again", "Crude oil exports fall, OPEC says"]
WHEAT = ["Rain delays the wheat harvest", "Wheat harvest late after rain", "Farmers wait: rain on the wheat"]


def run_of(**columns):
    frame = pd.DataFrame({"text": OIL + WHEAT, **columns})
    return run_pipeline(frame, n_clusters=2, language="english")


def test_the_headline_is_the_title_of_the_most_central_document():
    titles = [f"Title {row}" for row in range(6)]
    run = run_of(title=titles)
    for one, cluster in zip(overview(run), run.clusters, strict=True):
        members = run.partition.members(cluster.cluster)
        nearest = members[run.similarity[members].argmax()]
        assert one.headline == run.documents.titles[nearest]
        assert one.size == 3
        assert one.similarity == pytest.approx(run.similarity[members].mean())


def test_a_title_that_several_clusters_share_is_no_headline_while_there_is_another():
    run = run_of(title=["News in brief", "news in brief", "Oil", "News in brief ", "Wheat", "News in brief"])
    assert sorted(one.headline for one in overview(run)) == ["Oil", "Wheat"]
    run = run_of(title=["News in brief"] * 6)
    assert [one.headline for one in overview(run)] == ["News in brief"] * 2


def test_without_titles_the_headline_is_how_the_most_central_text_begins():
    assert all(one.headline in OIL + WHEAT for one in overview(run_of()))


def test_a_ready_matrix_has_labels_for_headlines():
    run = run_of()
    documents = replace(run.documents, excerpts=("",) * 6)
    assert [one.headline for one in overview(replace(run, documents=documents))] == [c.label for c in run.clusters]


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("A quake strikes Java. Hundreds are hurt.", "A quake strikes Java."),
        ("At 6 a.m. the ferry left. It ran aground.", "At 6 a.m. the ferry left."),
        (
            "東京で大きな地震が発生し、数百人が負傷したと発表された。被害は続く。",
            "東京で大きな地震が発生し、数百人が負傷したと発表された。",
        ),
        ("Short", "Short"),
        ("word " * 60, "word " * 21 + "word …"),
        ("x" * 300, "x" * 110 + " …"),
    ],
)
def test_a_sentence_is_cut_where_it_ends_or_where_the_room_does(text, headline):
    assert first_sentence(text) == headline


def test_dates_and_outlets_are_those_of_the_documents():
    days = ["2026-03-05", "2026-03-02T10:00:00+00:00", "", "2025-12-31", "2026-01-02", "2026-01-01"]
    seen = overview(run_of(date=days, source=["Wire", "Wire", "Post", "Post", "", ""]))
    found = {(one.first, one.last, one.outlets) for one in seen}
    assert found == {
        (date(2026, 3, 2), date(2026, 3, 5), (("Wire", 2), ("Post", 1))),
        (date(2025, 12, 31), date(2026, 1, 2), (("Post", 1),)),
    }


def test_the_name_of_the_file_a_document_was_read_from_is_no_outlet():
    run = run_of()
    documents = replace(
        run.documents,
        ids=("a/one", "two.txt", "lines:3", "sci/70", "4", "https://example.org/5"),
        sources=("one", "all.jsonl", "lines", "news.tar.xz/sci/70", "bbc.co.uk", "Tagesblatt"),
    )
    assert outlets_of(documents) == ("", "", "", "", "bbc.co.uk", "Tagesblatt")


def test_near_copies_are_counted_beyond_the_first():
    frame = pd.DataFrame({"text": [OIL[0], OIL[0], OIL[0] + "!", *WHEAT]})
    seen = overview(run_pipeline(frame, n_clusters=2, language="english"))
    assert sorted(one.n_copies for one in seen) == [0, 2]


def test_excerpts_are_plain_text_without_the_head_of_a_message():
    import pandas as pd

    from doccluster.corpus import read_corpus
    from doccluster.results.document_table import DocumentTable

    texts = ["From: a@b.org\nSubject: Re: tides\n\nThe <b>ferry</b> is late.", "From: here to there\nwe walked."]
    assert list(DocumentTable.from_corpus(read_corpus(pd.DataFrame({"text": texts}))).excerpts) == [
        "The ferry is late.",
        "From: here to there we walked.",
    ]


def test_a_headline_does_not_end_at_a_shortened_word():
    from doccluster.results.overview import first_sentence

    text = "A court told the U.S. envoy, Mr. J. Hill, to leave. He left."
    assert first_sentence(text) == "A court told the U.S. envoy, Mr. J. Hill, to leave."
    assert (
        first_sentence("Fog. The ferry to the islands is late. It rained.") == "Fog. The ferry to the islands is late."
    )
