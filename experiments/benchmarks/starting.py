"""How soon the program answers: importing, asking for help, and a whole small run, warm and on a fresh machine."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from experiments.benchmarks.harness import ROOT, Session, measure_command, row

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
        return lambda: subprocess.run(python(*code), check=True, capture_output=True)

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
        measure_command(python(*run))  # warm
        for turn in range(rounds):
            empty = {"NUMBA_CACHE_DIR": f"{folder}/{turn}", "XDG_CACHE_HOME": f"{folder}/{turn}"}
            for name, code, settings in (("warm", run, {}), ("imports", [PEER], {}), ("empty cache", run, empty)):
                figures = measure_command(python(*code), **settings)
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


def python(*code: str) -> list[str]:
    """Return the command that runs some code by this Python."""
    return [sys.executable, "-c", *code]
