"""Time cannot break a store: dates far ahead, archives imported late, a machine whose clock is wrong."""

from __future__ import annotations

import email.utils

import pytest

from doccluster.streams import StoryStream
from doccluster.streams.article import StreamClock
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.batches import clock_of
from experiments.news_stream import make_news_stream
from experiments.streams.lineage import as_labelled
from experiments.streams.orders import scores
from tests.streams.loopback import BANK, FERRY, NOW, FakeClock, FeedServer, options_for, rss
from tests.streams.test_replay import written

YEAR_2099 = NOW + 26_598 * DAY + 2 * HOUR


@pytest.mark.parametrize("gap", [2, 40])
def test_a_jump_is_believed_when_the_stream_goes_on_from_there_for_three_days(gap):
    clock = StreamClock().moved(0)
    for hours, wanted in ((0, 0), (23, 0), (24, 0), (47, 0), (48, gap * DAY + 48 * HOUR), (50, gap * DAY + 50 * HOUR)):
        clock = clock.moved(gap * DAY + hours * HOUR)
        assert clock.time == wanted
    assert clock.moved(0).time == clock.time, "late articles do not turn it back"
    assert clock.moved(0, is_sure=True).time == 0


def test_a_weekly_moves_the_clock_though_it_lags_behind(tmp_path):
    days = [f"2026-{1 + week // 4:02}-{1 + week % 4 * 7:02}" for week in range(20)]
    weeks = [dated(day, f"Week {place}", f"word{place} sentence{place}") for place, day in enumerate(days)]
    with StoryStream(tmp_path / "news.db") as stream:
        done = stream.replay(written(weeks, tmp_path / "weeks.jsonl"))
        clock = stream._clusterer.clock
        assert (done.n_batches, len(clock.ahead)) == (20, 5)
        assert done.events["closed"] > 0, "stories end in a stream of weeks too"


def test_moments_of_days_in_any_order_do_not_move_the_clock_ahead():
    clock = StreamClock().moved_by([day * DAY for day in (5, 20, 11, 25, 31, 8, 24, 17)])
    assert (clock.time, clock.ahead) == (5 * DAY, (17 * DAY,))


def test_an_article_dated_ahead_makes_no_difference_and_the_order_of_import_a_small_one():
    """Without a store, which builds stories again in the order of dates."""
    stream = as_labelled(make_news_stream(16, days=14, random_state=3), "made")
    found = {name: bcubed for name, _, bcubed in scores(stream)}
    assert found["in order"] > 0.9
    assert found["in order"] - found["one article dated ahead first"] <= 0.02, found
    assert min(found.values()) > 0.8, found


def test_one_article_dated_ahead_of_all_others_closes_nothing_and_is_reported(tmp_path):
    text = "Ferry runs aground off Skerrow harbour, all passengers are safe, says the owner of the ferry"
    days = [dated(f"2026-03-{day:02}", f"Ferry aground off Skerrow, day {day}", text) for day in range(1, 9)]
    ahead = dated("2026-08-01", "Tour", "Orchestra tours the islands")
    with StoryStream(tmp_path / "news.db") as stream:
        stream.replay(written(days[:3], tmp_path / "one.jsonl"))
        done = stream.replay(written([ahead], tmp_path / "one.jsonl"))
        assert done.ahead // DAY == 150
        assert "closed" not in done.events
        clock = stream._clusterer.clock
        assert clock == clock_of(stream._connection)
        assert len(clock.ahead) == 1
        stream.replay(written(days[3:], tmp_path / "one.jsonl"))
        assert stream.check() == []
        tables = stream.tables()
    assert tables.stories["state"] == ["open", "open"]
    assert sorted(tables.stories["documents"]) == [1, 8]
    with StoryStream(tmp_path / "news.db") as stream:
        assert stream._clusterer.clock.ahead == ()


def dated(date, title, text):
    return {"id": title, "date": date, "title": title, "text": text}


@pytest.mark.parametrize("has_dates", [True, False])
def test_a_poll_with_the_clock_at_2099_leaves_no_feed_unasked_and_dates_no_article(tmp_path, has_dates):
    server, clock = FeedServer(), FakeClock()

    def feed(request, moment=NOW):
        date = {"Date": email.utils.formatdate(moment, usegmt=True)} if has_dates else {}
        return 200, date, rss(FERRY, (str(moment), f"Harbour {moment}", "The harbour is open again", "no date"))

    server.routes["/feed"] = feed
    with StoryStream(tmp_path / "news.db") as stream:
        given = {"feeds": server.url("/feed"), "options": options_for(server, clock, spacing=5.0)}
        stream.poll(**given)
        clock.moment = YEAR_2099
        server.routes["/feed"] = lambda request: feed(request, NOW + HOUR)
        done = stream.poll(**given)
        assert (done.n_due, done.ahead // DAY) == (1, 26_598 if has_dates else 0)
        assert "closed" not in done.events
        clock.moment = NOW + 2 * HOUR
        server.routes["/feed"] = (200, {}, rss(FERRY, BANK))
        done = stream.poll(**given)
        assert (done.n_due, done.n_new, clock.slept) == (1, 1, [])
        clock.moment += 61
        assert stream.poll(**given, force=True).n_due == 1
        seen = stream.tables().documents["first_seen"]
        assert any(one > "2098" for one in seen) != has_dates, "without a date of the server the machine's is taken"
        assert stream.check() == []
    server.close()
