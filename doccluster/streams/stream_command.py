"""`stream`: articles that come in over time, the stories they make, and what keeps a store sound, small and safe."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.paths import check_file, new_file
from doccluster.base.plain_values import format_size
from doccluster.cli.console import (
    overwrite_option,
    print_json,
    print_json_lists,
    progress_shown,
    say,
    say_fact,
    stage_shown,
)
from doccluster.cli.output import write_out
from doccluster.cli.source_options import reader_options, take_reader
from doccluster.cli.verb import checked, store_verb, write_whole
from doccluster.errors import DocclusterWarning, InputError
from doccluster.streams import story_verbs
from doccluster.streams.polling.addresses import parse_networks
from doccluster.streams.settings import DAY, parse_duration
from doccluster.streams.store.access import back_up, changing, check_store, reading
from doccluster.streams.store.tables import changes, check_export, records, write_export

if TYPE_CHECKING:
    from doccluster.streams.article import Replayed
    from doccluster.streams.polling.poller import Polled

MAX_FAILURES = 20
MAX_FINDINGS = 20
NOT_REACHED = ("unknown-host", "unreachable")
PROXIES = ("http_proxy", "https_proxy", "all_proxy")  # in the environment, in any case
# what a check finds wrong that follows from the documents
MADE_BY_CLUSTERING = {"placed", "family", "lead", "lineage", "memory"}
MAX_TOLD = 60.0  # seconds that a program may take for one event


@click.group("stream", short_help="Follow news: articles in, living stories out.")
def stream_command() -> None:
    """Follow news: add every article to a story, keep each story's identity, and say what has changed."""


