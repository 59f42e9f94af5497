"""What a command is: its errors name options as they are typed, which are checked while they are parsed."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from doccluster.base.paths import new_file
from doccluster.cli.output import table_room, write_error
from doccluster.errors import Argument, DocclusterError, InputError, NamedByRecord, Spelling, Words, shown, worded

# arguments that no command has, and whose value alone is said
VALUE_ALONE = frozenset({"n_samples"})


# sections of the help
RUNNING, READING, TERMS, MEANING = "Options", "Reading documents", "Terms", "Meaning, given labels and topics"


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


# what a context and those above it share
QUIET, TIMINGS, TYPED = "doccluster.quiet", "doccluster.timings", "doccluster.typed"
LONGEST_COMMAND = 1_500  # characters: that of a screen


def _is_quiet(context: click.Context, _: click.Parameter, is_set: bool) -> None:
    if is_set:
        context.meta[QUIET] = True


def _has_timings(context: click.Context, _: click.Parameter, is_set: bool) -> None:
    if is_set:
        context.meta[TIMINGS] = {}  # seconds by stage


COMMON: list[click.Parameter] = [
    click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        expose_value=False,
        callback=_is_quiet,
        help="Show no progress; results, warnings and errors stay.",
    ),
    click.Option(
        ["--timings"],
        is_flag=True,
        expose_value=False,
        callback=_has_timings,
        help="Print on standard error, at the end, how long each stage took.",
    ),
]  # what the program and each verb take


Gather = Callable[[dict[str, Any]], Any]  # takes options out of all that were typed, and returns one argument of them


def only(*names: str) -> Gather:
    """Return a function that takes the options of these names, as a dictionary."""
    return lambda typed: {name: typed.pop(name) for name in names}


def all_but(*names: str) -> Gather:
    """Return a function that takes the options that are left, but for those of these names, as a dictionary."""
    return lambda typed: {name: typed.pop(name) for name in list(typed) if name not in names}


class Verb(click.Command):
    """A command whose errors name its options, and whose help groups them.

    `gathers`: arguments of its function that are made of several options, and what takes each out of what was typed.
    """

    def __init__(self, *arguments: Any, gathers: Mapping[str, Gather] | None = None, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.gathers = gathers or {}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the arguments and options, those of every verb before --help."""
        *parameters, with_help = super().get_params(ctx)
        return [*parameters, *COMMON, with_help]

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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed, and keep it."""
        ctx.meta[TYPED] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library comes out as one that names options."""
        places = [Path(ctx.params[name]) for name in ("output", "store") if ctx.params.get(name)]
        before = [_state_of(place) for place in places]
        try:
            ctx.params |= {name: take(ctx.params) for name, take in self.gathers.items()}
            return super().invoke(ctx)
        except DocclusterError as error:
            if isinstance(error, NamedByRecord):
                error.remedy = _naming_anew(ctx, error)
            error.spell(spelling_of(self))
            raise
        except KeyboardInterrupt as stopped:
            changed = [place for place, state in zip(places, before, strict=True) if _state_of(place) != state]
            if changed:
                stopped.args = (f"what was done until then is in {' and '.join(map(str, changed))}",)
            elif places:
                stopped.args = ("nothing was written",)
            raise
        finally:
            timings = ctx.meta.pop(TIMINGS, None)
            if timings is not None:
                _print_timings(timings, began=ctx.find_root().obj)


def _naming_anew(ctx: click.Context, error: NamedByRecord) -> Words | None:
    """Return as a remedy the command that names what a record may not; the usual one where it has no such option."""
    flags = {str(option.name): option.opts[0] for option in ctx.command.params if isinstance(option, click.Option)}
    if not error.anew.keys() <= flags.keys():
        return error.remedy
    words = ctx.command_path.split()
    for name, value in error.anew.items():
        for part in [value] if isinstance(value, str) else value:
            words += [flags[name], part]
    join = subprocess.list2cmdline if os.name == "nt" else shlex.join
    typed = join([*words, *ctx.meta[TYPED]])
    return f"if you trust it, type `{typed}`" if len(typed) < LONGEST_COMMAND else error.remedy


