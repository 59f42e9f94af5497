"""The verbs of `stream` for people: an editor's hand on the stories of a store, and what these are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from doccluster.cli.console import json_option, print_json, say, say_fact
from doccluster.cli.store_upkeep import store_option
from doccluster.cli.verb import Verb
from doccluster.errors import InputError
from doccluster.report.wording import counted

WIDTH = 70
MOST_NAMED = 20  # stories of one correction


def _correct(
    store: str, as_json: bool, verb: str, *stories: str, documents: tuple[str, ...] = (), text: str = ""
) -> None:
    """Make a correction, or take one back, and say what it was and what its stories are now."""
    from doccluster.streams import StoryStream
    from doccluster.streams.database import check_is_there, reading
    from doccluster.streams.lookup import stories_of

    check_is_there(Path(store))
    with StoryStream(store) as stream:
        done = stream.undo() if verb == "undo" else stream.correct(verb, *stories, documents=documents, text=text)
        last = stream.last_batch
    with reading(Path(store)) as connection:
        about = stories_of(connection, done)
    if as_json:
        print_json({"store": store, "batch": last, "verb": verb, "correction": done.verb, "text": done.text,
                    "n_documents": len(done.documents), "stories": about})  # fmt: skip
        return
    moved = counted(len(done.documents), "document")
    told = {"merge": moved, "split": moved, "move": moved, "rename": done.text, "pin": "the story stands first"}
    say(f"  {verb:<11}{done.verb + ': ' if verb == 'undo' else ''}{told.get(done.verb, done.text)}, in batch {last:,}")
    for story in about[:MOST_NAMED]:
        say_fact(story["id"], f"{story['label']} ({counted(story['documents'], 'document')})")
    say(f"  {store}")


@click.command("merge", cls=Verb, short_help="Make one story of several.")
@click.argument("goal", metavar="STORY")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@store_option
@json_option
def merge_command(goal: str, others: tuple[str, ...], store: str, as_json: bool) -> None:
    """Make one story of several: STORY goes on with the documents of each OTHER, and they are never split again.

    Where STORY has ended, the first OTHER that is open goes on in its place.
    """
    _correct(store, as_json, "merge", goal, *others)


@click.command("split", cls=Verb, short_help="Take documents out of a story, to one of their own.")
@click.argument("story", metavar="STORY")
@click.option("--documents", multiple=True, required=True, metavar="DOCUMENT...", help="Their ids or keys.")
@click.argument("more", nargs=-1, metavar="")
@store_option
@json_option
def split_command(story: str, documents: tuple[str, ...], more: tuple[str, ...], store: str, as_json: bool) -> None:
    """Take documents out of a story: they found one of their own, which is never merged with the rest.

    Copies go with them. `stream show STORY` lists the documents of a story.
    """
    _correct(store, as_json, "split", story, documents=(*documents, *more))


@click.command("move", cls=Verb, short_help="Take documents to another story.")
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...")
@click.option("--to", "story", required=True, metavar="STORY", help="The story they belong to.")
@store_option
@json_option
def move_command(documents: tuple[str, ...], story: str, store: str, as_json: bool) -> None:
    """Take documents, by their ids or keys, to the story they belong to; copies go with them.

    A story that is left without documents ends in that one.
    """
    _correct(store, as_json, "move", story, documents=documents)


@click.command("rename", cls=Verb, short_help="Give a story a name.")
@click.argument("story", metavar="STORY")
@click.argument("name")
@store_option
@json_option
def rename_command(story: str, name: str, store: str, as_json: bool) -> None:
    """Give a story a name, which it keeps whatever comes to it, and which it takes along into another story."""
    if not name.strip():
        raise InputError("the name is empty; give one, or take a name back with `doccluster stream undo`.")
    _correct(store, as_json, "rename", story, text=name)


@click.command("pin", cls=Verb, short_help="Let a story stand first on the page.")
@click.argument("story", metavar="STORY")
@store_option
@json_option
def pin_command(story: str, store: str, as_json: bool) -> None:
    """Let a story stand first on the front page, as long as it is open."""
    _correct(store, as_json, "pin", story)


@click.command("mute", cls=Verb, short_help="Keep a column or an outlet out of the stories.")
@click.option("--title", metavar="PATTERN", help="Titles like this; * stands for anything: 'Morning briefing*'.")
@click.option("--outlet", metavar="NAME", help="Articles of this outlet (the title of its feed).")
@store_option
@json_option
def mute_command(title: str | None, outlet: str | None, store: str, as_json: bool) -> None:
    """Keep articles out of the stories and off the page: those of a title, or of an outlet.

    They are still collected, and come into stories after `stream undo`. Those that are in stories already stay there;
    the front page leaves them out.
    """
    if (title is None) == (outlet is None):
        raise InputError("give one of --title and --outlet.")
    _correct(store, as_json, "mute", text=f"title={title}" if outlet is None else f"outlet={outlet}")


@click.command("undo", cls=Verb, short_help="Take back the last correction.")
@store_option
@json_option
def undo_command(store: str, as_json: bool) -> None:
    """Take back the last merge, split, move, rename, pin or mute; call it again for the one before.

    Documents go back to the stories they were in, under the ids that these had.
    """
    _correct(store, as_json, "undo")


@click.command("list", cls=Verb, short_help="List the stories, the last to grow first.")
@store_option
@click.option("--all", "with_ended", is_flag=True, help="Also those that have ended, or become part of another.")
@json_option
def list_command(store: str, with_ended: bool, as_json: bool) -> None:
    """List the open stories by id, the last to grow first."""
    _print(_stories(store, state="" if with_ended else "open"), as_json)


@click.command("find", cls=Verb, short_help="Find stories by words.")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@store_option
@json_option
def find_command(words: tuple[str, ...], store: str, as_json: bool) -> None:
    """Find the stories, open and ended, that have a document with all the words in its title, or in their name."""
    _print(_stories(store, words), as_json)


def _stories(store: str, words: Sequence[str] = (), *, state: str = "") -> list[dict[str, Any]]:
    from doccluster.streams.database import reading
    from doccluster.streams.lookup import stories_with

    with reading(Path(store)) as connection:
        return [one for one in stories_with(connection, words) if state in ("", one["state"])]


@click.command("show", cls=Verb, short_help="Show a story: its documents, and what has become of it.")
@click.argument("story", metavar="STORY")
@store_option
@json_option
def show_command(story: str, store: str, as_json: bool) -> None:
    """Show a story: its documents with their ids, and what has happened to it."""
    from doccluster.streams.database import reading
    from doccluster.streams.lookup import story_told

    with reading(Path(store)) as connection:
        told = story_told(connection, story)
    if as_json:
        print_json(told)
        return
    say(f"  {told['state']:<8}{told['born']} to {told['last']}  {told['label']}")
    for one in told["documents"]:
        say(f"  {one['date']}  {one['source']:<24.24}  {one['title'][:WIDTH]}")
        say(f"      {one['id']}")
    for one in told["lineage"]:
        if one["event"] not in ("born", "grew"):
            say(f"  {one['when']}  {one['event']:<8}  {one['partner']}  {one['label'][:WIDTH]}".rstrip())


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
@click.option("--name", default="Stories", show_default=True, metavar="NAME", help="The title of the feed.")
@json_option
def feed_command(words: tuple[str, ...], store: str, output: str, name: str, as_json: bool) -> None:
    """Write the stories that grew last as a feed, or of these the ones that `stream find WORD...` finds.

    A story is one entry, under its own id for good; readers see it again when it has grown.
    """
    from doccluster.base.new_folder import check_file, new_file
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


@click.command("serve", cls=Verb, short_help="Serve the front page and the stories to this machine, read-only.")
@store_option
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="0, the default, for a free one."
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="Where the token is kept, made if it is not there; with --port, addresses stay the same after a restart.",
)
def serve_command(store: str, port: int, token_file: str | None) -> None:
    """Serve the front page, the stories as JSON, and feeds of them, on the loopback address, until interrupted.

    The pages are /, /stories.json (with ?words= those that have the words), /story.json?id=STORY, /feed.atom and
    /feed.json, each with the token of the addresses that are printed. Nothing in the store can be changed.
    """
    from doccluster.cli.store_server import StoreServer, token_of
    from doccluster.streams.database import check_is_there

    check_is_there(Path(store))
    token = "" if token_file is None else token_of(Path(token_file))
    with StoreServer(store, port, token) as server:
        say(f"  {server.address}")
        say(f"  {server.address.replace('/?', '/feed.atom?')}")
        sys.stdout.flush()
        server.serve_forever()


COMMANDS = (
    *(serve_command, feed_command, list_command, find_command, show_command, merge_command, split_command),
    *(move_command, rename_command, pin_command, mute_command, undo_command),
)
