"""Options of the command line made of parameters: the words, the range and the sentence are those of the dataclass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import click

from doccluster.cli.console import Command, options
from doccluster.cli.values import Callback, Whole, checked
from doccluster.cli.verb import SectionedOption
from doccluster.parameter_fields import Parameter, parameters_of


@dataclass(frozen=True)
class Made:
    """What the command line adds to a parameter: how it is typed, where that is not as in Python."""

    option: str = ""
    callback: Callback | None = None
    value: str = ""
    choices: tuple[str, ...] = ()
    is_number: bool = False


def made_options(kind: Any, names: Mapping[str, Made], *, section: str) -> Any:
    """Return a decorator with an option for each of the named parameters of a dataclass, in one section of the help."""
    known, types = parameters_of(kind), {one.name: str(one.type) for one in fields(kind)}
    return options(*(_option(name, known[name], types[name], made, section) for name, made in names.items()))


def arguments_given(given: Mapping[str, Any], names: Mapping[str, Made]) -> dict[str, Any]:
    """Return the parameters among `names` that were given on the command line."""
    found = {name: given.get(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _option(name: str, known: Parameter, of_type: str, made: Made, section: str) -> Command:
    flag = made.option or f"--{name.replace('_', '-')}"
    given: dict[str, Any] = {"cls": SectionedOption, "section": section, "help": known.summary, "default": None}
    choices = made.choices or known.choices
    if of_type.startswith("bool"):
        negative = f"/--no-{name.replace('_', '-')}" if known.default is None else ""
        return click.option(f"{flag}{negative}", name, is_flag=True, **given)
    if choices:
        return click.option(flag, name, type=click.Choice(choices), **given)
    if made.is_number or (isinstance(known.default, int) and known.low is not None):
        return click.option(flag, name, type=Whole(min=int(known.low or 1)), metavar=made.value or "N", **given)
    callback = made.callback or (None if known.check is None else checked(known.check))
    return click.option(flag, name, callback=callback, metavar=made.value or known.value or "NAME", **given)
