"""`diff`: what happened to clusters between two stores, moments or runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doccluster.cli.console import json_option, print_json, say, say_fact, stage_shown
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.streams.store.diff import Difference

SHOWN = 50
SHOWN_OF_KIND = 5  # where there are more in all
MAX_IDS = 4
SHOWN_MOVES = 5
WIDTH = 70
NAMES = {"appeared": "new", "vanished": "gone"}


@click.command("diff", cls=Verb)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "--survive",
    type=float,
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="A cluster survives if it keeps at least this share of its documents.",
)
@click.option(
    "--part",
    type=float,
    default=0.25,
    show_default=True,
    metavar="SHARE",
    help="A split has parts of at least this share, or smaller ones that consist of it.",
)
@click.option(
    "-o", "--output", metavar="PAGE.html", help="Write the changes as a page too; an earlier one is replaced."
)
@json_option
def diff_command(before: str, after: str, survive: float, part: float, output: str | None, as_json: bool) -> None:
    """Say which clusters stayed, grew, shrank, merged, split, appeared and vanished from A to B.

    A and B are stores of `stream` (news.db, or news.db@2026-03-02T08:00:00Z for an earlier moment) or folders of runs.
    Documents of two stores are matched by their keys, of others by their ids. Those that moved are in a cluster that
    is no part or heir of their own; measures of agreement take A as classes and B as clusters.

    Exit code 0 if both are the same, 1 if they differ.
    """
    from doccluster.base.paths import check_file, new_file
    from doccluster.report.page import render_changes
    from doccluster.streams.store.diff import diff

    if output is not None:
        check_file(Path(output), overwrite=True)
    with stage_shown("compare", quiet=as_json):
        difference = diff(before, after, survive=survive, part=part)
    if output is not None:
        with new_file(Path(output)) as beside:
            beside.write_text(render_changes(difference), encoding="utf-8", newline="\n")
    if as_json:
        print_json({"is_same": difference.is_same, "counts": difference.counts(), **asdict(difference)})
    else:
        print_difference(difference, output)
    if not difference.is_same:
        raise click.exceptions.Exit(1)


def print_difference(difference: Difference, output: str | None) -> None:
    """Print what has changed, and where the page of it is."""
    say(f"  documents  {difference.n_before:,} before, {difference.n_after:,} after, {difference.n_common:,} in both")
    counts = ", ".join(f"{count:,} {kind}" for kind, count in difference.counts().items() if count)
    say(f"  clusters   {counts or 'none'}")
    if difference.edited:
        say(f"  edited     {len(difference.edited):,} documents")
    # of many changes a few of each kind are shown, those with the most documents
    told_of = [change for change in difference.changes if change.kind != "stayed"]
    for kind, changes in groupby(told_of, key=attrgetter("kind")):
        of_kind = list(changes)
        n_shown = len(of_kind) if len(told_of) <= SHOWN else SHOWN_OF_KIND
        for change in of_kind[:n_shown]:
            label = change.label_after or change.label_before
            sizes = [f"{n:,}" for n in (change.n_before, change.n_after) if n]
            names = [_joined(side) for side in (change.before, change.after) if side]
            size = f"{' -> '.join(sizes)} document{'' if sizes == ['1'] else 's'}"
            where = f"cluster {' -> '.join(names)}"
            say(f"  {NAMES.get(kind, kind):<9} {size:>23}  {where}, {label[:WIDTH]}")
        if len(of_kind) > n_shown:
            say(
                f"  {NAMES.get(kind, kind):<9} {len(of_kind) - n_shown:>13,}  more with fewer documents; --json has all"
            )
    if difference.moved and difference.agreement:
        moves = [f"{move.document} (A {move.before} -> B {move.after})" for move in difference.moved[:SHOWN_MOVES]]
        more = "; --json has all" if len(difference.moved) > len(moves) else ""
        say_fact("moved", f"{len(difference.moved):,} documents to other clusters: {', '.join(moves)}{more}")
    if difference.agreement:
        values = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in difference.agreement.items())
        say_fact("agreement", values)
    if output is not None:
        say(f"  {output}")


def _joined(names: Sequence[str]) -> str:
    n_more = len(names) - MAX_IDS
    return "+".join(names) if n_more <= 1 else f"{'+'.join(names[:MAX_IDS])} and {n_more:,} more"
