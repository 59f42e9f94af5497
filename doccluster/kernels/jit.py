"""The one way this package compiles: no thread layer (Python threads call the kernels), cached on disk if possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F | None = None, /, **options: Any) -> Any:
    """Compile `function` without the interpreter lock, caching the machine code on disk.

    Where neither folder can be written the kernel is compiled anew in each process instead of failing.
    """
    if function is None:
        return lambda decorated: jit(decorated, **options)
    settings = {"nogil": True, **options}
    try:
        return numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # numba: "no locator available", no folder for the cache can be written
        return numba.njit(cache=False, **settings)(function)
