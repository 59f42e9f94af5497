"""Runs to make reports of: the newsroom sample, and documents that attack the page they are shown on."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from doccluster.corpus.document import Corpus, Skipped
from doccluster.pipeline import run_pipeline
from doccluster.report import write_report
from tests.conftest import ROOT
from tests.report.hostile import HOSTILE, LINKS, TEXTS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def newsroom_run():
    """The run of the bundled sample, with both truth columns."""
    return run_pipeline(
        str(ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"),
        n_clusters=8,
        truth=("topic", "story"),
        random_state=7,
        language="none",
        reader={"label_columns": ["topic", "story"]},
        command="doccluster run articles.jsonl --output demo --clusters 8",
    )


@pytest.fixture(scope="session")
def hostile_run():
    """A run of documents whose every field tries to get out of its place on the page."""
    titles = list(HOSTILE.values())
    n = len(titles)
    corpus = Corpus(
        ids=tuple(f"{name}<b>{row}</b>" for row, name in enumerate(HOSTILE)),
        texts=tuple(f"{TEXTS[row % 4]} <script>document.title='owned'</script> {titles[row]}" for row in range(n)),
        labels={"<i>kind</i>": tuple((f"<u>{row % 2}</u>",) for row in range(n))},
        metadata=pd.DataFrame(
            {"title": titles, "date": ["2026-03-0" + str(row + 1) for row in range(n)], "source": titles, "link": LINKS}
        ),
        skipped=(Skipped("<script>document.title='owned'</script>", "empty", '<img src="x" onerror="alert(1)">'),),
    )
    return run_pipeline(
        corpus,
        n_clusters=2,
        truth="<i>kind</i>",
        language="none",
        vectorizer={"min_df": 1},
        command="doccluster run '</code><script>document.title=\"owned\"</script>'",
    )


@pytest.fixture(scope="session")
def newsroom_report(newsroom_run, tmp_path_factory):
    """The file of the report of the sample."""
    return write_report(newsroom_run, tmp_path_factory.mktemp("newsroom") / "report.html")


@pytest.fixture(scope="session")
def hostile_report(hostile_run, tmp_path_factory):
    """The file of the report of the hostile documents."""
    return write_report(hostile_run, tmp_path_factory.mktemp("hostile") / "report.html")


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium of the machine."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine (apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a file in a fresh window; `page.asked` and `page.complaints` record what it does."""
    contexts = []

    def open_file(path, *, script=True, width=1280, **options):
        context = browser.new_context(
            java_script_enabled=script, viewport={"width": width, "height": 900}, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
