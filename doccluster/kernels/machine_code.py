"""Compiled loops without their compiler: machine code kept in a file, loaded by LLVM alone and called through C.

A function that numba caches still needs all of numba to be called, and each new process pays for that in time and
memory. The loops of a `LoopLibrary` take addresses and sizes only, so once compiled they need neither numba nor Python.
A library is compiled (see `compilation`) when there is no file for this processor and these sources.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt

from doccluster.kernels.code_cache import cache_folders, is_ours, make_folder
from doccluster.kernels.compile_clock import CLOCK, collector_paused

_ARRAY = re.compile(r"(\w+)\[(?::,)?:(\d*)\]")
_DIGEST_SIZE = 32

Part = str | tuple[type, str]


class Argument:
    """The type of one argument: `int64`, a vector such as `int32[:]`, or a table such as `uint64[:,:4]`.

    Attributes
    ----------
    dtype : numpy dtype
    width : int or None
        The number of columns of a table, 1 for a vector, None for a number.
    """

    def __init__(self, text: str) -> None:
        array = _ARRAY.fullmatch(text)
        self.width = None if array is None else int(array[2] or 1)
        self.dtype = np.dtype(text if array is None else array[1])

    @property
    def n_dimensions(self) -> int:
        """0 for a number, 1 for a vector, 2 for a table."""
        return 0 if self.width is None else 1 if self.width == 1 else 2

    def address(self, value: npt.NDArray[Any], name: str) -> tuple[int, int]:
        """Return the address and the number of rows of an array of this type.

        Raises
        ------
        TypeError
            If it is of another type, or has gaps between its elements: machine code would read wrong memory.
        """
        fits = value.dtype == self.dtype and value.ndim == self.n_dimensions and value.flags.c_contiguous
        if not fits or (value.ndim == 2 and value.shape[1] != self.width):
            raise TypeError(f"{name} got {value.dtype} of shape {value.shape}, which is not what it was compiled for.")
        return value.ctypes.data, value.shape[0]


class Loop:
    """A compiled function of arrays and whole numbers, found in its library when it is first called."""

    def __init__(self, library: LoopLibrary, place: str, parts: Sequence[Part], *, name: str, returns: bool) -> None:
        self.library = library
        self.module, self.function = place.split(".")
        self.name = name or self.function
        grouped = [(None, part) if isinstance(part, str) else part for part in parts]
        self.groups = [(group, [Argument(text) for text in types.split()]) for group, types in grouped]
        self.arguments = [argument for _, arguments in self.groups for argument in arguments]
        self.returns = returns
        self._call: Callable[..., Any] | None = None

    def __call__(self, *values: Any) -> Any:
        """Run the loop without the interpreter lock; returns its whole number, if it has one."""
        call = self._call or self._find()
        flat: list[int] = []
        each = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
        for argument, value in zip(self.arguments, each, strict=True):
            if argument.width is None:
                flat.append(int(value))
            else:
                flat += argument.address(value, self.name)
        return call(*flat)

    def _find(self) -> Callable[..., Any]:
        address = self.library.address(self.name)
        types: list[Any] = []
        for argument in self.arguments:
            types += [ctypes.c_int64] if argument.width is None else [ctypes.c_void_p, ctypes.c_int64]
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64 if self.returns else None, *types)(address)
        return self._call


class LoopLibrary:
    """Loops that are compiled, kept and loaded together.

    Parameters
    ----------
    name : str
        The beginning of the name of its file.
    package : str
        The package of the modules with the sources.
    sources : tuple of str
        Those modules. When one changes, the library is compiled anew.
    """

    def __init__(self, name: str, *, package: str, sources: tuple[str, ...]) -> None:
        self.name = name
        self.package = package
        self.sources = sources
        self.loops: list[Loop] = []
        self._engine: Any = None
        self._lock = threading.Lock()

    def loop(self, place: str, *parts: Part, name: str = "", returns: bool = False) -> Loop:
        """Declare the loop `module.function` with the types of its arguments.

        parts: types of arguments, separated by spaces, or a named tuple with the types of its fields.
        name: for a function that is compiled for several types; returns: it gives a whole number.
        """
        declared = Loop(self, place, parts, name=name, returns=returns)
        self.loops.append(declared)
        return declared

    def address(self, name: str) -> int:
        """Return where the machine code of a loop begins; the library is loaded, or compiled, on the first call."""
        with self._lock:
            if self._engine is None:
                self._engine = _engine_of(self._machine_code())
            return int(self._engine.get_function_address(name))

    def _machine_code(self) -> bytes:
        file_name = f"{self.name}-{self._key()}.loops"
        for folder in cache_folders():
            code = read_code(folder / file_name)
            if code is not None:
                return code
        from doccluster.kernels.compilation import compile_library  # the compiler, needed once for each machine

        with CLOCK.compiling(), collector_paused():
            code = compile_library(self)
        if not any(write_code(folder / file_name, code) for folder in cache_folders()):
            CLOCK.warn_not_kept()
        return code

    def _key(self) -> str:
        """Return a digest of the sources, the declared types, LLVM and the processor."""
        parts = [llvmlite.__version__, llvm.get_default_triple(), *_processor()]
        digest = hashlib.sha256("\n".join(parts).encode())
        for loop in self.loops:
            types = " ".join(f"{argument.dtype}{argument.width}" for argument in loop.arguments)
            digest.update(f"{loop.name} {loop.module}.{loop.function} {types} {loop.returns}\n".encode())
        for source in (*self.sources, "compilation"):
            spec = find_spec(f"{self.package}.{source}")
            if spec is not None and spec.origin is not None:
                digest.update(Path(spec.origin).read_bytes())
        return digest.hexdigest()[:16]


def read_code(path: Path) -> bytes | None:
    """Return the machine code in a file, or None when there is none, it is damaged, or others could have written it."""
    if not (is_ours(path.parent) and path.is_file() and is_ours(path)):
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    return code if hashlib.sha256(code).digest() == digest else None


def write_code(path: Path, code: bytes) -> bool:
    """Write machine code to a file that others see whole or not at all; returns whether that was possible."""
    if not make_folder(path.parent):
        return False
    from doccluster.unfinished import finished_file  # costs an import that only the first process pays

    try:
        with finished_file(path) as unfinished:
            unfinished.write_bytes(hashlib.sha256(code).digest() + code)
    except OSError:
        return False
    return True


def target_machine() -> Any:
    """Return LLVM's description of this processor, a new one each time: engines take theirs with them."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    processor, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=processor, features=features, opt=3, codemodel="jitdefault", jit=True)


def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _engine_of(code: bytes) -> Any:
    """Return an engine that holds the machine code, ready to run, for as long as the engine lives."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
