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
    assert [story.n_documents for story in page.cards] == [3, 2]
    assert [story.headline for story in page.cards] == ["Bank holds rates", "Ferry aground"]
    assert page.cards[0].outlets == (("Record", 1), ("Today", 1), ("Wire", 1))


def test_what_came_in_after_the_moment_is_new(page):
    assert [[word for word, _ in story.badges] for story in page.cards] == [["new"], []]
    assert dict(page.facts)["new articles"] == 3


def test_articles_of_before_are_not_new_and_growth_is_told():
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "", FERRY, ""),
        ("2026-03-02T09:00:00Z", "Courier", "", FERRY + " today", ""),
    ]
    with filled(articles) as stream:
        by_moment = front_page(stream._connection, since="2026-03-01T12:00:00Z")
        by_batch = front_page(stream._connection, since="1")
        assert [word for word, _ in by_moment.cards[0].badges] == ["+1"]
        assert by_batch.cards == by_moment.cards
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
    (story,), (alone,) = page.cards, page.singles
    marked = {piece.lower() for piece, is_shared in story.lead.excerpt if is_shared}
    assert marked == {"ferry", "runs", "aground", "skerrow", "harbour"}
    assert "".join(piece for piece, _ in story.lead.excerpt).startswith(shared)
    assert alone.lead.excerpt == ()
    assert html.count("<mark>") == 5


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
    assert html.count("<script") == 1  # the page's own
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
    assert len(re.findall(r'<li class="story', html)) >= 15
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
    assert page.locator("li.story").count() == 10
    assert page.locator("li.story-line").count() >= 5
    assert page.locator("li.story .excerpt mark").count() >= 20
    assert page.evaluate("document.documentElement.scrollHeight") < (12_000 if width > 1000 else 20_000)
    page.locator("#words").fill("viaduct")
    shown = page.locator("li:visible[data-updated]")
    assert 0 < shown.count() < 10
    assert page.locator("#found").inner_text().startswith(str(shown.count()))
    page.locator("#words").fill("")
    assert page.locator("li.story:visible").count() == 10
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.browser
def test_what_came_after_the_last_visit_is_marked(doccluster, store, tmp_path, visit):  # noqa: F811
    doccluster("stream", "report", "--store", store, "-o", tmp_path / "page.html")
    page = visit(tmp_path / "page.html", width=1280)
    assert page.locator(".fresh").count() == 0
    moments = sorted(one.get_attribute("data-updated") for one in page.locator("[data-updated]").all())
    page.evaluate(
        "moment => localStorage.setItem('doccluster-visit-' + document.documentElement.dataset.name, moment)",
        moments[len(moments) // 2],
    )
    page.reload()
    assert 0 < page.locator(".fresh").count() < page.locator("[data-updated]").count()
    page.reload()
    assert page.locator(".fresh").count() == 0


def test_an_outlet_that_repeats_itself_is_one_voice():
    articles = [
        *(
            (f"2026-03-01T{hour:02}:00:00Z", "Wire", f"Ferry aground {hour}", f"{FERRY} at {hour} hours", "")
            for hour in range(8)
        ),
        ("2026-03-01T08:00:00Z", "Wire", "Bank holds rates", BANK, ""),
        ("2026-03-01T08:00:00Z", "Record", "Bank holds rates now", BANK + " on Tuesday", ""),
    ]
    with filled(articles) as stream:
        page = front_page(stream._connection)
    assert page.cards[0].outlets == (("Record", 1), ("Wire", 1))


def test_columns_that_come_again_and_again_stand_apart():
    titles = [f"Morning briefing: {day} March" for day in range(1, 6)]
    articles = [
        (f"2026-03-0{day}T06:00:00Z", "Wire", title, f"{text} {day}", "")
        for day, (title, text) in enumerate(
            zip(titles, (FERRY, BANK, "Glass", "Wheat", "Orchestra tours"), strict=True), 1
        )
    ]
    with filled(articles) as stream:
        page = front_page(stream._connection)
    assert [one.headline for one in page.columns] == [titles[4]]
    assert titles[4] not in {one.headline for one in (*page.cards, *page.singles)}


def test_a_trouble_says_which_feed_and_what_to_do():
    with filled([("2026-03-01T08:00:00Z", "Wire", "Ferry aground", FERRY, "")]) as stream:
        stream._connection.execute(
            "INSERT INTO feed VALUES (1, 'https://example.org/r', 'Example', '', 'gone', '', '', '', 3600, 0, 3, '', 0,"
            " 0, 0, 0, 'gone')"
        )
        (trouble,) = front_page(stream._connection).troubles
    assert trouble[0] == "Example (https://example.org/r)"
    assert "list" in trouble[2]
