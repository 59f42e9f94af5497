"""The front page: what leads, what is new, and that no article can act in it."""

from __future__ import annotations

import re

import pytest

from doccluster.errors import InputError
from doccluster.report.stream_page import render_front_page
from doccluster.streams.article import article, as_moment
from doccluster.streams.database import open_to_write, transaction
from doccluster.streams.front_page import front_page
from doccluster.streams.intake import take_in
from doccluster.streams.stream import StoryStream
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.report.hostile import HOSTILE, LINKS
from tests.streams.test_stream_commands import store  # noqa: F401  a fixture

BANK = "Central bank leaves interest rates unchanged at two percent, governor says"
FERRY = "Ferry runs aground off Skerrow harbour, all passengers are safe"


def filled(articles, path=None):
    """A stream of (date, source, title, text, link)."""
    stream = StoryStream(path)
    for number, (date, source, title, text, link) in enumerate(articles):
        one = article(
            time=as_moment(date), id=str(number), date=date, title=title, text=text, source=source, link=link, guid=""
        )
        with transaction(stream._connection):
            take_in(stream._connection, one, one.time)
        stream.cluster(one.time + 60, is_sure=True)
    return stream


@pytest.fixture
def page():
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "Ferry aground", FERRY, "https://example.org/1"),
        ("2026-03-01T09:00:00Z", "Courier", "Ferry aground", FERRY + " today", "https://example.org/2"),
        ("2026-03-03T09:00:00Z", "Wire", "Bank holds rates", BANK, "https://example.org/3"),
        ("2026-03-03T10:00:00Z", "Record", "Bank holds rates", BANK + " on Tuesday", "https://example.org/4"),
        ("2026-03-03T11:00:00Z", "Today", "Bank holds rates", BANK + " after its meeting", "https://example.org/5"),
    ]
    with filled(articles) as stream:
        yield front_page(stream._connection)


def test_stories_are_ranked_by_recent_weight_and_outlets(page):
    assert [story.n_documents for story in page.stories] == [3, 2]
    assert [story.headline for story in page.stories] == ["Bank holds rates", "Ferry aground"]
    assert page.stories[0].outlets == (("Record", 1), ("Today", 1), ("Wire", 1))


def test_what_came_in_after_the_moment_is_new(page):
    assert [[word for word, _ in story.badges] for story in page.stories] == [["new"], []]
    assert dict(page.facts)["new articles"] == 3


def test_articles_of_before_are_not_new_and_growth_is_told():
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "", FERRY, ""),
        ("2026-03-02T09:00:00Z", "Courier", "", FERRY + " today", ""),
    ]
    with filled(articles) as stream:
        by_moment = front_page(stream._connection, since="2026-03-01T12:00:00Z")
        by_batch = front_page(stream._connection, since="1")
        assert [word for word, _ in by_moment.stories[0].badges] == ["+1"]
        assert by_batch.stories == by_moment.stories
        for wrong in ("soon", "99"):
            with pytest.raises(InputError, match="since="):
                front_page(stream._connection, since=wrong)


def test_words_that_an_article_shares_with_its_story_are_marked_in_its_excerpt():
    shared = "Ferry runs aground off Skerrow harbour"
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "Ferry aground", f"It was foggy. {shared} zebra.", ""),
        ("2026-03-01T09:00:00Z", "Courier", "Ferry aground", f"{shared} walrus.", ""),
        ("2026-03-01T09:30:00Z", "Today", "Alone", "Orchestra tours islands of glass.", ""),
    ]
    with filled(articles) as stream:
        page = front_page(stream._connection)
        html = render_front_page(page)
    (story, alone) = page.stories
    for line in (story.lead, *story.others):
        marked = {piece.lower() for piece, is_shared in line.excerpt if is_shared}
        assert marked == {"ferry", "runs", "aground", "skerrow", "harbour"}
        assert "".join(piece for piece, _ in line.excerpt).startswith(shared)
    assert alone.lead.excerpt == ()
    assert html.count("<mark>") == 10


