"""`browse --serve`: what is served, to whom, and that pages neither run nor load anything."""

from __future__ import annotations

import contextlib
import html
import http.client
import socket
import struct
import threading
import time
from urllib.parse import urlencode, urlsplit

import pandas as pd
import pytest

from doccluster.cli.page_server import LOOPBACK
from doccluster.corpus import Corpus
from doccluster.retrieval.browse_server import MAX_BYTES, BrowseServer
from doccluster.retrieval.browsing import open_browser
from tests.report.hostile import HOSTILE

TEXTS = ["herring boats", "boats in the harbour", "harbour herring", "rye bread", "bread oven", "oven rye"]


@pytest.fixture
def server():
    """A server of a few documents, in a thread."""
    yield from _served(open_browser(TEXTS, n_clusters=2, n_threads=1))


def _served(browser):
    with BrowseServer(browser) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(server, method="GET", target=None, body=None, **headers):
    """Return status, headers and text of a request."""
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=20)
    target = f"/?token={server.token}" if target is None else target
    connection.request(method, target, body, {"Content-Type": "application/x-www-form-urlencoded", **headers})
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode("utf-8")
    connection.close()
    return found


def do(server, **form):
    return ask(server, "POST", f"/do?token={server.token}", urlencode(form, doseq=True))


def test_only_the_loopback_address_is_listened_on(server):
    assert server.server_address[0] == LOOPBACK
    assert urlsplit(server.address).hostname == LOOPBACK


def test_clusters_are_gathered_searched_and_taken_back(server):
    assert "6 documents" in ask(server)[2]
    status, headers, _ = do(server, verb="gather", cluster=[1])
    assert (status, headers["Location"]) == (303, f"/?token={server.token}")
    page = ask(server)[2]
    assert "3 documents" in page
    assert "gather 1" in page
    do(server, verb="open 1")
    assert "gather 1 &gt; open 1" in ask(server)[2]
    do(server, verb="back")
    do(server, verb="back")
    do(server, verb="search", words="bread")
    assert "2 documents" in ask(server)[2]


def test_the_documents_of_a_cluster_are_listed(server, monkeypatch):
    monkeypatch.setattr("doccluster.retrieval.browse_server.LISTED", 2)
    first = ask(server, target=f"/?token={server.token}&list=1")[2]
    assert first.count("<li>") == 2
    assert "list=1&amp;from=3" in first
    second = ask(server, target=f"/?token={server.token}&list=1&from=3")[2]
    assert second.count("<li>") == 1
    assert "from=" not in second


@pytest.mark.parametrize("target", ["/", "/?token=", "/?token=wrong", "/?token=%ff", "/do", "/etc/passwd"])
def test_without_the_token_nothing_is_told(server, target):
    status, _, text = ask(server, target=target)
    assert status == 403
    assert "boats" not in text
    form = urlencode({"token": server.token, "verb": "gather", "cluster": "1"})
    assert ask(server, "POST", "/do?token=wrong", form)[0] == 403
    assert ask(server, "POST", "/do", form)[0] == 403, "the token of a form that nobody may send is not looked for"
    assert server.browser.path == "everything"


def test_a_request_to_another_name_of_this_machine_is_refused(server):
    assert ask(server, Host="evil.example")[0] == 403
    assert ask(server, Host=f"localhost:{server.server_port}")[0] == 200


def send(server, *pieces, wait=0.0):
    """Send bytes as they are, and return what comes back until the connection ends."""
    place = LOOPBACK, server.server_port
    with socket.create_connection(place, timeout=30) as client, contextlib.suppress(ConnectionError):
        for piece in pieces:
            client.sendall(piece)
            time.sleep(wait)
        return b"".join(iter(lambda: client.recv(65_536), b""))
    return b""  # it was cut off


# what is sent before anybody looked for the token
ODD_REQUESTS = [
    b"",
    b"\r\n\r\n",
    b"\0\xff\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET http://[::1 HTTP/1.0\r\n\r\n",
    b"GET //[ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /?" + b"a=1&" * 30 + b" HTTP/1.0\r\n\r\n",
    b"GET /?token=\xff\xfe%ff%00 HTTP/1.0\r\n\r\n",
    b"GET /" + b"x" * 70_000 + b" HTTP/1.0\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/" + b"1" * 5000 + b".0\r\n\r\n",
    b"BREW / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.0\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    b"GET / HTTP/1.0\r\nHost: \xff\xfe\r\n: \r\n\r\n",
    b"POST /do HTTP/1.0\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    b"POST /do HTTP/1.0\r\nContent-Length: -1\r\n\r\n",
    b"POST /do HTTP/1.0\r\nContent-Length: 5\r\n\r\n",
    b"POST /do HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\nffffffff\r\n",
]


