"""From kernels to machine code that stands alone: numba, then LLVM's optimiser once more over closed functions."""

from __future__ import annotations

import importlib
from typing import Any

import llvmlite.binding as llvm
import numba

from doccluster.kernels.machine_code import Loop, LoopLibrary, target_machine


def compile_library(library: LoopLibrary) -> bytes:
    """Return the object code of all loops of a library.

    Raises
    ------
    RuntimeError
        If a loop needs something outside itself: memory of its own, an exception, a function of a C library.
    """
    machine = target_machine()
    joined = llvm.parse_assembly("")
    for loop in library.loops:
        module = importlib.import_module(f"{library.package}.{loop.module}")
        joined.link_in(_closed_module(loop, getattr(module, loop.function), machine))
    outside = [value.name for value in (*joined.functions, *joined.global_variables) if value.is_declaration]
    needed = [name for name in outside if not name.startswith("llvm.")]
    if needed:
        raise RuntimeError(f"the loops of {library.name!r} do not stand alone, they need {', '.join(needed)}.")
    return bytes(machine.emit_object(joined))


def _closed_module(loop: Loop, kernel: Any, machine: Any) -> Any:
    """Return the optimised LLVM module of one loop, in which only the loop can be seen from outside."""
    # As part of its entry the loop is compiled once; as a function of its own it would be compiled, and then linked in.
    inlined = numba.njit(inline="always", error_model="numpy")(kernel.py_func)
    compiled = numba.cfunc(_signature(loop), error_model="numpy")(_entry(loop, inlined))
    module = llvm.parse_assembly(compiled.inspect_llvm())
    for function in module.functions:
        if function.name == compiled.native_name:
            function.name = loop.name
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    # Once no other code can call them, the optimiser sees that the functions cannot fail, and drops what numba adds for
    # exceptions.
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def _signature(loop: Loop) -> Any:
    types: list[Any] = []
    for argument in loop.arguments:
        of_element = getattr(numba.types, argument.dtype.name)
        types += [of_element] if argument.width is None else [numba.types.CPointer(of_element), numba.types.int64]
    return (numba.types.int64 if loop.returns else numba.types.void)(*types)


def _entry(loop: Loop, kernel: Any) -> Any:
    """Return a function of addresses and sizes that calls the kernel with arrays."""
    # numba compiles no *args here, so the function is written for this number of arguments.
    parameters: list[str] = []
    given: list[str] = []
    names: dict[str, Any] = {"carray": numba.carray, "kernel": kernel}
    for group, arguments in loop.groups:
        values = []
        for argument in arguments:
            number = len(parameters)
            parameters.append(f"a{number}")
            if argument.width is None:
                values.append(f"a{number}")
                continue
            parameters.append(f"n{number}")
            shape = f"n{number}" if argument.n_dimensions == 1 else f"(n{number}, {argument.width})"
            values.append(f"carray(a{number}, {shape})")
        if group is None:
            given += values
        else:
            names[group.__name__] = group
            given.append(f"{group.__name__}({', '.join(values)})")
    source = f"def entry({', '.join(parameters)}):\n    return kernel({', '.join(given)})\n"
    exec(compile(source, f"<entry of {loop.name}>", "exec"), names)
    return names["entry"]
