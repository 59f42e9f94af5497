"""`stream`: articles that come in over time, and the stories they make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import json_option, options, overwrite_option, print_json, progress_shown, say
from doccluster.cli.source_options import reader_arguments, reader_options
from doccluster.cli.values import checked
from doccluster.cli.verb import Verb
from doccluster.streams.settings import parse_duration

if TYPE_CHECKING:
    from doccluster.streams.stream import Replayed

MOST_FINDINGS = 20

store_option = click.option(
    "--store", required=True, metavar="FILE", help="The SQLite file that keeps the articles and their stories."
)


@click.group("stream", short_help="Follow news: articles in, living stories out.")
def stream_command() -> None:
    """Follow news: put every article to a living story, keep each story's identity, and say what has changed."""


new_store_options = options(
    click.option(
        "--across-languages",
        is_flag=True,
        help="In a new store: let an article join a story of another language, by the names and numbers they share.",
    ),
)


@stream_command.command("replay", cls=Verb, short_help="Feed dated documents from files, in the order of their dates.")
@click.argument("sources", nargs=-1, required=True, metavar="FILE...")
@store_option
@click.option(
    "--batch",
    default="1h",
    show_default=True,
    callback=checked(parse_duration),
    metavar="TIME",
    help="The time between two polls: what is dated within one step comes in together (30m, 1h, 1d).",
)
@new_store_options
@reader_options
@json_option
def replay_command(
    sources: tuple[str, ...], store: str, batch: str, across_languages: bool, as_json: bool, **given: Any
) -> None:
    """Feed dated documents from files (JSON lines, csv, feeds, any reader) as if they had come in at their dates.

    What is in the store already is not counted again, so a replay that was interrupted can be repeated. A document
    whose date is missing or cannot be (before 1990, or in the future) takes that of the document before it.
    """
    from doccluster.streams import StoryStream, StreamSettings

    settings = StreamSettings(across_languages=True) if across_languages else None
    with progress_shown(quiet=as_json) as progress, StoryStream(store, settings=settings) as stream:
        done = stream.replay(
            [Path(source) for source in sources],
            batch=parse_duration(batch),
            progress=progress,
            **reader_arguments(given),
        )
    if as_json:
        print_json({"store": store, **_as_dict(done)})
    else:
        _print_replayed(done, store)


def _as_dict(done: Replayed) -> dict[str, Any]:
    return {
        "n_articles": done.n_articles,
        "n_new": done.n_new,
        "n_edited": done.n_edited,
        "n_batches": done.n_batches,
        "events": dict(done.events),
        "skipped": [{"source": one.source, "reason": one.reason, "detail": one.detail} for one in done.skipped],
    }


def _print_replayed(done: Replayed, store: str) -> None:
    say(f"  read       {done.n_articles:,} articles, {done.n_new:,} new, {done.n_edited:,} edited")
    left_out = sum(not one.is_renamed for one in done.skipped)
    if left_out:
        say(f"  skipped    {left_out:,}; `doccluster inspect` says why")
    say(f"  cluster    {done.n_batches:,} batches")
    told = ", ".join(f"{count:,} {event}" for event, count in done.events.items())
    say(f"  stories    {told or 'nothing has changed'}")
    say(f"  {store}")


@stream_command.command("export", cls=Verb, short_help="Write documents, stories and lineage as csv files.")
@store_option
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder for the three csv files.")
@click.option(
    "--at", metavar="TIME", help="As it was at this moment, such as 2026-03-02T08:00:00Z. Left out, as it is."
)
@overwrite_option
@json_option
def export_command(store: str, output: str, at: str | None, overwrite: bool, as_json: bool) -> None:
    """Write what the store knows as csv files: documents.csv, stories.csv and lineage.csv.

    With --json the tables are printed too. The same articles replayed into an empty store give the same bytes.
    """
    from doccluster.streams.database import reading
    from doccluster.streams.export import check_export, write_export
    from doccluster.streams.tables import read_tables

    check_export(Path(output), overwrite=overwrite)
    with reading(Path(store)) as connection:
        tables = read_tables(connection, at=at)
    written = write_export(tables, Path(output), overwrite=overwrite)
    if as_json:
        parts = {"documents": tables.documents, "stories": tables.stories, "lineage": tables.lineage}
        print_json({"files": written, **{name: _rows(table) for name, table in parts.items()}})
        return
    states = list(tables.stories["state"])
    say(f"  documents  {len(tables.documents['id']):,}")
    say(f"  stories    {len(states):,} ({states.count('open'):,} open, {states.count('closed'):,} closed)")
    say(f"  {'  '.join(map(str, written))}")


def _rows(table: Any) -> list[dict[str, Any]]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


@stream_command.command("report", cls=Verb, short_help="Write the front page.")
@store_option
@click.option(
    "-o", "--output", required=True, metavar="PAGE.html", help="The page to write; an earlier one is replaced."
)
@click.option(
    "--since",
    metavar="WHEN",
    help="What came in after this moment or batch (a number) is new. By default, a day before the last batch.",
)
@json_option
def report_command(store: str, output: str, since: str | None, as_json: bool) -> None:
    """Write the front page: open stories by weight and outlets, what is new and grown, and what has ended.

    It is one file without scripts, and loads nothing from the network.
    """
    from doccluster.artifacts.new_folder import check_file, new_file
    from doccluster.report.front_page import render_front_page
    from doccluster.streams.database import reading
    from doccluster.streams.front_page import front_page

    check_file(Path(output), overwrite=True)
    with reading(Path(store)) as connection:
        page = front_page(connection, since=since)
    with new_file(Path(output)) as beside:
        beside.write_text(render_front_page(page), encoding="utf-8", newline="\n")
    if as_json:
        print_json({"report": output, "n_open": len(page.stories) + page.n_more, "facts": dict(page.facts)})
    else:
        say(f"  {output}")


@stream_command.command("check", cls=Verb, short_help="Check that a store is sound.")
@store_option
@json_option
def check_command(store: str, as_json: bool) -> None:
    """Check that a store is sound: its file, its references, and that its history leads to what it says today.

    Exit code 0 if it is, 1 if not.
    """
    from doccluster.streams.check import check_store
    from doccluster.streams.database import reading

    with reading(Path(store)) as connection:
        findings = check_store(connection)
    if as_json:
        found = [{"check": one.check, "detail": one.detail} for one in findings]
        print_json({"store": store, "is_sound": not findings, "findings": found})
    else:
        for one in findings[:MOST_FINDINGS]:
            say(f"  {one.check:<11}{one.detail}")
        more = len(findings) - MOST_FINDINGS
        say(f"  ... and {more:,} more" if more > 0 else f"  {store} is {'not ' if findings else ''}sound")
    if findings:
        raise click.exceptions.Exit(1)
