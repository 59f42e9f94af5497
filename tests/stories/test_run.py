"""What `run` calls a story is what a store calls one; where documents are no news, nothing is called so."""

from __future__ import annotations

import json
import pathlib

import pytest

import doccluster

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom" / "articles.jsonl"


def rows(n=None):
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()[:n]]


def write(path, articles):
    path.write_text("".join(json.dumps(one) + "\n" for one in articles), encoding="utf-8")
    return path


def words_of(run):
    return " ".join(note.lower() for note in run.notes)


@pytest.fixture(scope="module")
def run():
    """A run of the whole sample."""
    return doccluster.run(SAMPLE, truth="story", measures=["pair_f"], levels="none")


def test_run_of_dated_articles_of_several_outlets_shows_the_stories_of_the_rule(run):
    assert 28 <= run.n_clusters <= 45
    assert run.evaluation["pair_f"].value >= 0.9
    assert f"{run.n_clusters} stories of two articles or more" in words_of(run)
    assert "come from 4 outlets" in words_of(run)


def test_articles_that_are_like_no_other_are_shown_as_other_unless_that_is_not_wanted(run):
    assert 0 < run.n_other < 30
    assert doccluster.run(SAMPLE, other=False, levels="none").n_other == 0


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({}, {"n_clusters": 10, "levels": "none"}),
        ({}, {"granularity": "topics"}),
        ({}, {"granularity": "subtopics", "levels": "none"}),
        ({"date": ""}, {"levels": "none"}),
        ({"source": "tide.example"}, {"levels": "none"}),
        ({"source": ""}, {"levels": "none"}),
    ],
    ids=["k", "topics", "subtopics", "undated", "one outlet", "no outlet"],
)
def test_what_is_no_news_or_asked_for_otherwise_has_no_stories(tmp_path, fields, options):
    path = write(tmp_path / "articles.jsonl", [{**one, **fields} for one in rows(60)])
    run = doccluster.run(path, **options)
    assert run.n_clusters > 1
    assert "stories" not in words_of(run)
    assert "story" not in words_of(run)


def test_stories_that_are_asked_for_where_there_are_none_are_subtopics(tmp_path):
    path = write(tmp_path / "articles.jsonl", [{**one, "date": ""} for one in rows(60)])
    run = doccluster.run(path, granularity="stories", levels="none")
    assert "subtopics, as you asked" in words_of(run)


def test_an_empty_text_with_a_title_is_a_document(tmp_path):
    path = write(tmp_path / "articles.jsonl", [{**one, "text": ""} for one in rows()])
    run = doccluster.run(path, levels="none")
    assert run.n_documents + len(run.empty_documents) == len(rows())  # one title has no term that two have
    assert "stories of two articles or more" in words_of(run)


def test_articles_of_which_no_two_tell_one_story_are_clustered_all_the_same(tmp_path):
    subjects = ["oil prices", "wheat harvest", "ferry timetable", "chess final", "museum roof", "bee hives"]
    articles = [
        {"id": str(n), "title": f"About {one}", "text": one * 3, "date": f"2026-03-0{n + 1}", "source": f"o{n}.org"}
        for n, one in enumerate(subjects)
    ]
    run = doccluster.run(write(tmp_path / "articles.jsonl", articles), levels="none")
    assert "two articles or more" not in words_of(run)


def test_an_article_whose_date_cannot_be_is_in_no_story(tmp_path):
    articles = rows(60)
    articles[0]["date"] = "0001-01-01"
    run = doccluster.run(write(tmp_path / "articles.jsonl", articles), levels="none")
    assert run.is_other[run.documents.ids.index(articles[0]["id"])]
