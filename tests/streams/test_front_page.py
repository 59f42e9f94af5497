"""The front page: what leads, what is new, and that no article can act in it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import sparse

from doccluster.corpus.dates import as_moment
from doccluster.errors import InputError
from doccluster.report.page import render_front_page
from doccluster.streams.article import article
from doccluster.streams.page import _story_words as story_pieces
from doccluster.streams.page import front_page as front_page_module
from doccluster.streams.page.front_page import feed_of, front_page
from doccluster.streams.settings import DAY
from doccluster.streams.store.access import open_to_write
from doccluster.streams.store.database import transaction
from doccluster.streams.store.intake import take_in
from doccluster.streams.stream import StoryStream
from tests.axe import axe_script, violations
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.report.hostile import HOSTILE, LINKS

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
    late, early = (np.array(story.bins) for story in page.cards)
    assert (late.sum(), early.sum()) == (3, 2)
    assert np.flatnonzero(early).max() < late.size / 2 < np.flatnonzero(late).min()


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
        (
            "2026-03-01T09:00:00Z",
            "Courier",
            "Ferry aground",
            f"{shared} walrus. Engine failure blamed, owner regrets delays",
            "",
        ),
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


@pytest.mark.parametrize("n_listed", [1000, 2])
def test_no_article_gets_out_of_its_place(monkeypatch, n_listed):
    monkeypatch.setattr(front_page_module, "MAX_STORIES", n_listed)
    articles = [
        ("2026-03-01T08:00:00Z", text, text, f"{text} {number}", link)
        for number, text in enumerate(HOSTILE.values())
        for link in LINKS
    ]
    with filled(articles) as stream:
        html = render_front_page(front_page(stream._connection))
    assert html.count("<script") == 1 + (n_listed == 2)  # the page's own, and the plain data of what it does not list
    assert html.count("</script") == html.count("<script")
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


def pieces(likeness, spans=None, **given):
    """The pieces of stories a, b, ... whose means have these cosines with one another."""
    names = [chr(97 + place) for place in range(len(likeness))]
    spans = spans or dict.fromkeys(names, (0, DAY))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(story_pieces, "_means", lambda *_: sparse.csr_array(np.linalg.cholesky(np.array(likeness))))
        return story_pieces.pieces_of(None, names, spans, **given)


ALIKE = [[1, 0.5, 0.1, 0.2], [0.5, 1, 0.5, 0.2], [0.1, 0.5, 1, 0.2], [0.2, 0.2, 0.2, 1]]


def test_a_story_is_shown_under_the_likest_that_leads_and_not_under_a_piece():
    # c is like b alone, which stands under a already
    assert pieces(ALIKE) == {"a": ["b"], "c": [], "d": []}
    closer = [[1, 0.34, 0.4, 0], [0.34, 1, 0.6, 0], [0.4, 0.6, 1, 0], [0, 0, 0, 1]]
    assert pieces(closer) == {"a": ["b", "c"], "d": []}
    assert pieces([[1, 0.33], [0.33, 1]]) == {"a": [], "b": []}


def test_stories_far_apart_in_time_or_taken_apart_or_pinned_are_no_pieces_of_one():
    spans = {"a": (10 * DAY, 12 * DAY), "b": (0, 8 * DAY), "c": (0, DAY), "d": (0, DAY)}
    assert pieces(ALIKE, spans)["a"] == ["b"]
    assert "b" in pieces(ALIKE, spans | {"b": (0, 8 * DAY - 1)})
    assert pieces(ALIKE, apart={frozenset("ab")}) == {"a": [], "b": ["c"], "d": []}
    assert pieces(ALIKE, n_first=2) == {"a": [], "b": ["c"], "d": []}


def test_where_many_are_alike_a_piece_is_among_the_three_likest():
    likeness = np.full((6, 6), 0.5) + 0.5 * np.eye(6)
    likeness[0, 5] = likeness[5, 0] = 0.4  # f has three that are likelier, and so has a
    assert pieces(likeness.tolist())["a"] == ["b", "c", "d", "e"]


def test_pieces_are_ranked_and_opened_with_the_story_they_stand_under(monkeypatch):
    monkeypatch.setattr(front_page_module, "stories_apart", lambda _: set())
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "Ferry aground", FERRY, "https://example.org/1"),
        ("2026-03-01T09:00:00Z", "Courier", "Ferry aground off Skerrow", FERRY + " today", "https://example.org/2"),
        ("2026-03-01T09:30:00Z", "Record", "Harbour closed", FERRY + " as divers arrive", ""),
        ("2026-03-01T08:00:00Z", "Wire", "Bank holds rates", BANK, "https://example.org/3"),
        ("2026-03-01T09:40:00Z", "Today", "Bank holds rates", BANK + " after its meeting", "https://example.org/5"),
    ]
    with filled(articles) as stream:
        (ferry,) = set(stream.tables().documents["story"][:3])
        stream.correct("split", ferry, documents=["2"])
        page = front_page(stream._connection, since="2026-03-01T09:35:00Z")
        html = render_front_page(page)
    assert [(one.headline, one.n_documents, one.n_outlets) for one in page.cards] == [
        ("Ferry aground", 3, 3),
        ("Bank holds rates", 2, 2),
    ]
    (piece,) = page.cards[0].pieces
    assert (piece.headline, page.singles, page.n_open) == ("Harbour closed", (), 3)
    assert [one.name for one in page.cards[0].articles] == ["Ferry aground off Skerrow", "Ferry aground"]
    assert html.index("Ferry aground") < html.index("More on this story") < html.index("Harbour closed")
    assert re.search(r"<summary>Both 2 articles</summary><ul><li><a href=\"https://example.org/2\">", html)


def test_what_an_editor_took_apart_is_not_shown_as_one(monkeypatch):
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "Ferry aground", FERRY, ""),
        ("2026-03-01T09:00:00Z", "Courier", "Ferry aground off Skerrow", FERRY + " today, owner says", ""),
    ]
    with filled(articles) as stream:
        (story,) = stream.tables().stories["id"]
        stream.correct("split", story, documents=["1"])
        parted = front_page(stream._connection)
        monkeypatch.setattr(front_page_module, "stories_apart", lambda _: set())
        linked = front_page(stream._connection)
        html = render_front_page(linked)
        monkeypatch.setattr(front_page_module, "MAX_STORIES", 0)
        n_unlisted = front_page(stream._connection).n_unlisted
    assert (len(parted.singles), n_unlisted) == (2, 2)
    assert [len(one.pieces) for one in linked.cards] == [1]
    assert ("More on this story" in html, "1 articles" in html) == (True, False)


def test_no_outlet_is_counted_where_none_is_known():
    articles = [(f"2026-03-01T0{hour}:00:00Z", "", f"Ferry aground {hour}", f"{FERRY} {hour}", "") for hour in (8, 9)]
    with filled(articles) as stream, pytest.MonkeyPatch.context() as patched:
        patched.setattr(front_page_module, "N_CARDS", 0)
        html = render_front_page(front_page(stream._connection))
    assert "<summary>2 articles</summary>" in html
    assert not re.search(r"\d outlet", html)
    assert '<p class="byline">2 articles in open stories, 2 new articles, 1 new story</p>' in html


def test_stories_that_are_not_listed_are_plain_data_with_all_their_articles(monkeypatch):
    monkeypatch.setattr(front_page_module, "MAX_STORIES", 1)
    articles = [
        ("2026-03-01T08:00:00Z", "Wire", "Ferry aground", FERRY, "https://example.org/1"),
        ("2026-03-01T09:00:00Z", "Courier", "Ferry: all safe", FERRY + " today", "javascript:alert(1)"),
        ("2026-03-03T09:00:00Z", "Wire", "Bank holds rates", BANK, ""),
        ("2026-03-03T10:00:00Z", "Record", "Bank holds rates", BANK + " on Tuesday", ""),
    ]
    with filled(articles) as stream:
        page = front_page(stream._connection)
    ((_, language, headline, n, listed),) = page.unlisted["stories"]
    assert (language, headline, n, page.n_unlisted) == ("en", "Ferry aground", 2, 1)
    wire, courier = (page.unlisted["outlets"].index(name) for name in ("Wire", "Courier"))
    assert listed == [
        ("", "https://example.org/1", wire, as_moment("2026-03-01T08:00:00Z")),
        ("Ferry: all safe", "", courier, as_moment("2026-03-01T09:00:00Z")),
    ]


@pytest.mark.browser
def test_the_search_box_looks_in_all_open_stories_and_each_opens_to_its_articles(
    doccluster,  # noqa: F811
    store,
    tmp_path,
    visit,
    monkeypatch,
):
    monkeypatch.setattr(front_page_module, "MAX_STORIES", 2)
    doccluster("stream", "report", "--store", store, "-o", tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    assert page.locator("#stories [data-updated]").count() == 2
    page.locator("#words").fill("VIADÚCT")
    found = page.locator("#rest li.story-line:visible")
    assert 0 < found.count() < 5
    assert page.locator("#found").inner_text() == f"{page.locator('li:visible[data-updated]').count()} found"
    many = found.filter(has=page.locator("details")).first
    assert many.locator("li:visible").count() == 0
    n_told = int(many.locator("summary").inner_text().split()[0])
    many.locator("summary").click()
    assert many.locator("li:visible").count() == n_told >= 2
    page.locator("#words").fill("no such word")
    assert page.locator("#found").inner_text() == "0 found"
    assert not page.locator("#rest").is_visible()
    page.locator("#words").fill("")
    page.locator("#rest > summary").click()
    page.locator("#rest > ul > li").nth(2).wait_for()
    page.locator("#ended > summary").click()
    page.locator("#ended .opens > summary").first.click()
    assert page.locator("#ended .opens[open] li:visible").count() >= 2
    assert page.complaints == []
    silent = visit(tmp_path / "page.html", script=False)
    silent.locator("#rest > summary").click()
    assert "stream list" in silent.locator("#rest .no-script").inner_text()
    assert "UTC" in silent.locator("li.story time").first.inner_text()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("zone", "shown"), [("Asia/Kolkata", "5 Apr 2026, 15:30"), ("Pacific/Honolulu", "5 Apr 2026, 00:00")]
)
def test_times_of_any_age_are_those_of_the_reader(doccluster, store, tmp_path, visit, zone, shown):  # noqa: F811
    doccluster("stream", "report", "--store", store, "-o", tmp_path / "page.html")
    page = visit(tmp_path / "page.html", timezone_id=zone)
    times = page.locator("time[datetime='2026-04-05T10:00:00Z']")
    assert times.count() > 0
    assert {one.text_content() for one in times.all()} == {shown}
    assert "UTC" not in page.locator("body").inner_text()


@pytest.mark.browser
def test_the_page_has_no_barriers(doccluster, store, tmp_path, visit, monkeypatch):  # noqa: F811
    script = axe_script()
    monkeypatch.setattr(front_page_module, "MAX_STORIES", 12)
    doccluster("stream", "report", "--store", store, "-o", tmp_path / "page.html")
    page = visit(tmp_path / "page.html", bypass_csp=True)
    page.locator("#rest > summary").click()
    page.locator(".opens > summary").first.click()
    assert violations(page, script) == []


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
            " 0, 0, 0, 'gone', '[]', '[]')"
        )
        (trouble,) = front_page(stream._connection).troubles
    assert trouble[0] == "Example (https://example.org/r)"
    assert "list" in trouble[2]


def test_the_stories_that_ended_last_are_folded_and_open_to_their_articles():
    ended = [(f"2026-03-01T0{hour}:00:00Z", "Wire", f"Ferry aground {hour}", f"{FERRY} {hour}", "") for hour in (8, 9)]
    later = [(f"2026-0{month}-01T08:00:00Z", "Wire", title, title, "") for month, title in ((4, "Glass"), (5, "Wheat"))]
    with filled([*ended, *later]) as stream:
        page = front_page(stream._connection)
    (story,) = page.ended_stories
    assert (page.n_ended, [one.name for one in story.articles]) == (1, ["Ferry aground 9", "Ferry aground 8"])
    assert story.id not in {one.id for one in (*page.cards, *page.lines, *page.singles)}


def test_headlines_lack_the_end_that_an_outlet_gives_to_its_titles_and_articles_keep_it(tmp_path, doccluster):  # noqa: F811
    ends = [f"{event} - The Daily Tide" for event in ("Ferry aground", "Bank holds rates", "Wheat fails")]
    ends += ["Harbour | Council", "Orchestra tours - a review"]
    texts = [FERRY, BANK, "Wheat harvest fails on the plains", "Councillors vote on cranes", "Violins sound sweetly"]
    rows = [
        (f"2026-03-0{day}T08:00:00Z", "The Daily Tide", title, text, f"https://example.org/{day}")
        for day, (title, text) in enumerate(zip(ends, texts, strict=True), 1)
    ]
    headlines = {"Bank holds rates", "Ferry aground", "Harbour | Council", "Orchestra tours - a review", "Wheat fails"}
    path = tmp_path / "news.db"
    with filled(rows, path) as stream:
        page = front_page(stream._connection)
        assert stream.tables().documents["title"] == ends
        labels = stream.tables().stories["label"]
        feed = json.loads(feed_of(stream._connection, name="Stories", is_json=True))
    stories = (*page.cards, *page.singles)
    assert {article.name for story in stories for article in story.articles} == set(ends)
    for names in (labels, [story.headline for story in stories], [item["title"] for item in feed["items"]]):
        assert set(names) <= headlines
        assert not set(names) & set(ends[:3])
    assert doccluster("stream", "list", "--store", path).out.count("The Daily Tide") == 0
