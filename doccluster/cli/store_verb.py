"""What the verbs of `stream` share: a store, and output as text or as one JSON document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from doccluster.base.paths import new_file
from doccluster.cli._verb import Verb

STORE = click.Option(
    ["--store"], required=True, metavar="FILE", help="The SQLite file that keeps the articles and their stories."
)
JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document instead of text.")


def store_verb(name: str, short_help: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a verb of `stream`: with `--store` before its options, `--json` after them."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        command = click.command(name, cls=Verb, short_help=short_help, **attributes)(function)
        arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
        options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        command.params = [*arguments, STORE, *options, JSON]
        return command

    return decorate


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all, in place of an earlier one."""
    with new_file(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")
