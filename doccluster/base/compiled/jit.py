"""The one way this package compiles: no thread layer (Python threads call the kernels), cached on disk if possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from doccluster.base.compiled.code_cache import CheckedFolder, checked_folder, make_folder, users_folder
from doccluster.base.compiled.compile_clock import CLOCK, collector_paused

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F | None = None, /, *, inner: bool = False, **options: Any) -> Any:
    """Compile `function` without the interpreter lock, caching the machine code on disk.

    Where no folder can be written, or none is safe from others, the kernel is compiled anew in each process. An `inner`
    function is called by kernels only: it is compiled into them, has no entry for Python and no file of its own. A
    division by zero gives what it gives in numpy, since code that raises an error takes long to compile. No one calls a
    kernel from C, so the entry for it, a tenth of all compiling, is left out.
    """
    if function is None:
        return lambda decorated: jit(decorated, inner=inner, **options)
    settings = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if inner:
        return numba.njit(no_cpython_wrapper=True, **settings)(function)
    return _cached(function, settings) or _cached_with_user(function, settings) or _not_kept(function, settings)


class _Compilations(event.Listener):  # type: ignore[misc]  # numba has no types
    """Puts what numba announces on the clock."""

    def on_start(self, announced: Any) -> None:
        CLOCK.begin()

    def on_end(self, announced: Any) -> None:
        CLOCK.end()


event.register("numba:compile", _Compilations())


def _not_kept(function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """Return the kernel without a cache; it says so when it is compiled."""
    kernel = numba.njit(**settings)(function)
    if numba.config.DISABLE_JIT:
        return kernel
    compile_for = kernel.compile

    def compile_and_warn(signature: Any) -> Any:
        CLOCK.warn_not_kept()
        with collector_paused():
            return compile_for(signature)

    kernel.compile = compile_and_warn
    return kernel


def _cached(function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """Return the kernel with the cache that numba finds for it, or None when there is none that may be loaded."""
    try:
        kernel = numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # numba: "no locator available", no folder for the cache can be written
        return None
    if numba.config.DISABLE_JIT:  # it is the function itself
        return kernel
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}".replace("<", "").replace(">", "")
    folder = checked_folder(str(kernel.stats.cache_path))
    if not folder.clear_damaged(name):
        return None
    kernel.compile = _noting(kernel, folder, name)
    return kernel


def _cached_with_user(function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """Return the kernel with a cache in the user's own folder, or None when that cannot be written either."""
    folder = users_folder()
    if folder is None or not make_folder(folder):
        return None
    with _numba_caches_in(folder):
        return _cached(function, settings)


@contextmanager
def _numba_caches_in(folder: Path) -> Iterator[None]:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _noting(kernel: Any, folder: CheckedFolder, name: str) -> Callable[[Any], Any]:
    """Return the compiler of a kernel, which notes the files that it writes, and outlives a full disk."""
    compile_or_load = kernel.compile

    def compile_and_note(signature: Any) -> Any:
        with global_compiler_lock, collector_paused():
            misses = kernel.stats.cache_misses.total()
            for _ in range(2):
                try:
                    compiled = compile_or_load(signature)
                # reading or keeping failed (what numba has made it gives when it is asked again), or the code is of a
                # version before, in which the classes of its arguments had another home
                except (OSError, ImportError, AttributeError):
                    folder.remove(name)
                else:
                    break
            else:
                compiled = compile_or_load(signature)
            if kernel.stats.cache_misses.total() > misses:
                folder.note(name)
            return compiled

    return compile_and_note
