"""Plain data -> one page: a file that asks nothing of the network, and in which no document can run anything."""

from __future__ import annotations

import os
from pathlib import Path

from doccluster import __version__
from doccluster.record import Run
from doccluster.report.figures import figures_of
from doccluster.report.page import page_part, page_templates, write_page
from doccluster.report.summary import summarize


def write_report(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the report of a run as one self-contained page, and return its path; the same run gives the same bytes.

    Parameters
    ----------
    run : Run
        Just made, or read by `load_run`.
    path : str or path
        The file to write; an existing one is replaced.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    return write_page(render_report(run), path, what="report")


def render_report(run: Run) -> str:
    """Return the page that `write_report` writes."""
    summary = summarize(run)
    return (
        page_templates()
        .get_template("report.html")
        .render(
            summary=summary,
            figures=figures_of(run, summary),
            style=page_part("report.css"),
            script=page_part("report.js"),
            version=__version__,
        )
    )
