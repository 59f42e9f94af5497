"""Values of JSON: what a run writes, and what is read from anywhere as values of the right types.

JSON from anywhere is checked against types before anything is done with it: the schema of a file is a dataclass.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from doccluster.base.plain_values import one_of

T = TypeVar("T")

MAX_NUMBER = 2**63 - 1  # of whole numbers, which go into arrays of 64 bits
DEEPEST = 20
_LISTS = (Sequence, Iterable, Collection, list, set, frozenset)
_SHOWN = 40  # characters of a wrong value in a message


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
