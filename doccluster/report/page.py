"""What every page is made with; the front page of a stream and the page of what has changed, from plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from doccluster.base.package import __version__
from doccluster.base.plain_values import format_size
from doccluster.base.text_table import visible
from doccluster.report.wording import Pieces, counted, decimal, duration, one_line, safe_link, with_code

# of the page of browsing: nothing is loaded, and forms go back to where the page came from
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"
MAX_ROWS = 2000  # changes on a page


@cache
def page_templates() -> Environment:
    """Return the templates of pages, which escape all values and refuse undefined names."""
    environment = Environment(
        loader=PackageLoader("doccluster.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    filters = {"decimal": decimal, "counted": counted, "duration": duration, "format_size": format_size}
    environment.filters.update(filters, one_line=one_line, safe_link=safe_link, with_code=with_code)
    return environment


def rendered(template: str, **values: Any) -> str:
    """Return the page of a template, in the style of the house unless another one is given."""
    context = {"style": page_part("report.css"), "version": __version__, **values}
    return page_templates().get_template(template).render(context)


def _finalize(value: Any) -> Any:
    """Return the text of a value for the page, without control characters."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def page_part(name: str) -> Markup:
    """Return a style sheet or script of the package, which needs no escaping."""
    return Markup((files("doccluster.report") / "templates" / name).read_text(encoding="utf-8"))


def as_json(data: Any) -> Markup:
    """Return data as JSON that can stand inside a script element: no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def page_style(*names: str) -> Markup:
    """Return style sheets of the package as one."""
    return Markup("\n").join(page_part(f"{name}.css") for name in names)


def page_script(names: Sequence[str]) -> Markup:
    """Return scripts of the package as one, which leaves no name behind in the page."""
    parts = "\n".join(page_part(f"scripts/{name}.js") for name in names)
    return Markup(f'(() => {{\n"use strict";\n{parts}}})();\n')


def render_changes(difference: Any) -> str:
    """Return the changes between two partitions (`doccluster.streams.store.diff.Difference`) as a page."""
    changes = [change for change in difference.changes if change.kind != "stayed"]
    rows = [
        {
            "kind": change.kind,
            "label": one_line(change.label_after or change.label_before) or "+".join((*change.after, *change.before)),
            "before": one_line(change.label_before)
            if change.label_before != change.label_after and change.label_after
            else "",
            "n_before": change.n_before,
            "n_after": change.n_after,
            "n_shared": change.n_shared,
        }
        for change in changes[:MAX_ROWS]
    ]
    return rendered(
        "changes.html", difference=difference, counts=difference.counts(), rows=rows, n_more=len(changes) - len(rows)
    )


@dataclass(frozen=True)
class ArticleLine:
    """One article as a line; `link` is None unless it leads to a web page."""

    name: str
    link: str | None
    source: str
    date: str
    date_iso: str
    excerpt: Pieces = ()  # of a sentence; terms that the article shares with its story are marked
    copies: tuple[str, ...] = ()  # other outlets with the same text


@dataclass(frozen=True)
class Span:
    """Days from a first to a last moment: in words of universal time, and the moments, for the reader's own."""

    words: str
    first: str
    last: str


@dataclass(frozen=True)
class StoryLine:
    """One story as the page shows it, and its pieces with it: counts, outlets, span and bins are of all of them."""

    id: str
    headline: str
    lang: str  # the code of its language, "" where that is not known
    badges: tuple[tuple[str, str], ...]  # word and meaning: what has happened since the moment looked back to
    n_documents: int
    n_copies: int
    outlets: tuple[tuple[str, int], ...]  # and the number of articles of each
    n_outlets: int
    span: Span
    bins: tuple[int, ...]  # articles by equal parts of the time that the page shows
    lead: ArticleLine
    other_articles: tuple[ArticleLine, ...]  # the newest others, which a card shows
    articles: tuple[ArticleLine, ...]  # what it opens to: its own, the newest first, but for `n_unlisted`
    n_unlisted: int
    pieces: tuple[StoryLine, ...]  # other stories that are so much alike that they are shown under this one
    newest: str


@dataclass(frozen=True)
class FrontPage:
    """The data of the front page."""

    moment: str  # of the last batch
    since: str  # the moment that "new" is counted from
    moment_iso: str = ""
    since_iso: str = ""
    name: str = ""  # of the store, under which the browser keeps when the page was read last
    n_open: int = 0  # stories that are open, each piece of one counted
    facts: tuple[tuple[str, int], ...] = ()
    cards: tuple[StoryLine, ...] = ()  # the first of the open ones, by rank
    lines: tuple[StoryLine, ...] = ()  # those that follow
    singles: tuple[StoryLine, ...] = ()  # articles that are alone, folded
    columns: tuple[StoryLine, ...] = ()  # columns that come again and again under one title, folded too
    unlisted: Mapping[str, Any] = field(default_factory=dict)  # open stories that show only in a search, for JSON
    n_unlisted: int = 0
    period: tuple[Span, ...] = ()  # the first and the last day of the small charts
    ended_stories: tuple[StoryLine, ...] = ()  # those that ended last, of `n_ended`
    n_ended: int = 0
    troubles: tuple[tuple[str, str, str], ...] = ()  # the feed, the reason, and what to do
    outlets: tuple[str, ...] = ()  # what can be chosen from, as the next
    languages: tuple[str, ...] = ()


def render_front_page(page: FrontPage) -> str:
    """Return the page as HTML."""
    return rendered(
        "front_page.html", page=page, rest=as_json(page.unlisted), script=page_part("scripts/front_page.js")
    )