def _command(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return a command line, or stop before any work if it is none."""
    try:
        if value is not None and not shlex.split(value):
            raise click.BadParameter(f"{value!r} names no program; give one, with its arguments.")
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a command ({error}); close its quotes.") from error
    return value


@store_verb("poll", "Poll the feeds of a list, and place new articles.")
@click.argument("feeds", nargs=-1, required=True, metavar="LIST...")
@click.option("--follow", is_flag=True, help="Keep polling, each feed when it is due, until interrupted.")
@click.option(
    "--force",
    is_flag=True,
    help="Poll feeds that are not due too, unless polled in the last minute; with --follow, in its first pass.",
)
@click.option(
    "--allow-network",
    multiple=True,
    callback=checked(lambda one: parse_networks([one])),
    metavar="CIDR",
    help="Allow a private range of addresses, such as 10.0.0.0/8.",
)
@click.option(
    "--spacing",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="The least time between two requests to one host.",
)
@click.option(
    "--on-event",
    callback=_command,
    metavar="COMMAND",
    help="A program to begin for each thing that happens to a story, with a line of JSON on its standard input.",
)
def poll_command(
    feeds: tuple[str, ...],
    store: str,
    follow: bool,
    force: bool,
    allow_network: tuple[str, ...],
    spacing: float,
    on_event: str | None,
    as_json: bool,
) -> None:
    """Poll the feeds of a list that are due, keep every new article, and add it to a story.

    LIST is an OPML file, a text file with an address a line, or addresses. One call is one pass, fit for cron. Only
    the addresses in the list, and where they redirect to, are contacted; private, loopback and link-local ones are not.

    --on-event tells another program that a story was born, grew, merged, split or closed. It is not run by a shell;
    what it prints does not matter. An event whose command fails is sent again by the next poll.
    """
    from doccluster.streams import StoryStream
    from doccluster.streams.polling.poller import PollOptions

    options = PollOptions(spacing=spacing)
    with progress_shown(quiet=as_json) as progress, StoryStream(store) as stream:
        given: dict[str, Any] = {"allow_network": allow_network, "options": options, "progress": progress}
        if on_event:
            stream.expect_events()
        passes = stream.follow(feeds, force=force, **given) if follow else [stream.poll(feeds, force=force, **given)]
        for done in passes:
            _print_polled(done, store, as_json=as_json)
            failed = stream.tell_events(partial(_told, shlex.split(on_event))) if on_event else ""
            if failed:
                told = f"the command of --on-event: {failed}; what it did not take is sent again by the next poll"
                warnings.warn(DocclusterWarning(told), stacklevel=2)
            if on_event and follow:
                stream.expect_events()


def _told(command: list[str], event: Mapping[str, object]) -> str:
    """Begin a program for something that has happened to a story; return why it did not take it."""
    line = json.dumps(event, ensure_ascii=False) + "\n"
    try:
        done = subprocess.run(command, input=line.encode(), stdout=subprocess.DEVNULL, timeout=MAX_TOLD, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return str(error)
    return f"ended with {done.returncode}" if done.returncode else ""


def _print_polled(done: Polled, store: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"store": store, **asdict(done)})
        return
    asked = f"{done.n_due:,} of {done.n_feeds:,} feeds polled, {done.n_unchanged:,} unchanged, {done.n_failed:,} failed"
    say(f"  poll       {asked}")
    say(f"  entries    {done.n_entries:,}, {done.n_new:,} new, {done.n_edited:,} edited")
    for word, troubles in (("skipped", done.skipped), ("failed", done.failures)):
        for url, reason, detail in troubles[:MAX_FAILURES]:
            say(f"  {word:<11}{url}: {reason}{f' ({detail})' if detail else ''}")
        if len(troubles) > MAX_FAILURES:
            say(f"  {word:<11}{len(troubles) - MAX_FAILURES:,} more; --json names them all")
    proxies = [name for name in os.environ if name.lower() in PROXIES and os.environ[name]]
    if proxies and any(reason in NOT_REACHED for _, reason, _ in done.failures):
        say_fact("proxy", f"{' and '.join(proxies)} names one, which poll does not use: it connects to feeds itself")
    if done.ahead > 0:
        say(f"  clock      this machine's is {_days(done.ahead)} ahead of the feeds and the store; they were believed")
    elif done.ahead:
        say(f"  clock      this machine's is {_days(-done.ahead)} behind the store, whose own goes on; set it right")
    told = ", ".join(f"{count:,} {event}" for event, count in done.events.items())
    say(f"  stories    {told or 'nothing has changed'}")
    say(f"  {store}")


def _days(seconds: int) -> str:
    return f"{seconds // DAY:,} day{'s' * (seconds >= 2 * DAY)}"


@store_verb("replay", "Feed dated documents from files, in the order of their dates.", gathers={"reader": take_reader})
@click.argument("sources", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--batch",
    default="1h",
    show_default=True,
    callback=checked(parse_duration),
    metavar="TIME",
    help="The time between two polls: what is dated within one step comes in together (30m, 1h, 1d).",
)
@reader_options
def replay_command(
    sources: tuple[str, ...],
    store: str,
    batch: str,
    reader: dict[str, Any],
    as_json: bool,
) -> None:
    """Feed dated documents from files (JSON lines, csv, feeds, any reader) as if they had come in at their dates.

    What is in the store already is not counted again, so a replay that was interrupted can be repeated. A document
    whose date is missing or cannot be (before 1990, or in the future) takes that of the document before it.

    If some are a day or more older than what the store held, its stories are built again at the end in the order of
    dates; they keep their ids where most documents stay, and your corrections are made again.
    """
    from doccluster.streams import StoryStream

    with progress_shown(quiet=as_json) as progress, StoryStream(store) as stream:
        done = stream.replay(
            [Path(source) for source in sources],
            batch=parse_duration(batch),
            progress=progress,
            **reader,
        )
    if as_json:
        skipped = [{"source": one.source, "reason": one.reason, "detail": one.detail} for one in done.skipped]
        print_json({"store": store, **vars(done), "skipped": skipped})
    else:
        _print_replayed(done, store)


def _print_replayed(done: Replayed, store: str) -> None:
    say(f"  read       {done.n_articles:,} articles, {done.n_new:,} new, {done.n_edited:,} edited")
    left_out = sum(not one.is_renamed for one in done.skipped)
    if left_out:
        say(f"  skipped    {left_out:,}; `doccluster inspect` says why")
    say(f"  cluster    {done.n_batches:,} batches")
    if done.ahead:
        say_fact("clock", f"{_days(done.ahead)} behind the newest articles; it follows as more come after them")
    if done.n_late:
        is_one = done.n_late == 1
        older = f"{done.n_late:,} article{' is' if is_one else 's are'} older than the store's last"
        say_fact("late", f"{older}; stories were built again in order of dates: {done.n_changed or 0:,} changed")
    for one in done.lost:
        say_fact("lost", one)
    told = ", ".join(f"{count:,} {event}" for event, count in done.events.items())
    say(f"  stories    {told or 'nothing has changed'}")
    say(f"  {store}")


@store_verb("export", "Write documents, stories and lineage as csv files.")
@click.option("-o", "--output", metavar="DIR", help="The folder for the three csv files.")
@click.option(
    "--since",
    metavar="WHEN",
    help="Instead print, as JSON lines, what has changed after this batch (a number) or moment.",
)
@click.option("--at", metavar="TIME", help="The store at this moment, such as 2026-03-02T08:00:00Z; now by default.")
@overwrite_option
def export_command(
    store: str, output: str | None, since: str | None, at: str | None, overwrite: bool, as_json: bool
) -> None:
    """Write what the store knows as csv files: documents.csv, stories.csv and lineage.csv.

    With --json the tables are printed too. The same articles replayed into an empty store give the same bytes. With
    --since, for programs that follow a store, each line is a row that is new or has changed; the first one names the
    batch to ask from the next time.
    """

    if (output is None) == (since is None):
        raise click.UsageError("give --output for all of the store, or --since for what has changed.")
    if since is not None:
        with reading(Path(store)) as connection:
            for row in changes(connection, since):
                write_out(json.dumps(row, ensure_ascii=False) + "\n")
        return
    assert output is not None
    check_export(Path(output), overwrite=overwrite)
    with reading(Path(store)) as connection:
        done = write_export(connection, Path(output), at=at, overwrite=overwrite)
        if as_json:
            print_json_lists({"files": done.files}, records(connection, at=at))
            return
    say(f"  documents  {done.n_documents:,}")
    say(f"  stories    {done.states.total():,} ({done.states['open']:,} open, {done.states['closed']:,} closed)")
    say(f"  {'  '.join(map(str, done.files))}")


@store_verb("report", "Write the front page.")
@click.option(
    "-o", "--output", required=True, metavar="PAGE.html", help="The page to write; an earlier one is replaced."
)
@click.option(
    "--since",
    metavar="WHEN",
    help="What came in after this moment or batch (a number) is new. By default, a day before the last batch.",
)
def report_command(store: str, output: str, since: str | None, as_json: bool) -> None:
    """Write the front page: open stories by weight and outlets, what is new and grown, and what has ended.

    It is one file that can be read without its script, and loads nothing from the network.
    """
    from doccluster.report.page import render_front_page
    from doccluster.streams.page.front_page import front_page

    check_file(Path(output), overwrite=True)
    with stage_shown("report", quiet=as_json), reading(Path(store)) as connection:
        page = front_page(connection, since=since, name=store)
        rendered = render_front_page(page)
    write_whole(Path(output), rendered)
    if as_json:
        print_json({"report": output, "n_open": page.n_open, "facts": dict(page.facts)})
    else:
        say(f"  {output}")


@store_verb("check", "Check that a store is sound.")
def check_command(store: str, as_json: bool) -> None:
    """Check that a store is sound: its file, tables and references, what is kept of texts, terms and settings, and its
    history, which has to lead to what it says today.

    Exit code 0 if it is, 1 if not.
    """
    from doccluster.streams.store.database import VERSION

    with stage_shown("check", quiet=as_json), reading(Path(store)) as connection:
        findings = check_store(connection)
    if as_json:
        print_json({"store": store, "is_sound": not findings, "tables": VERSION, "findings": [*map(asdict, findings)]})
    else:
        for finding in findings[:MAX_FINDINGS]:
            say(f"  {finding.check:<11}{finding.detail}")
        if len(findings) > MAX_FINDINGS:
            say(f"  ... and {len(findings) - MAX_FINDINGS:,} more")
        advice = "not sound; put a copy that `doccluster stream backup` made in its place"
        if {finding.check for finding in findings} <= MADE_BY_CLUSTERING:
            advice += ", or make its stories anew with `doccluster stream rebuild --write`"
        say(f"  {store} is {advice if findings else 'sound'}")
    if findings:
        raise click.exceptions.Exit(1)


@store_verb("upgrade", "Bring a store of an older version up to date.")
def upgrade_command(store: str, as_json: bool) -> None:
    """Bring the tables of a store that an older version wrote up to date; its articles and stories stay as they are.

    A copy of the store is made first, beside it. Until this is done, no other verb reads or writes the store; after it
    older versions of doccluster do not.
    """
    from doccluster.streams.store.upkeep import needs_of, upgrade

    path = Path(store)
    needs = needs_of(path)
    if needs and not as_json:
        say_fact("needs", needs)
    with stage_shown("upgrade", quiet=as_json):
        done = upgrade(path)
    if as_json:
        print_json({"store": store, **asdict(done)})
        return
    say_fact("tables", f"{done.before} -> {done.after}" if done.backup else f"{done.after}, as they were")
    if done.backup:
        say_fact("backup", f"{done.backup}, the store as it was")
        say_fact(
            "stories", f"of {done.n_articles:,} articles stay as they are; {done.n_read:,} articles were read again"
        )
    for sentence in done.gone:
        say_fact("gone", sentence)
    say(f"  {store}")


@store_verb("rebuild", "Make the stories anew, by the rule of this version.")
@click.option(
    "--write", is_flag=True, help="Write the new stories into the store; by default only say what would change."
)
def rebuild_command(store: str, write: bool, as_json: bool) -> None:
    """Make the stories of a store anew of its documents, by the rule of this version.

    Says how many stories would grow, merge, split, appear and vanish, and which are the largest of them; `--write` does
    it. A story keeps its id where most
    of its documents stay, your corrections are made again, and the lineage becomes that of the new stories.
    """
    from doccluster.streams.diff_command import print_difference
    from doccluster.streams.store.diff import compare_sides, side_of
    from doccluster.streams.store.upkeep import rebuilt

    opened = changing(Path(store)) if write else reading(Path(store))
    with stage_shown("rebuild", quiet=as_json), opened as connection, rebuilt(connection) as (copy, lost):
        before, after = side_of(connection, "before"), side_of(copy, "after")
        difference = compare_sides(before, after)
        n_moved = sum(after.cluster_of.get(document) != story for document, story in before.cluster_of.items())
        if write:
            copy.backup(connection)
    if as_json:
        changes = [asdict(change) for change in difference.changes if change.kind != "stayed"]
        print_json({"store": store, "is_written": write, "n_moved": n_moved, "counts": difference.counts(),
                    "lost": lost, "changes": changes})  # fmt: skip
        return
    print_difference(difference, None)
    say(f"  moved      {n_moved:,} documents come into another story")
    for sentence in lost:
        say_fact("lost", sentence)
    say(f"  {store} {'is rebuilt' if write else 'is as it was; --write writes the new stories into it'}")


@store_verb("prune", "Delete old texts, and make the store smaller.")
@click.option(
    "--older-than",
    required=True,
    callback=checked(parse_duration),
    metavar="TIME",
    help="Delete texts older than this, by the store's clock (30d, 12w).",
)
@click.option("--keep", is_flag=True, help="Keep this age as the store's rule: polls prune by it once a day.")
def prune_command(store: str, older_than: str, keep: bool, as_json: bool) -> None:
    """Delete the texts of old articles whose stories have ended, and what is known of old requests.

    Articles keep their titles and keys, so that they are known when they are met again, and every story keeps its id,
    its documents and its lineage. The file becomes as small as what is left (VACUUM).
    """
    from doccluster.streams.store.batches import last_batch
    from doccluster.streams.store.upkeep import keep_for, prune

    with stage_shown("prune", quiet=as_json), changing(Path(store)) as connection:
        seconds = parse_duration(older_than)
        if keep:
            keep_for(connection, seconds)
        done = prune(connection, last_batch(connection)[1] - seconds)
    if as_json:
        print_json({"store": store, **asdict(done)})
        return
    say(f"  deleted    {done.n_texts:,} texts, {done.n_versions:,} earlier versions, {done.n_fetches:,} requests")
    if keep:
        say(f"  from now   polls delete what is older than {older_than}, once a day")
    say(f"  {store}  {format_size(done.n_bytes_before)} -> {format_size(done.n_bytes_after)}")


@store_verb("backup", "Copy a store, also while it is written to.")
@click.option("-o", "--output", required=True, metavar="COPY.db", help="The file for the copy.")
@overwrite_option
def backup_command(store: str, output: str, overwrite: bool, as_json: bool) -> None:
    """Copy a store as it is at this moment, also while `stream poll --follow` writes to it.

    The copy appears whole or not at all, and is a store like any other. A plain copy of the file may be half of one
    state and half of another.
    """

    check_file(Path(output), overwrite=overwrite)
    if Path(output).exists() and Path(store).exists() and Path(output).samefile(store):
        raise InputError(f"{output} is the store itself; choose another file for the copy.")
    with stage_shown("copy", quiet=as_json), reading(Path(store)) as connection, new_file(Path(output)) as beside:
        back_up(connection, beside)
    n_bytes = Path(output).stat().st_size
    if as_json:
        print_json({"store": store, "copy": output, "n_bytes": n_bytes})
    else:
        say(f"  {output}  {format_size(n_bytes)}")


# a stream takes texts as they are
replay_command.params = [option for option in replay_command.params if option.name != "keep_boilerplate"]
for command in (
    *(poll_command, replay_command, export_command, report_command),
    *story_verbs.COMMANDS,
    *(check_command, upgrade_command, rebuild_command, prune_command, backup_command),
):
    stream_command.add_command(command)