def _print_timings(seconds: Mapping[str, float], *, began: float | None) -> None:
    """Print on standard error how long each stage took, and the program, if it is known when it began."""
    from doccluster.base.text_table import Column, table_lines  # brings in numpy, which help does not need

    sys.stdout.flush()
    stages = dict(seconds)
    if began is not None:
        total = time.perf_counter() - began
        stages |= {"start and end": total - sum(seconds.values()), "total": total}
    times = [f"{spent:,.1f}" for spent in stages.values()]
    for line in table_lines([Column("stage", list(stages), "left"), Column("seconds", times)], **table_room(indent=2)):
        write_error(f"  {line}")


def _state_of(place: Path) -> list[tuple[str, int, int]]:
    """Return the state of a file, or of those of a folder, which writing changes: name, number on the disk, time."""
    with suppress(OSError):
        facts = [(path, path.stat()) for path in (place, *(place.iterdir() if place.is_dir() else ()))]
        return sorted((str(path), fact.st_ino, fact.st_mtime_ns) for path, fact in facts)
    return []


def spelling_of(command: click.Command) -> Spelling:
    """Return how `command` names arguments: as its options, with values as they are typed.

    An argument that the command has no option for is named as in Python.
    """
    options = [option for option in command.params if isinstance(option, click.Option)]
    negative = {str(option.name): option.secondary_opts[0] for option in options if option.secondary_opts}
    flags = {str(option.name): "/".join(option.opts) for option in options}
    # of several algorithms one is refused, and of invented documents the topics are the clusters
    others = {"algorithm": "algorithms", "n_clusters": "n_topics", "seed": "random_state"}
    flags = {argument: flags[name] for argument, name in others.items() if name in flags} | flags
    spellings = {name: text for option in options for name, text in getattr(option, "spellings", dict)().items()}

    def spelled(argument: Argument) -> str:
        name, value = argument.name, argument.value
        if name in VALUE_ALONE and argument.has_value:
            return shown(value)
        # an option such as --column stands for several arguments, and begins differently for each
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


def as_typed(value: object) -> str:
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


