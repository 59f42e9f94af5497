"""`evaluate`, `measures`, `explain`, `cite` and `prevalence`: judge labels; what measures mean; shares of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.arrays import Matrix
from doccluster.base.choices import FAMILIES, METRICS
from doccluster.base.text_table import Column, shortened
from doccluster.cli.console import (
    json_option,
    options,
    plain,
    print_json,
    print_table,
    progress_shown,
    say,
    say_fact,
    stage_shown,
    threads_option,
)
from doccluster.cli.output import table_room, write_error, write_out
from doccluster.cli.verb import Verb, Whole, measure_names, only, some_text
from doccluster.errors import InputError

if TYPE_CHECKING:
    from doccluster.measures import Measure
    from doccluster.results.views import Prevalence

COST_IN_WORDS = {
    "contingency": "contingency: from the counts of documents by cluster and class, O(n)",
    "geometry": "geometry: from sums and one reading of the matrix, O(nnz k)",
    "pairwise": "pairwise: all pairs of documents, O(n^2) time in blocks of rows",
    "topics": "topics: documents that share top terms, O(nnz)",
}


# arguments of `evaluate` as they are typed, and files from which others are read
JUDGING = {"settings": only("measures", "metric", "noise", "strict", "n_threads")}


@click.command("evaluate", cls=Verb, gathers=JUDGING)
@click.argument("labels", type=click.Path(dir_okay=False))
@click.option("--truth", type=click.Path(dir_okay=False), help="Class labels, in a file of the same format.")
@click.option("--vectors", type=click.Path(), help="A matrix file (.npz, .mat of CLUTO, .mtx), or the folder of a run.")
@click.option("--column", metavar="NAME", help="The label column of LABELS, if it has several.")
@click.option("--truth-column", multiple=True, metavar="NAME", help="A column of the truth (may be repeated).")
@click.option(
    "--label-separator",
    callback=some_text,
    metavar="TEXT",
    help="What separates several labels in a cell of the truth.",
)
@click.option(
    "--measures",
    callback=measure_names,
    metavar="A,B,...",
    help="Compute only these measures (`doccluster measures` lists them), or 'all'.",
)
@click.option(
    "--metric", type=click.Choice(METRICS), default="cosine", show_default=True, help="The distance between documents."
)
@click.option("--noise", metavar="LABEL", help="Exclude documents with this label in LABELS.")
@click.option("--strict", is_flag=True, help="Stop where a measure is undefined.")
@options(json_option, threads_option)
@click.option("--latex", is_flag=True, help="Print a LaTeX table.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a csv table.")
def evaluate_command(
    labels: str,
    truth: str | None,
    vectors: str | None,
    column: str | None,
    truth_column: tuple[str, ...],
    label_separator: str | None,
    settings: dict[str, Any],
    as_json: bool,
    latex: bool,
    as_csv: bool,
) -> None:
    """Judge LABELS against a truth, against vectors, or both.

    LABELS is a table with a header (id, then one label column, or the one you name), its cells separated by commas,
    semicolons, tabs or blanks; JSON records, such as the documents themselves; or one label per line. Files with ids
    are joined by id, others by order, and a warning says so where one has ids and the other has none.
    """
    from doccluster.base.text_table import csv_text
    from doccluster.measures import evaluate
    from doccluster.measures.label_files import read_labels
    from doccluster.measures.scores import text_table

    if as_json + latex + as_csv > 1:
        raise click.UsageError("give one of --json, --latex and --csv")
    if truth is None and vectors is None:
        raise InputError("there is nothing to evaluate against", remedy="give --truth, --vectors, or both")
    with progress_shown(quiet=as_json or latex or as_csv) as progress:
        progress("read", 0)
        label_file = read_labels(labels, columns=[column] if column else [])
        clusters = next(iter(label_file.columns.values()))
        if any(isinstance(cluster, list) for cluster in clusters):
            raise InputError(f"{labels} has documents with several labels", remedy="each needs one cluster")
        # a run leaves documents without terms out of its clusters, and so does their evaluation
        keep = _rows_with_a_cluster(labels, clusters, has_ids=label_file.ids is not None)
        evaluation = evaluate(
            [clusters[row] for row in keep],
            truth=None if truth is None else _truth(label_file, truth, truth_column, label_separator, keep),
            vectors=None if vectors is None else _vectors(label_file, vectors, settings["metric"], keep),
            progress=progress,
            **settings,
        )
    if as_json:
        print_json(evaluation.to_dict())
    elif latex:
        write_out(evaluation.to_latex())
    elif as_csv:
        write_out(csv_text(evaluation.to_pandas()))
    else:
        for line in text_table(evaluation, **table_room()).splitlines():
            say(line)


def _rows_with_a_cluster(path: str, clusters: Sequence[str], *, has_ids: bool) -> list[int]:
    """Return the rows that have a cluster: a run leaves the cluster of a document without terms blank."""
    keep = [row for row, cluster in enumerate(clusters) if cluster]
    if len(keep) < len(clusters):
        if not has_ids:
            raise InputError(
                f"{path} has {len(clusters) - len(keep)} lines without a label", remedy="give each document one"
            )
        write_error(plain(f"{len(clusters) - len(keep):,} documents of {path} have no cluster and are skipped"))
    if not keep:
        raise InputError(f"no document of {path} has a label.")
    return keep


def _truth(
    label_file: Any, path: str, columns: tuple[str, ...], separator: str | None, keep: list[int]
) -> dict[str, object]:
    from doccluster.measures.label_files import read_labels, rows_of

    truth = read_labels(path, columns=columns, label_separator=separator)
    rows = rows_of(label_file, truth.ids, truth.n_documents, truth.path, may_lack=True)[keep]
    result: dict[str, object] = {}
    for name, cells in truth.columns.items():
        classes: list[object] = [cells[row] if row >= 0 else "" for row in rows]
        result[name] = classes if separator is None else [_cut(cell, separator) for cell in classes]
    return result


def _cut(cell: Any, separator: str) -> list[str]:
    if isinstance(cell, list):
        return cell
    return [part for part in (each.strip() for each in cell.split(separator)) if part]


def _vectors(label_file: Any, path: str, metric: str, keep: list[int]) -> Matrix:
    """Return the rows of a matrix file that belong to the labels; with a Euclidean metric, as they are in the file."""
    from pathlib import Path

    import numpy as np
    from scipy import sparse

    from doccluster.base.paths import usable_path
    from doccluster.measures.label_files import rows_of
    from doccluster.results.run_folder import load_run
    from doccluster.vectors import read_matrix
    from doccluster.vectors.matrix_files import load_matrix_file

    if usable_path(path).is_dir():
        vectors = load_run(path).vectors
        matrix = vectors.matrix
    else:
        vectors = read_matrix(path, weighting="none")[0]
        matrix = vectors.matrix if metric == "cosine" else load_matrix_file(Path(path)).matrix
    rows = rows_of(label_file, vectors.ids, vectors.n_documents, path)[np.array(keep)]
    return (sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix)[rows]


@click.command("measures", cls=Verb)
@click.option("--family", type=click.Choice(FAMILIES), help="Only measures of this family.")
@click.option("--source", metavar="TEXT", help="Only measures whose citation contains this text, for instance zaki.")
@json_option
def measures_command(family: Any, source: str | None, as_json: bool) -> None:
    """List the measures, their variants and their aliases."""
    from doccluster.measures import list_measures
    from doccluster.measures.registry import ARROWS

    records = list_measures(family=family, source=source)
    if as_json:
        print_json([_record(record) for record in records])
        return
    if not records:
        say("no measure matches")
        return
    print_table(
        [
            Column("measure", [record.name if record.is_counted else f"  {record.name}" for record in records], "left"),
            Column("", [ARROWS[record.direction] for record in records], "left"),
            Column("family", [record.family for record in records], "left", leaves=1),
            Column("cost", [record.cost for record in records], "left", leaves=3),
            Column("range", [record.range for record in records], "left", leaves=2),
            Column("source", [record.source for record in records], "left", fit="wrap"),
        ]
    )
    counted = sum(record.is_counted for record in records)
    say()
    say(f"{counted} measures; {len(records) - counted} variants and aliases of them (indented)")


def _record(record: Measure) -> dict[str, Any]:
    """Return a record as data; a variant or an alias says of what, so that what has neither can be counted."""
    fields = ("name", "title", "family", "source", "direction", "range", "cost", "formula", "meaning", "edges")
    result: dict[str, object] = {name: getattr(record, name) for name in fields}
    result["parts"] = list(record.parts)
    result["also_called"] = list(record.also_called)
    result["metrics"] = list(record.metrics)
    result["cost_by_metric"] = {metric: record.evidence_for(metric) for metric in record.metrics}
    result["parameters"] = record.options
    for kind in ("variant_of", "alias_of"):
        if getattr(record, kind) is not None:
            result[kind] = getattr(record, kind)
    return result


@click.command("explain", cls=Verb)
@click.argument("subject")
@click.argument("cluster", required=False)
@click.argument("second_cluster", required=False, metavar="[OTHER]")
@click.option(
    "--depth",
    type=Whole(min=1),
    metavar="N",
    help="Without a cluster: how many levels are listed, such as 1 for sections (default: down to the clusters).",
)
@json_option
def explain_command(
    subject: str, cluster: str | None, second_cluster: str | None, depth: int | None, as_json: bool
) -> None:
    """Explain a measure (SUBJECT is its name), or a cluster of a run (SUBJECT is the folder of the run).

    CLUSTER is a number, section:3 for one of another level, or the id of a document.

    Two clusters are compared: what they share, what separates them, and which documents lie between them.
    """
    from doccluster.base.paths import usable_path

    if usable_path(subject).is_dir():
        from doccluster.cli._run_summary import print_clusters
        from doccluster.pipeline.explaining import explain
        from doccluster.results.overview import overview
        from doccluster.results.run_folder import load_run

        with stage_shown("read", quiet=as_json):
            run = load_run(subject)
            explanation = explain(run, cluster, second_cluster, depth=depth)
        if as_json:
            print_json(explanation.content)
        elif cluster is None and len(run.levels) == 1:
            print_clusters(overview(run))
        else:
            for line in explanation.lines:
                say(line)
        return
    if cluster is not None:
        raise InputError(
            f"{subject} is not the folder of a run", remedy="give the folder and a cluster, or the name of a measure"
        )
    from doccluster.measures import get_measure

    record = get_measure(subject)
    if as_json:
        print_json(_record(record))
        return
    for line in _explanation(record):
        say(line)


def _explanation(record: Measure) -> list[str]:
    from doccluster.measures import list_measures

    better = {"higher": "higher is better", "lower": "lower is better", "none": "neither way is better"}
    kind = f"variant of {record.variant_of}" if record.variant_of else f"alias of {record.alias_of}"
    relatives = [each.name for each in list_measures() if record.name in (each.variant_of, each.alias_of)]
    kinds = {metric: kind for metric, kind in record.evidence_by_metric.items() if kind != record.cost}
    exceptions = "".join(f"; metric {metric}: {COST_IN_WORDS[kind]}" for metric, kind in kinds.items())
    rows = {
        "formula": record.formula,
        "source": record.source,
        "direction": better[record.direction],
        "range": record.range,
        "cost": COST_IN_WORDS[record.cost] + exceptions,
        "metrics": ", ".join(record.metrics),
        "means": record.meaning,
        "edges": record.edges,
        "parts": ", ".join(record.parts),
        "parameters": ", ".join(f"{name}={value!r}" for name, value in record.options.items()),
        "see also": ", ".join(relatives),
        "also called": ", ".join(record.also_called),
    }
    head = [f"{record.name}: {record.title}" + ("" if record.is_counted else f" ({kind})")]
    # rows of nothing, such as parts of a measure that has none, are left out
    return head + [line for name, text in rows.items() if text for line in _wrapped(name, plain(text))]


def _wrapped(name: str, text: str) -> list[str]:
    import textwrap

    lines = textwrap.wrap(text, width=min(88, table_room(indent=16)["width"])) or [""]
    return [f"  {name:<14}{lines[0]}", *(f"  {'':<14}{line}" for line in lines[1:])]


@click.command("cite", cls=Verb)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--text", "as_text", is_flag=True, help="Print one line for each work instead of BibTeX.")
def cite_command(names: tuple[str, ...], as_text: bool) -> None:
    """Print the references of measures and methods (spherical-k-means, vmf, bm25, gap, wilcoxon ...), or of everything.

    A DOI is printed where it is certain; --text says where none is known.
    """
    from doccluster.measures.bibliography import bibtex, cite, plain_text

    write_out((plain_text if as_text else bibtex)(cite(names)))


MAX_WIDE_GROUPS = 5  # that fit side by side at 80 columns
MAX_HEAD = 12  # characters of the name of a group at the head of its column
MAX_ROWS = 30  # of the cells that differ most, where there are more groups


def _only_column(_context: click.Context, _option: click.Parameter, columns: tuple[str, ...]) -> str:
    if len(columns) > 1:
        raise click.BadParameter(f"columns are not crossed; ask for {' and '.join(columns)} one after the other.")
    return columns[0]


@click.command("prevalence", cls=Verb)
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--by",
    required=True,
    multiple=True,
    callback=_only_column,
    metavar="NAME",
    help="A column of the documents, or year, month or day.",
)
@click.option("-o", "--output", metavar="FIGURE.svg", help="Draw the shares with their intervals too.")
@click.option("--words", type=Whole(min=0), metavar="CLUSTER", help="Show the words that set each group of it apart.")
@json_option
@click.option("--latex", is_flag=True, help="Print a LaTeX table.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a csv table.")
def prevalence_command(
    run: str, by: str, output: str | None, words: int | None, as_json: bool, latex: bool, as_csv: bool
) -> None:
    """Show the share of each cluster in each group of the documents of RUN, and where it is not chance.

    A star marks shares that differ from those of the other groups (p below 0.05 after Holm's correction).
    """
    from doccluster.base.text_table import csv_text
    from doccluster.results.run_folder import load_run

    if as_json + latex + as_csv > 1:
        raise click.UsageError("give one of --json, --latex and --csv")
    if words is not None and (latex or as_csv or output):
        raise click.UsageError("--words prints a table or --json; leave out --latex, --csv and --output.")
    # refused before the run is read, which may take long
    with stage_shown("read", quiet=as_json or latex or as_csv):
        loaded = load_run(run)
    if words is not None:
        _print_words(loaded.words_over_time(words, by), as_json=as_json)
        return
    result = loaded.prevalence(by)
    if output is not None:
        from doccluster.report.figures import prevalence_chart

        prevalence_chart(result).save(output)
    if as_json:
        print_json(
            {
                "by": by,
                "group_sizes": result.group_sizes,
                "notes": result.notes,
                "table": result.table.to_dict("records"),
            }
        )
    elif latex:
        write_out(result.to_latex())
    elif as_csv:
        write_out(csv_text(result.table))
    else:
        _print_prevalence(result)


def _print_words(words: dict[str, list[str]], *, as_json: bool) -> None:
    if as_json:
        print_json(words)
        return
    if not words:
        say("  No group has five documents of this cluster beside others of it.")
        return
    groups = Column("group", [plain(group) for group in words], "left")
    print_table([groups, Column("words", [plain(", ".join(terms)) for terms in words.values()], "left", fit="wrap")])


def _print_prevalence(result: Prevalence) -> None:
    table, groups = result.table, list(result.group_sizes)
    if len(groups) <= MAX_WIDE_GROUPS:
        # few groups stand side by side, a column each; many are a list of cells
        first = table[table["group"] == groups[0]]
        columns = [
            Column("cluster", [str(number) for number in first["cluster"]]),
            Column("label", [plain(label) for label in first["label"]], "left", fit="cut"),
        ]
        for group in groups:
            cells = table[table["group"] == group]
            shown = [
                f"{_percent(share)}{'*' if p < 0.05 else ' '}"
                for share, p in zip(cells["share"], cells["p_holm"], strict=True)
            ]
            columns.append(Column(shortened(plain(group), MAX_HEAD), shown))
    else:
        cells = table.sort_values(["p_holm", "p"], kind="stable").head(MAX_ROWS)
        intervals = zip(cells["low"], cells["high"], strict=True)
        columns = [
            Column("cluster", [str(number) for number in cells["cluster"]]),
            Column("label", [plain(label) for label in cells["label"]], "left", fit="cut"),
            Column(result.by, [plain(group) for group in cells["group"]], "left", fit="cut"),
            Column("share", [_percent(share) for share in cells["share"]]),
            Column("95 %", [f"{_percent(low)} to {_percent(high)}" for low, high in intervals]),
            Column("lift", [f"{lift:.1f}" for lift in cells["lift"]]),
            Column("p (Holm)", [f"{p:.3f}" for p in cells["p_holm"]]),
        ]
    print_table(columns)
    say()
    if len(groups) <= MAX_WIDE_GROUPS:
        sizes = ", ".join(f"{group} ({size:,})" for group, size in result.group_sizes.items())
        say_fact(plain(result.by), plain(sizes))
        say_fact("*", "differs from the others, p below 0.05 after Holm's correction")
    else:
        say(f"  The {len(cells)} cells that differ most, of {len(table):,}; --csv has all.")
    for note in result.notes:
        say(f"  {plain(note)}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
