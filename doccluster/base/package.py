"""The package itself: its version, where every floor may read it, and names that are loaded when they are first used.

A command pays only for the imports it needs.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

__version__ = "1.1.0.dev0"


def load(place: str) -> Any:
    """Return the object that ``module:name`` names, importing its module only now."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def offer(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, for the names in its ``__init__.pyi``.

    Editors and type checkers read that file too, so a public name is written once: ``from module import name as name``,
    one a line, or ``name = other`` below ``from module import other``.
    """
    homes: dict[str, tuple[str, str]] = {}  # of each name: its module, and its name there
    others: dict[str, tuple[str, str]] = {}
    stub = os.path.join(importlib.import_module(package).__path__[0], "__init__.pyi")  # noqa: PTH118  pathlib takes long to import
    with open(stub, encoding="utf-8") as lines:  # noqa: PTH123
        for line in lines:
            match line.replace(",", " ").split():
                case "from", module, "import", name, "as", _:
                    homes[name] = module, name
                case "from", module, "import", *names:
                    others |= {name: (module, name) for name in names}
                case name, "=", other:
                    homes[name] = others[other]
    offered = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, own_name = homes[name]
        if module == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(module), own_name)

    return get, lambda: offered, offered
