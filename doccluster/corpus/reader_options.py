"""The parameters of `read_corpus`, each written once, and what readers get of them: options that are checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from doccluster.base.limited_process import Allowance
from doccluster.base.parameter_fields import check_parameters, parameter
from doccluster.base.plain_values import parse_size
from doccluster.corpus.encodings import codec_name
from doccluster.errors import InputError
from doccluster.text.text_parts import checked_rule

ONE_COLUMN = ("id_column", "title_column", "date_column", "link_column", "source_column")
STRIPPABLE = ("headers", "footers", "quotes")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """The options of reading documents; readers get the result of `checked`."""

    format: str | None = parameter(
        None,
        "How to read the files, such as csv or mbox. Left out, each file is recognised by its content, then by its "
        "name.",
        type="str, one of `doccluster.corpus.FORMATS`",
    )
    text_column: str | Sequence[str] | None = parameter(
        None,
        "The column(s) of a table that hold the text; several are joined by an empty line; content.body is a field in "
        "an object. Left out, a usual name (text, body, ...) decides, unless another column has many times the prose.",
        type="str or sequence of str",
    )
    id_column: str | None = parameter(None, "The column with the ids of the documents.", type="str")
    title_column: str | None = parameter(None, "The column with the titles.", type="str")
    date_column: str | None = parameter(None, 'The column with the dates; "" where none has them.', type="str")
    link_column: str | None = parameter(None, "The column with the links.", type="str")
    source_column: str | None = parameter(None, "The column that says who published a document.", type="str")
    label_columns: str | Sequence[str] | None = parameter(
        None,
        "Columns with class labels; a cell may hold a list. Left out, columns such as class, label, category, topic. "
        "An empty sequence reads none.",
        type="str or sequence of str",
    )
    keep_columns: str | Sequence[str] | None = parameter(
        None,
        "More columns to keep: all short ones (100 at most) are kept, but no objects and long texts.",
        type="str or sequence of str",
    )
    drop_columns: str | Sequence[str] | None = parameter(
        None, "Columns not to keep, or all.", type="str or sequence of str", value="A,B"
    )
    label_separator: str | None = parameter(
        None, 'The separator between several labels in one cell, such as ";".', type="str", value="TEXT"
    )
    labels_file: str | os.PathLike[str] | None = parameter(
        None,
        "A second file with the class labels: one line for each document in order, or a csv or jsonl with a column id "
        "and label columns.",
        type="path",
        value="FILE",
    )
    header: bool = parameter(
        True, "Whether the first row of a csv names the columns; if not, they are called 1, 2, ...."
    )
    delimiter: str | None = parameter(None, "What separates the cells of a csv; found by default.", type="str")
    sheet: str | None = parameter(
        None, "The sheet of a spreadsheet to read; by default that with the most prose.", type="str"
    )
    encoding: str | None = parameter(None, "The encoding of all files; detected file by file by default.", type="str")
    strip: str | Sequence[str] = parameter(
        (),
        "What to leave out of newsgroup messages: headers, footers or quotes, or all of them.",
        type="sequence of {'headers', 'footers', 'quotes'}",
    )
    split: str | None = parameter(
        None,
        "Read only this part of the collection, such as train or test (Reuters: the ModApte split; tables: a column "
        "split).",
        type="str",
    )
    html: str = parameter(
        "text",
        "Read all text of a web page, or its main article as trafilatura finds it (the extra html).",
        choices=("text", "article"),
    )
    strip_html: bool | None = parameter(
        None,
        "Remove markup from the texts of a table. Default: where most of at least ten texts have tags.",
        type="bool",
    )
    max_document_length: int = parameter(10_000_000, "Skip documents with more characters than this.", low=1, value="N")
    max_expanded_size: int | str = parameter(
        "4G",
        "The largest size that one archive may expand to, such as 4G. With 8G an office document, a book, rtf "
        "or PDF files, a Parquet table, a query or embeddings may take twice as much memory and time too.",
        type="int or str",
        value="SIZE",
        check=parse_size,
    )

    def checked(self) -> Self:
        """Return the same, or raise InputError for a parameter that cannot be used."""
        check_parameters(self)
        columns: dict[str, Any] = {}
        for option in ONE_COLUMN:
            given = getattr(self, option)
            names = as_names(given, option)
            if len(names) > 1:
                raise InputError(f"names {len(names)} columns", argument=option, received=given, expected="one column")
            columns[option] = names[0] if names else None
        if self.delimiter is not None and (not isinstance(self.delimiter, str) or len(self.delimiter) != 1):
            raise InputError(
                "is not one character", argument="delimiter", received=self.delimiter, remedy="give for instance ';'"
            )
        if self.encoding is not None:
            try:
                columns["encoding"] = codec_name(self.encoding)
                "a".encode(columns["encoding"] or "undefined")  # some codecs make no text, and some are not for files
            except (LookupError, ValueError, TypeError, AttributeError) as error:
                known = "give for instance utf-8 or cp1252"
                raise InputError("is not known", argument="encoding", received=self.encoding, remedy=known) from error
        options = replace(self, **columns)
        for option in ("text_columns", "label_names", "kept_columns", "dropped_columns", "stripped", "expanded_size"):
            getattr(options, option)  # which is refused if it cannot be used
        return options

    @cached_property
    def text_columns(self) -> tuple[str, ...]:
        """The columns that hold the text; none where that is left open."""
        return as_names(self.text_column, "text_column")

    @cached_property
    def label_names(self) -> tuple[str, ...] | None:
        """The columns with class labels; None where that is left open."""
        return None if self.label_columns is None else as_names(self.label_columns, "label_columns")

    @cached_property
    def kept_columns(self) -> tuple[str, ...]:
        """More columns to keep."""
        return as_names(self.keep_columns, "keep_columns")

    @cached_property
    def dropped_columns(self) -> tuple[str, ...]:
        """Columns not to keep; "all" drops every column that has no other role."""
        return as_names(self.drop_columns, "drop_columns")

    @cached_property
    def stripped(self) -> frozenset[str]:
        """What to leave out of newsgroup messages."""
        parts = frozenset(as_names(self.strip, "strip"))
        if parts == {"all"}:
            return frozenset(STRIPPABLE)
        unknown = sorted(str(part) for part in parts.difference(STRIPPABLE))
        if unknown:
            raise InputError(
                "is not known", argument="strip", received=unknown[0], remedy=f"choose among {', '.join(STRIPPABLE)}"
            )
        return parts

    @cached_property
    def expanded_size(self) -> int:
        """How many bytes an archive may expand to."""
        return parse_size(self.max_expanded_size)

    @property
    def allowance(self) -> Allowance:
        """The memory and time that reading one file may use."""
        return Allowance.within(self.expanded_size)

    @property
    def document_bytes(self) -> int:
        """No encoding needs more than four bytes for a character (and a mark in front)."""
        return 4 * self.max_document_length + 4


@dataclass(frozen=True, kw_only=True)
class SourceParameters(ReadOptions):
    """The options of reading a source of texts or a matrix."""

    keep_boilerplate: bool = parameter(
        False, "Keep lines that an outlet repeats over its articles (calls to subscribe, credits, ...)."
    )
    parts: str | int | None = parameter(
        None,
        "Cluster long documents in parts: auto, paragraphs, sentences, pages, turns (of speakers), or about N words "
        "each. With auto documents of 200 words or more are cut at headings, speakers, paragraphs and ends of "
        "sentences into parts of about 100 words. `shares.csv` and ``run.shares()`` then say what share of each "
        "document is in which cluster.",
        type="str or int",
        value="RULE",
        check=checked_rule,
    )
    classes: str | tuple[str, ...] | None = parameter(
        None, "For a matrix: a file with one class per line, if it does not lie beside it.", value="FILE"
    )
    terms: str | tuple[str, ...] | None = parameter(
        None, "For a matrix: a file with one term per line, if it does not lie beside it.", value="FILE"
    )


def as_names(value: str | Sequence[str] | None, name: str) -> tuple[str, ...]:
    """Return one or several column names as a tuple of text; None gives an empty one."""
    if value is None:
        return ()
    names = [value] if isinstance(value, str | int) else list(value)
    for name_given in names:
        if not isinstance(name_given, str | int):
            raise InputError(
                "is not a column name", argument=name, received=value, expected="a name or a list of names"
            )
    return tuple(str(name_given) for name_given in names)
