"""`python -m tests.fuzz [TARGET...]`: the long run; each target in a process of its own that may die without harm."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tests.fuzz.campaign import Failure, smallest
from tests.fuzz.targets import TARGETS
from tests.fuzz.workers import fuzz


def _keep(failure: Failure, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{failure.target}-{re.sub(r'[^A-Za-z0-9]+', '-', failure.kind)[:80]}"
    target = TARGETS[failure.target]
    takes_long = failure.kind.startswith(("Hang", "Misdeed"))  # too long to try hundreds of times
    # what is read in a process of its own may end this one, or take all its memory
    path.write_bytes(failure.data if takes_long or target.apart else smallest(target, failure))
    path.with_name(path.name + ".txt").write_text(f"round {failure.round}: {failure.kind}\n\n{failure.details}")
    return path


def main() -> int:
    """Fuzz the named targets (all of them when none is named); 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"among {', '.join(TARGETS)}")
    parser.add_argument("--rounds", type=int, default=2500, help="inputs for each target (2500)")
    parser.add_argument("--seconds", type=float, default=600, help="at most so long for each target (600)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (0)")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where failing inputs are written")
    given = parser.parse_args()
    unknown = sorted(set(given.targets) - set(TARGETS))
    if unknown:
        parser.error(f"{unknown[0]} is not known; choose among {', '.join(TARGETS)}")
    n_failures = 0
    for name in given.targets or TARGETS:
        outcome = fuzz(name, seed=given.seed, rounds=given.rounds, seconds=given.seconds)
        counts = ", ".join(f"{count} {word}" for word, count in sorted(outcome.results.items()))
        print(f"{name:12} {counts}", flush=True)
        for failure in outcome.failures.values():
            n_failures += 1
            print(f"  {failure.kind}\n    round {failure.round}, kept in {_keep(failure, given.keep)}", flush=True)
    return 1 if n_failures else 0


if __name__ == "__main__":
    sys.exit(main())
