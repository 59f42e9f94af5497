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
    from doccluster.pipeline.inspecting import Inspection, LabelColumn


@click.command("inspect", cls=Verb, short_help="Describe what is in a source, without clustering it.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@reader_options
@json_option
def inspect_command(sources: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Describe what is in a source: documents, lengths, languages, dates, labels, and what would be skipped and why."""
    from doccluster.pipeline.inspecting import inspect_source

    with progress_shown(quiet=as_json) as progress:
        asked = arguments_of(inspect_source, given) | {"reader": reader_arguments(given)}
        found = inspect_source(typed_source(sources), **asked, progress=progress)
    if as_json:
        print_json({**asdict(found), "reasons": found.reasons})
    else:
        _print_inspection(found)


def _print_inspection(found: Inspection) -> None:
    from doccluster.cli.run_summary import terms_told

    say(f"  documents  {found.n_documents:,}")
    if found.n_terms is not None and found.n_entries is not None:
        told = terms_told(found.n_documents, found.n_terms, found.n_entries)
        say(f"  matrix     {told}, {found.n_empty:,} documents without any")
    if found.text_columns:
        say(f"  text       {plain(', '.join(found.text_columns))}")
    if found.lengths is not None:
        told = ", ".join(f"{name} {value:,.0f}" for name, value in found.lengths.items())
        say(f"  characters {told}")
        say(f"  duplicates {found.n_same_text:,} documents are exact copies")
        languages = ", ".join(f"{name} {100 * share:.0f} %" for name, share in (found.languages or {}).items())
        say(f"  languages  {languages or 'not found by function words'}")
    if found.scripts:
        told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in found.scripts.items())
        say(f"  scripts    {told} of the texts; without blanks between words")
    if found.first_date:
        say(f"  dates      {found.first_date} to {found.last_date}")
    if found.guessed_encodings:
        told = ", ".join(f"{count:,} {name}" for name, count in found.guessed_encodings.items())
        say_fact("encodings", f"guessed, where files do not state theirs: {told}")
    if found.dates is not None and (told := found.dates.in_words()):
        say_fact("" if found.first_date else "dates", told)
    for why, count in found.doubtful_dates.items():
        told = "1 date is" if count == 1 else f"{count:,} dates are"
        say_fact("", f"{told} not believed: {why}")
    for column in found.labels:
        _print_labels(column)
    for reason, count in found.reasons.items():
        say(f"  skipped    {count:,} {reason.replace('-', ' ')}")
    if found.renamed:
        told = "document is" if len(found.renamed) == 1 else "documents are"
        say(f"  renamed    {len(found.renamed):,} {told} kept under a new id: {found.renamed[0].detail}")


def _print_labels(column: LabelColumn) -> None:
    counts = (("one", column.n_single), ("several", column.n_several), ("none", column.n_without))
    coverage = ", ".join(f"{count:,} documents have {word}" for word, count in counts if count)
    say(f"  labels     {column.name}: {column.n_classes:,} classes; {coverage}")
    shown = ", ".join(f"{name} {count:,}" for name, count in column.commonest)
    more = ", ..." if column.n_classes > len(column.commonest) else ""
    say(f"             {shown}{more}")


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
        made = write_vectors(typed_source(sources), output, **asked, progress=progress)
    vectors = made.vectors
    n_entries = int(vectors.matrix.nnz)
    if given["as_json"]:
        print_json(
            {
                "output": output,
                "n_documents": vectors.n_documents,
                "n_terms": vectors.n_terms,
                "n_entries": n_entries,
                "empty_ids": vectors.empty_ids,
                "languages": made.languages,
                "analysis": made.analysis_told,
            }
        )
        return
    told = terms_told(vectors.n_documents, vectors.n_terms, n_entries)
    say(f"  vectorize  {vectors.n_documents:,} documents, {told}")
    say_analysis(made.analysis_told)
    if vectors.empty_ids:
        say(f"  empty      {len(vectors.empty_ids):,} documents have no term")
    say(f"  {output}")
