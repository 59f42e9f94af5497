"""Values in plain words: short reprs, lists of names, sizes, checksums; text without hidden characters; JSON.

JSON from anywhere is checked against types before anything is done with it: the schema of a file is a dataclass.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from doccluster.base.arrays import Matrix
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


def jsonable(value: object) -> Any:
    """Return a value as JSON can hold it: arrays as lists, what is not a number as None, anything else as its text.

    >>> jsonable({"mean": float("nan"), 2: (1, float("inf"))})
    {'mean': None, '2': [1, 'Infinity']}
    """
    if isinstance(value, Mapping):
        return {str(name): jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def checksum(parts: Iterable[str | bytes | memoryview]) -> str:
    """Return the SHA-256 of texts and bytes, as hexadecimal digits; where one part ends and the next begins counts.

    >>> checksum(["ab", "c"]) == checksum(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        size = content.nbytes if isinstance(content, memoryview) else len(content)
        digest.update(size.to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def matrix_checksum(matrix: Matrix, **parameters: object) -> str:
    """Return the checksum of a csr or dense matrix and of parameters, of which each needs a faithful repr."""
    import numpy as np  # the help of the command line needs this module, and no arrays

    arrays = (matrix,) if isinstance(matrix, np.ndarray) else (matrix.indptr, matrix.indices, matrix.data)
    contents = (np.ascontiguousarray(array).view(np.uint8).data for array in arrays)
    return checksum([repr((tuple(matrix.shape), sorted(parameters.items()))), *contents])


SPHERICAL = "spherical-k-means"  # the algorithm of runs from before they wrote it down
METRICS = ("cosine", "euclidean", "sqeuclidean")
FAMILIES = ("external", "internal", "intrinsic", "topic")  # of measures: what is judged
CRITERIA = {  # of the number of clusters: name, and what it chooses
    "silhouette": "the largest silhouette",
    "calinski-harabasz": "the largest ratio of scatter between and within clusters",
    "delta": "the smallest second difference of Calinski-Harabasz",
    "gap": "the first k whose gap of distances the next one does not clearly exceed",
    "gap-rss": "the same of the residual sum of squares (RSS)",
    "knee": "the bend of the RSS",
    "penalised-rss": "the least RSS + penalty k",
    "hartigan": "the first k whose next cluster lowers the RSS by too little",
    "krzanowski-lai": "the largest ratio of successive falls of the RSS",
    "stability": "the k whose clusters resampled documents find again",
}


def spelled(name: str) -> str:
    """Return a name without what people leave out: k-means, kmeans and K_Means are one.

    >>> spelled("spherical-k-means") == spelled("spherical-kmeans")
    True
    """
    return name.lower().replace("-", "").replace("_", "")


CONTROLS = "\x00-\x08\x0b\x0e-\x1f\x7f"  # those of ASCII other than white space
LATER_CONTROLS = "\x80-\x9f"  # those of Latin-1, which some terminals obey
DIRECTIONS = "\u061c\u202a-\u202e\u2066-\u2069"  # turn the direction of the text after them around
MARKS = "\u200e\u200f"  # steer the direction at one place, as Hebrew and Arabic texts need it
SURROGATES = "\ud800-\udfff"  # halves of pairs, which no file can hold
INVISIBLE = "\u00ad\u2060\ufeff"  # the soft hyphen, the word joiner and the mark of a file's beginning
JOINERS = "\u200c\u200d"  # part or join letters: they matter in Arabic and Indic scripts, and between emoji
# zero-width spaces part words in scripts without blanks, from Thai and Tibetan to those of the Tai
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u1950-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
_PLAIN = "0-9A-Za-z\u00aa-\u052f\u1e00-\u1fff\u3005-\u9fff\uac00-\ud7a3"  # Latin, Greek, Cyrillic, Chinese, Korean
_NOT_SEEN = re.compile(
    "(?<=\\w)[\u00ad\u00ac][ \t]*\n[ \t]*(?=\\w)|"  # a hyphen that the end of a line called for, and that of scans
    f"[{INVISIBLE}]|(?<![{_UNSPACED}])\u200b(?![{_UNSPACED}])|(?<=[{_PLAIN}])[{JOINERS}]+(?=[{_PLAIN}])"
)


def without_invisible(text: str) -> str:
    """Return a text without the characters that are not seen and part no words (UAX 29 passes over them, rule WB4).

    >>> without_invisible("Gesamt\u00adkonzept"), len(without_invisible("\u0645\u06cc\u200c\u062e\u0648"))
    ('Gesamtkonzept', 5)
    """
    if text.isascii() or not any(map(text.__contains__, f"{INVISIBLE}\u200b{JOINERS}\u00ac")):
        return text
    return _NOT_SEEN.sub("", text)


T = TypeVar("T")

MAX_NUMBER = 2**63 - 1  # of whole numbers, which go into arrays of 64 bits
DEEPEST = 20
_LISTS = (Sequence, Iterable, Collection, list, set, frozenset)
_SHOWN = 40  # characters of a wrong value in a message


def read_as(kind: type[T], value: object, place: str = "it") -> T:
    """Return a value of JSON as a value of `kind`: a dataclass, a type of a field, or a union of such.

    Lists become tuples, objects dataclasses or mappings. An object may not have names that its dataclass does not know;
    it may lack those that have a default. Raises ValueError for any other value, which says where it stands.

    >>> read_as(tuple[int, ...], [1, 2])
    (1, 2)
    >>> read_as(tuple[int, ...], [1, "x"], "lengths")
    Traceback (most recent call last):
        ...
    ValueError: lengths[1] is 'x', expected a whole number
    """
    result: T = _convert(kind, value, place)
    return result


def _convert(kind: Any, value: Any, place: str) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return _plain(value, place, DEEPEST)
    if origin in (Union, types.UnionType):
        return _convert_union(kind, value, place)
    if origin is Literal:
        return _expect(isinstance(value, str | int) and value in get_args(kind), value, place, _name(kind))
    if origin is tuple or origin in _LISTS or kind in _LISTS:
        return _convert_list(kind, value, place)
    if origin is Mapping or origin is dict:
        _expect(isinstance(value, dict), value, place, "an object")
        return {name: _convert(get_args(kind)[1], item, f"{place}.{name[:_SHOWN]}") for name, item in value.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        return _convert_object(kind, value, place)
    if kind not in _SINGLE:
        raise ValueError(f"{place} is {_shown(value)}, which cannot come from a file")
    name, fits = _SINGLE[kind]
    _expect(fits(value), value, place, name)
    return float(value) if kind is float else value


def _is_small(value: object) -> bool:
    return type(value) is int and -MAX_NUMBER <= value <= MAX_NUMBER


# the types of values without parts: in words, and whether a value is one
_SINGLE: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("text", lambda value: type(value) is str),
    int: ("a whole number", _is_small),
    float: ("a number", lambda value: _is_small(value) or (type(value) is float and math.isfinite(value))),
    bool: ("true or false", lambda value: type(value) is bool),
    type(None): ("null", lambda value: value is None),
}


def _convert_union(kind: object, value: object, place: str) -> Any:
    for choice in get_args(kind):
        try:
            return _convert(choice, value, place)
        except ValueError:
            continue
    if isinstance(value, dict | list):  # say what is wrong inside
        inner = [
            choice
            for choice in get_args(kind)
            if is_dataclass(choice) or get_origin(choice) in (tuple, Mapping, *_LISTS)
        ]
        if len(inner) == 1:
            return _convert(inner[0], value, place)
    raise ValueError(f"{place} is {_shown(value)}, expected {_name(kind)}")


def _convert_list(kind: Any, value: Any, place: str) -> tuple[object, ...]:
    _expect(isinstance(value, list | tuple), value, place, "a list")
    inner = get_args(kind)
    if get_origin(kind) is tuple and Ellipsis not in inner:
        _expect(len(value) == len(inner), value, place, f"a list of {len(inner)}")
        return tuple(
            _convert(item_kind, item, f"{place}[{i}]")
            for i, (item_kind, item) in enumerate(zip(inner, value, strict=True))
        )
    of = inner[0] if inner else Any
    if of is str and all(type(item) is str for item in value):  # the long lists
        return tuple(value)
    return tuple(_convert(of, item, f"{place}[{index}]") for index, item in enumerate(value))


class OtherNames(ValueError):
    """An object lacks names or has unknown ones: another version wrote it (a file that was cut short is not JSON)."""


def _convert_object(kind: Any, value: Any, place: str) -> Any:
    _expect(isinstance(value, dict), value, place, "an object")
    hints = _field_types(kind)
    unknown = [name for name in value if name not in hints]
    if unknown:
        raise OtherNames(f"{place} has {_shown(unknown[0])}, which is not known")
    missing = [
        field.name
        for field in fields(kind)
        if field.default is field.default_factory is MISSING and field.name not in value
    ]
    if missing:
        raise OtherNames(f"{place} lacks {', '.join(map(repr, missing))}")
    return kind(**{name: _convert(hints[name], item, f"{place}.{name}") for name, item in value.items()})


def _plain(value: object, place: str, depth: int) -> object:
    """Return any JSON value whose numbers are not too large and that is not nested too deep."""
    if depth == 0:
        raise ValueError(f"{place[:_SHOWN]} is nested more than {DEEPEST} deep")
    if isinstance(value, dict):
        return {name: _plain(item, f"{place}.{name[:_SHOWN]}", depth - 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, place, depth - 1) for item in value]
    return _expect(any(fits(value) for _, fits in _SINGLE.values()), value, place, "a value of JSON")


_field_types = cache(get_type_hints)


def _expect(fits: bool, value: object, place: str, expected: str) -> Any:
    if not fits:
        raise ValueError(f"{place} is {_shown(value)}, expected {expected}")
    return value


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and not _is_small(value):
        return "a number beyond 64 bits"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _name(kind: Any) -> str:
    """Return a type in words: "text, a list or null"."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if get_origin(kind) in (Union, types.UnionType):
        return one_of(list(dict.fromkeys(filter(None, map(_name, get_args(kind))))))
    if get_origin(kind) in (tuple, *_LISTS):
        return "a list"
    if kind in _SINGLE:
        return _SINGLE[kind][0]
    return "an object" if get_origin(kind) in (Mapping, dict) or is_dataclass(kind) else ""
