"""`stream list`, `show` and `find`: the stories of a store on the terminal, or as JSON for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from doccluster.cli.console import json_option, print_json, say
from doccluster.cli.store_upkeep import store_option
from doccluster.cli.verb import Verb
from doccluster.errors import InputError

WIDTH = 70


@click.command("list", cls=Verb, short_help="List the stories, those that grew last first.")
@store_option
@click.option("--all", "with_ended", is_flag=True, help="Also those that have ended, or become part of another.")
@json_option
def list_command(store: str, with_ended: bool, as_json: bool) -> None:
    """List the open stories by id, those that grew last first."""
    stories, _, _ = _tables(store)
    _print([one for one in stories if with_ended or one["state"] == "open"], as_json)


@click.command("find", cls=Verb, short_help="Find stories by words.")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@store_option
@json_option
def find_command(words: tuple[str, ...], store: str, as_json: bool) -> None:
    """Find the stories, open and ended, that have a document with all the words in its title, or in their name."""
    from doccluster.streams.feed_out import has_words

    stories, documents, _ = _tables(store)
    titles: dict[str, list[str]] = {}
    for one in documents:
        titles.setdefault(one["story"], []).append(one["title"])
    found = [one for one in stories if has_words(words, one["label"], titles.get(one["id"], []))]
    _print(found, as_json)


@click.command("show", cls=Verb, short_help="Show a story: its documents, and what has become of it.")
@click.argument("story", metavar="STORY")
@store_option
@json_option
def show_command(story: str, store: str, as_json: bool) -> None:
    """Show a story: its documents with their ids, and what has happened to it."""
    stories, documents, lineage = _tables(store)
    row = next((one for one in stories if one["id"] == story), None)
    if row is None:
        raise InputError(f"there is no story {story!r}; `doccluster stream list` shows those that there are.")
    own = [one for one in documents if one["story"] == story]
    events = [one for one in lineage if story in (one["story"], one["other"]) and one["event"] != "moved"]
    if as_json:
        print_json({**row, "documents": own, "lineage": events})
        return
    say(f"  {row['state']:<8}{row['born']} to {row['last']}  {row['label']}")
    for one in own:
        say(f"  {one['date']}  {one['source']:<24.24}  {one['title'][:WIDTH]}")
        say(f"      {one['id']}")
    for one in events:
        if one["event"] not in ("born", "grew"):
            say(f"  {one['when']}  {one['event']:<8}  {one['story']} {one['other']}")


def _tables(store: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of stories, those that grew last first, of documents and of the lineage."""
    from doccluster.streams.database import reading
    from doccluster.streams.export import records

    with reading(Path(store)) as connection:
        rows = {name: list(own) for name, own in records(connection).items()}
    stories = sorted(rows["stories"], key=lambda one: (str(one["last"]), str(one["id"])), reverse=True)
    return stories, rows["documents"], rows["lineage"]


def _print(stories: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"stories": stories})
        return
    for one in stories:
        said = f"{one['documents']:>5,}  {one['last']}  {one['label'][:WIDTH]}"
        say(f"  {one['id']}  {said}{'' if one['state'] == 'open' else ', ' + one['state']}")
    if not stories:
        say("  no story")


@click.command("feed", cls=Verb, short_help="Write the stories as a feed for readers: Atom or JSON Feed.")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@store_option
@click.option("-o", "--output", required=True, metavar="FILE", help="The feed; a JSON Feed if the name ends in .json.")
@click.option("--name", default="Stories", show_default=True, metavar="NAME", help="What the feed is called.")
@json_option
def feed_command(words: tuple[str, ...], store: str, output: str, name: str, as_json: bool) -> None:
    """Write the stories that grew last as a feed, or of these the ones that `stream find WORD...` finds.

    A story is one entry, under its own id for good; readers see it again when it has grown.
    """
    from doccluster.artifacts.new_folder import check_file, new_file
    from doccluster.streams.database import reading
    from doccluster.streams.feed_out import feed_of

    check_file(Path(output), overwrite=True)
    with reading(Path(store)) as connection:
        written = feed_of(connection, words, name=name, is_json=output.endswith(".json"))
    with new_file(Path(output)) as beside:
        beside.write_text(written, encoding="utf-8", newline="\n")
    if as_json:
        print_json({"feed": output})
    else:
        say(f"  {output}")


COMMANDS = (feed_command, list_command, find_command, show_command)
