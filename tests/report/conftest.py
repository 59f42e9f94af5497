"""Runs to make reports of: the newsroom sample, and documents that attack the page they are shown on."""

from __future__ import annotations

import pandas as pd
import pytest

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
