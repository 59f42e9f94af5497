"""`stream check`, `upgrade`, `rebuild`, `prune` and `backup`: what keeps a store sound, small and safe."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from doccluster.base.paths import check_file, new_file
from doccluster.base.plain_values import format_size
from doccluster.cli._console import overwrite_option, print_json, say, say_fact
from doccluster.cli._verb import checked
from doccluster.cli.store_verb import store_verb
from doccluster.errors import InputError
from doccluster.streams.settings import parse_duration
from doccluster.streams.store.database import back_up, changing, reading

MOST_FINDINGS = 20
# what a check finds wrong that follows from the documents
MADE_BY_CLUSTERING = {"placed", "family", "lead", "lineage", "memory"}


@store_verb("check", "Check that a store is sound.")
def check_command(store: str, as_json: bool) -> None:
    """Check that a store is sound: its file, tables and references, what is kept of texts, terms and settings, and its
    history, which has to lead to what it says today.

    Exit code 0 if it is, 1 if not.
    """
    from doccluster.streams.store.check import check_store
    from doccluster.streams.store.schema import VERSION

    with reading(Path(store)) as connection:
        findings = check_store(connection)
    if as_json:
        print_json({"store": store, "is_sound": not findings, "tables": VERSION, "findings": [*map(asdict, findings)]})
    else:
        for finding in findings[:MOST_FINDINGS]:
            say(f"  {finding.check:<11}{finding.detail}")
        if len(findings) > MOST_FINDINGS:
            say(f"  ... and {len(findings) - MOST_FINDINGS:,} more")
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
    from doccluster.streams.store.upgrading import needs_of, upgrade

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
    from doccluster.cli.diff_command import print_difference
    from doccluster.streams.store.diff import compare_sides, side_of
    from doccluster.streams.store.rebuilding import rebuilt

    opened = changing(Path(store)) if write else reading(Path(store))
    with opened as connection, rebuilt(connection) as (copy, lost):
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
    from doccluster.streams.store.retention import keep_for, prune

    with changing(Path(store)) as connection:
        seconds = parse_duration(older_than)
        if keep:
            keep_for(connection, seconds)
        done = prune(connection, last_batch(connection)[1] - seconds)
    if as_json:
        print_json({"store": store, **asdict(done)})
        return
    say(f"  deleted    {done.n_texts:,} texts, {done.n_versions:,} earlier versions, {done.n_fetches:,} requests")
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
    with reading(Path(store)) as connection, new_file(Path(output)) as beside:
        back_up(connection, beside)
    n_bytes = Path(output).stat().st_size
    if as_json:
        print_json({"store": store, "copy": output, "n_bytes": n_bytes})
    else:
        say(f"  {output}  {format_size(n_bytes)}")


COMMANDS = (check_command, upgrade_command, rebuild_command, prune_command, backup_command)
