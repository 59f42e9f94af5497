"""What is compiled, when it is said, and that it is not taken for the work."""

from __future__ import annotations

import ast
import gc
import os
import pathlib
import runpy
import subprocess
import sys
import time

import numba.core.event
import pytest

from doccluster.base.compiled import jit
from doccluster.base.progress import CLOCK, CompileClock, StageClock, collector_paused, silent
from doccluster.cli.console import COMPILING, progress_shown
from doccluster.errors import DocclusterWarning

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compiled_and_called():
    """The compiled functions with an entry for Python, those without, and what Python calls, as (module, name)."""
    entries, inner, called = set(), set(), set()
    for path in (ROOT / "doccluster").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        homes = {node.name: module for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                homes |= {alias.asname or alias.name: node.module for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                marks = "".join(ast.unparse(mark) for mark in node.decorator_list)
                if marks.startswith("jit"):
                    (inner if "inner=True" in marks else entries).add((module, node.name))
                else:
                    names = {
                        one.func.id for one in ast.walk(node) if isinstance(one, ast.Call) and hasattr(one.func, "id")
                    }
                    called |= {(homes[name], name) for name in names if name in homes}
    return entries, inner, called


def test_an_inner_function_is_called_by_kernels_only():
    _, inner, called = compiled_and_called()
    assert len(inner) > 15
    assert inner & called == set()


SLOW_TO_COMPILE = {"partition", "argpartition", "unique", "sort", "argsort", "searchsorted", "cumsum", "concatenate"}


def test_no_kernel_is_made_of_what_is_slow_to_compile():
    kernels, slow = 0, []
    for path in (ROOT / "doccluster").rglob("*.py"):
        for kernel in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(kernel, ast.FunctionDef) or "jit" not in "".join(map(ast.unparse, kernel.decorator_list)):
                continue
            kernels += 1
            for node in ast.walk(kernel):
                called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
                is_slice = isinstance(node, ast.Assign) and isinstance(
                    getattr(node.targets[0], "slice", None), ast.Slice
                )
                is_tuple = is_slice and isinstance(node.value, ast.Tuple)
                if called in SLOW_TO_COMPILE or is_tuple or isinstance(node, ast.List | ast.ListComp):
                    slow.append(f"{path.name}: {ast.unparse(node)}")
    assert kernels > 40
    assert slow == []


def test_a_first_run_compiles_little(tmp_path):
    code = (
        "import contextlib, sys\nfrom numba.core import event\nfrom doccluster.cli.main import main\n"
        "class Compiled(event.Listener):\n"
        "    n = 0\n    def on_start(self, announced):\n        self.n += 1\n    def on_end(self, announced): pass\n"
        "with event.install_listener('numba:compile', Compiled()) as compiled, contextlib.suppress(SystemExit):\n"
        "    main(['-q', 'run', sys.argv[1], '-o', 'run'])\n"
        "print(compiled.n)"
    )
    sample = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", code, str(sample)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert (tmp_path / "run" / "report.html").exists()
    assert 10 < int(done.stdout.split()[-1]) <= 40  # functions and versions of them, also those of numba


def test_the_time_of_compiling_counts_for_no_stage():
    clock = StageClock(silent)
    with clock.stage("cluster"):
        CLOCK.begin()
        time.sleep(0.2)
        CLOCK.end()
    assert clock.timings["compile"] >= 0.2
    assert clock.timings["cluster"] < 0.1
    with clock.stage("judge"):
        pass
    assert clock.timings["judge"] < 0.1


def test_what_numba_compiles_is_on_the_clock_once():
    @jit(inner=True)
    def twice(number):
        return 2 * number

    @jit
    def four_times(number):
        return twice(twice(number))

    before, seconds = CLOCK.count, CLOCK.seconds
    assert four_times(3) == 12
    assert CLOCK.count == before + 1
    assert CLOCK.seconds > seconds
    assert four_times(4) == 16
    assert CLOCK.count == before + 1


def test_a_kernel_has_an_entry_for_python_and_none_for_c(tmp_path):
    source = "from doccluster.base.compiled import jit\n\n\n@jit\ndef halve(number):\n    return number / 2\n"
    (tmp_path / "halving.py").write_text(source, "utf-8")  # in a new place: code that was kept cannot be looked into
    halve = runpy.run_path(str(tmp_path / "halving.py"))["halve"]
    assert halve(3.0) == 1.5
    (code,) = halve.inspect_llvm().values()
    assert "7cpython" in code
    assert "cfunc." not in code


def test_garbage_is_not_searched_for_while_compiling():
    states = []

    class Compiled(numba.core.event.Listener):
        def on_start(self, announced):
            states.append(gc.isenabled())

        def on_end(self, announced):
            states.append(gc.isenabled())

    @jit(inner=True)
    def square(number):
        return number * number

    @jit
    def sum_of_squares(one, other):
        return square(one) + square(other)

    assert gc.isenabled()
    with numba.core.event.install_listener("numba:compile", Compiled()):
        assert sum_of_squares(3, 4) == 25
    assert states == [False] * 4
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_observers_are_told_when_compiling_begins_and_ends():
    clock, told = CompileClock(), []
    clock.observers.append(lambda count, is_running: told.append((count, is_running)))
    clock.begin()
    clock.begin()
    clock.end()
    clock.end()
    assert told == [(0, True), (1, False)]


def test_a_terminal_is_told_and_the_stage_goes_on_afterwards(monkeypatch):
    told = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    class Bars:
        def tell(self, stage, done, total=None):
            told.append((stage, done, total))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    monkeypatch.setattr("doccluster.cli.console.stage_line", lambda *, is_drawn: Bars())
    with progress_shown() as progress:
        progress("cluster", 3, 10)
        CLOCK.begin()
        CLOCK.end()
    assert [stage for stage, _, _ in told] == ["cluster", COMPILING, "cluster"]
    assert told[-1] == ("cluster", 3, 10)
    assert not CLOCK.observers


def test_code_that_cannot_be_kept_is_said_once(monkeypatch):
    monkeypatch.setattr(CLOCK, "has_warned", False)
    names = {}
    exec("def more(n):\n    return n + 1\ndef less(n):\n    return n - 1", names)  # in no file: numba has no folder
    chosen = numba.config.CACHE_DIR
    more, less = jit(names["more"]), jit(names["less"])
    assert chosen == numba.config.CACHE_DIR
    with pytest.warns(DocclusterWarning, match="cannot be kept.*set NUMBA_CACHE_DIR") as warned:
        assert (more(1), less(1)) == (2, 0)
    assert len(warned) == 1


def test_vectorizing_loads_neither_scikit_learn_nor_pandas():
    code = (
        "import sys\nfrom doccluster.vectors import TfidfVectorizer\n"
        "assert TfidfVectorizer().fit_transform(['two naïve', 'words']).shape == (2, 3)\n"
        "print(sorted({m.split('.')[0] for m in sys.modules}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("sklearn", "pandas"):
        assert f"'{heavy}'" not in loaded
