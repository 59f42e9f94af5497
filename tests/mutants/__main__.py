"""`python -m tests.mutants N`: N random changes of the program, each run with the tests of its package.

Drawn anew each time; the seed is printed, and `--seed` draws the same again. A change that no test notices is printed
as a diff: write the test, or see that the change makes no difference.
"""

from __future__ import annotations

import argparse
import difflib
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

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
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
    "artifacts": ["tests/test_artifacts.py", "tests/cli/test_run_command.py"],
    "cli": ["tests/cli/test_screens.py"],
    "clustering": ["tests/test_every_algorithm.py", "tests/test_pipeline.py"],
    "evaluation": ["tests/test_evaluation.py", "tests/cli/test_evaluation.py"],
    "geometry": ["tests/measures", "tests/clustering"],
    "kernels": ["tests/clustering/test_exact_labels.py", "tests/clustering/test_limits.py", "tests/geometry"],
    "measures": ["tests/test_measures_contract.py", "tests/test_evaluation.py"],
    "pipeline": ["tests/test_pipeline.py", "tests/cli/test_run_command.py", "tests/cli/test_screens.py"],
    "report": ["tests/cli/test_run_command.py"],
}
SLOW = ("test_dask_workers", "test_real_corpora", "test_killed_polls", "test_reproduction", "in_browser", "test_peers")


def main() -> None:
    """Draw changes, run the tests of each, and print what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("n", type=int, nargs="?", default=30, help="how many changes (30)")
    parser.add_argument("--seed", type=int, default=None, help="draw the same changes as a run that printed this")
    parser.add_argument("--within", default="", help="only in files whose path has this in it")
    parser.add_argument("--limit", type=float, default=300, help="seconds for the tests of one change (300)")
    given = parser.parse_args()
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    print(f"seed {seed}")
    counts = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        copy.mkdir()
        for name in COPIED:
            source = ROOT / name
            shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy2(source, copy / name)
        for number, (path, change, text) in enumerate(drawn(given.n, random.Random(seed), given.within), 1):
            outcome, seconds, failed = run(copy, path, text, limit=given.limit)
            counts[outcome] += 1
            told = f"{path}:{change.old.lineno}  {change.kind}  {failed}"
            print(f"{number:>3} {outcome:<9} {seconds:>4.0f} s  {told}", flush=True)
            if outcome != "killed":
                old = (ROOT / path).read_text(encoding="utf-8")
                lines = difflib.unified_diff(old.splitlines(), text.splitlines(), lineterm="", n=2)
                print("\n".join(lines), flush=True)
    print(f"seed {seed}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))


def drawn(n, rng, within=""):
    """Yield `n` different changes: each of all there are in the files is as likely as any other."""
    paths = [path.relative_to(ROOT) for path in sorted((ROOT / "doccluster").rglob("*.py"))]
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if within in path.as_posix()}
    every = [(path, change) for path, source in sources.items() for change in changes(source)]
    rng.shuffle(every)
    for path, change in every:
        if n == 0:
            return
        text = change.of(sources[path])
        if text is not None:
            n -= 1
            yield path, change, text


def run(copy, path, text, *, limit):
    """Return killed, survived, timeout or undecided; the seconds this took; and the test that failed.

    Undecided is a change whose failed test fails without it too, as where it needs what the copy does not have.
    """
    began = time.monotonic()
    renew(copy)
    (copy / path).write_text(text, encoding="utf-8")
    forget_machine_code(copy, path)
    outcome, said = tested(copy, tests_of(path), limit=limit)
    failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", said, re.MULTILINE)  # all cases of the function
    if outcome == "killed":
        renew(copy)
        if failed is None or tested(copy, [failed[1]], limit=limit)[0] != "survived":
            outcome = "undecided"
    return outcome, time.monotonic() - began, failed[1] if failed else ""


def renew(copy):
    """Put the program as it is, with its machine code, into the copy."""
    shutil.rmtree(copy / "doccluster", ignore_errors=True)
    shutil.copytree(ROOT / "doccluster", copy / "doccluster")


def tested(copy, tests, *, limit):
    """Run tests in the copy until one fails; return killed, survived or timeout, and what was printed."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    options = ["-n0", "-x", "-q", "-p", "no:cacheprovider", "-m", "not browser and not real"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    with subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        try:
            said, _ = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            running.kill()
            return "timeout", ""
    return "killed" if running.returncode else "survived", said


def forget_machine_code(copy, path):
    """Remove the machine code of kernels that a changed file is compiled into; numba looks only at their own file."""
    stale, folder = {path.stem}, copy / "doccluster" / "kernels"
    if "kernels" not in path.parts:
        return
    imports = {other: other.read_text(encoding="utf-8") for other in folder.rglob("*.py")}
    while True:
        found = {other.stem for other, text in imports.items() if any(f".{name} import" in text for name in stale)}
        if found <= stale:
            break
        stale |= found
    if "simd" in path.parts:  # imported by the name of its folder
        stale = {other.stem for other in imports}
    for kept in folder.rglob("*.nb?"):
        if kept.name.partition(".")[0] in stale:
            kept.unlink()


def tests_of(path):
    """Return the tests of a file, in this order: those that name its module, those of its package, `ALSO`."""
    module = ".".join(path.with_suffix("").parts)
    package = path.parts[1].removesuffix(".py")
    users = [module]
    if package == "kernels":
        for other in (ROOT / "doccluster").rglob("*.py"):
            if f"from {module} import" in other.read_text(encoding="utf-8"):
                users.append(".".join(other.relative_to(ROOT).with_suffix("").parts))
    every = [
        file for file in sorted((ROOT / "tests").rglob("test_*.py")) if not any(slow in file.name for slow in SLOW)
    ]
    texts = {file: file.read_text(encoding="utf-8") for file in every}
    naming = [file for file in every if any(f"from {user} import" in texts[file] for user in users)]
    own = [file for file in every if file.parent.name == package or file.stem == f"test_{package}"]
    also = [ROOT / name for name in ALSO.get(package, [])]
    found = dict.fromkeys([*naming, *sorted(own, key=lambda file: file.stat().st_size), *also])
    return [file.relative_to(ROOT).as_posix() for file in found] or ["tests/test_pipeline.py"]


if __name__ == "__main__":
    main()
