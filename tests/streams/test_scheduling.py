"""When a feed is asked again: a pure function of its answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doccluster.streams.polling.parsing import hints_of
from doccluster.streams.polling.scheduling import DAY, HOUR, Answer, FeedState, Hints, next_poll

NOW = 1_772_400_000  # Sunday 2026-03-01T21:20:00Z
FEED = FeedState("https://a.example/feed")


def wait(answer, feed=FEED):
    return next_poll(feed, answer, NOW).next_poll - NOW


def about(seconds):
    """Up to a tenth longer, so that feeds keep apart."""
    return lambda waited: seconds <= waited <= 1.1 * seconds + 1


OK = {"status": 200, "n_entries": 10, "n_new": 5}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(**OK), HOUR),
        (Answer(**OK, hints=Hints(ttl=180)), 3 * HOUR),
        (Answer(**OK, hints=Hints(ttl=5)), HOUR),
        (Answer(**OK, hints=Hints(ttl=999_999)), DAY),
        (Answer(**OK, hints=Hints(update_period=DAY // 2)), DAY // 2),
        (Answer(**OK, headers={"cache-control": "public, max-age=7200"}), 2 * HOUR),
        (Answer(**OK, headers={"cache-control": "no-cache, max-age=7200"}), HOUR),
        (Answer(**OK, headers={"expires": "Mon, 02 Mar 2026 01:20:00 GMT"}), 4 * HOUR),
        (Answer(**OK, headers={"expires": "garbage"}), HOUR),
        (Answer(status=200, n_entries=10, n_new=0), 1.25 * HOUR),
        (Answer(status=200, n_entries=10, n_new=10), HOUR),
        (Answer(status=304), 1.25 * HOUR),
        (Answer(status=429, headers={"retry-after": "7200"}), 2 * HOUR),
        (Answer(status=503, headers={"retry-after": "Mon, 02 Mar 2026 02:20:00 GMT"}), 5 * HOUR),
        (Answer(status=429, headers={"retry-after": "1"}), HOUR),
        (Answer(status=429, headers={"retry-after": "99999999999999"}), DAY),
        (Answer(status=429, headers={"retry-after": "soon"}), HOUR),
        (Answer(status=500), HOUR),
        (Answer(reason="unreachable"), HOUR),
        (Answer(status=410), 30 * DAY),
    ],
)
def test_the_wait_follows_the_answer(answer, expected):
    assert about(expected)(wait(answer))


@pytest.mark.parametrize(
    ("hours", "n_new", "minutes"),
    [(1, 1, 50), (1, 2, 50), (1, 3, 40), (1, 4, 30), (1, 20, 30), (4, 6, 50), (4, 12, 40), (100, 20, 50), (-5, 1, 30)],
)
def test_after_news_a_feed_is_asked_again_when_two_more_entries_are_likely(hours, n_new, minutes):
    answered = replace(FEED, interval=4 * HOUR, last_ok=NOW - hours * HOUR)
    for n_entries in (20, 200):  # how many of them were known does not matter
        assert about(60 * minutes)(wait(Answer(status=200, n_entries=n_entries, n_new=n_new), answered))


@pytest.mark.parametrize("rate", [1.0, 1.5, 2.0])
def test_articles_of_a_feed_with_one_or_two_an_hour_are_seen_soon_and_with_few_requests(rate):
    days = 60
    random = np.random.default_rng(7)
    appeared = np.sort(random.uniform(NOW, NOW + days * DAY, int(rate * 24 * days)))
    feed, moments = FeedState("https://a.example/feed", last_ok=0), [NOW]
    while moments[-1] < NOW + days * DAY:
        since = moments[-2] if len(moments) > 1 else NOW - DAY
        n_new = int(np.searchsorted(appeared, moments[-1]) - np.searchsorted(appeared, since))
        answer = Answer(status=200, n_entries=20, n_new=n_new) if n_new else Answer(status=304)
        feed = next_poll(feed, answer, moments[-1])
        moments.append(feed.next_poll)
    late = np.array(moments)[np.searchsorted(moments, appeared)] - appeared
    assert np.median(late) <= 45 * 60
    assert np.percentile(late, 90) <= 90 * 60
    assert np.diff(moments).min() >= 30 * 60
    assert len(moments) / days < 32


def test_news_never_bring_a_feed_below_what_it_asks_for():
    answered = replace(FEED, last_ok=NOW - HOUR)
    busy = {"status": 200, "n_entries": 20, "n_new": 20}
    for answer in (Answer(**busy, hints=Hints(ttl=60)), Answer(**busy, headers={"cache-control": "max-age=3600"})):
        assert about(HOUR)(wait(answer, answered))


def test_a_quiet_feed_is_left_alone_for_longer_up_to_four_hours_and_is_asked_soon_after_its_next_article():
    feed, moment, waits = replace(FEED, last_ok=NOW, interval=HOUR // 2), NOW, []
    for _ in range(12):
        feed = next_poll(feed, Answer(status=304), moment)
        waits.append(feed.next_poll - moment)
        moment = feed.next_poll
    assert about(HOUR * 0.625)(waits[0])
    assert waits == sorted(waits)
    assert about(4 * HOUR)(waits[-1])
    assert about(50 * 60)(next_poll(feed, Answer(status=200, n_entries=20, n_new=1), moment).next_poll - moment)


def test_an_answer_without_a_body_does_not_shorten_what_the_last_body_asked_for():
    patient = next_poll(FEED, Answer(**OK, hints=Hints(ttl=1440)), NOW)
    assert patient.interval == DAY
    for unchanged in (Answer(status=304), Answer(status=200)):
        assert about(DAY)(wait(unchanged, patient))


def test_failures_wait_longer_each_time_until_a_week():
    feed, waits = FEED, []
    for _ in range(40):
        feed = next_poll(feed, Answer(status=500), NOW)
        waits.append(feed.next_poll - NOW)
    assert waits[0] < waits[3] < waits[10]
    assert about(DAY)(waits[28])
    assert about(7 * DAY)(waits[-1])
    healed = next_poll(feed, Answer(**OK), NOW)
    assert (healed.state, healed.failures, healed.reason) == ("active", 0.0, "")


def test_an_interval_of_an_older_version_does_not_bring_a_failing_feed_below_half_an_hour():
    busy = replace(FEED, interval=15 * 60, last_ok=NOW - 15 * 60)
    answers = (Answer(status=500), Answer(status=429), Answer(status=503, headers={"retry-after": "1"}), Answer(304))
    assert all(wait(answer, busy) >= 30 * 60 for answer in (*answers, Answer(reason="unreachable"), Answer(**OK)))


def test_validators_are_kept_as_they_were_given_and_replaced_by_new_ones():
    first = next_poll(FEED, Answer(**OK, headers={"etag": ' W/"x" ', "last-modified": "yesterday"}, body_hash="h"), NOW)
    assert (first.etag, first.last_modified, first.body_hash) == (' W/"x" ', "yesterday", "h")
    unchanged = next_poll(first, Answer(status=304), NOW)
    assert (unchanged.etag, unchanged.last_modified, unchanged.body_hash) == (' W/"x" ', "yesterday", "h")
    renewed = next_poll(first, Answer(status=304, headers={"etag": "y"}), NOW)
    assert (renewed.etag, renewed.last_modified) == ("y", "yesterday")
    assert next_poll(first, Answer(**OK), NOW).etag == ""


def test_a_failure_changes_no_validator():
    first = next_poll(FEED, Answer(**OK, headers={"etag": "x"}, body_hash="h"), NOW)
    failed = next_poll(first, Answer(status=500, headers={"etag": "error page"}), NOW)
    assert (failed.etag, failed.body_hash, failed.last_ok) == ("x", "h", NOW)


def test_a_new_address_is_adopted_when_it_was_given_three_times_in_a_row():
    feed = FEED
    for moved in ("https://b.example/", "https://b.example/", "", "https://b.example/", "https://b.example/"):
        feed = next_poll(feed, Answer(**OK, moved_to=moved), NOW)
    assert feed.url == FEED.url
    assert next_poll(feed, Answer(**OK, moved_to="https://b.example/"), NOW).url == "https://b.example/"


def test_hours_and_days_that_are_to_be_left_out_are_left_out():
    hints = Hints(skip_hours=tuple(range(6)), skip_days=(0,))  # nights, and Mondays
    later = next_poll(FEED, Answer(**OK, hints=hints, headers={"cache-control": f"max-age={4 * HOUR}"}), NOW)
    assert later.next_poll == 1_772_496_000 + 6 * HOUR  # Tuesday, 06:00
    unchanged = Answer(status=304, headers={"cache-control": f"max-age={24 * HOUR}"})
    assert next_poll(later, unchanged, NOW).next_poll == 1_772_496_000 + 6 * HOUR  # as the last body asked
    never = Hints(skip_hours=tuple(range(24)))
    assert about(HOUR)(wait(Answer(**OK, hints=never)))


def test_what_a_feed_says_of_its_pace_is_read():
    body = (
        b"<rss xmlns:sy='x'><channel><ttl> 45 </ttl><skipHours><hour>3</hour><hour>24</hour></skipHours><skipDays>"
        b"<day>Sunday</day></skipDays><sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>"
        b"<item><ttl>9</ttl></item></channel></rss>"
    )
    assert hints_of(body) == Hints(45, DAY // 2, (0, 3), (6,))
    assert hints_of(b"\xff\xfe garbage") == Hints()


@given(
    st.sampled_from([0, 200, 204, 304, 400, 403, 404, 410, 418, 429, 500, 503, 599]),
    st.sampled_from(["", "unreachable", "too-large"]),
    st.dictionaries(
        st.sampled_from(["retry-after", "cache-control", "expires", "etag", "last-modified"]),
        st.one_of(st.text(max_size=30), st.integers().map(str), st.integers(0, 10**12).map(lambda n: f"max-age={n}")),
    ),
    st.floats(0, 100),
    st.integers(0, 50),
)
def test_whatever_a_feed_answers_it_is_asked_again_in_time_and_not_too_soon(status, reason, headers, failures, n_new):
    feed = FeedState("https://a.example/", failures=failures)
    answer = Answer(status, reason, headers, n_entries=50, n_new=n_new)
    later = next_poll(feed, answer, NOW)
    assert 30 * 60 <= later.next_poll - NOW <= 33 * DAY
    assert later == next_poll(feed, answer, NOW)
