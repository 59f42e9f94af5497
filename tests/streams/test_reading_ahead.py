"""A second process reads ahead: it gives what the line would read, and a replay with it writes the same bytes."""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import fields

import numpy as np
import pytest

from doccluster.streams import StoryStream, kept_stories, replay
from doccluster.streams.article import articles_of, in_order
from doccluster.streams.article_terms import ArticleTerms, TermReader
from doccluster.streams.copies import codes_of
from doccluster.streams.reading_ahead import ReaderAhead, decoded, encoded
from doccluster.streams.replay import batches_of, by_commit, dated_corpus
from experiments.news_stream import make_news_stream

TEXTS = [
    (
        "Ferry aground off Skerrow",
        "The ferry ran aground on Monday, said Captain Ada Lund. All 212 passengers are safe.",
    ),
    ("Die Fähre", "Die Fähre ist am Montag vor der Küste auf Grund gelaufen, sagte der Kapitän."),
    ("", ""),
    ("渡轮搁浅", "渡轮星期一在港口外搁浅,乘客都安全。"),
    ("Lone surrogate \ud800", "is kept as it is"),
    ("Rates", "word " * 3000),
]


def is_same(one: ArticleTerms, other: ArticleTerms) -> bool:
    """Whether all that is known of two articles is the same; arrays have the same kind of numbers too."""
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(ArticleTerms)]
    return all(
        left.dtype == right.dtype and np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right
        for left, right in pairs
    )


def test_terms_come_back_from_bytes_as_they_were():
    reader = TermReader()
    read = [
        reader.read(title, text, codes_of(text) if place % 2 else None) for place, (title, text) in enumerate(TEXTS)
    ]
    assert all(map(is_same, decoded(encoded(read)), read))
    assert all(map(is_same, decoded(encoded(read[:1])), read[:1]))


def made_rows(n_stories):
    made = make_news_stream(n_stories, days=10, random_state=3)
    return [(one.date, one.text, one.title) for one in made.articles]


def test_announced_articles_are_read_by_the_process_as_the_line_would_read_them():
    rows = [("2026-03-01T00:00:00Z", text, title) for title, text in TEXTS if text]
    articles = in_order(articles_of(dated_corpus(rows, {}), now=1_800_000_000))
    reader, asked = TermReader(), []

    class Counting:
        def read(self, title, text):
            asked.append(title)
            return reader.read(title, text)

    with ReaderAhead(Counting()) as ahead:
        blocks = list(ahead.through(by_commit(batches_of(articles, 3600))))
        found = {one.title: ahead.read(one.title, one.text) for _, together in blocks[-1] for one in together}
        assert asked == []
        ahead.read("Unannounced", "article")
        assert asked == ["Unannounced"]
    for one in articles:
        assert is_same_but_codes(found[one.title], reader.read(one.title, one.text))
        codes = found[one.title].codes
        assert codes is None or codes.tolist() == codes_of(f"{one.title}\n{one.text}").tolist()
    assert found["Ferry aground off Skerrow"].codes is not None


def is_same_but_codes(one, other):
    return is_same(ArticleTerms(*(getattr(one, name) for name in ArticleTerms.__slots__[:5])), other)


@pytest.fixture
def dumped(tmp_path, monkeypatch):
    """What a store holds after a replay, with and without the second process, or with one that dies."""

    def replayed(name, *, least, kill_after=None):
        monkeypatch.setattr(kept_stories, "LEAST_ARTICLES", least)
        monkeypatch.setattr(replay, "ARTICLES_PER_COMMIT", 20)
        monkeypatch.setattr(kept_stories, "available_threads", lambda: 2)
        used = []

        class Watched(ReaderAhead):
            def through(self, blocks):
                for number, block in enumerate(super().through(blocks)):
                    used.append(bool(self._known))
                    if number == kill_after:
                        self._process.kill()
                    yield block

        monkeypatch.setattr(kept_stories, "ReaderAhead", Watched)
        path = tmp_path / name
        with StoryStream(path) as one:
            one.replay(made_rows(8))
        with sqlite3.connect(path) as connection:
            return list(connection.iterdump()), used

    return replayed


def test_a_replay_writes_the_same_bytes_with_the_process_without_it_and_when_it_fails(dumped, monkeypatch):
    alone, used = dumped("alone.db", least=10**9)
    assert used == []
    ahead, used = dumped("ahead.db", least=1)
    assert used
    assert all(used)
    assert ahead == alone
    killed, used = dumped("killed.db", least=1, kill_after=0)
    assert used[0]
    assert not used[-1]
    assert killed == alone
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    never, used = dumped("never.db", least=1)
    assert used
    assert not any(used)
    assert never == alone
