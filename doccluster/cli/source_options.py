"""The options of commands that read documents, and the arguments of the public functions they stand for."""

from __future__ import annotations

from typing import Any

import click

from doccluster.cli.console import chosen, options
from doccluster.cli.values import (
    Whole,
    check_languages,
    check_size,
    check_stemming,
    check_token_pattern,
    check_weighting,
    checked,
    number_or_share,
    number_range,
    some_text,
)

READER = {
    "format": "format",
    "text_column": "text_column",
    "id_column": "id_column",
    "title_column": "title_column",
    "date_column": "date_column",
    "link_column": "link_column",
    "source_column": "source_column",
    "label_column": "label_columns",
    "label_separator": "label_separator",
    "labels_file": "labels_file",
    "delimiter": "delimiter",
    "encoding": "encoding",
    "strip": "strip",
    "split": "split",
    "html": "html",
    "strip_html": "strip_html",
    "max_document_length": "max_document_length",
    "max_expanded_size": "max_expanded_size",
    "max_members": "max_members",
    "max_archive_depth": "max_archive_depth",
    "classes": "classes",
    "terms": "terms",
}
VECTORIZER = {
    "stemming": "stemming",
    "min_df": "min_df",
    "max_df": "max_df",
    "ngrams": "ngram_range",
    "analyzer": "analyzer",
    "max_features": "max_features",
    "token_pattern": "token_pattern",
    "strip_accents": "strip_accents",
    "weighting": "weighting",
}

reader_options = options(
    click.option("--format", metavar="NAME", help="How to read the files; recognised by their content when left out."),
    click.option("--text-column", multiple=True, metavar="NAME", help="Column that holds the text."),
    click.option("--id-column", metavar="NAME", help="Column of names of documents."),
    click.option("--title-column", metavar="NAME", help="Column of titles."),
    click.option("--date-column", metavar="NAME", help="Column of dates."),
    click.option("--link-column", metavar="NAME", help="Column of links."),
    click.option("--source-column", metavar="NAME", help="Column that says where a document comes from."),
    click.option("--label-column", multiple=True, metavar="NAME", help="Column of class labels."),
    click.option(
        "--label-separator", callback=some_text, metavar="TEXT", help="What stands between several labels in a cell."
    ),
    click.option("--labels-file", metavar="FILE", help="Class labels in a second file."),
    click.option("--no-header", is_flag=True, help="The first row of a csv is a document."),
    click.option("--delimiter", metavar="CHAR", help="What stands between the cells of a csv."),
    click.option("--encoding", metavar="NAME", help="The encoding of every file, instead of finding it."),
    click.option("--strip", multiple=True, metavar="PART", help="Of newsgroup messages: headers, footers, quotes."),
    click.option("--split", metavar="NAME", help="Only documents of this part, such as train or test."),
    click.option("--html", type=click.Choice(["text", "article"]), help="All text of a web page, or its main article."),
    click.option("--strip-html", is_flag=True, help="The text columns of a table hold HTML."),
    click.option(
        "--max-document-length", type=Whole(min=1), metavar="N", help="Longer documents (characters) are skipped."
    ),
    click.option(
        "--max-expanded-size",
        callback=checked(check_size),
        metavar="SIZE",
        help="What one archive may expand to, such as 4G.",
    ),
    click.option("--max-members", type=Whole(min=1), metavar="N", help="How many members of an archive are read."),
    click.option("--max-archive-depth", type=Whole(min=1), metavar="N", help="How deep archives may lie in archives."),
    click.option("--classes", metavar="FILE", help="For a matrix: one class per line."),
    click.option("--terms", metavar="FILE", help="For a matrix: one term per line."),
)

vectorizer_options = options(
    click.option(
        "--language",
        multiple=True,
        default=("auto",),
        show_default=True,
        callback=checked(check_languages),
        metavar="NAME",
        help="Whose function words are left out: auto, none, or a language.",
    ),
    click.option(
        "--stemming",
        callback=checked(check_stemming),
        metavar="LANGUAGE",
        help="Put the forms of a word together: english, en, ...",
    ),
    click.option(
        "--min-df",
        callback=number_or_share,
        metavar="N",
        help="A term must be in so many documents (2) or such a share (0.01).",
    ),
    click.option("--max-df", callback=number_or_share, metavar="N", help="A term may be in at most so many documents."),
    click.option("--ngrams", callback=number_range, metavar="A-B", help="Terms are runs of A to B words."),
    click.option(
        "--analyzer",
        type=click.Choice(["script", "word", "char", "char_wb", "cjk"]),
        help="What a term is: by the script of the text (the default), a word, a run of characters.",
    ),
    click.option("--max-features", type=Whole(min=1), metavar="N", help="Keep the N most frequent terms."),
    click.option("--token-pattern", callback=checked(check_token_pattern), metavar="REGEX", help="What a token is."),
    click.option("--strip-accents", type=click.Choice(["ascii", "unicode"]), help="Leave accents out."),
    click.option(
        "--weighting",
        callback=checked(check_weighting),
        metavar="CODE",
        help="tfidf, bm25, none, or SMART letters such as ltc.",
    ),
)


def reader_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `read_corpus` and `read_matrix` that were given."""
    found = chosen(given, READER)
    return {**found, "header": False} if given["no_header"] else found


def vectorizer_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `TfidfVectorizer` that were given."""
    return chosen(given, VECTORIZER)


def language_argument(given: dict[str, Any]) -> str | list[str]:
    """Return the language argument of `run_pipeline`: one of the words auto and none, or names."""
    names = [name for entry in given["language"] for name in entry.split(",")]
    return names[0] if len(names) == 1 else names
