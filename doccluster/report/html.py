"""Plain data -> one page: it needs no network, and no text of a document can run in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from doccluster.base.package import load
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import write_page
from doccluster.base.worker_processes import begin
from doccluster.errors import InputError
from doccluster.measures.registry import ARROWS
from doccluster.report.explore import explore_data, group_tables, packed_gaps, page_order, shown_columns
from doccluster.report.figures import bar_chart, dendrogram_of, heat_map, leaves_of, line_chart, silhouette_plot
from doccluster.report.page import as_json, page_script, page_style, rendered
from doccluster.report.plane import MAX_WITH_MAP, MIN_DOCUMENTS, N_NEIGHBOURS, PlacedRows, plane_of
from doccluster.report.search_words import words_and_places
from doccluster.report.still_map import still_map, tiles_of
from doccluster.report.story_cards import explored_sizes, listed_sizes
from doccluster.report.summary import BETTER, Summary, gauge, summarize
from doccluster.report.wording import one_line
from doccluster.results.record import Run
from doccluster.results.views import InlineReport

# in the order in which they name what the later ones use
SCRIPTS = (
    "tabs", "search", "stories", "tables", "data", "choice", "map_labels", "map", "panels", "compare", "take_away",
    "explore", "start",
)  # fmt: skip


@at_the_door
def write_report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    with_map: bool | None = None,
    texts: Sequence[str] | None = None,
    source: object = None,
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
    source : path, paths or texts, optional
        In place of `texts`: where the documents of the run are, to read their texts from.

    Raises
    ------
    InputError
        If the file cannot be written, or there are not as many texts as documents, or those of the source are not the
        run's; if a map is asked for and there are fewer than four documents.
    """
    if source is not None:
        if texts is not None:
            raise InputError("would be read in place of texts", argument="source", remedy="give one of the two")
        texts = load("doccluster.pipeline.repeating:texts_of_run")(run, source=source)
    return write_page(render_report(run, with_map=with_map, texts=texts), path, what="report")


def inline_report(run: Run) -> InlineReport:
    """Return the report of a run as a value."""
    return InlineReport(render_report(run))


def render_report(
    run: Run,
    *,
    with_map: bool | None = None,
    texts: Sequence[str] | None = None,
    placed: PlacedRows | None = None,
) -> str:
    """Return the page that `write_report` writes; the documents may be `placed` in the plane already."""
    shown_texts = None if texts is None else _texts(run, texts)
    words = begin(words_and_places, *_searched(run, texts), n_documents=run.n_documents)
    summary = summarize(run)
    if with_map is None:
        with_map = MIN_DOCUMENTS <= run.n_documents <= MAX_WITH_MAP
    plane = plane_of(run, placed) if with_map else None
    columns = shown_columns(run)
    still = None if plane is None else still_map(run, plane)
    return rendered(
        "report.html",
        summary=summary,
        figures=figures_of(run, summary),
        still=still,
        spots={} if still is None else {medoid.number: medoid for medoid in still.medoids},
        tiles=tiles_of(run),
        texts=shown_texts,
        data=as_json(explore_data(run, plane, columns)),
        words=as_json(_packed(words())),
        columns=[one_line(column, 40) for column in columns],
        group_tables=group_tables(run, columns),
        n_explored=int(explored_sizes(run).sum()),
        n_neighbours=N_NEIGHBOURS,
        arrows=ARROWS,
        better=BETTER,
        gauge=gauge,
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


MAX_READ = 50_000  # documents: of more only the listed ones are searched


def search_index(run: Run, texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the words of documents and where they are, as plain data for JSON."""
    return _packed(words_and_places(*_searched(run, texts)))


def _searched(run: Run, texts: Sequence[str] | None) -> tuple[list[str] | None, list[str], Any, int]:
    """Return the texts that a search may look in and how documents begin, both in the order of the page, and places."""
    order, places = page_order(run), _places(run)
    titles, excerpts = run.documents.titles, run.documents.excerpts
    rows = order.tolist() if order.size <= MAX_READ else order[places < order.size].tolist()
    beginnings = [f"{titles[row]} {excerpts[row]}" for row in rows]
    whole = None if texts is None or order.size > MAX_READ else [texts[row] for row in rows]
    return whole, beginnings, places, order.size


def _places(run: Run) -> Any:
    """Return the place of each document of the page, in its order, int64 array of shape (n_explored,)."""
    sizes, listed = explored_sizes(run), listed_sizes(run)
    n = int(sizes.sum())
    clusters = np.repeat(np.arange(sizes.size), sizes)
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.where(rank < listed[clusters], np.arange(n), n + clusters)


def _packed(index: dict[str, Any]) -> dict[str, Any]:
    return {**index, "counts": packed_gaps(index["counts"]), "gaps": packed_gaps(index["gaps"])}


MAX_BARS = 300
SIZES_HEIGHT = 216.0
MAX_SILHOUETTES = 100  # clusters in the silhouette plot


def figures_of(run: Run, summary: Summary) -> dict[str, Markup]:
    """Return the figures of the quality tab that this run has: sizes, silhouette, adherence, separation, tree."""
    sizes = run.shown_sizes[: run.n_clusters]
    style: dict[str, Any] = {"y_label": "documents", "height": SIZES_HEIGHT}
    if sizes.size > MAX_BARS:
        line = np.arange(1, sizes.size + 1), np.sort(sizes)[::-1]
        figure = line_chart({"size": line}, x_label="rank of the cluster", has_markers=False, **style)
    else:
        figure = bar_chart(range(sizes.size), {"size": sizes}, x_label="cluster", **style)
    described = f"Sizes of {sizes.size} clusters, from {int(sizes.max())} to {int(sizes.min())} documents"
    figures = {"sizes": figure.inline(described)}
    score = next((score for score in run.evaluation.scores if score.name == "silhouette"), None)
    widths = None if score is None else score.per_document
    if score is not None and widths is not None and run.n_clusters > 1 and not np.isnan(widths).all():
        shown = run.partition.labels < MAX_SILHOUETTES
        figure = silhouette_plot(widths[shown], run.partition.labels[shown], mean=score.value)
        described = f"Silhouettes of the documents, cluster by cluster; their mean is {score.value:.2f}"
        figures["silhouette"] = figure.inline(described)
    for name, table in (("adherence", summary.adherence), ("separation", summary.separation)):
        if table is not None and not table.shows_numbers:
            figure = heat_map(table.values, names=table.numbers, label="cluster", scale_label=name)
            figures[name] = figure.inline(f"{name.capitalize()} between {len(table.numbers)} clusters")
    leaves = leaves_of(run)
    if leaves is not None:
        described = f"How {leaves.n_clusters} {leaves.plural} join, from the nearest to the last"
        figures["tree"] = dendrogram_of(run, leaves).inline(described)
    return figures
