"""`python -m tests.mutants N`: N random changes of the program, each run with the tests of its package.

Drawn anew each time; the seed is printed, and `--seed` draws the same again. A change that no test notices is printed
as a diff: write the test, or see that the change makes no difference.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import functools
import itertools
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.mutants.changes import changes
from tests.mutants.watched_tests import load_libraries, tested

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "doccluster",
    "tests",
    "corpora",
    "docs",
    "experiments",
    "website",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "Makefile",
)
# what more than the tests of a package says of it; the quick ones first
ALSO = {
    "base": ["tests/test_errors.py", "tests/cli/test_screens.py"],
    "cli": ["tests/cli/test_screens.py"],
    "clustering": ["tests/test_every_algorithm.py", "tests/test_pipeline.py"],
    "distributed": ["tests/test_block_functions.py", "tests/test_runs_in_blocks.py"],
    "geometry": ["tests/measures", "tests/clustering"],
    "measures": ["tests/test_measures_contract.py", "tests/test_evaluation.py", "tests/cli/test_evaluation.py"],
    "pipeline": [
        "tests/test_pipeline.py",
        "tests/test_compiling.py",
        "tests/text/test_boilerplate.py",
        "tests/cli/test_run_command.py",
        "tests/cli/test_screens.py",
    ],
    "results": [
        "tests/test_artifacts.py",
        "tests/test_from_python.py",
        "tests/test_notebook.py",
        "tests/cli/test_run_command.py",
    ],
    "report": ["tests/cli/test_run_command.py"],
    "vectors": ["tests/test_meaning.py", "tests/test_encoders.py"],
}
# what kills most of a package in a short time
FIRST = {
    "clustering": ["tests/clustering/test_limits.py", "tests/test_scale_axis.py"],
    "geometry": ["tests/test_scale_axis.py"],
    "streams": ["tests/streams/test_corrections.py"],
    "stories": ["tests/stories/test_joining.py", "tests/stories/test_dump.py"],
}
SLOW = (
    "test_code_cache",
    "test_day",
    "test_dask_workers",
    "test_real_corpora",
    "test_killed_polls",
    "test_reproduction",
    "in_browser",
    "test_peers",
)
_MOMENTS = itertools.count(1_000_000_000)


def main() -> None:
    """Draw changes, run the tests of each, and print what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("n", type=int, nargs="?", default=30, help="how many changes (30)")
    parser.add_argument("--seed", type=int, default=None, help="draw the same changes as a run that printed this")
    parser.add_argument("--within", default="", help="only in files whose path this pattern matches")
    parser.add_argument("--since", default="", help="only in lines that changed since this commit")
    parser.add_argument(
        "--only", default="", help="those with these numbers, as 7,30-200, to go on with an earlier run"
    )
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time for the tests of one (60)")
    given = parser.parse_args()
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    counts, sound = Counter(), {}
    load_libraries()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        copy.mkdir()
        for name in COPIED:
            source = ROOT / name
            shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy2(source, copy / name)
        demo = [sys.executable, "-m", "doccluster", "demo"]  # compiles what most tests need
        subprocess.run(demo, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, check=True, capture_output=True)
        wanted = numbers(given.only) or range(1, given.n + 1)
        draw = drawn(given.n, random.Random(seed), given.within, given.since)
        for number, (path, change, text) in enumerate(draw, 1):
            if number not in wanted:
                continue
            began = time.monotonic()
            outcome, failed = run(copy, path, text, limit=given.limit, sound=sound)
            counts[outcome] += 1
            told = f"{path}:{change.old.lineno}  {change.kind}  {failed}"
            print(f"{number:>3} {outcome:<9} {time.monotonic() - began:>4.0f} s  {told}", flush=True)
            if outcome != "killed":
                old = (ROOT / path).read_text(encoding="utf-8")
                lines = difflib.unified_diff(old.splitlines(), text.splitlines(), lineterm="", n=2)
                print("\n".join(lines), flush=True)
    print(f"seed {seed}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))


def numbers(text):
    """Return the numbers of a list such as 7,30-200."""
    spans = [part.partition("-") for part in text.split(",") if part]
    return {number for first, _, last in spans for number in range(int(first), int(last or first) + 1)}


def drawn(n, rng, within="", since=""):
    """Yield `n` different changes: each of all there are in the files, or in their new lines, is equally likely."""
    paths = [path.relative_to(ROOT) for path in sorted((ROOT / "doccluster").rglob("*.py"))]
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if re.search(within, path.as_posix())}
    every = [(path, change) for path, source in sources.items() for change in changes(source)]
    if since:
        new = new_lines(since)
        every = [(path, change) for path, change in every if (path.as_posix(), change.old.lineno) in new]
    rng.shuffle(every)
    for path, change in every:
        if n == 0:
            return
        text = change.of(sources[path])
        if text is not None:
            n -= 1
            yield path, change, text


