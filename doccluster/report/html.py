"""Plain data -> one page: it needs no network, and no text of a document can run in it."""

from __future__ import annotations

import os
import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from doccluster.base.package import load
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import write_page
from doccluster.errors import InputError
from doccluster.measures.registry import ARROWS
from doccluster.report.explore import explore_data, group_tables, packed_gaps, page_order, shown_columns
from doccluster.report.figures import bar_chart, dendrogram_of, heat_map, leaves_of, line_chart, silhouette_plot
from doccluster.report.page import as_json, page_script, page_style, rendered
from doccluster.report.plane import MAX_WITH_MAP, MIN_DOCUMENTS, N_NEIGHBOURS, plane_of
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


def render_report(run: Run, *, with_map: bool | None = None, texts: Sequence[str] | None = None) -> str:
    """Return the page that `write_report` writes."""
    summary = summarize(run)
    shown_texts = None if texts is None else _texts(run, texts)
    if with_map is None:
        with_map = MIN_DOCUMENTS <= run.n_documents <= MAX_WITH_MAP
    plane = plane_of(run) if with_map else None
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
        words=as_json(search_index(run, texts)),
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


MAX_PAIRS = 400_000  # of a word and a place; with whole texts in the page one for every LETTERS_PER_PAIR of them
LETTERS_PER_PAIR = 10
MAX_READ = 50_000  # documents: of more only the listed ones are read
MAX_WORD_LETTERS = 40
MAX_SHARED_LETTERS = 35  # letters that a word takes from the one before it, as one digit to the base 36

_WORD = re.compile(r"[^\W_]+")
_DIGITS = string.digits + string.ascii_lowercase  # to the base 36
_LAST_OF_ONE_UNIT = "\uffff"  # a script counts the letters beyond it twice


class _Letters(dict[int, int | None]):
    """A table for `str.translate` that drops marks and keeps all other letters."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)).startswith("M") else code
        return self[code]


_WITHOUT_MARKS = _Letters()


def search_index(run: Run, texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the words of documents and where they are, as plain data for JSON.

    A place is the number of a document that the page lists, or n + the number of its cluster for all that it does not.
    Read are whole texts where the page holds them, else how each document begins; where that comes to too many pairs,
    only how the listed ones begin.
    """
    order, places = page_order(run), _places(run)
    is_listed = places < order.size
    titles, excerpts = run.documents.titles, run.documents.excerpts

    def begins(row: int) -> str:
        return f"{titles[row]} {excerpts[row]}"

    if order.size <= MAX_READ:
        if texts is not None:
            max_pairs = max(MAX_PAIRS, sum(map(len, texts)) // LETTERS_PER_PAIR)
            places_of = _places_of_words((texts[row] for row in order.tolist()), places, max_pairs)
            if places_of is not None:
                return _index("the whole texts", order.size, places_of)
        places_of = _places_of_words(map(begins, order.tolist()), places, MAX_PAIRS)
        if places_of is not None:
            return _index("how each document begins", order.size, places_of)
    places_of = _places_of_words(map(begins, order[is_listed].tolist()), places[is_listed], None)
    return _index("how the documents listed here begin", order.size, places_of or {})


def plain_words(text: str) -> set[str]:
    """Return the words of a text in small letters without marks, as the script of the page splits what is typed.

    >>> sorted(plain_words("Café, 3 cafés and B2B_x"))
    ['and', 'b2b', 'cafe', 'cafes', 'x']
    """
    return set(filter(_is_searched, _words_of(text)))


def _words_of(text: str) -> list[str]:
    bare = text if text.isascii() else unicodedata.normalize("NFD", text).translate(_WITHOUT_MARKS)
    return _WORD.findall(bare.lower())


def _is_searched(word: str) -> bool:
    return len(word) <= MAX_WORD_LETTERS and not word.isdecimal()


def _places(run: Run) -> Any:
    """Return the place of each document of the page, in its order, int64 array of shape (n_explored,)."""
    sizes, listed = explored_sizes(run), listed_sizes(run)
    n = int(sizes.sum())
    clusters = np.repeat(np.arange(sizes.size), sizes)
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.where(rank < listed[clusters], np.arange(n), n + clusters)


def _places_of_words(texts: Iterable[str], places: Any, max_pairs: int | None) -> dict[str, set[int]] | None:
    """Return the places of each word; None where they are more than `max_pairs` together."""
    places_of_all: defaultdict[str, set[int]] = defaultdict(set)
    for text, place in zip(texts, places.tolist(), strict=True):
        for word in set(_words_of(text)):
            places_of_all[word].add(place)
    places_of = {word: word_places for word, word_places in places_of_all.items() if _is_searched(word)}
    return places_of if max_pairs is None or sum(map(len, places_of.values())) <= max_pairs else None


def _index(scope: str, n: int, places_of: dict[str, set[int]]) -> dict[str, Any]:
    """Return the index: words in their order, each as the number of letters it shares with the last, and the rest."""
    words, before, in_order = [], "", sorted(places_of)
    for word in in_order:
        shared = 0
        # a letter beyond the first 65,536 is two units to the script, which takes the shared ones by their number
        while (
            shared < min(len(word), len(before), MAX_SHARED_LETTERS)
            and word[shared] == before[shared] <= _LAST_OF_ONE_UNIT
        ):
            shared += 1
        words.append(_DIGITS[shared] + word[shared:])
        before = word
    counts = np.array([len(places_of[word]) for word in in_order], dtype=np.int64)
    places = np.array([place for word in in_order for place in sorted(places_of[word])], dtype=np.int64)
    gaps = np.diff(places, prepend=0)
    firsts = np.cumsum(counts) - counts
    gaps[firsts] = places[firsts]
    return {
        "said": scope,
        "n": n,
        "words": " ".join(words),
        "counts": packed_gaps(counts),
        "gaps": packed_gaps(gaps),
    }


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
