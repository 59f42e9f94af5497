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
    "keep_boilerplate": "keep_boilerplate",
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
    "n_features": "n_features",
    "token_pattern": "token_pattern",
    "strip_accents": "strip_accents",
    "weighting": "weighting",
}

reader_options = options(
    click.option(
        "--format", metavar="NAME", help="The format of the files. By default it is recognised by their content."
    ),
    click.option("--text-column", multiple=True, metavar="NAME", help="The column with the text."),
    click.option("--id-column", metavar="NAME", help="The column with the ids of the documents."),
    click.option("--title-column", metavar="NAME", help="The column with the titles."),
    click.option("--date-column", metavar="NAME", help="The column with the dates."),
    click.option("--link-column", metavar="NAME", help="The column with the links."),
    click.option("--source-column", metavar="NAME", help="The column that says who published a document."),
    click.option("--label-column", multiple=True, metavar="NAME", help="A column with class labels (may be repeated)."),
    click.option(
        "--label-separator",
        callback=some_text,
        metavar="TEXT",
        help="The separator between several labels in one cell.",
    ),
    click.option("--labels-file", metavar="FILE", help="A second file with the class labels."),
    click.option("--no-header", is_flag=True, help="The first row of a csv file is a document, not a header."),
    click.option("--delimiter", metavar="CHAR", help="The separator between the cells of a csv file."),
    click.option(
        "--encoding", metavar="NAME", help="The encoding of all files. By default it is detected file by file."
    ),
    click.option(
        "--strip",
        multiple=True,
        metavar="PART",
        help="Remove this part of newsgroup messages: headers, footers or quotes (may be repeated).",
    ),
    click.option("--split", metavar="NAME", help="Read only this part of the collection, such as train or test."),
    click.option(
        "--html", type=click.Choice(["text", "article"]), help="Read all text of a web page, or only its main article."
    ),
    click.option(
        "--strip-html/--no-strip-html",
        default=None,
        help="Remove the markup of the texts of a table. By default it is removed where most of them are HTML.",
    ),
    click.option(
        "--keep-boilerplate",
        is_flag=True,
        help="Keep lines that an outlet repeats over its articles (calls to subscribe, credits, ...).",
    ),
    click.option(
        "--max-document-length", type=Whole(min=1), metavar="N", help="Skip documents with more than N characters."
    ),
    click.option(
        "--max-expanded-size",
        callback=checked(check_size),
        metavar="SIZE",
        help="The largest size that one archive may expand to, such as 4G.",
    ),
    click.option("--max-members", type=Whole(min=1), metavar="N", help="Read at most N members of an archive."),
    click.option(
        "--max-archive-depth", type=Whole(min=1), metavar="N", help="Read archives inside archives down to this depth."
    ),
    click.option("--classes", metavar="FILE", help="For a matrix: a file with one class per line."),
    click.option("--terms", metavar="FILE", help="For a matrix: a file with one term per line."),
)

language_option = click.option(
    "--language",
    multiple=True,
    default=("auto",),
    show_default=True,
    callback=checked(check_languages),
    metavar="NAME",
    help="Leave out the function words of this language. auto (the default) finds the languages, none keeps them.",
)
vectorizer_options = options(
    language_option,
    click.option(
        "--stemming",
        callback=checked(check_stemming),
        metavar="LANGUAGE",
        help="Count the forms of a word as one term, by the stemmer of this language: english, en, ...",
    ),
    click.option(
        "--min-df",
        callback=number_or_share,
        metavar="N",
        help="Keep terms that are in at least this many documents (2) or this share of them (0.01).",
    ),
    click.option(
        "--max-df",
        callback=number_or_share,
        metavar="N",
        help="Keep terms that are in at most this many documents (500) or this share of them (0.5).",
    ),
    click.option("--ngrams", callback=number_range, metavar="A-B", help="Use sequences of A to B words as terms."),
    click.option(
        "--analyzer",
        type=click.Choice(["script", "word", "char", "char_wb", "cjk"]),
        help="What a term is: by the script of the text (the default), a word, a run of characters.",
    ),
    click.option("--max-features", type=Whole(min=1), metavar="N", help="Keep the N most frequent terms."),
    click.option(
        "--n-features",
        type=Whole(min=1),
        metavar="N",
        help="Send terms to N columns by a hash, such as 262144, as scikit-learn's HashingVectorizer does.",
    ),
    click.option(
        "--token-pattern",
        callback=checked(check_token_pattern),
        metavar="REGEX",
        help="A regular expression that matches one token.",
    ),
    click.option("--strip-accents", type=click.Choice(["ascii", "unicode"]), help="Remove accents."),
    click.option(
        "--weighting",
        callback=checked(check_weighting),
        metavar="CODE",
        help="Weight terms by tfidf (the default), bm25, none, or a SMART code such as ltc.",
    ),
)


def reader_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `read_corpus` and `read_matrix` that were given."""
    found = chosen(given, READER)
    if given["strip_html"] is False:
        found["strip_html"] = False
    return {**found, "header": False} if given["no_header"] else found


def vectorizer_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `TfidfVectorizer` that were given."""
    return chosen(given, VECTORIZER)


def language_argument(given: dict[str, Any]) -> str | list[str]:
    """Return the language argument of `run_pipeline`: one of the words auto and none, or names."""
    names = [name for entry in given["language"] for name in entry.split(",")]
    return names[0] if len(names) == 1 else names
