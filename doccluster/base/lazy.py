"""Names of a package that are loaded when they are first used: a command pays only for the imports it needs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def loaded(place: str) -> Any:
    """Return the object at a place, ``"module:name"``.

    >>> loaded("math:floor")(2.5)
    2
    """
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def offer(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package whose names live in these modules.

    A module of the package that has the name itself is offered as a module; ``module:name`` offers what has another
    name there.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home == f"{package}.{name}":
            return importlib.import_module(home)
        return loaded(home if ":" in home else f"{home}:{name}")

    return get, lambda: sorted(sys.modules[package].__all__)
