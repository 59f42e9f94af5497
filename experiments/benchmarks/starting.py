"""How soon the program answers: importing the package and asking for help, beside python alone."""

from __future__ import annotations

import subprocess
import sys

from experiments.benchmarks.harness import Session, row


@row("starting", "import doccluster, and doccluster --help, warm: under 0.3 s each")
def starting(session: Session) -> None:
    """Time whole processes; python alone is the floor, scikit-learn's import a familiar measure."""
    commands = {
        "import doccluster": "import doccluster",
        "doccluster --help": "import sys; from doccluster.cli.main import main; main(['--help'])",
        "python alone": "pass",
        "import sklearn.cluster": "import sklearn.cluster",
    }

    def timed(code: str) -> object:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    contenders = {name: timed(code) for name, code in commands.items()}
    for contender in contenders.values():
        contender()  # warm
    session.compare(contenders, repeats=9)  # type: ignore[arg-type]
