"""The table of clusters that every verb prints: number, size, headline above label, dates, outlets, similarity."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from doccluster.cli.console import plain, print_table
from doccluster.overview import Overview
from doccluster.report.wording import month_words, span_words
from doccluster.text_table import Column

WIDEST_HEADLINE = 80


def print_clusters(seen: Sequence[Overview]) -> None:
    """Print two lines for each cluster: its headline, and its label below.

    On a narrow terminal headlines get shorter, then similarity goes, then outlets, then dates; sizes stay.
    """
    years = {day.year for one in seen for day in (one.first, one.last) if day is not None}
    several_outlets = len({name for one in seen for name, _ in one.outlets}) > 1
    print_table(
        [
            Column("cluster", ["" if isnan(one.similarity) else str(one.cluster) for one in seen]),
            Column("size", [f"{one.size:,}" for one in seen]),
            Column("headline, label", [_lines(one) for one in seen], "left", fit="cut", widest=WIDEST_HEADLINE),
            Column("dates", [_dates(one, with_year=len(years) > 1) for one in seen], "left", leaves=1),
            Column("outlets", [_n_outlets(one) if several_outlets else "" for one in seen], leaves=2),
            Column("similarity", ["" if isnan(one.similarity) else f"{one.similarity:.2f}" for one in seen], leaves=3),
        ]
    )


def _lines(one: Overview) -> str:
    headline, label = plain(one.headline), plain(one.label)
    return f"{headline}\n{label}" if label not in ("", headline, f"cluster {one.cluster}") else headline


def _n_outlets(one: Overview) -> str:
    return f"{len(one.outlets):,}" if one.outlets else ""


def _dates(one: Overview, *, with_year: bool) -> str:
    if one.first is None or one.last is None:
        return ""
    if one.first.year != one.last.year:
        return f"{month_words(one.first)} – {month_words(one.last)}"
    words = span_words(one.first, one.last)
    # all of one year: the first line says which
    return words if with_year else words.replace(f" {one.first.year}", "")
