"""`stream check`, `prune` and `backup`: what keeps a store sound, small and safe."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from doccluster.cli.console import json_option, overwrite_option, print_json, say, say_fact
from doccluster.cli.values import checked
from doccluster.cli.verb import Verb
from doccluster.errors import InputError
from doccluster.streams.settings import parse_duration

MOST_FINDINGS = 20
# what a check finds wrong that follows from the documents
MADE_BY_CLUSTERING = {"story", "lineage", "lead", "placed", "first-story", "family", "words", "terms"}

store_option = click.option(
    "--store", required=True, metavar="FILE", help="The SQLite file that keeps the articles and their stories."
)


@click.command("check", cls=Verb, short_help="Check that a store is sound.")
@store_option
@json_option
def check_command(store: str, as_json: bool) -> None:
    """Check that a store is sound: its file, tables and references, what is kept of texts, terms and settings, and its
    history, which has to lead to what it says today.

    Exit code 0 if it is, 1 if not.
    """
    from doccluster.streams.check import check_store
    from doccluster.streams.database import reading
    from doccluster.streams.schema import VERSION

    with reading(Path(store)) as connection:
        findings = check_store(connection)
    if as_json:
        told = {"store": store, "is_sound": not findings, "tables": VERSION}
        print_json({**told, "findings": list(map(asdict, findings))})
    else:
        for one in findings[:MOST_FINDINGS]:
            say(f"  {one.check:<11}{one.detail}")
        more = len(findings) - MOST_FINDINGS
        if more > 0:
            say(f"  ... and {more:,} more")
        advice = "not sound; put a copy that `doccluster stream backup` made in its place"
        if {one.check for one in findings} <= MADE_BY_CLUSTERING:
            advice += ", or make its stories anew with `doccluster stream rebuild --write`"
        say(f"  {store} is {advice if findings else 'sound'}")
    if findings:
        raise click.exceptions.Exit(1)


@click.command("upgrade", cls=Verb, short_help="Bring a store of an older version up to date.")
@store_option
@json_option
def upgrade_command(store: str, as_json: bool) -> None:
    """Bring the tables of a store that an older version wrote up to date; its articles and stories stay as they are.

    A copy of the store is made first, beside it. Until this is done, no other verb reads or writes the store; after it
    older versions of doccluster do not.
    """
    from doccluster.streams.upgrading import needs_of, upgrade

    path = Path(store)
    needs = needs_of(path)
    if needs and not as_json:
        say_fact("needs", needs)
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
    for one in done.gone:
        say_fact("gone", one)
    say(f"  {store}")


@click.command("rebuild", cls=Verb, short_help="Make the stories anew, by the rule of this version.")
@store_option
@click.option(
    "--write", is_flag=True, help="Write the new stories into the store; by default only say what would change."
)
@json_option
def rebuild_command(store: str, write: bool, as_json: bool) -> None:
    """Make the stories of a store anew of its documents, by the rule of this version.

    Says how many stories would grow, merge, split, appear and vanish, and which are the largest of them; `--write` does
    it. A story keeps its id where most
    of its documents stay, your corrections are made again, and the lineage becomes that of the new stories.
    """
    from doccluster.cli.diff_command import print_difference
    from doccluster.streams.database import changing, reading
    from doccluster.streams.diff import compare_sides, side_of
    from doccluster.streams.rebuilding import rebuilt

    opened = changing(Path(store)) if write else reading(Path(store))
    with opened as connection, rebuilt(connection) as (copy, lost):
        before, after = side_of(connection, "before"), side_of(copy, "after")
        found = compare_sides(before, after)
        n_moved = sum(after.cluster_of.get(document) != story for document, story in before.cluster_of.items())
        if write:
            copy.backup(connection)
    if as_json:
        told = {"store": store, "is_written": write, "n_moved": n_moved, "counts": found.counts(), "lost": lost}
        print_json({**told, "changes": [asdict(one) for one in found.changes if one.kind != "stayed"]})
        return
    print_difference(found, None)
    say(f"  moved      {n_moved:,} documents come into another story")
    for one in lost:
        say_fact("lost", one)
    say(f"  {store} {'is rebuilt' if write else 'is as it was; --write writes the new stories into it'}")


@click.command("prune", cls=Verb, short_help="Delete old texts, and make the store smaller.")
@store_option
@click.option(
    "--older-than",
    required=True,
    callback=checked(parse_duration),
    metavar="TIME",
    help="Delete texts older than this, by the store's clock (30d, 12w).",
)
@click.option("--keep", is_flag=True, help="Keep this age as the store's rule: polls prune by it once a day.")
@json_option
def prune_command(store: str, older_than: str, keep: bool, as_json: bool) -> None:
    """Delete the texts of old articles whose stories have ended, and what is known of old requests.

    Articles keep their titles and keys, so that they are known when they are met again, and every story keeps its id,
    its documents and its lineage. The file becomes as small as what is left (VACUUM).
    """
    from doccluster.base.sizes import format_size
    from doccluster.streams.database import changing
    from doccluster.streams.retention import keep_for, prune
    from doccluster.streams.store import last_batch

    with changing(Path(store)) as connection:
        last = last_batch(connection)
        if keep:
            keep_for(connection, parse_duration(older_than))
        done = prune(connection, (last[1] if last else 0) - parse_duration(older_than))
    if as_json:
        print_json({"store": store, **asdict(done)})
        return
    say(f"  deleted    {done.n_texts:,} texts, {done.n_versions:,} earlier versions, {done.n_fetches:,} requests")
    say(f"  {store}  {format_size(done.n_bytes_before)} -> {format_size(done.n_bytes_after)}")


@click.command("backup", cls=Verb, short_help="Copy a store, also while it is written to.")
@store_option
@click.option("-o", "--output", required=True, metavar="COPY.db", help="The file for the copy.")
@overwrite_option
@json_option
def backup_command(store: str, output: str, overwrite: bool, as_json: bool) -> None:
    """Copy a store as it is at this moment, also while `stream poll --follow` writes to it.

    The copy appears whole or not at all, and is a store like any other. A plain copy of the file may be half of one
    state and half of another.
    """
    from doccluster.base.new_folder import check_file, new_file
    from doccluster.base.sizes import format_size
    from doccluster.streams.database import back_up, reading

    check_file(Path(output), overwrite=overwrite)
    if Path(output).exists() and Path(store).exists() and Path(output).samefile(store):
        raise InputError(f"{output} is the store itself; choose another file for the copy.")
    with reading(Path(store)) as connection, new_file(Path(output)) as beside:
        back_up(connection, beside)
    n_bytes = Path(output).stat().st_size
    if as_json:
        print_json({"store": store, "copy": output, "n_bytes": n_bytes})
    else:
        say(f"  {output}  {format_size(n_bytes)}")
