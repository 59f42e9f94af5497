"""`browse --serve`: what is served, to whom, and that pages neither run nor load anything."""

from __future__ import annotations

import html
import http.client
import threading
from urllib.parse import urlencode, urlsplit

import pandas as pd
import pytest

from doccluster.cli.browse_server import LOOPBACK, MOST_BYTES, BrowseServer
from doccluster.corpus import Corpus
from doccluster.pipeline.browsing import open_browser
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
    return ask(server, "POST", "/do", urlencode({"token": server.token, **form}, doseq=True))


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
    do(server, verb="back")
    do(server, verb="search", words="bread")
    assert "2 documents" in ask(server)[2]


def test_the_documents_of_a_cluster_are_listed(server, monkeypatch):
    monkeypatch.setattr("doccluster.cli.browse_server.LISTED", 2)
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
    assert ask(server, "POST", "/do", urlencode({"token": "wrong", "verb": "gather", "cluster": "1"}))[0] == 403
    assert server.browser.steps == ()


def test_a_request_to_another_name_of_this_machine_is_refused(server):
    assert ask(server, Host="evil.example")[0] == 403
    assert ask(server, Host=f"localhost:{server.server_port}")[0] == 200


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
        ({"verb": "gather", "cluster": "x"}, "is no number"),
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
    assert do(server, verb="search", words="x" * MOST_BYTES)[0] == 413
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
