"""Names of columns: in the many ways in which people write them (``columns.toml``), and each there only once."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

TABLE = tomllib.loads(resources.files("doccluster.corpus").joinpath("columns.toml").read_text("utf-8"))
_TEXT = TABLE["text"]
FULL_TEXTS, SNIPPETS, TITLES = _TEXT["full"], _TEXT["snippets"], _TEXT["titles"]
SHORT_TEXTS = (*_TEXT["short"], *SNIPPETS, *_TEXT["further_short"])
AUTHORS, LABELS = TABLE["authors"], TABLE["labels"]
USUAL: dict[str, list[str]] = TABLE["usual"]  # by role
FURTHER: dict[str, list[str]] = {"title": TITLES[2:], **TABLE["further"]}
ID_COLUMNS = USUAL["id"]

_BETWEEN_WORDS = re.compile(r"\s+|(?<=[^\s._-])[._-]+")  # _source, of search engines, is no source


def plain_name(name: str) -> str:
    """Return the name of a column by which it is compared: small letters, nothing between the words.

    >>> plain_name("publishedAt") == plain_name("Published At") == plain_name("published_at")
    True
    """
    return _BETWEEN_WORDS.sub("", name).lower()


TEXT_TIERS = tuple(tuple(map(plain_name, names)) for names in (FULL_TEXTS, SHORT_TEXTS, TITLES))
TEXT_NAMES = tuple(itertools.chain(*TEXT_TIERS))
PLAIN_IDS = frozenset(map(plain_name, ID_COLUMNS))
PLAIN_DATES = frozenset(map(plain_name, (*USUAL["date"], *FURTHER["date"])))


def by_plain_name(names: Sequence[str]) -> dict[str, str]:
    """Return the columns by their plain names, and by their names in small letters, blanks as _; the first counts."""
    plain = {plain_name(name): name for name in reversed(names)}
    return plain | {"_".join(name.strip().lower().split()): name for name in reversed(names)}


def usual_column(role: str, by_name: Mapping[str, str], *, further: bool = True) -> str | None:
    """Return the column whose name says that it has a role ("date", ...); without the further names, what 1.0 took."""
    names: Iterable[str] = USUAL[role]
    if further:
        names = (*names, *map(plain_name, (*names, *FURTHER.get(role, ()))))
    return next((by_name[name] for name in names if name in by_name), None)


class UniqueNames:
    """The names that are taken: a second "a" becomes "a#2" (with the separator "#"), a third "a#3".

    >>> names = UniqueNames("#")
    >>> [names.take(name) for name in ("a", "a", "a#2", "a")]
    ['a', 'a#2', 'a#2#2', 'a#3']
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._last: dict[str, int] = {}  # the number given last for each name; every taken name is a key
        self.n_tries = 0

    def take(self, name: str) -> str:
        """Return `name`, or with the lowest number that makes it new; it is taken from now on."""
        chosen, number = name, self._last.get(name, 0)
        while chosen in self._last:
            number += 1
            self.n_tries += 1
            chosen = f"{name}{self._separator}{number}"
        if chosen != name:
            self._last[name] = number
        self._last[chosen] = 1
        return chosen
