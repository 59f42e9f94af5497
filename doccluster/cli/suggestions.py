"""What a misspelt verb or option may have meant, and which verbs have an option that this one lacks."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import click


def about_verb(typed: str, verbs: Sequence[str]) -> str:
    """Return a sentence about a verb that does not exist, with the nearest one.

    >>> about_verb("evalute", ["run", "evaluate"])
    "there is no command 'evalute'; did you mean evaluate?"
    """
    near = difflib.get_close_matches(typed.lower(), verbs, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "`doccluster --help` lists them."
    return f"there is no command {typed!r}; {hint}"


def about_option(error: click.NoSuchOption, commands: click.Group) -> str:
    """Return a sentence about an option that a command lacks: the nearest of its own, or the verbs that have it."""
    sentence = f"there is no option {error.option_name}"
    own = [] if error.ctx is None else sorted(_options(error.ctx.command))
    near = difflib.get_close_matches(error.option_name, own, n=1, cutoff=0.75)
    if near:
        return f"{sentence}; did you mean {near[0]}?"
    others = [verb for verb, command in _verbs(commands) if error.option_name in _options(command)]
    if others:
        return f"{sentence} here; {_listed(others)} {'has' if len(others) == 1 else 'have'} it."
    place = "" if error.ctx is None else f"{error.ctx.command_path} "
    return f"{sentence}; `{place}--help` lists the options."


def _options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def _verbs(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Yield the name and the command of every verb; only here are all their modules imported."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            yield name, command


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
