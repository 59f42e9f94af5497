"""What a format is: one record for each, written beside its reader; `formats.py` gathers them.

Menus, recognition, the docs' table and the tests are made from these records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from doccluster.corpus.draft import Found
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.reader_options import ReadOptions

_ASIDE = re.compile(r"^(\s+|<!--.*?(-->|\Z)|<\?.*?(\?>|\Z))+", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+([a-z:]+)", re.IGNORECASE)
_INTERNAL = re.compile(r"\A<!doctype[^\[<>]*+(?:\[.*?\]\s*+)?>", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(r"<([a-z][\w.:-]*)", re.IGNORECASE)

Reader = Callable[[InputFile, ReadOptions], Iterator[Found]]


@dataclass(frozen=True)
class Beginning:
    """The beginning of a file, by which its format is recognised: its text without a mark and blanks, and its name."""

    text: str
    name: str
    head: bytes = b""

    @property
    def is_markup(self) -> bool:
        """Whether it begins like XML, SGML or HTML."""
        return self.text.startswith("<")

    @property
    def is_json(self) -> bool:
        """Whether it begins like JSON."""
        return self.text.startswith(("{", "["))

    @cached_property
    def doctype(self) -> str:
        """The name after ``<!doctype``, in lower case; "" without one."""
        match = _DOCTYPE.match(_ASIDE.sub("", self.text, count=1))
        return "" if match is None else match[1].lower()

    @cached_property
    def element(self) -> str:
        """The name of the first element of markup, in lower case; "" without one."""
        text = _INTERNAL.sub("", _ASIDE.sub("", self.text, count=1), count=1)
        match = _ROOT.search(_ASIDE.sub("", text, count=1))
        return "" if match is None else match[1].lower()


@dataclass(frozen=True)
class Format:
    """One format of files.

    `document`, `brings`: what a document is, and what comes with it: a line of the docs' table.
    """

    name: str  # as `format` and ``--format`` take it
    read: Reader  # yields the documents of a file, and what was skipped
    document: str
    brings: str = ""
    suffixes: tuple[str, ...] = ()  # how the names of such files end, where their content leaves it open
    aliases: tuple[str, ...] = ()  # what else people call it
    # whether a file that begins so has this format; asked of one format after another, in the order of `FORMATS`
    recognises: Callable[[Beginning], bool] | None = None
    # parameters of `read_corpus` that only this format has; ``--format NAME:parameter=value`` sets them
    parameters: tuple[str, ...] = ()
    has_columns: bool = False  # whether a document is a row, with columns
    is_apart: bool = False  # whether files are read in a process of their own, which they may harm
