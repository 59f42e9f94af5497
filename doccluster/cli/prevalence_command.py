"""`prevalence`: how common each cluster of a run is in each group of its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from doccluster.base.text_table import Column, shortened
from doccluster.cli._console import json_option, plain, print_json, print_table, say, say_fact
from doccluster.cli._output import write_out
from doccluster.cli._verb import Verb, Whole

if TYPE_CHECKING:
    from doccluster.results.prevalence import Prevalence

MAX_WIDE_GROUPS = 5  # that fit side by side at 80 columns
MAX_HEAD = 12  # characters of the name of a group at the head of its column
MAX_ROWS = 30  # of the cells that differ most, where there are more groups


@click.command("prevalence", cls=Verb)
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--by", required=True, metavar="NAME", help="A column of the documents, or year, month or day.")
@click.option("--words", type=Whole(min=0), metavar="CLUSTER", help="Show the words that set each group of it apart.")
@json_option
@click.option("--latex", is_flag=True, help="Print a LaTeX table.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a csv table.")
def prevalence_command(run: str, by: str, words: int | None, as_json: bool, latex: bool, as_csv: bool) -> None:
    """Show the share of each cluster in each group of the documents of RUN, and where it is not chance.

    A star marks shares that differ from those of the other groups (p below 0.05 after Holm's correction).
    """
    from doccluster.base.csv_files import csv_text
    from doccluster.results.run_folder import load_run

    if as_json + latex + as_csv > 1:
        raise click.UsageError("give one of --json, --latex and --csv")
    if words is not None and (latex or as_csv):
        raise click.UsageError("--words prints a table or --json; leave out --latex and --csv.")
    loaded = load_run(run)
    if words is not None:
        _print_words(loaded.words_over_time(words, by), as_json=as_json)
        return
    result = loaded.prevalence(by)
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
