"""A repr of one to three lines for records that hold data: what they are and how much, never the data."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

MOST_CHARACTERS = 300  # about three lines of a terminal
_MOST_OF_TEXT = 40
_MOST_OF_PARTS = 3


class ShortRepr:
    """Base of dataclasses (made with ``repr=False``) that name each part in a few words.

    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Readings(ShortRepr):
    ...     place: str
    ...     values: tuple[float, ...]
    >>> Readings("harbour", tuple(map(float, range(3546))))
    Readings(place='harbour', values=<3,546 values>)
    """

    def __repr__(self) -> str:
        assert is_dataclass(self)  # the base is for dataclasses alone
        parts = [f"{part.name}={short(getattr(self, part.name))}" for part in fields(self) if part.repr]
        return cut(f"{type(self).__name__}({', '.join(parts)})")


def short(value: Any) -> str:
    """Return a value in a few words: numbers and short texts as they are, of the rest the kind and the size.

    >>> short("harbour"), short(1 / 3), short(("a", "b")), short({"seed": 7}), short(list(range(2000)))
    ("'harbour'", '0.333333', "('a', 'b')", "{'seed'}", '<2,000 values>')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= _MOST_OF_TEXT else value[: _MOST_OF_TEXT - 1] + "…")
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, int):
        return repr(value)
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} {' x '.join(f'{length:,}' for length in value.shape)}>"
    if isinstance(value, Mapping):
        if len(value) > _MOST_OF_PARTS:
            return f"<{len(value):,} entries>"
        return f"{{{', '.join(map(short, value))}}}"
    if isinstance(value, Collection) and not is_dataclass(value):
        if len(value) > _MOST_OF_PARTS or any(is_dataclass(item) for item in value):
            return f"<{len(value):,} value{'' if len(value) == 1 else 's'}>"
        return f"({', '.join(map(short, value))}{',' if len(value) == 1 else ''})"
    return f"<{type(value).__name__}>"


def cut(text: str) -> str:
    """Return a text of at most `MOST_CHARACTERS`, with a mark where it was cut."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 2] + "…)"


def listed(names: Collection[Any], max_names: int = _MOST_OF_PARTS) -> str:
    """Return the first names of many, with commas between them.

    >>> listed(["a", "b", "c", "d"]), listed([])
    ('a, b, c, ...', 'none')
    """
    first = map(str, itertools.islice(names, max_names))
    shown = [name if len(name) <= _MOST_OF_TEXT else name[: _MOST_OF_TEXT - 1] + "…" for name in first]
    return ", ".join([*shown, "..."] if len(names) > max_names else shown) or "none"


def one_of(words: Sequence[str]) -> str:
    """Return words with commas between them, and an "or" before the last.

    >>> one_of(["6 sections", "31 topics", "212 subtopics"])
    '6 sections, 31 topics or 212 subtopics'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
