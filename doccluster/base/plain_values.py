"""Values in plain words: short reprs, lists of names, and sizes in bytes."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass

from doccluster.errors import InputError, shown

MAX_CHARACTERS = 300  # about three lines of a terminal
_MAX_OF_TEXT = 40
_MAX_OF_PARTS = 3


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


def short(value: object) -> str:
    """Return a value in a few words: numbers and short texts as they are, of the rest the kind and the size.

    >>> short("harbour"), short(1 / 3), short(("a", "b")), short({"seed": 7}), short(list(range(2000)))
    ("'harbour'", '0.333333', "('a', 'b')", "{'seed'}", '<2,000 values>')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= _MAX_OF_TEXT else value[: _MAX_OF_TEXT - 1] + "…")
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, int):
        return repr(value)
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} {' x '.join(f'{length:,}' for length in value.shape)}>"
    if isinstance(value, Mapping):
        if len(value) > _MAX_OF_PARTS:
            return f"<{len(value):,} entries>"
        return f"{{{', '.join(map(short, value))}}}"
    if isinstance(value, Collection) and not is_dataclass(value):
        if len(value) > _MAX_OF_PARTS or any(is_dataclass(item) for item in value):
            return f"<{len(value):,} value{'' if len(value) == 1 else 's'}>"
        return f"({', '.join(map(short, value))}{',' if len(value) == 1 else ''})"
    return f"<{type(value).__name__}>"


def cut(text: str) -> str:
    """Return a text of at most `MAX_CHARACTERS`, with a mark where it was cut."""
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 2] + "…)"


def listed(names: Collection[object], max_names: int = _MAX_OF_PARTS) -> str:
    """Return the first names of many, with commas between them.

    >>> listed(["a", "b", "c", "d"]), listed([])
    ('a, b, c, ...', 'none')
    """
    first = map(str, itertools.islice(names, max_names))
    shown = [name if len(name) <= _MAX_OF_TEXT else name[: _MAX_OF_TEXT - 1] + "…" for name in first]
    return ", ".join([*shown, "..."] if len(names) > max_names else shown) or "none"


def one_of(words: Sequence[str]) -> str:
    """Return words with commas between them, and an "or" before the last.

    >>> one_of(["6 sections", "31 topics", "212 subtopics"])
    '6 sections, 31 topics or 212 subtopics'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


def parse_size(size: str | int | float) -> int:
    """Return a number of bytes from a number or a text such as ``500M``, ``2G`` or ``1.5 GiB`` (powers of 1024).

    >>> parse_size("2G")
    2147483648
    """
    if isinstance(size, bool) or not isinstance(size, str | int | float):
        raise InputError(f"{shown(size)} is not a size in bytes", remedy="write for instance 500M or 2G")
    if isinstance(size, int | float):
        number, unit = float(size) if size < 2**1000 else math.inf, ""
    else:
        match = _SIZE.fullmatch(size)
        if match is None:
            raise InputError(f"{shown(size)} is not a size in bytes", remedy="write for instance 500M or 2G")
        number, unit = float(match[1]), match[2].lower()
    if not 0 < number < math.inf:
        raise InputError(f"{shown(size)} is not a positive size", remedy="write for instance 500M or 2G")
    return int(number * 1024 ** " kmgt".index(unit or " "))


def format_size(n_bytes: float, *, up: bool = False) -> str:
    """Return a number of bytes in the unit that suits it, as `parse_size` reads it; rounded up with `up`.

    >>> format_size(3 * 2**29), format_size(123_456), format_size(0), format_size(2**30 + 1, up=True)
    ('1.5 GiB', '121 KiB', '0 B', '1.1 GiB')
    """
    power = min(max(int(n_bytes).bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    number = n_bytes / 1024**power
    digits = 1 if power > 1 else 0
    if up:
        number = math.ceil(number * 10**digits) / 10**digits
    return f"{number:.{digits}f} {_UNITS[power]}"
