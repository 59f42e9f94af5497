"""Plain data -> one page: a file that asks nothing of the network, and in which no document can run anything."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from doccluster import __version__
from doccluster.record import Run
from doccluster.report.figures import figures_of
from doccluster.report.page import page_part, page_templates, write_page
from doccluster.report.summary import summarize


@dataclass(frozen=True, repr=False)
class InlineReport:
    """The report of a run as a value: a notebook shows it inline, in a frame that can reach nothing around it.

    Attributes
    ----------
    page : str
        The whole page, as `write_report` writes it.
    height : int
        Of the frame, in pixels.
    """

    page: str
    height: int = 720

    @classmethod
    def of(cls, run: Run) -> InlineReport:
        """Return the report of a run."""
        return cls(render_report(run))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file and return its path.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        return write_page(self.page, path, what="report")

    def __repr__(self) -> str:
        return f"InlineReport({len(self.page):,} characters)"

    def _repr_html_(self) -> str:
        # without allow-same-origin the page has no access to the notebook, whatever a document has put into it
        return (
            f'<iframe title="doccluster report" sandbox="allow-scripts allow-popups" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #ccc"></iframe>'
        )


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
