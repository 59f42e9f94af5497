"""Stories for other programs: what has changed since a batch, and feeds that feed readers read."""

from __future__ import annotations

import json

import feedparser
import pytest

from doccluster.streams import StoryStream
from doccluster.streams.article import as_text
from doccluster.streams.page.front_page import feed_of
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.access import reading
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.test_corrections import BANK, BEGIN, FERRY, articles, living, partition, replayed
from tests.streams.test_replay import NOW, QUICK, made_rows, written


@pytest.fixture
def store(tmp_path):
    with StoryStream(tmp_path / "news.db") as stream:
        replayed(stream, articles(FERRY, range(4)))
        replayed(stream, [(date, text, f"{title} & <b>café</b>") for date, text, title in articles(BANK, range(4, 6))])
    return tmp_path / "news.db"


def lines(done):
    return [json.loads(line) for line in done.out.splitlines()]


def keyed(rows):
    return {one["id"]: one for one in rows}


def test_what_changed_after_a_batch_and_what_was_there_give_what_is_there(doccluster, tmp_path):  # noqa: F811
    path, n_lines = tmp_path / "news.db", []
    rows = [row for row in made_rows(150, seed=5) if row["date"].startswith("2026")]
    known, batch = {"documents": {}, "stories": {}}, 0
    with StoryStream(path, settings=QUICK):
        pass
    for part in range(6):
        with StoryStream(path) as stream:
            stream.replay(written(rows[part * 25 : part * 25 + 25], tmp_path / "part.jsonl"), now=NOW)
            if part > 2:
                stream.correct("merge", *sorted(living(stream))[:2])
        told = lines(doccluster("stream", "export", "--store", path, "--since", str(batch) if batch else "1999-01-01"))
        n_lines.append(len(told))
        batch = told[0]["batch"]
        for one in told[1:]:
            if one["table"] in known:
                known[one["table"]][one["id"]] = {key: value for key, value in one.items() if key != "table"}
        whole = json.loads(doccluster("stream", "export", "--store", path, "--json", "-o", tmp_path / str(part)).out)
        of_stories = ("id", "label", "state", "documents", "parent")
        assert {name: {key: own[key] for key in of_stories} for name, own in known["stories"].items()} == {
            name: {key: own[key] for key in of_stories} for name, own in keyed(whole["stories"]).items()
        }
        # that two families are one is told with the next document of theirs
        for own in (*known["documents"].values(), *whole["documents"]):
            own.pop("family", None)
        assert known["documents"] == keyed(whole["documents"])
    assert n_lines[-1] < 0.6 * (len(known["documents"]) + len(known["stories"]))


def test_a_feed_has_an_entry_for_each_story_under_its_id_that_is_new_when_it_grows(doccluster, store, tmp_path):  # noqa: F811
    feeds = []
    for number in range(2):
        done = doccluster("stream", "feed", "--store", store, "-o", tmp_path / "out.atom", "--name", "News & more")
        assert (done.code, done.err) == (0, "")
        parsed = feedparser.parse((tmp_path / "out.atom").read_bytes())
        assert (parsed.bozo, parsed.feed.title) == (False, "News & more")
        feeds.append({one.id: one for one in parsed.entries})
        if number == 0:
            with StoryStream(store) as stream:
                ferry, bank = (f"urn:doccluster:story:{name}" for name in partition(stream))
                replayed(stream, articles(FERRY, range(9, 10), seed=4))
    assert list(feeds[0]) == [bank, ferry]
    assert list(feeds[1]) == [ferry, bank]
    assert feeds[0][bank].updated == feeds[1][bank].updated
    assert feeds[0][ferry].updated < feeds[1][ferry].updated
    assert feeds[0][bank].title.endswith("& <b>café</b>")
    assert feeds[1][ferry].content[0].value.startswith("5 articles")


def test_stories_lead_a_feed_before_single_articles_that_came_later_and_endings_bring_nothing_up(tmp_path):
    path = tmp_path / "news.db"
    hours = [as_text(BEGIN + hour * HOUR) for hour in range(5, 20)]
    with StoryStream(path, settings=QUICK) as stream:
        replayed(stream, [*articles(BANK, range(2)), *articles(FERRY, range(2, 4))])
        replayed(stream, [(when, title, title) for when, title in zip(hours, SINGLES, strict=False)])
        bank, ferry, *_ = partition(stream)
        first = read_feed(path)
        assert [one["id"].rpartition(":")[2] for one in first[:2]] == [ferry, bank]
        assert len(first) == 2 + len(SINGLES)
        dates = [one["date_modified"] for one in first[2:]]
        assert dates == sorted(dates, reverse=True)
        assert dates[-1] > first[0]["date_modified"]
        replayed(stream, [(as_text(BEGIN + day * DAY), *LATER[day % 2]) for day in range(1, 8)])
        assert ("closed", 2) in states(stream)
    again = {one["id"]: one["date_modified"] for one in read_feed(path)}
    assert {one["id"]: one["date_modified"] for one in first}.items() <= again.items()


def test_an_export_begins_with_the_stories_that_are_open_the_largest_first(tmp_path):
    with StoryStream(tmp_path / "news.db", settings=QUICK) as stream:
        replayed(stream, articles(FERRY, range(6)))
        replayed(stream, articles(BANK, range(20, 27 * 24, 48)))
        replayed(stream, [(as_text(BEGIN + 27 * 24 * HOUR), "Glacier melts", "Glacier melts")])
        assert states(stream) == [("open", 14), ("open", 1), ("closed", 6)]


LATER = (("Mayor resigns after vote", "Mayor resigns"), ("Bridge opens to traffic", "Bridge opens"))
SINGLES = ("Glacier melts", "Violin found", "Parliament adjourns", "Orchard blossoms", "Telescope sees comet")


def states(stream):
    stories = stream.tables().stories
    return list(zip(stories["state"], stories["documents"], strict=True))


def read_feed(path):
    with reading(path) as connection:
        return json.loads(feed_of(connection, name="Stories", is_json=True))["items"]


def test_a_json_feed_of_a_search_has_the_stories_that_it_finds(doccluster, store, tmp_path):  # noqa: F811
    listed = json.loads(doccluster("stream", "find", "CAFÉ", "--store", store, "--json").out)["stories"]
    assert doccluster("stream", "feed", "café", "--store", store, "-o", tmp_path / "out.json").code == 0
    feed = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert [one["id"] for one in feed["items"]] == [f"urn:doccluster:story:{one['id']}" for one in listed]
    assert len(listed) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((), "give --output"), (("--since", "1", "-o", "out"), "give --output"), (("--since", "77"), "is not a batch")],
)
def test_an_export_is_of_all_or_of_what_has_changed(doccluster, store, arguments, says):  # noqa: F811
    done = doccluster("stream", "export", "--store", store, *arguments)
    assert (done.code, says in done.err) == (2, True)
