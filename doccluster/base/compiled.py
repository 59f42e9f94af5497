"""The one way this package compiles, and which kept machine code may be loaded.

Python threads call the kernels, so there is no thread layer. numba keeps machine code in files and runs what it finds
there, so nothing is loaded from a folder that others can write to. What cannot be read is compiled anew.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from doccluster.base.progress import CLOCK, collector_paused


def users_folder() -> str:
    """Return the folder for machine code that only this user needs, made if need be, or "" where there is none."""
    of_user = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    try:
        folder = Path(of_user).expanduser() / "doccluster"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # it cannot be made, or the user has no home
        return ""
    return str(folder) if is_ours(folder) else ""


def is_ours(path: Path) -> bool:
    """Return whether only the user and the system's administrator can have written a file or into a folder.

    A group that only the user belongs to, as many Linux systems give to each, is the user. Windows keeps no rights in
    the mode of a file and is taken as safe.
    """
    if os.name == "nt":
        return True
    try:
        status = path.stat()
    except OSError:
        return False
    if status.st_uid not in (os.geteuid(), 0):
        return False
    open_to = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not open_to or (open_to == stat.S_IWGRP and _is_own_group(status.st_gid))


@lru_cache
def _is_own_group(number: int) -> bool:
    """Return whether a group has the name of the user and no other member."""
    if sys.platform == "win32":
        return False
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


@lru_cache
def _is_safe(folder: str) -> bool:
    """Return whether only the user can have written, and can write, to a folder of machine code and its files."""
    files = Path(folder).glob("*.nb[ci]")
    return is_ours(Path(folder)) and all(path.is_file() and is_ours(path) for path in files)


def jit(function: Callable[..., object] | None = None, /, *, inner: bool = False, **options: object) -> Any:
    """Compile `function` without the interpreter lock, caching the machine code on disk where that is safe.

    An `inner` function is called by kernels only: it is compiled into them, and has no entry for Python. Division by
    zero gives what it gives in numpy: code that raises takes long to compile. There is no entry for C, a tenth of it.
    """
    if function is None:
        return lambda decorated: jit(decorated, inner=inner, **options)
    settings = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if inner or numba.config.DISABLE_JIT:  # which gives the function itself
        return numba.njit(no_cpython_wrapper=inner, **settings)(function)
    kept = _kept(function, settings, numba.config.CACHE_DIR) or _kept(function, settings, users_folder())
    kernel = kept or numba.njit(**settings)(function)
    kernel.compile = _outliving_failures(kernel, is_kept=kept is not None)
    return kernel


class _Compilations(event.Listener):  # type: ignore[misc]  # numba has no types
    """Counts the compilations that numba announces."""

    def on_start(self, announced: object) -> None:
        CLOCK.begin()

    def on_end(self, announced: object) -> None:
        CLOCK.end()


event.register("numba:compile", _Compilations())


def _kept(function: Callable[..., object], settings: Mapping[str, object], chosen: str) -> Any:
    """Return the kernel with a cache in the chosen folder, else in one that numba finds; None if that is not safe."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, chosen
    try:
        kernel = numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # numba: "no locator available", no folder for the cache can be written
        return None
    finally:
        numba.config.CACHE_DIR = before
    return kernel if _is_safe(str(kernel.stats.cache_path)) else None


def _outliving_failures(kernel: Any, *, is_kept: bool) -> Callable[[object], object]:
    """Return the compiler of a kernel; it says when nothing is kept, and outlives cut files and a full disk."""
    compile_or_load = kernel.compile

    def compile_anew(signature: object) -> object:
        with collector_paused():
            if not is_kept:
                CLOCK.warn_not_kept()
                return compile_or_load(signature)
            for _ in range(2):  # reading fails, then writing; what numba has compiled it gives when it is asked again
                try:
                    return compile_or_load(signature)
                except Exception:  # noqa: BLE001  no list of what damaged files raise is complete
                    _remove_files(kernel)
            return compile_or_load(signature)

    return compile_anew


def _remove_files(kernel: Any) -> None:
    """Remove what numba keeps of a kernel, in files named by its function, "-", its line and more."""
    name = f"*.{kernel.__name__}-{kernel.py_func.__code__.co_firstlineno}.*nb[ci]"
    for path in Path(kernel.stats.cache_path).glob(name):
        with suppress(OSError):
            path.unlink()
