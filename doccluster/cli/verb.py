"""The commands of this tool: errors name the options that were typed; what a misspelt verb may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from doccluster.errors import Argument, DocclusterError, Spelling, shown

# arguments that no command has, and whose value alone is said
VALUE_ALONE = frozenset({"n_samples"})


# sections of the help
RUNNING, READING, TERMS, MEANING = "Options", "Reading documents", "Terms", "Meaning and given labels"


class SectionedOption(click.Option):
    """An option that stands in a section of its own in the help."""

    def __init__(
        self,
        *arguments: Any,
        section: str = RUNNING,
        spellings: Callable[[], Mapping[str, str]] = dict,
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.section = section
        self.spellings = spellings  # how arguments begin that it stands for: {"date_column": "--column date="}


class Verb(click.Command):
    """A command whose errors name its options, and whose help groups them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        for section in (RUNNING, READING, TERMS, MEANING):
            options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
            options_of_section = [option for option in options if getattr(option, "section", RUNNING) == section]
            lines = [
                line for line in (option.get_help_record(ctx) for option in options_of_section) if line is not None
            ]
            if lines:
                with formatter.section(section):
                    formatter.write_dl(lines)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library comes out as one that names options."""
        try:
            return super().invoke(ctx)
        except DocclusterError as error:
            error.spell(spelling_of(self))
            raise


def spelling_of(command: click.Command) -> Spelling:
    """Return how `command` names arguments: as its options, with values as they are typed.

    An argument that the command has no option for is named as in Python.
    """
    flags, negative = _flags(command), _negative_flags(command)
    spellings = {name: text for option in command.params for name, text in getattr(option, "spellings", dict)().items()}

    def spelled(argument: Argument) -> str:
        name, value = argument.name, argument.value
        if name in VALUE_ALONE and argument.has_value:
            return shown(value)
        if name in spellings:
            return f"{spellings[name]}{as_typed(value) if argument.has_value else '...'}"
        flag = flags.get(name)
        if value is False and name in negative:
            return negative[name]
        if flag is None:
            return str(argument)
        if value is None or value is False:
            return f"no {flag}"
        if value is True or not argument.has_value:
            return flag
        return f"{flag} {as_typed(value)}"

    return spelled


def as_typed(value: Any) -> str:
    """Return a value as it is typed: a word without quotes, the ends of a range with a hyphen.

    >>> as_typed("none"), as_typed("two words"), as_typed((1, 2)), as_typed(range(2, 21)), as_typed(0.5)
    ('none', "'two words'", '1-2', '2-20', '0.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value and not any(letter.isspace() for letter in value):
        return shown(value)[1:-1]
    if isinstance(value, range):
        return f"{value[0]}-{value[-1]}"
    if isinstance(value, tuple) and len(value) == 2:
        return f"{value[0]}-{value[1]}"
    return shown(value)


def _negative_flags(command: click.Command) -> Mapping[str, str]:
    """Return the option that says no: --no-strip-html for strip_html=False."""
    options = [option for option in command.params if isinstance(option, click.Option) and option.name is not None]
    return {str(option.name): option.secondary_opts[0] for option in options if option.secondary_opts}


def _flags(command: click.Command) -> Mapping[str, str]:
    """Return the options for each argument, in all their spellings."""
    flags = {str(option.name): "/".join(option.opts) for option in command.params if isinstance(option, click.Option)}
    # of several algorithms one is refused, and of invented documents the topics are the clusters
    names = {"algorithm": "algorithms", "n_clusters": "n_topics", "seed": "random_state"}
    return {argument: flags[name] for argument, name in names.items() if name in flags} | flags


def about_verb(typed: str, verbs: Sequence[str]) -> str:
    """Return a sentence about a verb that does not exist, with the nearest one.

    >>> about_verb("evalute", ["run", "evaluate"])
    "there is no command 'evalute'; did you mean evaluate?"
    """
    near = difflib.get_close_matches(typed.lower(), verbs, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "`doccluster --help` lists them."
    return f"there is no command {typed!r}; {hint}"
