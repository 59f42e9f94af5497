"""`inspect`, `vectorize`, `cluster`, `assign` and `algorithms`: the steps of a run, each by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.text_table import Column
from doccluster.cli.console import (
    json_option,
    overwrite_option,
    plain,
    print_json,
    print_table,
    progress_shown,
    say,
    say_fact,
    say_note,
    threads_option,
)
from doccluster.cli.output import write_out
from doccluster.cli.run import RUN, clustering_options, embeddings_option, encoder_option, execute, worker_options
from doccluster.cli.source_options import (
    matrix_options,
    parts_option,
    reader_options,
    take_reader,
    typed_source,
    vectorizer_options,
    with_source,
)
from doccluster.cli.verb import Verb, check_weighting, checked, only
from doccluster.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from doccluster.clustering.algorithms import Algorithm
    from doccluster.pipeline.inspecting import Inspection, KeptColumn, LabelColumn


@click.command("cluster", cls=Verb, gathers=RUN)
@click.argument("matrix", metavar="X")
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="The folder to write, with tables, model and report."
)
@clustering_options
@matrix_options
@click.option(
    "--weighting",
    callback=checked(check_weighting),
    metavar="CODE",
    help="Weight counts by tfidf (the default), bm25, none, or a SMART code such as ltc.",
)
@overwrite_option
@click.option("--report/--no-report", default=True, help="Whether to write report.html (the default is yes).")
@json_option
def cluster_command(
    matrix: str, settings: Mapping[str, object], output: str, options: Mapping[str, object], as_json: bool
) -> None:
    """Cluster a matrix file: CLUTO .mat, Matrix Market .mtx, .npz or .npy.

    Whole numbers are taken as counts and weighted; fractions are taken as they are.
    """
    from doccluster.pipeline.sources import MATRIX_SUFFIXES, is_matrix

    if not is_matrix(matrix):
        raise InputError(
            f"{matrix} is not a matrix file (its name does not end in any of {', '.join(MATRIX_SUFFIXES)})",
            remedy="give texts to `doccluster run`",
        )
    execute((matrix,), {**settings, **options, "output": Path(output)}, as_json=as_json)


PLACING = only("as_run", "threshold", "embeddings", "encoder", "n_threads", "scheduler", "scratch")


@click.command(
    "assign",
    cls=Verb,
    gathers={"reader": take_reader, "settings": PLACING},
)
@click.argument("model", metavar="MODEL")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", metavar="FILE", help="Write the table to this csv file instead of printing it.")
@click.option(
    "--threshold",
    type=click.FloatRange(-1, 1),
    metavar="COSINE",
    help="A document less similar than this to the nearest cluster is new; learned from the run by default.",
)
@click.option(
    "--as-run/--not-as-run",
    default=True,
    help="Read the documents as the run did, unless an option says otherwise (the default is yes).",
)
@reader_options
@embeddings_option
@encoder_option
@threads_option
@worker_options()
@overwrite_option
@json_option
def assign_command(
    model: str,
    sources: tuple[str, ...],
    output: str | None,
    reader: dict[str, Any],
    settings: dict[str, Any],
    overwrite: bool,
    as_json: bool,
) -> None:
    """Assign new documents to the clusters of a finished run (MODEL is its folder, or the folder model in it).

    Prints a csv: id, title, date, cluster, label, similarity, runner_up, margin, unknown (the share of its terms that
    the run did not know) and new (whether it is unlike all clusters of the run, and the one named is only the nearest).
    """
    from doccluster.base.paths import check_file, new_file
    from doccluster.base.text_table import csv_text, write_csv
    from doccluster.pipeline.assigning import assign_documents, chosen_threshold
    from doccluster.results.run_model import load_model

    if output is not None:
        check_file(Path(output), overwrite=overwrite)
    fitted = load_model(model)
    with progress_shown(quiet=as_json) as progress:
        table = assign_documents(
            fitted, typed_source(sources), reader=reader, announce=say_note, progress=progress, **settings
        )
    threshold = chosen_threshold(fitted, settings["threshold"])
    if output is not None:
        with new_file(Path(output)) as unfinished:
            write_csv(table, unfinished)
    if as_json:
        # JSON has no NaN: what is missing is null
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        counts = {"threshold": threshold, "n_new": int(table["new"].sum()), "unknown": float(table["unknown"].mean())}
        print_json({"output": output, **counts, "documents": rows})
    elif output is not None:
        _print_counts(table, output)
        say(f"  {_novelty(table, threshold)}")
    else:
        write_out(csv_text(table))
        say_note(_novelty(table, threshold))


def _novelty(table: pd.DataFrame, threshold: float) -> str:
    """Return in a sentence how many documents are unlike all clusters, and how much of what they say is unknown."""
    n_new, unknown = int(table["new"].sum()), table["unknown"].mean()
    sentence = f"{n_new:,} of {len(table):,} documents are new: similarity below {threshold:.3f} to every cluster"
    if n_new == 0:
        sentence = f"nothing new: every document reaches {threshold:.3f}"
    return sentence if unknown != unknown else f"{sentence}; {100 * (1 - unknown):.0f} % of their words are known"


def _print_counts(table: pd.DataFrame, output: str) -> None:
    placed = table.dropna(subset=["cluster"])
    counts = sorted(Counter(zip(placed["cluster"], placed["label"], strict=True)).items())
    rows = [(f"{size:,}", f"{cluster}", str(label)) for (cluster, label), size in counts]
    if len(placed) < len(table):
        rows.append((f"{len(table) - len(placed):,}", "", "no known word"))
    sizes, clusters, labels = zip(*rows, strict=True) if rows else ((), (), ())
    print_table(
        [Column("documents", sizes), Column("cluster", clusters), Column("label", labels, "left", fit="cut")],
        has_rule=False,
        indent=2,
    )
    say(f"  {output}")


@click.command("algorithms", cls=Verb)
@json_option
def algorithms_command(as_json: bool) -> None:
    """List the algorithms: the names for --algorithm, what each works on, and its options."""
    from doccluster.clustering.algorithms import ALGORITHMS

    if as_json:
        print_json([_record(algorithm) for algorithm in ALGORITHMS.values()])
        return
    for algorithm in ALGORITHMS.values():
        say(f"{algorithm.name}: {algorithm.title}")
        say(f"  criterion       {algorithm.criterion}")
        say(f"  works on        {algorithm.needs}")
        say(f"  new documents   {algorithm.predicts}")
        say(f"  options         {', '.join(algorithm.options)}")
        say()


def _record(algorithm: Algorithm) -> dict[str, Any]:
    record = {name: getattr(algorithm, name) for name in ("name", "title", "criterion", "metric", "needs", "predicts")}
    return record | {"options": list(algorithm.options)}


@click.command(
    "inspect",
    cls=Verb,
    gathers={"reader": take_reader},
)
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@reader_options
@parts_option
@json_option
def inspect_command(sources: tuple[str, ...], reader: Mapping[str, object], as_json: bool) -> None:
    """Describe what is in a source: documents, lengths, languages, dates, labels, and what would be skipped and why."""
    from doccluster.pipeline.inspecting import inspect_source

    with progress_shown(quiet=as_json) as progress:
        inspection = inspect_source(typed_source(sources), reader=reader, progress=progress)
    if as_json:
        print_json({**asdict(inspection), "reasons": inspection.reasons})
    else:
        _print_inspection(inspection)


def _print_inspection(inspection: Inspection) -> None:
    from doccluster.cli._run_summary import terms_told

    say_fact("documents", f"{inspection.n_documents:,}{inspection.division and f' ({inspection.division})'}")
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


COUNTING = with_source(only("classes_from", "n_threads", "overwrite"))


@click.command("vectorize", cls=Verb, gathers={"settings": COUNTING})
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", required=True, metavar="X.npz", help="The matrix file to write, with ids and terms.")
@click.option("--classes-from", metavar="COLUMN", help="Write the labels of this column as classes.")
@reader_options
@parts_option
@vectorizer_options
@threads_option
@overwrite_option
@json_option
def vectorize_command(sources: tuple[str, ...], output: str, settings: dict[str, Any], as_json: bool) -> None:
    """Turn documents into a matrix file (npz) that `cluster` and `run` take, and other programs can read."""
    from doccluster.cli._run_summary import say_analysis, terms_told
    from doccluster.pipeline.inspecting import write_vectors

    with progress_shown(quiet=as_json) as progress:
        vector_file = write_vectors(typed_source(sources), output, **settings, progress=progress)
    vectors = vector_file.vectors
    n_entries = int(vectors.matrix.nnz)
    if as_json:
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
    row = "document" if vectors.next_part is None else "part"
    terms = terms_told(vectors.n_documents, vectors.n_terms, n_entries, row)
    say(f"  vectorize  {vectors.n_documents:,} {row}s, {terms}")
    say_analysis(vector_file.analysis_told)
    # documents whose words are all stop words, or in too few or too many documents
    if vectors.empty_ids:
        say(f"  empty      {len(vectors.empty_ids):,} documents have no term")
    say(f"  {output}")
