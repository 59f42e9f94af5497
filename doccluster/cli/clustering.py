"""`cluster` and `assign`: a matrix file into clusters, and new documents into the clusters of a run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.text_table import Column
from doccluster.cli.console import (
    arguments_of,
    json_option,
    overwrite_option,
    print_json,
    print_table,
    progress_shown,
    say,
    threads_option,
)
from doccluster.cli.output import write_error, write_out
from doccluster.cli.run import clustering_options, embeddings_option, encoder_option, execute, worker_options
from doccluster.cli.source_options import matrix_options, reader_arguments, reader_options, typed_source
from doccluster.cli.values import check_weighting, checked
from doccluster.cli.verb import Verb
from doccluster.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@click.command("cluster", cls=Verb, short_help="Cluster a matrix file.")
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
def cluster_command(matrix: str, **given: Any) -> None:
    """Cluster a matrix file: CLUTO .mat, Matrix Market .mtx, .npz or .npy.

    Whole numbers are taken as counts and weighted; fractions are taken as they are.
    """
    from doccluster.pipeline.sources import MATRIX_SUFFIXES, is_matrix

    if not is_matrix(matrix):
        raise InputError(
            f"{matrix} is not a matrix file (its name does not end in any of {', '.join(MATRIX_SUFFIXES)})",
            remedy="give texts to `doccluster run`",
        )
    reader = reader_arguments(given)
    vectorizer = {} if given["weighting"] is None else {"weighting": given["weighting"]}
    execute((matrix,), given, reader=reader, vectorizer=vectorizer)


@click.command("assign", cls=Verb, short_help="Assign new documents to the clusters of a run.")
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
def assign_command(model: str, sources: tuple[str, ...], output: str | None, **given: Any) -> None:
    """Assign new documents to the clusters of a finished run (MODEL is its folder, or the folder model in it).

    Prints a csv: id, title, date, cluster, label, similarity, runner_up, margin, unknown (the share of its terms that
    the run did not know) and new (whether it is unlike all clusters of the run, and the one named is only the nearest).
    """
    from doccluster.base.csv_files import csv_text
    from doccluster.base.new_folder import check_file
    from doccluster.pipeline.assigning import assign_documents, chosen_threshold
    from doccluster.results.run_model import load_model

    if output is not None:
        check_file(Path(output), overwrite=given["overwrite"])
    fitted = load_model(model)
    with progress_shown(quiet=given["as_json"]) as progress:
        asked = arguments_of(assign_documents, given) | {"reader": reader_arguments(given)}
        announce = None if given["as_json"] else write_error
        table = assign_documents(fitted, typed_source(sources), **asked, announce=announce, progress=progress)
    threshold = chosen_threshold(fitted, given["threshold"])
    if output is not None:
        _write(table, Path(output))
    if given["as_json"]:
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        counts = {"threshold": threshold, "n_new": int(table["new"].sum()), "unknown": float(table["unknown"].mean())}
        print_json({"output": output, **counts, "documents": rows})
    elif output is not None:
        _print_counts(table, output)
        say(f"  {_novelty(table, threshold)}")
    else:
        write_out(csv_text(table))
        write_error(_novelty(table, threshold))


def _novelty(table: pd.DataFrame, threshold: float) -> str:
    """Return in a sentence how many documents are unlike all clusters, and how much of what they say is unknown."""
    n_new, unknown = int(table["new"].sum()), table["unknown"].mean()
    sentence = f"{n_new:,} of {len(table):,} documents are new: similarity below {threshold:.3f} to every cluster"
    if n_new == 0:
        sentence = f"nothing new: every document reaches {threshold:.3f}"
    return sentence if unknown != unknown else f"{sentence}; {100 * (1 - unknown):.0f} % of their words are known"


def _write(table: pd.DataFrame, path: Path) -> None:
    from doccluster.base.csv_files import write_csv
    from doccluster.base.new_folder import new_file

    with new_file(path) as unfinished:
        write_csv(table, unfinished)


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