@pytest.mark.parametrize("sent", ODD_REQUESTS, ids=lambda sent: repr(sent[:40]))
def test_no_request_without_the_token_is_answered_with_more_than_a_refusal(server, capfd, monkeypatch, sent):
    monkeypatch.setattr("doccluster.cli.page_server.SECONDS", 0.3)
    answer = send(server, sent)
    assert not answer or answer.startswith((b"HTTP/1.0 4", b"HTTP/1.0 5", b"<!DOCTYPE", b"open the address")), answer
    assert b"boats" not in answer
    assert ask(server)[0] == 200
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /?token=%s&list=99999999999 HTTP/1.0",
        b"GET /?token=%s&list=1&from=999999999 HTTP/1.0",
        b"GET /?token=%s&list=%%ff HTTP/1.0",
        b"POST /do?token=%s HTTP/1.0\r\nContent-Length: " + b"9" * 5000,
        b"POST /do?token=%s HTTP/1.0\r\nContent-Length: \xb2",
        b"POST /do?token=%s HTTP/1.0\r\nContent-Length: 9000",
        b"POST /?token=%s HTTP/1.0",
        b"PUT /?token=%s HTTP/1.0",
    ],
    ids=lambda sent: repr(sent[:40]),
)
def test_no_request_with_the_token_ends_in_a_traceback(server, capfd, monkeypatch, sent):
    monkeypatch.setattr("doccluster.cli.page_server.SECONDS", 0.3)
    head = (sent % server.token.encode()) + f"\r\nHost: {LOOPBACK}:{server.server_port}\r\n\r\n".encode()
    answer = send(server, head)
    assert answer.startswith((b"HTTP/1.0 2", b"HTTP/1.0 4", b"HTTP/1.0 501")) or b"9000" in sent, answer
    assert ask(server)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_client_that_goes_away_before_its_answer_is_forgotten(server, capfd):
    for _ in range(20):
        with socket.create_connection((LOOPBACK, server.server_port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends with a reset
            client.sendall(f"GET /?token={server.token} HTTP/1.0\r\nHost: localhost".encode())
    assert ask(server)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_one_deadline_holds_for_a_whole_request_however_often_a_byte_comes(server, monkeypatch):
    monkeypatch.setattr("doccluster.cli.page_server.SECONDS", 0.5)
    drops = (b"x" for _ in range(1000))
    assert send(server, b"GET /", *drops, wait=0.05) == b"", "a hundred times the deadline would have passed"
    assert ask(server)[0] == 200


def test_clients_that_send_nothing_keep_nobody_out_and_are_cut_off(server, monkeypatch):
    monkeypatch.setattr("doccluster.cli.page_server.SECONDS", 0.5)
    with contextlib.ExitStack() as kept:
        place = (LOOPBACK, server.server_port)
        silent = [kept.enter_context(socket.create_connection(place, timeout=30)) for _ in range(40)]
        assert ask(server)[0] == 200
        assert do(server, verb="gather", cluster=[1])[0] == 303
        assert silent[0].recv(1) == b""


def test_a_long_step_is_waited_for(server, monkeypatch):
    monkeypatch.setattr("doccluster.cli.page_server.SECONDS", 0.2)
    gather = server.browser.gather

    def slow(numbers):
        time.sleep(1.5)
        gather(numbers)

    monkeypatch.setattr(server.browser, "gather", slow)
    assert do(server, verb="gather", cluster=[1])[0] == 303
    assert "3 documents" in ask(server)[2]


def test_a_page_may_load_and_run_nothing(server):
    _, headers, text = ask(server)
    for policy in (headers["Content-Security-Policy"], html.unescape(text)):
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
    assert "<script" not in text
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"verb": "gather"}, "no cluster was named"),
        ({"verb": "gather", "cluster": "7"}, "there is no cluster 7"),
        ({"verb": "gather", "cluster": "x"}, "is not a number"),
        ({"verb": "search", "words": "nonsense"}, "none of the 6 documents has a word of"),
        ({"verb": "search"}, "the query is empty"),
        ({"verb": "back"}, "this is the whole collection"),
        ({"verb": "jump"}, "asks for nothing that is known"),
    ],
)
def test_what_cannot_be_done_is_said_once_on_the_page(server, form, message):
    assert do(server, **form)[0] == 303
    assert message in ask(server)[2]
    assert message not in ask(server)[2]


def test_a_form_that_is_too_long_is_refused(server):
    assert do(server, verb="search", words="x" * MAX_BYTES)[0] == 413
    assert ask(server, target=f"/other?token={server.token}")[0] == 404


def test_hostile_titles_are_text_on_the_page():
    titles = tuple(HOSTILE.values())
    corpus = Corpus(
        ids=tuple(HOSTILE),
        texts=tuple(f"{title} boats" for title in titles),
        metadata=pd.DataFrame({"title": titles}),
    )
    for server in _served(open_browser(corpus, n_clusters=3, language="none", n_threads=1)):
        listings = [f"/?token={server.token}&list={card.number}" for card in server.browser.cards]
        for page in (ask(server, target=target)[2] for target in (None, *listings)):
            assert "<script" not in page.lower()
            assert "<img" not in page.lower()
            assert 'onmouseover="' not in page
            assert "\u202e" not in page
            assert "\x07" not in page
        assert "&lt;script&gt;" in "".join(ask(server, target=target)[2] for target in listings)


@pytest.mark.browser
def test_a_reader_chooses_clusters_in_a_browser_without_scripts(server, browser):
    page = browser.new_context(java_script_enabled=False).new_page()
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(urlsplit(request.url).netloc))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(server.address)
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Gather").click()
    assert page.locator("h1").inner_text() == "3 documents"
    page.get_by_role("button", name="Back").click()
    assert page.locator("h1").inner_text() == "6 documents"
    page.get_by_label("Words").fill("bread")
    page.get_by_role("button", name="Search").click()
    assert page.locator("h1").inner_text() == "2 documents"
    page.get_by_role("link", name="document").first.click()
    assert page.locator("ol li").count() >= 1
    page.context.close()
    assert set(asked) == {f"{LOOPBACK}:{server.server_port}"}
    assert complaints == []


def test_a_port_that_is_taken_is_said_in_a_sentence(server):
    with pytest.raises(Exception, match=f"port {server.server_port} cannot be used; leave --port out"):
        BrowseServer(server.browser, server.server_port)
