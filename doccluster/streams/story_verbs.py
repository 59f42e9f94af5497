"""The verbs of `stream` for people: an editor's hand on the stories of a store, and what these are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from doccluster.base.paths import check_file
from doccluster.cli.console import print_json, say, say_fact
from doccluster.cli.verb import store_verb, write_whole
from doccluster.errors import InputError
from doccluster.report.wording import counted
from doccluster.streams.store.access import check_is_there, reading
from doccluster.streams.store.tables import stories_of, stories_with, story_told

WIDTH = 70
MAX_NAMED = 20  # stories of one correction


def _correct(
    store: str, as_json: bool, verb: str, *stories: str, documents: tuple[str, ...] = (), text: str = ""
) -> None:
    """Make a correction, or take one back, and say what it was and what its stories are now."""
    from doccluster.streams import StoryStream

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
    changes = {"merge": moved, "split": moved, "move": moved, "pin": "the story stands first"}
    change = changes.get(done.verb, done.text)
    say(f"  {verb:<11}{done.verb + ': ' if verb == 'undo' else ''}{change}, in batch {last:,}")
    for story in about[:MAX_NAMED]:
        say_fact(story["id"], f"{story['label']} ({counted(story['documents'], 'document')})")
    say(f"  {store}")


@store_verb("merge", "Make one story of several.")
@click.argument("goal", metavar="STORY")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
def merge_command(goal: str, others: tuple[str, ...], store: str, as_json: bool) -> None:
    """Make one story of several: STORY goes on with the documents of each OTHER, and they are never split again.

    Where STORY has ended, the first OTHER that is open goes on in its place.
    """
    _correct(store, as_json, "merge", goal, *others)


@store_verb("split", "Take documents out of a story, to one of their own.")
@click.argument("story", metavar="STORY")
@click.option("--documents", multiple=True, required=True, metavar="DOCUMENT...", help="Their ids or keys.")
@click.argument("more", nargs=-1, metavar="")
def split_command(story: str, documents: tuple[str, ...], more: tuple[str, ...], store: str, as_json: bool) -> None:
    """Take documents out of a story: they found one of their own, which is never merged with the rest.

    Copies go with them. `stream show STORY` lists the documents of a story.
    """
    _correct(store, as_json, "split", story, documents=(*documents, *more))


@store_verb("move", "Take documents to another story.")
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...")
@click.option("--to", "story", required=True, metavar="STORY", help="The story they belong to.")
def move_command(documents: tuple[str, ...], story: str, store: str, as_json: bool) -> None:
    """Take documents, by their ids or keys, to the story they belong to; copies go with them.

    A story that is left without documents ends in that one.
    """
    _correct(store, as_json, "move", story, documents=documents)


@store_verb("rename", "Give a story a name.")
@click.argument("story", metavar="STORY")
@click.argument("name")
def rename_command(story: str, name: str, store: str, as_json: bool) -> None:
    """Give a story a name, which it keeps whatever comes to it, and which it takes along into another story."""
    if not name.strip():
        raise InputError("the name is empty; give one, or take a name back with `doccluster stream undo`.")
    _correct(store, as_json, "rename", story, text=name)


@store_verb("pin", "Let a story stand first on the page.")
@click.argument("story", metavar="STORY")
def pin_command(story: str, store: str, as_json: bool) -> None:
    """Let a story stand first on the front page, as long as it is open."""
    _correct(store, as_json, "pin", story)


@store_verb("mute", "Keep a column or an outlet out of the stories.")
@click.option("--title", metavar="PATTERN", help="Titles like this; * stands for anything: 'Morning briefing*'.")
@click.option("--outlet", metavar="NAME", help="Articles of this outlet (the title of its feed).")
def mute_command(title: str | None, outlet: str | None, store: str, as_json: bool) -> None:
    """Keep articles out of the stories and off the page: those of a title, or of an outlet.

    They are still collected, and come into stories after `stream undo`. Those that are in stories already stay there;
    the front page leaves them out.
    """
    if (title is None) == (outlet is None):
        raise InputError("give one of --title and --outlet.")
    _correct(store, as_json, "mute", text=f"title={title}" if outlet is None else f"outlet={outlet}")


@store_verb("undo", "Take back the last correction.")
def undo_command(store: str, as_json: bool) -> None:
    """Take back the last merge, split, move, rename, pin or mute; call it again for the one before.

    Documents go back to the stories they were in, under the ids that these had.
    """
    _correct(store, as_json, "undo")


@store_verb("list", "List the stories, the last to grow first.")
@click.option("--all", "with_ended", is_flag=True, help="Also those that have ended, or become part of another.")
def list_command(store: str, with_ended: bool, as_json: bool) -> None:
    """List the open stories by id, the last to grow first."""
    _print_stories(store, as_json, states=("open", "closed", "merged") if with_ended else ("open",))


@store_verb("find", "Find stories by words.")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
def find_command(words: tuple[str, ...], store: str, as_json: bool) -> None:
    """Find the stories, open and ended, that have a document with all the words in its title, or in their name."""
    _print_stories(store, as_json, words)


def _print_stories(
    store: str, as_json: bool, words: tuple[str, ...] = (), states: tuple[str, ...] = ("open", "closed", "merged")
) -> None:
    with reading(Path(store)) as connection:
        stories: list[dict[str, Any]] = [row for row in stories_with(connection, words) if row["state"] in states]
    if as_json:
        print_json({"stories": stories})
        return
    for story in stories:
        row = f"{story['id']}  {story['documents']:>5,}  {story['last']}  {story['label'][:WIDTH]}"
        say(f"  {row}{'' if story['state'] == 'open' else ', ' + story['state']}")
    if not stories:
        say("  no story")


@store_verb("show", "Show a story: its documents, and what has become of it.")
@click.argument("story", metavar="STORY")
def show_command(story: str, store: str, as_json: bool) -> None:
    """Show a story: its documents with their ids, and what has happened to it."""
    with reading(Path(store)) as connection:
        row = story_told(connection, story)
    if as_json:
        print_json(row)
        return
    say(f"  {row['state']:<8}{row['born']} to {row['last']}  {row['label']}")
    for document in row["documents"]:
        say(f"  {document['date']}  {document['source']:<24.24}  {document['title'][:WIDTH]}")
        say(f"      {document['id']}")
    for event in row["lineage"]:
        if event["event"] not in ("born", "grew"):
            say(f"  {event['when']}  {event['event']:<8}  {event['partner']}  {event['label'][:WIDTH]}".rstrip())


@store_verb("feed", "Write the stories as a feed for readers: Atom or JSON Feed.")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("-o", "--output", required=True, metavar="FILE", help="The feed; a JSON Feed if the name ends in .json.")
@click.option("--name", default="Stories", show_default=True, metavar="NAME", help="The title of the feed.")
def feed_command(words: tuple[str, ...], store: str, output: str, name: str, as_json: bool) -> None:
    """Write the stories that grew last as a feed, or of these the ones that `stream find WORD...` finds.

    A story is one entry, under its own id for good; readers see it again when it has grown.
    """
    from doccluster.streams.page.front_page import feed_of

    check_file(Path(output), overwrite=True)
    with reading(Path(store)) as connection:
        feed = feed_of(connection, words, name=name, is_json=output.endswith(".json"))
    write_whole(Path(output), feed)
    if as_json:
        print_json({"feed": output})
    else:
        say(f"  {output}")


@store_verb("serve", "Serve the front page and the stories to this machine, read-only.")
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
    from doccluster.streams.page.store_server import StoreServer, token_of

    check_is_there(Path(store))
    token = "" if token_file is None else token_of(Path(token_file))
    with StoreServer(store, port, token) as server:
        say(f"  {server.address}")
        say(f"  {server.address.replace('/?', '/feed.atom?')}")
        sys.stdout.flush()
        server.serve_forever()


serve_command.params.pop()  # what it prints are addresses
COMMANDS = (
    *(serve_command, feed_command, list_command, find_command, show_command, merge_command, split_command),
    *(move_command, rename_command, pin_command, mute_command, undo_command),
)
