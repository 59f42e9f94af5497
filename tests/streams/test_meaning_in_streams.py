"""Streams with an encoder: meaning counts beside words, and a store keeps to the model that it was made with."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from doccluster.cli.main import main
from doccluster.errors import InputError, SchemaError
from doccluster.streams import StoryStream, StreamSettings
from doccluster.streams.article_meaning import PARTS, rounded
from doccluster.streams.database import reading
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import FEATURES, depth, shipped_coefficients
from doccluster.streams.open_stories import OpenStories
from doccluster.streams.rebuilding import rebuilt
from doccluster.streams.story import Member, Story

SAMPLE = Path(__file__).parents[2] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
SEA, BREAD = ("ferry", "vessel", "boat", "quay", "skerrow"), ("flour", "loaf", "oven", "bakery", "crust")
TITLES = [
    ("2026-03-02T08:00:00Z", "Ferry aground off Skerrow"),
    ("2026-03-02T09:00:00Z", "Bakery doubles price of every loaf"),
    ("2026-03-02T10:00:00Z", "Vessel towed to the quay"),
    ("2026-03-02T11:00:00Z", "Cheaper flour, hotter oven"),
]


def topics(texts):
    """An encoder of our own: how much of a text is about the sea, and how much about bread."""
    return np.array([[sum(text.lower().count(word) for word in own) for own in (SEA, BREAD)] for text in texts]) + 0.01


def stories_of(stream):
    return stream.tables().documents["story"]


def exit_code(*arguments):
    with pytest.raises(SystemExit) as done:
        main(["stream", *map(str, arguments)])
    return done.value.code


def test_of_two_stories_that_an_article_is_as_like_in_words_the_one_that_means_the_same_is_better():
    def vectors(term, *meaning):
        return WeightedTerms(np.array([0, term], np.int32), np.array([0.6, 0.8], np.float32), *rounded([meaning]))

    stories = OpenStories(StreamSettings(), shipped_coefficients())
    for number, one in enumerate((vectors(1, 1.0, 0.0), vectors(2, 0.0, 1.0)), 1):
        story = Story(f"story {number}", "", 0, 0, 0, "", members=[Member(number, number, "", 0, one)])
        stories.open_new(story)
    first, second = stories.matches(stories.compare(vectors(3, 0.0, 2.0), time=0, language=""), -9.0)
    assert (first.story.id, second.story.id) == ("story 2", "story 1")
    assert first.likeness == second.likeness == pytest.approx(0.36)
    weight = shipped_coefficients()[FEATURES.index("meaning_lead")]
    assert first.score - second.score == pytest.approx(
        2 * weight * (1 - depth(2))
    )  # one leads, the other is as far behind
    unheard = WeightedTerms(np.array([9], np.int32), np.ones(1, np.float32), *rounded([[1.0, 0.0]]))
    assert len(stories.matches(stories.compare(unheard, time=0, language=""), -9.0)) == 2  # no word in common


def test_rounded_rows_have_products_that_float32_holds_exactly():
    rows = rounded(np.random.default_rng(3).normal(size=(50, 300)))
    assert ((rows * PARTS) == np.rint(rows * PARTS)).all()
    assert (rows.astype(np.float16).astype(np.float32) == rows).all()
    exact = (rows.astype(np.float64) * PARTS).astype(np.int64)
    products = rows[:, ::-1] @ rows[0, ::-1]
    np.testing.assert_array_equal(products.astype(np.float64) * PARTS**2, exact @ exact[0])
    with pytest.raises(InputError, match="no row of numbers"):
        rounded([[np.nan, 1.0]])


def test_a_store_keeps_the_rows_of_living_stories_and_refuses_another_model(tmp_path):
    path = tmp_path / "news.db"
    with StoryStream(path, encoder=topics) as stream:
        stream.replay(TITLES)
        assert stream.check() == []
    with sqlite3.connect(path) as connection:
        sizes = connection.execute("SELECT LENGTH(meaning) FROM document").fetchall()
        kept = json.loads(connection.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()[0])
    connection.close()
    assert sizes == [(4,)] * 4
    assert kept == {"name": "topics", "digest": "", "dimensions": 2}
    with StoryStream(path) as stream, pytest.raises(InputError, match="encoder"):
        stream.replay([("2026-03-03", "Boat")])  # a function is not found by its name
    with pytest.raises(InputError, match="made with the encoder topics, not with <lambda>"):
        StoryStream(path, encoder=lambda texts: topics(texts))
    with StoryStream(tmp_path / "words.db") as stream:
        stream.replay(TITLES)
    with pytest.raises(InputError, match="made without an encoder"):
        StoryStream(tmp_path / "words.db", encoder=topics)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE document SET meaning = x'00' WHERE number = 2")
    connection.close()
    with pytest.raises(SchemaError, match="is damaged: meaning, document 2 has not a row of 4 bytes, but 1"):
        StoryStream(path, encoder=topics)


def test_embeddings_stand_for_an_encoder():
    rows = topics([text for _, text in TITLES])
    with StoryStream() as given, StoryStream(encoder=topics) as encoded:
        given.replay(TITLES, embeddings=rows)
        encoded.replay(TITLES)
        assert given.tables().lineage == encoded.tables().lineage
        with pytest.raises(InputError, match=r"shape \(4, 3\)"):
            given.replay(TITLES, embeddings=np.ones((4, 3)))
        with pytest.raises(InputError, match="made with the encoder topics"):
            encoded.replay(TITLES, embeddings=rows)
        late = given.replay([("2026-02-01", "Boat")], embeddings=rows[:1])
        assert (late.n_late, late.n_changed) == (1, None), "the embeddings of the first replay are gone"
        assert given.replay([("2026-02-01", "Boat")], embeddings=rows[:1]).n_late == 0
        assert given.check() == []
    with StoryStream() as stream, pytest.raises(InputError, match="not a row for each"):
        stream.replay(TITLES, embeddings=[1.0, 2.0])


def test_a_store_before_there_was_meaning_can_be_read_and_is_brought_up_to_date(tmp_path, capsys):
    path = tmp_path / "news.db"
    with StoryStream(path) as stream:
        stream.replay(TITLES)
        before = stream.tables()
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE document DROP COLUMN meaning")
        connection.execute("PRAGMA user_version = 6")
    connection.close()
    with pytest.raises(SchemaError, match="stream upgrade"):
        StoryStream(path)
    assert exit_code("report", "--store", path, "-o", tmp_path / "page.html") == 0
    assert exit_code("check", "--store", path) == 0
    assert exit_code("rebuild", "--store", path) == 0
    assert exit_code("upgrade", "--store", path) == 0
    assert "6 -> 7" in capsys.readouterr().out
    with StoryStream(path) as stream:
        assert stream.check() == []
        assert stream.tables() == before or stream.tables().documents == before.documents
    assert exit_code("upgrade", "--store", path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["before"] == 7


def test_the_static_encoder_is_found_by_its_name_and_a_rebuild_keeps_its_stories(tmp_path):
    pytest.importorskip("wordllama")
    path = tmp_path / "news.db"
    assert exit_code("replay", SAMPLE, "--store", path, "--encoder", "static") == 0
    with StoryStream() as words:
        words.replay(SAMPLE)
        n_by_words = len(set(stories_of(words)))
    with StoryStream(path) as stream:  # the encoder is found by its name
        assert len(set(stories_of(stream))) <= n_by_words
        assert stream.check() == []
        again = stories_of(stream)
    with reading(path) as connection, rebuilt(connection) as (copy, _):
        sizes = connection.execute("SELECT DISTINCT LENGTH(meaning) FROM document WHERE meaning IS NOT NULL")
        assert sizes.fetchall() == [(512,)]  # float16 of the 256 dimensions of the model
        rows = copy.execute("SELECT story_id FROM document JOIN membership USING (doc_id) WHERE to_batch IS NULL")
        assert sorted(story for (story,) in rows) == sorted(again)
