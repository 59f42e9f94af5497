"""`stream merge`, `split`, `move`, `rename`, `pin`, `mute` and `undo`: an editor's hand on the stories of a store."""

from __future__ import annotations

from pathlib import Path

import click

from doccluster.cli.console import json_option, print_json, say
from doccluster.cli.store_upkeep import store_option
from doccluster.cli.verb import Verb
from doccluster.errors import InputError


def _correct(
    store: str, as_json: bool, verb: str, *stories: str, documents: tuple[str, ...] = (), text: str = ""
) -> None:
    """Make a correction, or take one back, and say what it was."""
    from doccluster.streams import StoryStream
    from doccluster.streams.database import check_is_there

    check_is_there(Path(store))
    with StoryStream(store) as stream:
        done = stream.undo() if verb == "undo" else stream.correct(verb, *stories, documents=documents, text=text)
        last = stream.last_batch
    if as_json:
        print_json({"store": store, "batch": last, "verb": verb, "correction": done.verb, "text": done.text,
                    "n_documents": len(done.documents)})  # fmt: skip
        return
    moved = f"{len(done.documents):,} document{'s' * (len(done.documents) != 1)}"
    told = {"merge": moved, "split": moved, "move": moved, "rename": done.text, "pin": "the story stands first"}
    say(f"  {verb:<11}{done.verb + ': ' if verb == 'undo' else ''}{told.get(done.verb, done.text)}, in batch {last:,}")
    say(f"  {store}")


@click.command("merge", cls=Verb, short_help="Make one story of two.")
@click.argument("kept", metavar="STORY")
@click.argument("ended", metavar="OTHER")
@store_option
@json_option
def merge_command(kept: str, ended: str, store: str, as_json: bool) -> None:
    """Make one story of two: STORY goes on with the documents of OTHER, and they are never split from one another.

    Where STORY has ended and OTHER is open, it is OTHER that goes on.
    """
    _correct(store, as_json, "merge", kept, ended)


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
@click.option("--outlet", metavar="NAME", help="Articles of this outlet, which is what a feed calls itself.")
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


COMMANDS = (merge_command, split_command, move_command, rename_command, pin_command, mute_command, undo_command)
