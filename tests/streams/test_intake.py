"""Which article is new, known, seen elsewhere or edited."""

from __future__ import annotations

import pytest

from doccluster.corpus.dates import as_moment
from doccluster.streams.article import article, as_text, document_key, is_believable, normal_link, story_id
from doccluster.streams.store.access import open_to_write
from doccluster.streams.store.intake import take_in

BASE = {
    "time": 1_000_000_000,
    "id": "1",
    "date": "",
    "title": "Ferry aground off Skerrow",
    "text": "All are safe.",
    "source": "Courier",
    "link": "https://example.org/ferry",
    "guid": "tag:1",
}


@pytest.fixture
def store():
    connection, _ = open_to_write(None)
    yield connection
    connection.close()


def take(store, **changes):
    return take_in(store, article(**{**BASE, **changes}), 1_000_003_600)


def test_an_article_that_comes_again_is_known(store):
    assert take(store) == "new"
    assert take(store) == "known"
    assert store.execute("SELECT COUNT(*) FROM document").fetchone() == (1,)
    assert store.execute("SELECT COUNT(*) FROM sighting").fetchone() == (1,)


@pytest.mark.parametrize(
    "link",
    [
        "https://www.example.org/ferry/?utm_source=rss",
        "http://EXAMPLE.org:80/ferry#top",
    ],
)
def test_the_same_address_in_another_source_is_the_article_seen_elsewhere(store, link):
    take(store)
    assert take(store, link=link, source="Wire", guid="x-9") == "elsewhere"
    sightings = store.execute("SELECT source, doc_id FROM sighting ORDER BY source").fetchall()
    assert sightings == [("Courier", 1), ("Wire", 1)]


def test_a_new_text_is_a_version_and_going_back_is_none(store):
    take(store)
    assert take(store, text="All are safe, says the company.") == "edited"
    assert take(store) == "known"
    assert store.execute("SELECT n_versions, text FROM document").fetchall() == [(2, "All are safe, says the company.")]
    kept = store.execute("SELECT doc_id, version, text FROM document_version").fetchall()
    assert kept == [(1, 1, "All are safe.")]


def test_a_new_guid_with_the_known_address_is_an_edit(store):
    assert take(store) == "new"
    assert take(store, guid="tag:2", title="Ferry aground off Skerrow harbour") == "edited"


def test_a_known_guid_with_another_address_and_title_is_another_article(store):
    take(store)
    other = take(store, link="https://example.org/bank", title="Bank leaves rates unchanged", text="At two percent.")
    assert other == "new"
    assert store.execute("SELECT COUNT(*) FROM document").fetchone() == (2,)


def test_an_address_that_is_used_again_for_another_article_makes_another_document(store):
    take(store, guid="")
    later = {"title": "Live: storm reaches the coast", "text": "Updates.", "time": BASE["time"] + 90 * 86400}
    assert [take(store, guid="", **later) for _ in range(2)] == ["new", "known"]
    assert store.execute("SELECT COUNT(*) FROM document").fetchone() == (2,)


def test_rows_of_two_files_with_the_same_numbers_are_different_articles(store):
    bare = {"link": "", "title": "", "source": ""}
    assert take(store, guid="1", text="Ministers agreed on wheat.", **bare) == "new"
    assert take(store, guid="1", text="The orchestra goes on tour in May.", **bare) == "new"
    assert take(store, guid="1", text="Ministers agreed on wheat.", **bare) == "known"


def test_addresses_that_are_none_are_empty():
    assert [normal_link(one) for one in ("", "javascript:alert(1)", "ftp://a.b/c", "http://[", "/path")] == [""] * 5


def test_the_key_of_an_article_without_address_and_guid_is_that_of_its_words():
    keys = {
        document_key(link="", guid="", source=source, title="A  b", text=text)
        for source, text in (("x", "C d."), ("y", "c  D."))
    }
    assert len(keys) == 1


def test_story_ids_are_the_same_everywhere():
    assert story_id("abc") == story_id("abc") != story_id("abc", attempt=1)
    assert story_id("abc") == "3jynah32"


@pytest.mark.parametrize("date", ["0001-11-30T12:38:00Z", "1899-01-01", "2050-03-01T00:00:00Z", "9999-12-31"])
def test_dates_that_cannot_be_are_not_believed(date):
    moment = as_moment(date)
    assert moment is not None
    assert as_text(moment)[:4] == date[:4]
    assert not is_believable(moment, as_moment("2026-03-01"))


def test_a_clock_that_is_half_an_hour_ahead_is_believed():
    now = as_moment("2026-03-01T12:00:00Z")
    assert is_believable(now + 1800, now)
    assert not is_believable(now + 7200, now)
