"""Plain data -> one page: a file that asks nothing of the network, and in which no document can run anything."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path

from doccluster.base.parameter_fields import at_the_door
from doccluster.errors import InputError
from doccluster.record import Run
from doccluster.report.explore import explore_data, page_order
from doccluster.report.figures import figures_of
from doccluster.report.page import as_json, page_script, page_style, rendered, write_page
from doccluster.report.plane import FEWEST, MOST_UNASKED, plane_of
from doccluster.report.search_index import search_index
from doccluster.report.still_map import still_map, tiles_of
from doccluster.report.story_cards import explored_sizes
from doccluster.report.summary import summarize
from doccluster.report.wording import one_line

# in the order in which they name what the later ones use
SCRIPTS = (
    "tabs", "search", "stories", "tables", "data", "choice", "map_labels", "map", "panels", "compare", "take_away",
    "explore", "start",
)  # fmt: skip


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
            '<iframe title="doccluster report" sandbox="allow-scripts allow-popups allow-downloads" '
            f'srcdoc="{escape(self.page)}" style="width:100%;height:{self.height}px;border:1px solid #ccc"></iframe>'
        )


@at_the_door
def write_report(
    run: Run, path: str | os.PathLike[str], *, with_map: bool | None = None, texts: Sequence[str] | None = None
) -> Path:
    """Write the report of a run as one self-contained page, and return its path; the same run gives the same bytes.

    Parameters
    ----------
    run : Run
        Just made, or read by `load_run`.
    path : str or path
        The file to write; an existing one is replaced.
    with_map : bool, optional
        Whether the page has the map of documents. By default it has where there are at most 50,000 documents.
    texts : sequence of str, one per document of the run, optional
        Whole texts, to be read in the page.

    Raises
    ------
    InputError
        If the file cannot be written, or there are not as many texts as documents; if a map is asked for and there are
        fewer than four documents.
    """
    return write_page(render_report(run, with_map=with_map, texts=texts), path, what="report")


def render_report(run: Run, *, with_map: bool | None = None, texts: Sequence[str] | None = None) -> str:
    """Return the page that `write_report` writes."""
    summary = summarize(run)
    shown_texts = None if texts is None else _texts(run, texts)
    if with_map is None:
        with_map = FEWEST <= run.n_documents <= MOST_UNASKED
    with ThreadPoolExecutor(1, "doccluster") as pool:  # the two long steps share nothing
        index = pool.submit(search_index, run, texts)
        plane = plane_of(run) if with_map else None
    still = None if plane is None else still_map(run, plane, summary.names)
    return rendered(
        "report.html",
        summary=summary,
        figures=figures_of(run, summary),
        still=still,
        spots={} if still is None else {one.number: one for one in still.medoids},
        tiles=tiles_of(run),
        texts=shown_texts,
        data=as_json(explore_data(run, plane)),
        words=as_json(index.result()),
        n_explored=int(explored_sizes(run).sum()),
        style=page_style("report", "explore", "print"),
        script=page_script(SCRIPTS),
    )


def _texts(run: Run, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return name and text of each document in the order of the page."""
    if len(texts) != run.n_documents:
        raise InputError(
            f"has {len(texts):,} texts", argument="texts", expected=f"{run.n_documents:,}, one for each document"
        )
    return [(one_line(run.documents.name(row)), texts[row]) for row in page_order(run).tolist()]