def test_the_picture_of_the_lineage_has_a_thread_for_each_story_and_leads_turns_the_right_way():
    articles = [
        (f"2026-03-0{day}T00:00:00Z", "Wire", f"{text} {title}", text, "")
        for day, title, text in ((1, "one", FERRY), (2, "two", BANK), (3, "three", "Orchestra tours islands of glass"))
    ]
    with filled(articles) as stream:
        connection = stream._connection
        ferry, bank, glass = (row[0] for row in connection.execute("SELECT story_id FROM story ORDER BY born"))
        insert = "INSERT INTO lineage (batch_id, moment, event, story_id, other_id, n_documents, similarity) VALUES"
        moments = [as_moment(f"2026-03-0{day}T00:00:00Z") for day in (1, 2, 3)]
        connection.execute(f"{insert} (3, ?, 'split', ?, ?, 1, 0.5)", (moments[1], ferry, bank))
        connection.execute(f"{insert} (3, ?, 'merged', ?, ?, 1, 0.5)", (moments[2], glass, bank))
        connection.execute("UPDATE story SET state = 'merged' WHERE story_id = ?", (bank,))
        page = front_page(connection)
        html = render_front_page(page)
    graph = page.lineage
    place = {thread.name.split()[0]: number for number, thread in enumerate(graph.threads)}
    assert {(turn.event, turn.source, turn.target) for turn in graph.turns} == {
        ("split", place["Ferry"], place["Central"]),
        ("merged", place["Central"], place["Orchestra"]),
    }
    two_days = moments[2] - moments[0] + 60  # to the last batch
    assert [turn.at for turn in graph.turns] == pytest.approx([86400 / two_days, 2 * 86400 / two_days])
    threads = {thread.name.split()[0]: thread for thread in graph.threads}
    assert (threads["Central"].begins, threads["Central"].ends) == pytest.approx((86400 / two_days, 172800 / two_days))
    assert (threads["Central"].id, threads["Ferry"].id, threads["Ferry"].ends) == ("", ferry, 1.0)
    assert html.count('class="turn ') == 2
    assert f'<a href="#{ferry}">' in html


def test_a_store_without_articles_has_a_page_too():
    connection, _ = open_to_write(None)
    assert "No open story" in render_front_page(front_page(connection))
    connection.close()


def test_no_article_gets_out_of_its_place():
    articles = [
        ("2026-03-01T08:00:00Z", text, text, f"{text} {number}", link)
        for number, text in enumerate(HOSTILE.values())
        for link in LINKS
    ]
    with filled(articles) as stream:
        html = render_front_page(front_page(stream._connection))
    assert "<script" not in html
    assert 'onerror="' not in html
    assert 'onmouseover="' not in html
    assert not re.search(r'href="(?!https?://|#)', html)
    assert "\u202e" not in html
    assert "default-src 'none'" in html


def test_the_command_writes_one_file(doccluster, store, tmp_path):  # noqa: F811
    done = doccluster(
        "stream", "report", "--store", store, "-o", tmp_path / "page.html", "--since", "2026-04-01", "--json"
    )
    assert done.code == 0
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(re.findall(r'<li class="story"', html)) >= 20
    again = doccluster("stream", "report", "--store", store, "-o", tmp_path / "again.html", "--since", "2026-04-01")
    assert again.code == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_asks_for_nothing_and_fits_the_window(doccluster, store, tmp_path, visit, width):  # noqa: F811
    doccluster("stream", "report", "--store", store, "-o", tmp_path / "page.html")
    page = visit(tmp_path / "page.html", width=width)
    assert [address for address in page.asked if not address.startswith("file:")] == []
    assert page.complaints == []
    assert page.locator("li.story").count() >= 20
    assert page.locator("svg.lineage line.open").count() >= 12
    assert page.locator(".excerpt mark").count() >= 20
    link = page.locator("svg.lineage a").first
    target = link.get_attribute("href")
    link.click()
    assert page.locator(f"li.story{target}").count() == 1
    assert page.evaluate("location.hash") == target
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
