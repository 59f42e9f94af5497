"""What a file looks like whose lines are no documents: records, code and data in forms that no reader here takes.

A file that is the only source is read line by line where no format is recognised. Of the kinds in ``look_alikes.toml``
it would make hundreds of documents that are none, so it is refused with what it looks like.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from doccluster.corpus.reader import HEAD_SIZE, Beginning


@dataclass(frozen=True)
class LookAlike:
    """A kind of file, in words, and by what it is known: the end of its name, or its first lines."""

    what: str
    pattern: str
    min_lines: int = 1  # that the pattern covers
    min_share: float = 0.0  # of the lines that are not blank
    suffixes: Sequence[str] = ()


_TABLE = tomllib.loads(resources.files("doccluster.corpus").joinpath("look_alikes.toml").read_text("utf-8"))
LOOK_ALIKES = tuple(LookAlike(**kind) for kind in _TABLE["kinds"])


def looks_like(beginning: Beginning) -> str | None:
    r"""Return the kind, in words, of a file whose lines cannot be documents; None where they may well be.

    >>> looks_like(Beginning("1\n00:00:01,000 --> 00:00:02,000\nThe ferry sails.\n", "a.txt"))
    'subtitles'
    """
    text = re.sub(r"\r\n?", "\n", beginning.text)
    whole, end, rest = text.rpartition("\n")
    lines = f"{whole}{end}" if len(beginning.head) >= HEAD_SIZE and whole else f"{whole}{end}{rest}"
    n_lines = sum(map(bool, map(str.strip, lines.split("\n"))))
    for kind in LOOK_ALIKES:
        if beginning.name.endswith(tuple(kind.suffixes)):
            return kind.what
        matches = re.finditer(kind.pattern, lines, re.MULTILINE)
        if sum(match[0].strip("\n").count("\n") + 1 for match in matches) >= max(
            kind.min_lines, kind.min_share * n_lines
        ):
            return kind.what
    return None
