"""`stream serve`: pages and data of a store for this machine, read-only; `--on-event`: what happens, for a program."""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.request
from functools import partial

import pytest

from doccluster.errors import InputError
from doccluster.streams import StoryStream
from doccluster.streams.page.store_server import StoreServer, token_of
from doccluster.streams.stream_command import _told
from tests.cli.conftest import doccluster  # noqa: F401  a fixture

TEXTS = [
    ("2026-03-02T08:00:00Z", "Ferry runs aground off Skerrow, all passengers safe", "Ferry aground"),
    ("2026-03-02T10:00:00Z", "All passengers safe after ferry runs aground off Skerrow harbour", "Ferry: all safe"),
    ("2026-03-02T11:00:00Z", "Central bank leaves interest rates unchanged at two percent", "Bank holds rates"),
]


@pytest.fixture
def path(tmp_path):
    with StoryStream(tmp_path / "news.db") as stream:
        stream.replay(TEXTS)
    return tmp_path / "news.db"


def asked(server, place):
    with urllib.request.urlopen(f"{server.address.replace('/?', place + '?')}", timeout=30) as answer:
        return answer.read().decode()


def test_a_subscription_survives_a_restart_by_the_token_in_a_file(path, tmp_path):
    kept, addresses = tmp_path / "news.token", []
    port = 0
    for _ in range(2):
        with StoreServer(str(path), port, token_of(kept)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            assert "Ferry" in asked(server, "/feed.atom")
            addresses.append(server.address)
            port = server.server_port
            server.shutdown()
    assert addresses[0] == addresses[1]
    if sys.platform != "win32":
        assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "short", "with a blank in its middle", "x" * 201, "ü" * 30])
def test_a_file_that_holds_no_token_is_refused(tmp_path, content):
    (tmp_path / "token").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="holds no token"):
        token_of(tmp_path / "token")
    with pytest.raises(InputError, match="cannot be used as the token file"):
        token_of(tmp_path / "nowhere" / "token")
    with pytest.raises(InputError, match="cannot be used as the token file"):
        token_of(tmp_path)


@pytest.fixture
def ask(path):
    with StoreServer(str(path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def get(place, *, token=server.token, data=None):
            address = f"http://127.0.0.1:{server.server_port}{place}{'&' if '?' in place else '?'}token={token}"
            with urllib.request.urlopen(address, data=data, timeout=30) as answer:
                return answer.headers, answer.read().decode()

        yield get
        server.shutdown()


def test_the_page_stories_and_feeds_are_served_as_they_are_in_the_store(ask):
    headers, page = ask("/")
    assert "Ferry" in page
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    stories = json.loads(ask("/stories.json")[1])["stories"]
    assert sorted(one["documents"] for one in stories) == [1, 2]
    (ferry,) = json.loads(ask("/stories.json?words=ferry+aground")[1])["stories"]
    told = json.loads(ask(f"/story.json?id={ferry['id']}")[1])
    assert [one["title"] for one in told["documents"]] == ["Ferry aground", "Ferry: all safe"]
    assert ferry["id"] in ask("/feed.atom?words=ferry")[1]
    assert len(json.loads(ask("/feed.json")[1])["items"]) == 2


@pytest.mark.parametrize(
    ("place", "token", "data", "status"),
    [
        ("/", "guess", None, 403),
        ("/news.db", None, None, 404),
        ("/story.json?id=x", None, None, 400),
        ("/", None, b"verb=undo", 501),
    ],
)
def test_who_has_no_token_sees_nothing_and_nobody_can_change_anything(ask, place, token, data, status):
    given = {} if token is None else {"token": token}
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(place, data=data, **given)
    refused.value.close()
    assert refused.value.code == status


SAYS = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
DATED = [("2026-03-02", "The bank holds its rates", "Bank holds rates"), ("2026-03-02", "A ferry is aground", "Ferry")]


def events_of(path):
    return [json.loads(line)["event"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_program_gets_a_line_for_each_event_and_no_shell_reads_it(tmp_path):
    said = tmp_path / "told; rm -r x.jsonl"
    with StoryStream() as stream:
        stream.expect_events()
        stream.replay(DATED)
        assert stream.tell_events(partial(_told, [sys.executable, "-c", SAYS, str(said)])) == ""
        assert events_of(said) == ["born", "born"]
        assert stream.tell_events(partial(_told, [sys.executable, "-c", SAYS, str(said)])) == ""
    assert events_of(said) == ["born", "born"]
    assert json.loads(said.read_text(encoding="utf-8").splitlines()[0])["label"]


def test_what_a_command_did_not_take_is_told_again_by_the_next_poll(tmp_path):
    taken, path = [], tmp_path / "news.db"

    def take_one(event):
        taken.append(event["story"])
        return "" if len(taken) == 1 else "is down"

    with StoryStream(path) as stream:
        stream.expect_events()
        stream.replay(DATED)
        assert stream.tell_events(take_one) == "is down"
    with StoryStream(path) as stream:
        stream.expect_events()
        stream.replay([("2026-03-02T09:00:00", "Trout are dead in the river", "Dead trout")])
        again = []
        assert stream.tell_events(lambda event: again.append(event["story"]) or "") == ""
        assert stream.check() == []
    assert again[0] == taken[1]
    assert len({*taken, *again}) == len(taken) + len(again) - 1 == 3


@pytest.mark.parametrize("command", ["./there-is-no-such-program", "a\0b"])
def test_a_program_that_cannot_be_begun_is_a_reason(command):
    assert _told([command], {"event": "born"})


@pytest.mark.parametrize(("command", "says"), [("notify 'x", "close its quotes"), ("  ", "names no program")])
def test_a_command_that_is_none_is_refused_before_anything_is_asked(command, says, doccluster, tmp_path):  # noqa: F811
    store = str(tmp_path / "x.db")
    done = doccluster("stream", "poll", "http://127.0.0.1:9/feed", "--store", store, "--on-event", command)
    assert done.code == 2
    assert says in done.err
    assert not (tmp_path / "x.db").exists()
