"""`browse --serve`: a collection to browse in a page, for this machine alone."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import parse_qs

from doccluster.cli.page_server import Form, LoopbackRequests, LoopbackServer
from doccluster.errors import DocclusterError, InputError
from doccluster.report.page import POLICY, rendered
from doccluster.retrieval.browsing import Browser

MAX_BYTES = 10_000  # of a form
LISTED = 100


class BrowseServer(LoopbackServer):
    """Serves one browser."""

    def __init__(self, browser: Browser, port: int = 0) -> None:
        self.browser, self.message = browser, ""
        super().__init__(_Requests, port)


class _Requests(LoopbackRequests):
    server: BrowseServer

    def do_GET(self) -> None:
        """Answer with a page."""
        if self.place != "/":
            self._answer(HTTPStatus.NOT_FOUND, "there is no such page")
            return
        with self._turn():
            page = self._page()
        self._answer(HTTPStatus.OK, page, kind="text/html")

    def do_POST(self) -> None:
        """Do what a form asks for, and lead back to the page."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 10) or int(length) > MAX_BYTES:
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the form is too long")
            return
        sent = self.rfile.read(int(length))
        if len(sent) < int(length):
            return  # the client went away, or its time was up
        try:
            form = parse_qs(sent.decode("utf-8", "replace"), max_num_fields=200)
        except ValueError:
            self._answer(HTTPStatus.BAD_REQUEST, "the form has too many fields")
            return
        with self._turn():
            try:
                self._do(form)
                self.server.message = ""
            except DocclusterError as error:
                self.server.message = str(error)
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", f"/?token={self.server.token}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _do(self, form: Form) -> None:
        verb, browser = form.get("verb", [""])[0], self.server.browser
        if verb.startswith("open "):
            browser.open(_number(verb.removeprefix("open ")))
        elif verb == "gather":
            browser.gather([_number(value) for value in form.get("cluster", [])])
        elif verb == "search":
            browser.search(form.get("words", [""])[0])
        elif verb == "back":
            browser.back()
        else:
            raise InputError("the form asks for nothing that is known", remedy="use the buttons of the page")

    def _page(self) -> str:
        browser, query = self.server.browser, self.query
        listing: dict[str, object] = {"listed": None}
        message, self.server.message = self.server.message, ""
        try:
            if "list" in query:
                listing = self._listing(_number(query["list"][0]), _number(query.get("from", ["1"])[0]))
        except InputError as error:
            message = str(error)
        return rendered(
            "browse.html", browser=browser, token=self.server.token, message=message, policy=POLICY, **listing
        )

    def _listing(self, number: int, first: int) -> dict[str, object]:
        card, documents = self.server.browser.card(number), self.server.browser.documents
        begin = max(first, 1)
        rows = card.members[begin - 1 : begin - 1 + LISTED].tolist()
        following = begin + LISTED if card.size >= begin + LISTED else 0
        listed = [documents.name(row) for row in rows]
        return {"number": number, "first": begin, "listed": listed, "following": following}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"{text[:40]!r} is not a number", remedy="use the links and boxes of the page")
    return int(text)
