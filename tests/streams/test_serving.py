"""`stream serve`: pages and data of a store for this machine, read-only; `--on-event`: what happens, for a program."""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.request

import pytest

from doccluster.cli.store_server import StoreServer, token_of
from doccluster.cli.stories import _tell
from doccluster.errors import DocclusterWarning, InputError
from doccluster.streams import StoryStream

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


def test_a_program_gets_a_line_for_each_event_and_no_shell_reads_it(path, tmp_path):
    told = tmp_path / "told; rm -r x.jsonl"
    _tell([sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())", str(told)], str(path), 1)
    lines = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    assert [one["event"] for one in lines] == ["grew", "born"]
    assert [one["label"] for one in lines][1] == "Bank holds rates"


def test_a_program_that_cannot_be_begun_is_said_once(path):
    with pytest.warns(DocclusterWarning, match="--on-event") as said:
        _tell(["./there-is-no-such-program"], str(path), 0)
    assert len(said) == 1
