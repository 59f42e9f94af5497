"""How old a kept table is: the commit it was measured at, and how much of the code that it times has changed since."""

from __future__ import annotations

import importlib
import pathlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from experiments.benchmarks.harness import RESULTS, ROOT, ROWS, git, read_results

MAX_CHANGED = 20  # files of what a module times; beyond that its tables are of earlier code


@dataclass(frozen=True)
class Age:
    """What is known of the table of one row.

    Attributes
    ----------
    module, row : str
    date, commit : str
        Of its newest figure, the day as YYYY-MM-DD.
    n_changed : int or None
        Files changed since in what the module times; None where the history does not hold the commit.
    """

    module: str
    row: str
    date: str
    commit: str
    n_changed: int | None

    @property
    def is_of_earlier_code(self) -> bool:
        """Whether so much has changed that the figures may no longer hold."""
        return self.n_changed is None or self.n_changed > MAX_CHANGED


def ages(modules: Iterable[str]) -> list[Age]:
    """Return the age of every table that has figures."""
    found = []
    for module in modules:
        loaded = importlib.import_module(f"experiments.benchmarks.{module}")
        newest = {line["row"]: line for line in read_results(RESULTS / f"{module}.csv")}
        for row in ROWS.get(loaded.__name__, []):
            if row.name in newest:
                line = newest[row.name]
                changed = changed_since(line["commit"], loaded.TIMED)
                found.append(Age(module, row.name, line["measured_at"][:10], line["commit"], changed))
    return found


@cache
def changed_since(commit: str, folders: tuple[str, ...], root: pathlib.Path = ROOT) -> int | None:
    """Return how many files below some folders have changed since a commit; None if the history does not hold it."""
    if not commit or git("merge-base", "--is-ancestor", commit, "HEAD", folder=root).returncode:
        return None
    changed = git("diff", "--name-only", commit, "HEAD", "--", *folders, folder=root)
    return len(changed.stdout.splitlines())


def has_history(root: pathlib.Path = ROOT) -> bool:
    """Return whether this is a checkout with its whole history."""
    if shutil.which("git") is None:
        return False
    shallow = git("rev-parse", "--is-shallow-repository", folder=root).stdout.strip()
    return shallow == "false" and git("rev-parse", "--show-toplevel", folder=root).stdout.strip() == str(root)
