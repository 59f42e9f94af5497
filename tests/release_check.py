"""`python -m tests.release_check`: build what an index gets, and use it as a stranger does (`make release-check`).

The wheel and the source distribution are built in an empty folder and checked by twine and check-wheel-contents. The
wheel is installed in a new environment; there, outside the checkout, `doccluster demo`, the help of every verb and
the README's lines of Python are run. `--tests` then runs the whole suite from the unpacked source distribution alone.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_WHEEL_BYTES = 1_500_000
MAX_SAMPLE_BYTES = 100_000  # in the wheel, compressed
MAX_SECONDS = {"import doccluster": 0.05, "--help": 0.15}  # of the processor, beyond those of a bare interpreter
IN_EVERY_SDIST = (
    *("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "Makefile"),
    *("corpora/samples/newsroom/articles.jsonl", "docs/images/report.png", "tests/conftest.py", "website/conf.py"),
)
README_LINES = """
import doctest, sys
from pathlib import Path
text = Path(sys.argv[1]).read_text(encoding="utf-8")
test = doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)
result = doctest.DocTestRunner().run(test)
sys.exit(result.failed or not result.attempted)
"""


def run(*command: str | Path, cwd: Path, **more: object) -> str:
    """Run a command and return what it printed; where it fails, print that and end."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def built(folder: Path, *, isolated: bool) -> tuple[Path, Path]:
    """Return the wheel, built from the source distribution, and that; both have passed the checks of an index."""
    run(sys.executable, "-m", "build", *([] if isolated else ["--no-isolation"]), "--outdir", folder, ".", cwd=ROOT)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, source, cwd=folder)
    run(Path(sys.executable).with_name("check-wheel-contents"), wheel, cwd=folder)
    return wheel, source


def check_contents(wheel: Path, source: Path) -> None:
    """Check sizes, metadata and that nothing is missing."""
    assert wheel.stat().st_size < MAX_WHEEL_BYTES, wheel.stat().st_size
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        top = {name.split("/")[0] for name in names}
        assert top == {"doccluster", wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"}, top
        assert files.getinfo("doccluster/samples/articles.jsonl").compress_size < MAX_SAMPLE_BYTES
        assert "doccluster/py.typed" in names
        metadata = Parser().parsestr(files.read(next(n for n in names if n.endswith("/METADATA"))).decode())
    for field in ("Author", "Keywords", "License-Expression", "Project-URL", "Summary", "Requires-Python"):
        assert metadata[field], field
    with tarfile.open(source) as files:
        held = {name.split("/", 1)[1] for name in files.getnames() if "/" in name}
    assert set(IN_EVERY_SDIST) <= held, set(IN_EVERY_SDIST) - held
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB; {source.name}: {source.stat().st_size / 1e6:.2f} MB")


def processor_seconds(*command: str | Path, cwd: Path) -> float:
    """Return the least processor time of five calls."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(*command, cwd=cwd)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def check_installed(wheel: Path, folder: Path) -> None:
    """Use the installed wheel where nothing else of the project is."""
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python, command = scripts / "python", scripts / "doccluster"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    away = folder / "away"
    away.mkdir()
    printed = run(command, "demo", cwd=away)
    assert "176 documents" in printed, printed
    assert (away / "doccluster-demo" / "report.html").stat().st_size > 100_000
    verbs = re.findall(r"^  ([a-z][a-z-]*)  ", run(command, "--help", cwd=away).split("Commands:")[1], re.MULTILINE)
    for verb in verbs:
        run(command, verb, "--help", cwd=away)
    run(python, "-c", README_LINES, ROOT / "README.md", cwd=away)
    bare = processor_seconds(python, "-c", "pass", cwd=away)
    took = {
        "import doccluster": processor_seconds(python, "-c", "import doccluster", cwd=away) - bare,
        "--help": processor_seconds(command, "--help", cwd=away),
    }
    for name, seconds in took.items():
        assert seconds < MAX_SECONDS[name], (name, seconds)
    print(
        f"installed: demo, the README and the help of {len(verbs)} verbs run; "
        + ", ".join(f"{name} {1000 * seconds:.0f} ms" for name, seconds in took.items())
    )
    print(run(python, "-c", SIZES, cwd=away).rstrip())


SIZES = """
import importlib.metadata as metadata
def size(one):
    return sum(path.locate().stat().st_size for path in one.files or () if path.locate().is_file())
rows = sorted(((size(one) / 1e6, one.name) for one in metadata.distributions()), reverse=True)
print("MB installed: " + ", ".join(f"{name} {size:.0f}" for size, name in rows if size >= 1))
"""


def check_source(source: Path, folder: Path) -> None:
    """Run the suite from the unpacked source distribution, with nothing beside it."""
    with tarfile.open(source) as files:
        files.extractall(folder / "alone", filter="data")
    (unpacked,) = (folder / "alone").iterdir()
    subprocess.run(["make", "test"], cwd=unpacked, check=True)


def main() -> None:
    """Check all; the exit code is 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.release_check", description=__doc__)
    parser.add_argument("--output", type=Path, help="keep the wheel and the source distribution in this folder")
    parser.add_argument("--tests", action="store_true", help="also run the suite from the source distribution alone")
    parser.add_argument("--no-isolation", action="store_true", help="build with what is installed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, source = built(folder / "dist", isolated=not given.no_isolation)
        check_contents(wheel, source)
        check_installed(wheel, folder)
        if given.tests:
            check_source(source, folder)
        if given.output:
            given.output.mkdir(parents=True, exist_ok=True)
            for path in (wheel, source):
                shutil.copy(path, given.output)
    print("the release holds")


if __name__ == "__main__":
    main()
