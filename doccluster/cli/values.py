"""What an option takes: checked while the command line is parsed, so that no work is done before a refusal."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from doccluster.errors import InputError, shown, worded

MOST_CLUSTERS = 1_000_000  # a longer range is a slip of the finger

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

    def callback(_context: click.Context, option: click.Parameter, value: Any) -> Any:
        for item in value if isinstance(value, tuple) else [value]:
            try:
                if item is not None:
                    check(item)
            except InputError as error:
                raise click.BadParameter(_without_name(error)) from error
        return value

    return callback


def _without_name(error: InputError) -> str:
    """Return the sentence of an error with the value that was typed, where click says the option before it."""
    subject = "" if error.argument is None else f"{shown(error.received)} "
    return subject + worded(error.clauses)


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
        if not 1 <= low <= high <= MOST_CLUSTERS:
            raise click.BadParameter(
                f"{value!r} is not a list of numbers of clusters; write for instance 2-10 or 5,10,20."
            )
        numbers.update(range(low, high + 1))
    return tuple(sorted(numbers))


def some_text(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return a text that is not empty."""
    if value == "":
        raise click.BadParameter("it is empty; give at least one character, or leave it out.")
    return value


def some_names(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str] | None:
    """Return names separated by commas."""
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()]


def measure_names(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str] | str | None:
    """Return the names of known measures, or the word all."""
    if value is None or value == "all":
        return value
    from doccluster.measures.registry import get_measures

    names = [name.strip() for name in value.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("it names no measure; give names separated by commas, or all.")
    try:
        get_measures(names)
    except InputError as error:
        raise click.BadParameter(str(error)) from error
    return names


def check_size(text: str) -> None:
    """Raise InputError if a text is not a number of bytes."""
    from doccluster.base.sizes import parse_size

    parse_size(text)


def check_weighting(code: str) -> None:
    """Raise InputError if a weighting is not known; none leaves counts as they are."""
    from doccluster.vectors.weighting import parse_weighting

    if code != "none":
        parse_weighting(code)


def check_stemming(language: str) -> None:
    """Raise InputError if words of a language cannot be stemmed; "none" stems none. What stems is imported, no more."""
    from doccluster.text import stemming

    if language == "none":
        return
    stemming.check_stemming(language)
    stemming.import_stemmers(hidden=stemming.OTHER_PARTS)


def check_languages(names: str) -> None:
    """Raise InputError if a text names, with commas, a language that has no list of function words."""
    from doccluster.text.stopwords import choose_languages

    parts = names.split(",")
    if parts != ["auto"]:
        choose_languages(parts[0] if len(parts) == 1 else parts)


def check_named_algorithm(text: str) -> None:
    """Raise InputError if there is no algorithm of a name, or it has no such option."""
    from doccluster.clustering.algorithms import parse_algorithm

    algorithm, options = parse_algorithm(text)
    algorithm.check_options(options)


def check_algorithm(text: str) -> None:
    """Raise InputError if an algorithm or one of its parameters is not known, or a factory gives no clusterer."""
    from doccluster.selection.clusterers import as_clusterers

    as_clusterers([text])
