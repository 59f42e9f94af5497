"""Values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def jsonable(value: Any) -> Any:
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
