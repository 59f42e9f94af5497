"""HTML pages that lie in files: all their text, or the article in them."""

from __future__ import annotations

from collections.abc import Iterator

from doccluster.corpus.dates import iso_date
from doccluster.corpus.draft import Draft
from doccluster.corpus.encodings import declared_encoding
from doccluster.corpus.format import Beginning, Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.json_feed import with_title
from doccluster.corpus.markup import read_page
from doccluster.corpus.options import ReadOptions
from doccluster.errors import Argument, MissingDependency


def read_html(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the page is, under its title."""
    data = file.read(options.limits.document_bytes)
    markup = file.decode(data, declared=declared_encoding(data))
    page = read_page(markup)
    text = main_article(markup) or page.text if options.html == "article" else page.text
    yield Draft(
        text=with_title(page.title, text) if text else "",
        where=file.name,
        id=str(file.place),
        title=page.title,
        date=iso_date(page.date),
        link=page.link,
        is_whole_file=True,
    )


def main_article(markup: str) -> str:
    """Return the main text of a page without menus and footers, "" when none is found.

    Raises MissingDependency if trafilatura is not installed.
    """
    try:
        import trafilatura
    except ImportError as error:
        raise MissingDependency(
            (Argument("html", "article"), " needs trafilatura"),
            remedy='install it with: pip install "doccluster[html]"',
        ) from error
    return trafilatura.extract(markup, include_comments=False) or ""


_SUFFIXES = (".html", ".htm", ".xhtml")


def _is_page(beginning: Beginning) -> bool:
    is_named = beginning.doctype == "html" or beginning.element in ("html", "head", "body")
    return beginning.is_markup and (is_named or beginning.name.endswith(_SUFFIXES))


HTML = Format(
    "html",
    read_html,
    "a page",
    "title, date, canonical link",
    suffixes=_SUFFIXES,
    aliases=("htm",),
    recognises=_is_page,
)
