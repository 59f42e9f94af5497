"""Runs to make reports of: the newsroom sample, and documents that attack the page they are shown on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import doccluster
from doccluster.corpus.document import Corpus, Skipped
from doccluster.pipeline.main_line import run_pipeline
from doccluster.report import write_report
from tests.conftest import ROOT
from tests.report.hostile import HOSTILE, LINKS, TEXTS


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


@pytest.fixture(scope="module")
def windows(browser):
    """The open pages of the browser by what they were opened with; none is in use between two tests."""
    kept = {}
    yield kept
    for pages in kept.values():
        for page in pages:
            page.context.close()


@pytest.fixture
def visit(browser, windows):
    """Return a function that opens a file as in a fresh window; `page.asked` and `page.complaints` record what it does.

    Windows are kept for the next test: a page stores nothing, and a process for each costs more than most tests do.
    """
    taken = []

    def open_file(path, *, script=True, width=1280, **options):
        kind = (script, repr(sorted(options.items())))
        idle = windows.setdefault(kind, [])
        page = idle.pop() if idle else new_page(script, options)
        taken.append((kind, page))
        page.set_viewport_size({"width": width, "height": 900})
        page.asked, page.complaints = [], []
        page.goto(path.as_uri())
        return page

    def new_page(script, options):
        page = browser.new_context(java_script_enabled=script, reduced_motion="reduce", **options).new_page()
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        return page

    yield open_file
    for kind, page in taken:
        stored = "localStorage.length + sessionStorage.length + document.cookie.length"
        assert page.evaluate(stored) == 0, "the next test would not begin anew"
        page.mouse.move(0, 0)
        page.emulate_media(media="null")
        page.goto("about:blank")
        windows[kind].append(page)


SECTIONS, PARTS, EACH = 8, 9, 4


@pytest.fixture(scope="session")
def many():
    """Return a run of 72 clusters of eight themes, with titles, dates and outlets."""
    return run_of_themes(PARTS)


def run_of_themes(n_parts):
    """Return a run of eight themes, each of this many clusters of four documents."""
    rng = np.random.default_rng(2)
    rows = []
    for theme in range(SECTIONS):
        for part in range(n_parts):
            for number in range(EACH):
                words = [f"theme{theme}w{w}" for w in rng.integers(0, 6, 8)]
                words += [f"part{theme}x{part}w{w}" for w in rng.integers(0, 6, 12)]
                day = f"2026-03-{1 + (number * 7 + part) % 28:02}"
                title = f"Title t{theme}p{part}n{number} of some words"
                rows.append({"text": " ".join(words), "title": title, "date": day, "source": f"outlet {number % 2}"})
    corpus = doccluster.read_corpus(rows)
    labels = np.repeat(np.arange(SECTIONS * n_parts), EACH)
    return doccluster.run(corpus, labels=labels.tolist(), language="none")


@pytest.fixture(scope="session")
def report_of_many(many, tmp_path_factory):
    return write_report(many, tmp_path_factory.mktemp("report") / "report.html")
