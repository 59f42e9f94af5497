"""How soon the program answers: importing, asking for help, and a whole small run, warm and on a fresh machine."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

from experiments.benchmarks.harness import ROOT, Session, row

TIMED = ("doccluster",)
NEWSROOM = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
VERB = "import sys; from doccluster.cli.main import main; main(sys.argv[1:])"
PEER = "import sklearn.cluster, matplotlib.pyplot"


@row("starting", "import doccluster, and doccluster --help, warm: under 0.3 s each")
def starting(session: Session) -> None:
    """Time whole processes; python alone is the floor, scikit-learn's import a familiar measure."""
    commands = {
        "import doccluster": ["import doccluster"],
        "doccluster --help": [VERB, "--help"],
        "doccluster run --help": [VERB, "run", "--help"],
        "python alone": ["pass"],
        "import sklearn.cluster": ["import sklearn.cluster"],
    }

    def timed(code: list[str]) -> object:
        return lambda: subprocess.run([sys.executable, "-c", *code], check=True, capture_output=True)

    contenders = {name: timed(code) for name, code in commands.items()}
    for contender in contenders.values():
        contender()  # warm
    session.compare(contenders, repeats=9)  # type: ignore[arg-type, operator]


@row("first-run", "doccluster run of the newsroom sample with its report: warm, with empty caches, beside two imports")
def first_run(session: Session) -> None:
    """Measure whole processes in turn: at most 1.5 times the imports and 250 MB warm, 5 times the warm run cold."""
    rounds = 1 if session.quick else 5
    taken: dict[str, list[Mapping[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        run = [VERB, "run", str(NEWSROOM), "-k", "32", "--truth", "story", "--overwrite", "-o", f"{folder}/run"]
        measure_command(run)  # warm
        for turn in range(rounds):
            empty = {"NUMBA_CACHE_DIR": f"{folder}/{turn}", "XDG_CACHE_HOME": f"{folder}/{turn}"}
            for name, code, settings in (("warm", run, {}), ("imports", [PEER], {}), ("empty cache", run, empty)):
                figures = measure_command(code, **settings)
                taken.setdefault(name, []).append(figures)
                session.say(f"  {session.row}: {name}: " + ", ".join(f"{k} {v:.4g}" for k, v in figures.items()))
    for name, found in taken.items():
        for figure in found[0]:
            values = [one[figure] for one in found]
            session.record(name, figure, statistics.median(values), values)
    for figure in ("seconds", "processor_seconds"):
        warm = session.figures["warm", figure]
        session.record("warm", f"{figure}_times_imports", warm / session.figures["imports", figure])
        session.record("empty cache", f"{figure}_times_warm", session.figures["empty cache", figure] / warm)


def measure_command(code: list[str], **settings: str) -> dict[str, float]:
    """Return the cost of a whole process: seconds, seconds of processor time, and its peak memory in bytes."""
    started = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([sys.executable, "-c", *code], cwd=ROOT, env={**os.environ, **settings}, **quiet)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(code)} ended with code {child.returncode}")
    per_unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": float(usage.ru_maxrss * per_unit),
    }