def about_verb(typed: str, verbs: Sequence[str]) -> str:
    """Return a sentence about a verb that does not exist, with the nearest one.

    >>> about_verb("evalute", ["run", "evaluate"])
    "there is no command 'evalute'; did you mean evaluate?"
    """
    near = difflib.get_close_matches(typed.lower(), verbs, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "`doccluster --help` lists them."
    return f"there is no command {typed!r}; {hint}"


MAX_CLUSTERS = 1_000_000  # a longer range is a slip of the finger

Callback = Callable[[click.Context, click.Parameter, Any], Any]


class Whole(click.IntRange):
    """A whole number from `min` on, refused in a sentence that says which numbers are taken."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or stop."""
        try:
            number = int(value)
        except ValueError:
            number = None
        if number is None or (self.min is not None and number < self.min):
            self.fail(f"{str(value)!r} is not a whole number of at least {self.min}.", param, ctx)
        return number


def checked(check: Callable[[Any], Any]) -> Callback:
    """Return an option's callback that gives what was typed to `check`, each part of an option that may be repeated.

    What `check` returns is dropped: the library converts, and refuses the same things, when it gets the text itself.
    """

    def callback(_context: click.Context, option: click.Parameter, value: object) -> Any:
        for item in value if isinstance(value, tuple) else [value]:
            try:
                if item is not None:
                    check(item)
            except InputError as error:
                # with the value that was typed: click says the option before it
                subject = "" if error.argument is None else f"{shown(error.received)} "
                raise click.BadParameter(subject + worded(error.clauses)) from error
        return value

    return callback


def number_or_share(_context: click.Context, _option: click.Parameter, value: str | None) -> int | float | None:
    """Return a number of documents (``2``) as an int, a share of them (``0.01``) as a float."""
    if value is None:
        return None
    try:
        number = float(value) if "." in value else int(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is neither a number of documents (2) nor a share (0.01).") from error
    if not (number >= 1 if isinstance(number, int) else 0 <= number <= 1):
        raise click.BadParameter(f"{value!r} is neither a number of documents (1 or more) nor a share from 0.0 to 1.0.")
    return number


def number_of_clusters(_context: click.Context, _option: click.Parameter, value: str | None) -> int | str | None:
    """Return a whole number as an int, or the word auto."""
    if value is None or value == "auto":
        return value
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value!r} is not a number of clusters; give a whole number of at least 1, or auto.")
    return number


def number_range(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return the two ends of a range such as ``1-2``; one number is both."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)(?:[-,](\d+))?", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is not a range; write for instance 1-2.")
    low, high = int(match[1]), int(match[2] or match[1])
    if not 1 <= low <= high:
        raise click.BadParameter(f"{value!r} is not a range from a smaller to a larger number, 1 or above.")
    return low, high


def numbers_of_clusters(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Return the numbers of a list such as ``5,10,20`` or ``2-10,20``, ascending."""
    if value is None:
        return None
    numbers: set[int] = set()
    for part in value.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high <= MAX_CLUSTERS:
            raise click.BadParameter(
                f"{value!r} is not a list of numbers of clusters; write for instance 2-10 or 5,10,20."
            )
        numbers.update(range(low, high + 1))
    return tuple(sorted(numbers))


def some_names(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str] | None:
    """Return names separated by commas."""
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()]


def some_text(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return a text that is not empty."""
    if value == "":
        raise click.BadParameter("it is empty; give at least one character, or leave it out.")
    return value


def words_of_file(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str] | None:
    """Return the words of a file, one a line; blank lines and those that begin with # are passed over."""
    if value is None:
        return None
    from doccluster.corpus.opening import read_whole
    from doccluster.corpus.reader import ReadFailure

    try:
        lines = map(str.strip, read_whole(value).decode("utf-8-sig").splitlines())
    except (ReadFailure, UnicodeDecodeError) as error:
        why = f"cannot be read: {error.detail}" if isinstance(error, ReadFailure) else "is not text in UTF-8"
        raise click.BadParameter(f"{value} {why}; give a file with a word a line.") from error
    words = [line for line in lines if line and not line.startswith("#")]
    if not words:
        raise click.BadParameter(f"{value} holds no word; give a file with a word a line.")
    return words


def measure_names(_context: click.Context, _option: click.Parameter, value: str | None, check: Any = None) -> Any:
    """Return the names of known measures, or what `check` takes besides; or the word all."""
    if value is None or value == "all":
        return value
    from doccluster.measures.registry import get_measures

    names = [name.strip() for name in value.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("it names no measure; give names separated by commas, or all.")
    try:
        (check or get_measures)(names)
    except InputError as error:
        raise click.BadParameter(str(error)) from error
    return names


def check_size(text: str) -> None:
    """Raise InputError if a text is not a number of bytes."""
    from doccluster.base.plain_values import parse_size

    parse_size(text)


def check_weighting(code: str) -> None:
    """Raise InputError if a weighting is not known; none leaves counts as they are."""
    from doccluster.vectors.weighting import parse_weighting

    if code != "none":
        parse_weighting(code)


def check_stemming(language: str) -> None:
    """Raise InputError if words of a language cannot be stemmed; "none" stems none."""
    from doccluster.text import analysis

    if language != "none":
        analysis.check_stemming(language)


def check_languages(names: str) -> None:
    """Raise InputError if a text names, with commas, a language that has no list of function words."""
    from doccluster.text.language import choose_languages

    parts = names.split(",")
    if parts != ["auto"]:
        choose_languages(parts[0] if len(parts) == 1 else parts)


def check_named_algorithm(text: str) -> None:
    """Raise InputError if there is no algorithm of a name, or it has no such option."""
    from doccluster.clustering.algorithms import parse_algorithm

    algorithm, options = parse_algorithm(text)
    algorithm.check_options(options)


STORE = click.Option(
    ["--store"], required=True, metavar="FILE", help="The SQLite file that keeps the articles and their stories."
)
JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document instead of text.")


def store_verb(name: str, short_help: str, **attributes: object) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a verb of `stream`: with `--store` before its options, `--json` after them."""

    def decorate(function: Callable[..., object]) -> click.Command:
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
