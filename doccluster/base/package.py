"""The package itself: its version, where every floor may read it, and names that are loaded when they are first used.

A command pays only for the imports it needs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__version__ = "1.1.0.dev0"


def load(place: str) -> Any:
    """Return the object that ``module:name`` names, importing its module only now."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def offer(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names live in modules (``module:name`` for another)."""

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own_name = homes[name].partition(":")
        home = importlib.import_module(module)
        return home if module == f"{package}.{name}" else getattr(home, own_name or name)

    return get, lambda: sorted(sys.modules[package].__all__)
