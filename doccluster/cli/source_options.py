"""The options of commands that read documents, made of the parameters of the public functions they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from doccluster.base.named_places import query_in
from doccluster.base.parameter_fields import Parameter, parameters_of
from doccluster.cli.console import Command, options
from doccluster.cli.verb import (
    READING,
    RUNNING,
    TERMS,
    Callback,
    Gather,
    SectionedOption,
    Whole,
    check_languages,
    check_stemming,
    check_weighting,
    checked,
    number_or_share,
    number_range,
    some_names,
    some_text,
    words_of_file,
)
from doccluster.corpus.reader_options import SourceParameters
from doccluster.errors import InputError
from doccluster.text.analysis import TfidfParameters


@dataclass(frozen=True)
class OptionSpec:
    """How a parameter is typed on the command line, where that differs from Python."""

    option: str = ""  # its flags, with / between them
    callback: Callback | None = None
    value: str = ""
    choices: tuple[str, ...] = ()
    is_number: bool = False
    is_repeated: bool = False
    is_eager: bool = False  # read before the options that need it
    shows_default: bool = False


# what a column may hold, and the parameter that names it
ROLES = {role: f"{role}_column" for role in ("text", "id", "title", "date", "link", "source")}
ROLES["label"] = "label_columns"
SEVERAL = ("text", "label")  # roles that more than one column may have
DELIMITERS = {"comma": ",", "tab": "\t", "space": " "}  # those that are hard to type
READER = {
    "label_separator": OptionSpec(callback=some_text),
    "labels_file": OptionSpec(),
    "encoding": OptionSpec(),
    "split": OptionSpec(),
    "html": OptionSpec(),
    "strip_html": OptionSpec(),
    "drop_columns": OptionSpec(callback=some_names),
    "keep_boilerplate": OptionSpec(),
    "max_expanded_size": OptionSpec(),
}
MATRIX = {"classes": OptionSpec(), "terms": OptionSpec()}
VECTORIZER = {
    "stemming": OptionSpec(callback=checked(check_stemming), value="LANGUAGE"),
    "added_stop_words": OptionSpec(option="--stop-words", callback=words_of_file, value="FILE"),
    "kept_words": OptionSpec(option="--keep-words", callback=words_of_file, value="FILE"),
    "min_df": OptionSpec(callback=number_or_share, value="N"),
    "max_df": OptionSpec(callback=number_or_share, value="N"),
    "ngram_range": OptionSpec(option="--ngrams", callback=number_range, value="A-B"),
    "analyzer": OptionSpec(choices=("script", "word", "char", "char_wb")),
    "max_features": OptionSpec(is_number=True),
    "weighting": OptionSpec(callback=checked(check_weighting), value="CODE"),
}


def made_options(kind: Any, names: Mapping[str, OptionSpec], *, section: str = RUNNING) -> Any:
    """Return a decorator with an option for each of the named parameters of a dataclass, in one section of the help."""
    parameters, types = parameters_of(kind), {item.name: str(item.type) for item in fields(kind)}
    return options(*(_option(name, parameters[name], types[name], spec, section) for name, spec in names.items()))


def _taken(typed: dict[str, Any], names: Iterable[str]) -> dict[str, object]:
    """Take options out of what was typed; return those that have a value."""
    arguments = {name: typed.pop(name, None) for name in names}
    return {name: value for name, value in arguments.items() if value is not None}


def _option(name: str, parameter: Parameter, of_type: str, spec: OptionSpec, section: str) -> Command:
    flags = (spec.option or f"--{name.replace('_', '-')}").split("/")
    attributes: dict[str, Any] = {
        "cls": SectionedOption,
        "section": section,
        "help": parameter.summary,
        "default": parameter.default if spec.shows_default else None,
        "show_default": spec.shows_default,
        "is_eager": spec.is_eager,
    }
    choices = spec.choices or parameter.choices
    if of_type.startswith("bool"):
        # what is off by default needs no way to say no
        negative = "" if parameter.default is False else f"/--no-{name.replace('_', '-')}"
        return click.option(f"{flags[0]}{negative}", name, is_flag=True, **attributes)
    if choices:
        return click.option(*flags, name, type=click.Choice(choices), **attributes)
    if spec.is_number or (isinstance(parameter.default, int) and parameter.low is not None):
        low = 1 if parameter.low is None else int(parameter.low)
        return click.option(*flags, name, type=Whole(min=low), metavar=spec.value or "N", **attributes)
    attributes["callback"] = spec.callback or (None if parameter.check is None else checked(parameter.check))
    if spec.is_repeated:
        repeated = f"{parameter.summary.removesuffix('.')} (may be repeated)."
        attributes |= {"multiple": True, "default": (), "help": repeated}
    return click.option(*flags, name, metavar=spec.value or parameter.value or "NAME", **attributes)


def columns_of(_context: click.Context, _option: click.Parameter, texts: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that name columns, of texts such as ``date=published``."""
    columns_of_roles: dict[str, list[str]] = {}
    for text in texts:
        role, equals, column = text.partition("=")
        if not equals or role not in ROLES or (not column and role in SEVERAL):
            raise click.BadParameter(
                f"{text!r} does not say what a column holds; write ROLE=NAME, ROLE one of {', '.join(ROLES)}."
            )
        columns_of_roles.setdefault(role, []).append(column)
    for role, columns in columns_of_roles.items():
        if len(columns) > 1 and role not in SEVERAL:
            raise click.BadParameter(f"{len(columns)} columns are named for {role}, which needs one.")
    return {ROLES[role]: columns if role in SEVERAL else columns[0] for role, columns in columns_of_roles.items()}