def new_lines(since):
    """Return the file and number of each line of the program that is not as it was in a commit."""
    command = ["git", "diff", "--unified=0", "--find-renames", "--no-ext-diff", since, "--", "doccluster"]
    lines, path = set(), ""
    for line in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines |= {(path, number) for number in range(first, first + count)}
    return lines


def run(copy, path, text, *, limit, sound):
    """Return killed, survived or undecided, and the test that failed; `sound` keeps what tests do without a change.

    Undecided is a change whose tests take too long, or whose failed test fails without it too, as where it needs what
    the copy does not have.
    """
    with changed(copy, path, text):
        outcome, failed = tested(copy, tests_of(path), limit=limit)
    test = failed.partition("[")[0]  # all cases of the function
    if outcome == "killed":
        if test not in sound:
            sound[test] = tested(copy, [test], limit=limit)[0]
        outcome = "killed" if sound[test] == "survived" else "undecided"
    return outcome, test


@contextlib.contextmanager
def changed(copy, path, text):
    """Let a file of the copy have another text, and its kernels other machine code."""
    kept = {}
    if "@jit" in (copy / path).read_text(encoding="utf-8"):
        kept = forget_machine_code(copy, path)
    (copy / path).write_text(text, encoding="utf-8")
    moment = next(_MOMENTS)  # numba and Python know a file by its size and its time
    os.utime(copy / path, (moment, moment))
    try:
        yield
    finally:
        if kept:
            forget_machine_code(copy, path)
            for file, code in kept.items():
                file.write_bytes(code)
        shutil.copy2(ROOT / path, copy / path)


def forget_machine_code(copy, path):
    """Remove the machine code of the kernels that a file is compiled into, and return it by file.

    numba looks only at their own file.
    """
    stale = {path.stem}
    imports = {other: text for other, text in texts("doccluster", "*.py").items() if "@jit" in text}
    while True:
        found = {other.stem for other, text in imports.items() if any(f".{name} import" in text for name in stale)}
        if found <= stale:
            break
        stale |= found
    if path.stem == "lanes":  # compiled into most others
        stale = {other.stem for other in imports}
    kept = {}
    for file in (copy / "doccluster").rglob("*.nb?"):
        if file.name.partition(".")[0] in stale:
            kept[file] = file.read_bytes()
            file.unlink()
    return kept


@functools.cache
def texts(folder, pattern):
    """Return the texts of files below a folder."""
    return {file: file.read_text(encoding="utf-8") for file in sorted((ROOT / folder).rglob(pattern))}


def tests_of(path):
    """Return the tests of a file: its examples, those that name its module or have its name, of its package, `ALSO`.

    Then come those that name a module of its package which imports it: of one in base, whichever module does.
    """
    module = ".".join(path.with_suffix("").parts)
    package = path.parts[1].removesuffix(".py")
    users = [
        ".".join(other.relative_to(ROOT).with_suffix("").parts)
        for other, text in texts("doccluster", "*.py").items()
        if f"from {module} import" in text and (package == "base" or package in other.parts)
    ]
    every = {
        file: text for file, text in texts("tests", "test_*.py").items() if not any(one in file.name for one in SLOW)
    }
    naming, using = (
        [
            file
            for file, text in every.items()
            if any(f"from {one} import" in text for one in named)
            or (named == [module] and file.stem == f"test_{path.stem}")
        ]
        for named in ([module], users)
    )
    own = [file for file in every if file.parent.name == package or file.stem == f"test_{package}"]
    also = [ROOT / name for name in ALSO.get(package, [])]
    quick_first = sorted([*using, *own], key=lambda file: file.stat().st_size)
    first = [ROOT / name for name in FIRST.get(package, [])]
    found = dict.fromkeys([*sorted(naming, key=lambda file: file.stat().st_size), *first, *quick_first, *also])
    return [
        path.as_posix(),
        *(file.relative_to(ROOT).as_posix() for file in found or [ROOT / "tests/test_pipeline.py"]),
    ]


if __name__ == "__main__":
    main()
