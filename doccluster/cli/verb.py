"""The commands of this tool: errors of the library name the options that were typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from doccluster.errors import DocclusterError

# arguments of the public functions whose option is called otherwise: argument -> name of the click parameter
OPTION_OF = {
    "n_clusters": "clusters",
    "n_threads": "threads",
    "random_state": "seed",
    "ngram_range": "ngrams",
    "label_columns": "label_column",
    "text_columns": "text_column",
    "algorithm": "algorithms",
    "ks": "k_range",
}

# a name, and what is said of it where it is given: n_clusters=12, truth=, weighting='none'
_MENTION = re.compile(
    r"""(?<![\w./\\'"-]) (?P<name>[A-Za-z]\w*) (?![\w/\\-]|\.\w|['"])
    (?P<equals> = (?P<value>'[^']*'|"[^"]*"|\([^()]*\)|\[[^][]*\]|[-+]?\w(?:[\w.+-]*\w)?)? )?""",
    re.VERBOSE,
)
_QUOTED_WORD = re.compile(r"^'([^'\s]+)'$")
# what scikit-learn's checks look for, and a hint for callers in Python
_FOR_OTHERS = re.compile(r" \(n_samples=[^)]*\)| \(texts go in a list\)")


class Verb(click.Command):
    """A command whose errors name its options."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library comes out as one that names options."""
        try:
            return super().invoke(ctx)
        except DocclusterError as error:
            raise type(error)(in_options(str(error), self)) from error


def in_options(text: str, command: click.Command) -> str:
    """Return a sentence of the library with options of `command` in place of the arguments they stand for.

    A word that is also plain English (truth, vectors) is an argument only where it is followed by ``=``.
    """
    flags, negative = _flags(command), _negative_flags(command)

    def reworded(mention: re.Match[str]) -> str:
        name, value = mention["name"], mention["value"]
        if value == "False" and name in negative:
            return negative[name]
        flag = flags.get(name)
        if flag is None or (mention["equals"] is None and "_" not in name):
            return mention[0]
        if value is None or value == "True":
            return flag
        if value in ("None", "False"):
            return f"no {flag}"
        bare = _QUOTED_WORD.sub(r"\1", value)
        return f"{flag} {bare}"

    return _MENTION.sub(reworded, _FOR_OTHERS.sub("", text))


def _negative_flags(command: click.Command) -> Mapping[str, str]:
    """Return what is typed to say no: --no-strip-html for strip_html=False, --no-header for header=False."""
    options = [option for option in command.params if isinstance(option, click.Option) and option.name is not None]
    found = {str(option.name): option.secondary_opts[0] for option in options if option.secondary_opts}
    switches = {str(option.name): option.opts[0] for option in options if option.is_flag}
    return {**found, **{name.removeprefix("no_"): flag for name, flag in switches.items() if name.startswith("no_")}}


def _flags(command: click.Command) -> Mapping[str, str]:
    """Return what is typed for each argument: the option, in all its spellings."""
    given = {option.name: "/".join(option.opts) for option in command.params if isinstance(option, click.Option)}
    renamed = {argument: given[name] for argument, name in OPTION_OF.items() if name in given}
    if "n_topics" in given:
        renamed["n_clusters"] = given["n_topics"]
    return {name: flag for name, flag in {**renamed, **given}.items() if name is not None}