def format_given(_context: click.Context, _option: click.Parameter, text: str | None) -> dict[str, object]:
    """Return the format and its parameters, of a text such as ``csv:delimiter=;``."""
    if text is None:
        return {}
    from doccluster.clustering.algorithms import parse_value
    from doccluster.corpus.formats import FORMATS, check_format
    from doccluster.pipeline.sources import MATRIX_FORMATS

    name, _, settings = text.partition(":")
    try:
        kind = name if name in MATRIX_FORMATS else check_format(name)
    except InputError as error:
        raise click.BadParameter(str(error).removeprefix("format=")) from error
    arguments: dict[str, object] = {} if kind is None else {"format": kind}
    takes = () if kind not in FORMATS else FORMATS[kind].parameters
    for pair in filter(None, settings.split(",")):
        parameter, equals, value = pair.partition("=")
        if parameter not in takes or not equals:
            remedy = f"it takes {', '.join(f'{name_taken}=...' for name_taken in takes)}" if takes else "it takes none"
            raise click.BadParameter(f"{pair!r} is no parameter of {name}; {remedy}.")
        arguments[parameter] = (
            value.split("+") if parameter == "strip" else value if parameter == "sheet" else parse_value(value)
        )
        # some are hard to type: comma, tab, space
        if parameter == "delimiter":
            arguments[parameter] = DELIMITERS.get(value, value)
    return arguments


def of_a_format() -> dict[str, str]:
    """Return how the parameters begin that one format has; of csv and tsv, which share some, the first."""
    from doccluster.corpus.formats import FORMATS

    formats = reversed(FORMATS.values())
    return {parameter: f"--format {kind.name}:{parameter}=" for kind in formats for parameter in kind.parameters}


reader_options = options(
    click.option(
        "--format",
        cls=SectionedOption,
        section=READING,
        spellings=of_a_format,
        callback=format_given,
        metavar="NAME",
        help="The format of the files: lines, mbox, csv:delimiter=;,header=false, newsgroups:strip=quotes, ... By "
        "default it is recognised by their content.",
    ),
    click.option(
        "--column",
        "columns",
        cls=SectionedOption,
        section=READING,
        multiple=True,
        spellings=lambda: {parameter: f"--column {role}=" for role, parameter in ROLES.items()},
        callback=columns_of,
        metavar="ROLE=NAME",
        help=f"The column of a table that holds the {', '.join(ROLES)} (may be repeated; several text columns are "
        "joined). By default columns with usual names are found.",
    ),
    made_options(SourceParameters, READER, section=READING),
)
parts_option = made_options(SourceParameters, {"parts": OptionSpec()}, section=READING)
matrix_options = made_options(SourceParameters, MATRIX, section=READING)

language_option = click.option(
    "--language",
    cls=SectionedOption,
    section=TERMS,
    multiple=True,
    default=("auto",),
    show_default=True,
    callback=checked(check_languages),
    metavar="NAME",
    help="Remove the stop words of this language. auto (the default) detects the languages, none keeps them.",
)
vectorizer_options = options(language_option, made_options(TfidfParameters, VECTORIZER, section=TERMS))


def typed_source(sources: Sequence[str]) -> Any:
    """Return the paths to read, or the query of a database as it was typed."""
    return sources[0] if len(sources) == 1 and query_in(sources[0]) else [Path(source) for source in sources]


def take_reader(typed: dict[str, Any]) -> dict[str, object]:
    """Take the arguments of `read_corpus` and `read_matrix` out of what was typed."""
    return {**typed.pop("format", {}), **typed.pop("columns", {}), **_taken(typed, (*READER, *MATRIX, "parts"))}


def take_vectorizer(typed: dict[str, Any]) -> dict[str, object]:
    """Take the arguments of `TfidfVectorizer` out of what was typed."""
    return _taken(typed, VECTORIZER)


def take_language(typed: dict[str, Any]) -> str | list[str]:
    """Take the languages out of what was typed: one of the words auto and none, or names."""
    names = [name for entry in typed.pop("language", ("auto",)) for name in entry.split(",")]
    return names[0] if len(names) == 1 else names


def take_source(typed: dict[str, Any]) -> dict[str, object]:
    """Take the arguments reader, language and vectorizer of functions of sources out of what was typed."""
    return {"reader": take_reader(typed), "language": take_language(typed), "vectorizer": take_vectorizer(typed)}


def with_source(take: Gather) -> Gather:
    """Return a function that takes the arguments of `take_source` and those of `take`."""
    return lambda typed: take_source(typed) | take(typed)
