"""`inspect` and `vectorize`: what is in a source, and its documents as a matrix file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import (
    arguments_of,
    json_option,
    overwrite_option,
    plain,
    print_json,
    progress_shown,
    say,
    say_fact,
    threads_option,
)
from doccluster.cli.source_options import (
    reader_arguments,
    reader_options,
    source_arguments,
    typed_source,
    vectorizer_options,
)
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.pipeline.inspecting import Inspection, KeptColumn, LabelColumn


@click.command("inspect", cls=Verb, short_help="Describe what is in a source, without clustering it.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@reader_options
@json_option
def inspect_command(sources: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Describe what is in a source: documents, lengths, languages, dates, labels, and what would be skipped and why."""
    from doccluster.pipeline.inspecting import inspect_source

    with progress_shown(quiet=as_json) as progress:
        asked = arguments_of(inspect_source, given) | {"reader": reader_arguments(given)}
        inspection = inspect_source(typed_source(sources), **asked, progress=progress)
    if as_json:
        print_json({**asdict(inspection), "reasons": inspection.reasons})
    else:
        _print_inspection(inspection)


def _print_inspection(inspection: Inspection) -> None:
    from doccluster.cli.run_summary import terms_told

    say(f"  documents  {inspection.n_documents:,}")
    if inspection.n_terms is not None and inspection.n_entries is not None:
        terms = terms_told(inspection.n_documents, inspection.n_terms, inspection.n_entries)
        say(f"  matrix     {terms}, {inspection.n_empty:,} documents without any")
    if inspection.text_columns:
        say(f"  text       {plain(', '.join(inspection.text_columns))}")
    if inspection.lengths is not None:
        lengths = ", ".join(f"{name} {value:,.0f}" for name, value in inspection.lengths.items())
        say(f"  characters {lengths}")
        say(f"  duplicates {inspection.n_same_text:,} documents are exact copies")
        languages = ", ".join(f"{name} {100 * share:.0f} %" for name, share in (inspection.languages or {}).items())
        say(f"  languages  {languages or 'not found by function words'}")
    if inspection.scripts:
        scripts = ", ".join(f"{name} {100 * share:.0f} %" for name, share in inspection.scripts.items())
        say(f"  scripts    {scripts} of the texts; without blanks between words")
    if inspection.first_date:
        say(f"  dates      {inspection.first_date} to {inspection.last_date}")
    if inspection.guessed_encodings:
        encodings = ", ".join(f"{count:,} {name}" for name, count in inspection.guessed_encodings.items())
        say_fact("encodings", f"guessed, where files do not state theirs: {encodings}")
    if inspection.dates is not None and (sentence := inspection.dates.in_words()):
        say_fact("" if inspection.first_date else "dates", sentence)
    for why, count in inspection.doubtful_dates.items():
        dates = "1 date is" if count == 1 else f"{count:,} dates are"
        say_fact("", f"{dates} not believed: {why}")
    for column in inspection.labels:
        _print_labels(column)
    if inspection.columns:
        say_fact("columns", "; ".join(map(_column_in_words, inspection.columns)))
    for reason, count in inspection.reasons.items():
        say(f"  skipped    {count:,} {reason.replace('-', ' ')}")
    if inspection.renamed:
        documents = "document is" if len(inspection.renamed) == 1 else "documents are"
        say(f"  renamed    {len(inspection.renamed):,} {documents} kept under a new id: {inspection.renamed[0].detail}")


def _column_in_words(column: KeptColumn) -> str:
    values = "1 value" if column.n_values == 1 else f"{column.n_values:,} values"
    kind = {"int": ", whole numbers", "float": ", numbers"}.get(column.type, "")
    return f"{plain(column.name)} ({values}{kind}{f', {column.n_without:,} without' if column.n_without else ''})"


def _print_labels(column: LabelColumn) -> None:
    counts = (("one", column.n_single), ("several", column.n_several), ("none", column.n_without))
    coverage = ", ".join(f"{count:,} documents have {word}" for word, count in counts if count)
    say(f"  labels     {column.name}: {column.n_classes:,} classes; {coverage}")
    shown = ", ".join(f"{name} {count:,}" for name, count in column.commonest)
    dots = ", ..." if column.n_classes > len(column.commonest) else ""
    say(f"             {shown}{dots}")


@click.command("vectorize", cls=Verb, short_help="Turn documents into a matrix file.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", required=True, metavar="X.npz", help="The matrix file to write, with ids and terms.")
@click.option("--classes-from", metavar="COLUMN", help="Write the labels of this column as classes.")
@reader_options
@vectorizer_options
@threads_option
@overwrite_option
@json_option
def vectorize_command(sources: tuple[str, ...], output: str, **given: Any) -> None:
    """Turn documents into a matrix file (npz) that `cluster` and `run` take, and other programs can read."""
    from doccluster.cli.run_summary import say_analysis, terms_told
    from doccluster.pipeline.vector_file import write_vectors

    with progress_shown(quiet=given["as_json"]) as progress:
        asked = arguments_of(write_vectors, given) | source_arguments(given)
        vector_file = write_vectors(typed_source(sources), output, **asked, progress=progress)
    vectors = vector_file.vectors
    n_entries = int(vectors.matrix.nnz)
    if given["as_json"]:
        print_json(
            {
                "output": output,
                "n_documents": vectors.n_documents,
                "n_terms": vectors.n_terms,
                "n_entries": n_entries,
                "empty_ids": vectors.empty_ids,
                "languages": vector_file.languages,
                "analysis": vector_file.analysis_told,
            }
        )
        return
    terms = terms_told(vectors.n_documents, vectors.n_terms, n_entries)
    say(f"  vectorize  {vectors.n_documents:,} documents, {terms}")
    say_analysis(vector_file.analysis_told)
    if vectors.empty_ids:
        say(f"  empty      {len(vectors.empty_ids):,} documents have no term")
    say(f"  {output}")
