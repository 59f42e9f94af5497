"""The one way this package compiles, and which kept machine code may be loaded.

Python threads call the kernels, so there is no thread layer; machine code is cached on disk if possible. numba keeps a
kernel as pickles and object code and takes both as they are: a byte that flipped ends the process, and a file that
another user put there does what they like. So nothing is loaded from a folder that others can write to, and each file
has to have a checksum that was noted when it was written. What fails is removed and compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from doccluster.base.progress import CLOCK, collector_paused

CHECKSUMS = "doccluster.sha256"  # lines of `sha256sum`: the checksum, two spaces, the name
ENDS = (".nbi", ".nbc")  # numba's index of a function, and its code for one signature
_OPEN_TO_ALL = stat.S_IWGRP | stat.S_IWOTH


def users_folder() -> Path | None:
    """Return the folder for machine code that only this user needs, or None for a user without a home."""
    of_user = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    try:
        return Path(of_user).expanduser() / "doccluster"
    except RuntimeError:
        return None


def make_folder(folder: Path) -> bool:
    """Make a folder that only the user can write to; returns whether it is there now and can be trusted."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return False
    return is_ours(folder)


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
    open_to = status.st_mode & _OPEN_TO_ALL
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


class CheckedFolder:
    """numba's files in one folder, and their checksums, of which one has to fit where several processes noted one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._noted: set[str] = set()
        self._read: tuple[int, int] | None = None
        self._at_first = self._listed()

    def clear_damaged(self, name: str) -> bool:
        """Remove the files of a function that are not whole or not ours; returns whether the rest may be loaded."""
        if not is_ours(self.folder):
            return False
        return all(self._is_whole(path) or _remove(path) for path in self._at_first.get(name, ()))

    def note(self, name: str) -> None:
        """Write down the checksums of a function's files; files without one are compiled again."""
        lines = [_line(path) for path in self._listed().get(name, ())]
        new = [line for line in lines if line and not self._is_noted(line)]
        with suppress(OSError), (self.folder / CHECKSUMS).open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in new))

    def remove(self, name: str) -> None:
        """Remove the files of a function of which not all could be written."""
        for path in self._listed().get(name, ()):
            _remove(path)

    def _listed(self) -> dict[str, list[Path]]:
        """Return the files of each function; their names are that of the function, "-", its line and a number."""
        files: dict[str, list[Path]] = {}
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.suffix in ENDS:
                    files.setdefault(path.name.rpartition("-")[0], []).append(path)
        return files

    def _is_whole(self, path: Path) -> bool:
        if path.is_symlink() or not path.is_file() or not is_ours(path):
            return False
        line = _line(path)
        return line is not None and self._is_noted(line)

    def _is_noted(self, line: str) -> bool:
        return line in self._noted or (self._reread() and line in self._noted)

    def _reread(self) -> bool:
        """Read the checksums again if others have added to them; returns whether that was so."""
        path = self.folder / CHECKSUMS
        try:
            status = path.stat()
            state = status.st_mtime_ns, status.st_size
            if state == self._read or not path.is_file() or not is_ours(path):
                return False
            self._noted = set(path.read_text(encoding="utf-8", errors="replace").splitlines())
        except OSError:
            return False
        self._read = state
        return True


@lru_cache
def checked_folder(folder: str) -> CheckedFolder:
    """Return the checksums of a folder, one object for all functions of a process."""
    return CheckedFolder(Path(folder))


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _line(path: Path) -> str | None:
    try:
        return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
    except OSError:
        return None


F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F | None = None, /, *, inner: bool = False, **options: object) -> Any:
    """Compile `function` without the interpreter lock, caching the machine code on disk where that is safe.

    An `inner` function is called by kernels only: it is compiled into them, and has no entry for Python. Division by
    zero gives what it gives in numpy: code that raises takes long to compile. There is no entry for C, a tenth of it.
    """
    if function is None:
        return lambda decorated: jit(decorated, inner=inner, **options)
    settings = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if inner:
        return numba.njit(no_cpython_wrapper=True, **settings)(function)
    return _cached(function, settings) or _cached_with_user(function, settings) or _not_kept(function, settings)


class _Compilations(event.Listener):  # type: ignore[misc]  # numba has no types
    """Counts the compilations that numba announces."""

    def on_start(self, announced: object) -> None:
        CLOCK.begin()

    def on_end(self, announced: object) -> None:
        CLOCK.end()


event.register("numba:compile", _Compilations())


def _not_kept(function: Callable[..., object], settings: Mapping[str, object]) -> Any:
    """Return the kernel without a cache; it says so when it is compiled."""
    kernel = numba.njit(**settings)(function)
    if numba.config.DISABLE_JIT:
        return kernel
    compile_for = kernel.compile

    def compile_and_warn(signature: object) -> object:
        CLOCK.warn_not_kept()
        with collector_paused():
            return compile_for(signature)

    kernel.compile = compile_and_warn
    return kernel


def _cached(function: Callable[..., object], settings: Mapping[str, object]) -> Any:
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


def _cached_with_user(function: Callable[..., object], settings: Mapping[str, object]) -> Any:
    """Return the kernel with a cache in the user's own folder, or None when that cannot be written either."""
    folder = users_folder()
    if folder is None or not make_folder(folder):
        return None
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        return _cached(function, settings)
    finally:
        numba.config.CACHE_DIR = before


def _noting(kernel: Any, folder: CheckedFolder, name: str) -> Callable[[object], object]:
    """Return the compiler of a kernel, which notes the files that it writes, and outlives a full disk."""
    compile_or_load = kernel.compile

    def compile_and_note(signature: object) -> object:
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
