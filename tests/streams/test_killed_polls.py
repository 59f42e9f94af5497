"""A poll that is killed at any commit and begun again ends like one that nobody disturbed."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from doccluster.corpus.dates import as_moment
from doccluster.streams.settings import DAY
from doccluster.streams.store.access import check_store, reading
from experiments.news_stream import make_news_stream
from experiments.streams.following import CLOCK, FEEDS, FileClock
from experiments.streams.misbehaving import BEGINS, rss
from tests.streams.killed_polls import N_FIRST
from tests.streams.loopback import FeedServer

N_PASSES = 3
PASSES = [BEGINS + (number + 1) * 5 * DAY / N_PASSES for number in range(N_PASSES)]
N_OUTLETS = 2


def serve(server, now):
    """Serve outlets, an agency that reprints one of them, edits, a feed that moves, and one that fails at first."""
    made = make_news_stream(6, days=5, merges=2, splits=2, n_topics=2, n_outlets=N_OUTLETS, random_state=1)
    items = [
        (
            as_moment(one.date),
            one.source,
            {"guid": one.id, "title": one.title, "description": one.text, "link": one.link, "pubDate": one.date},
        )
        for one in made.articles
    ]
    outlets = sorted({source for _, source, _ in items})

    def until_now(source):
        return [item for moment, own, item in items if own == source and moment <= now()]

    def outlet(source):
        return lambda _: (200, {}, rss(until_now(source), title=source))

    def agency(_):
        return (
            200,
            {},
            rss(
                [
                    {
                        "guid": f"agency {item['guid']}",
                        "title": item["title"],
                        "description": f"{item['description']} Agency",
                    }
                    for item in until_now(outlets[0])[::5]
                ]
            ),
        )

    def edits(_):
        told = f"the count of the votes in the harbour goes on, and stands at {int(now() - BEGINS)}"
        return 200, {"ETag": '"same"'}, rss([{"guid": "count", "title": "The count goes on", "description": told}])

    def failing(_):
        recovered = rss([{"guid": "late", "title": "Back again", "description": "the archive of the town is back"}])
        answers = [(503, {"Retry-After": "60"}, b""), (200, {}, b"<html>not a feed</html>"), (200, {}, recovered)]
        return answers[PASSES.index(now())]

    for place, source in enumerate(outlets):
        server.routes[f"/{place}"] = outlet(source)
    server.routes["/agency"], server.routes["/edits"] = agency, edits
    server.routes["/old"] = (301, {"Location": "/agency"}, b"")
    server.routes["/failing"] = failing
    return [server.url(path) for path in server.routes]


def dump(path):
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def ask(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return {value for (value,) in connection.execute(query)}


def test_a_poll_that_is_killed_before_or_after_any_commit_and_begun_again_ends_like_the_undisturbed_one(
    copies, tmp_path
):
    FileClock.make(tmp_path / CLOCK)
    server = FeedServer()
    try:
        server.now = FileClock(tmp_path / CLOCK).now
        feeds = serve(server, server.now)
        (tmp_path / FEEDS).write_text("\n".join(feeds), encoding="utf-8")
        ended = copies.run("from tests.streams.killed_polls import main; main()", tmp_path, *PASSES)
        assert ended.returncode == 0, ended.stderr
    finally:
        server.close()
    for number in range(N_PASSES):
        expected = dump(tmp_path / f"{number}.db")
        killed = sorted(tmp_path.glob(f"{number}-*.db"))
        n_commits = 2 + len(feeds)  # the list, each feed, the stories
        if number == 0:  # before and after what no other pass does, tables and settings, and the list
            n_commits += 2 + N_FIRST
        assert len(killed) == n_commits
        assert [path.name for path in killed if dump(path) != expected] == []
    last = tmp_path / f"{N_PASSES - 1}.db"
    with reading(last) as connection:
        assert check_store(connection) == []
    assert ask(last, "SELECT event FROM lineage") >= {"born", "grew", "split", "moved", "closed"}
    assert ask(last, "SELECT reason FROM fetch") == {"", "asked-to-wait", "not-a-feed"}
    assert ask(last, "SELECT reason FROM feed") == {"", "moved-to-another"}
    assert ask(last, "SELECT MAX(n_versions) FROM document") == {N_PASSES}
    assert ask(last, "SELECT COUNT(*) - COUNT(DISTINCT family) > 10 FROM document") == {1}
