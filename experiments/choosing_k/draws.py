"""How far the chosen number of clusters moves when a tenth of the documents is left out.

    python -m experiments.choosing_k.draws [--kept] [FOLDER]

For fifteen of the real sets of known_k it prints the number for all documents and for six random draws of 90 % of
them, with one seed and as if nothing were dated, and how many of the 15 pairs of draws are more than 1.5 times apart.
Vectors are made once for each set. Finished sets are lines of results/draws.csv; the same command continues from
there. ``--kept`` prints the kept results and runs nothing. results/draws_before.csv has what version 1.0.1 chose.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from doccluster.selection import choose_k
from experiments.choosing_k.known_k import CLUTO, HERE, ROOT, SHORT, Labelled, real_sets
from experiments.resumable import run_cases

SETS = [f"real {name}" for name in ("reuters21578", "newsgroups20", "stackoverflow_titles", *CLUTO, *SHORT)]
N_DRAWS, SHARE = 6, 0.9
APART = 1.5
COLUMNS = ("draw", "k")


def main(arguments: list[str]) -> None:
    """Choose for every set that is not done yet, and print the table."""
    named = [argument for argument in arguments if not argument.startswith("--")]
    results = HERE / "results"
    if "--kept" in arguments:
        table = pd.read_csv(results / "draws.csv")
    else:
        sets = real_sets(pathlib.Path(named[0]) if named else ROOT.parent / "shared" / "corpora")

        def choose(set: str) -> Iterator[dict[str, object]]:
            return choices(sets[set])

        cases = [{"set": name} for name in SETS if name in sets]
        table = pd.DataFrame(run_cases(results / "draws.csv", cases, choose, columns=COLUMNS))
    print(table_of(pd.read_csv(results / "draws_before.csv"), table))


def choices(make: Callable[[], Labelled]) -> Iterator[dict[str, object]]:
    """Yield what is chosen for all documents of a set (draw 0) and for each draw."""
    matrix, counts, _, letters = make()
    n_documents = matrix.shape[0]
    for draw in range(N_DRAWS + 1):
        rows = np.arange(n_documents)
        if draw:
            rng = np.random.default_rng(draw - 1)
            rows = np.sort(rng.choice(n_documents, round(SHARE * n_documents), replace=False))
        found = choose_k(
            matrix[rows],
            counts=None if counts is None else counts[rows],
            letters=None if letters is None else letters.take(rows),
            random_state=0,
            n_threads=1,
        )
        yield {"draw": draw, "k": found.k or 0}


def pairs_apart(numbers: Sequence[int]) -> tuple[int, int]:
    """Return how many pairs of numbers are more than 1.5 times apart, and how many pairs there are.

    >>> pairs_apart([4, 6, 7])
    (1, 3)
    """
    pairs = [sorted(pair) for pair in itertools.combinations(numbers, 2)]
    return sum(larger > APART * smaller for smaller, larger in pairs), len(pairs)


def table_of(before: pd.DataFrame, now: pd.DataFrame) -> str:
    """Return a line for each set, and one for all."""
    lines = ["| set | all: before | now | draws: before | pairs apart | draws: now | pairs apart |", "|---" * 7 + "|"]
    totals = np.zeros((2, 2), dtype=int)
    for name in dict.fromkeys(now["set"]):
        cells = []
        for table in (before, now):
            ks = pd.to_numeric(table.loc[table["set"] == name, "k"]).tolist()
            cells.append((ks[0], " ".join(map(str, ks[1:])), pairs_apart(ks[1:])) if ks else ("", "", (0, 0)))
        (all_before, draws_before, apart_before), (all_now, draws_now, apart_now) = cells
        totals += [apart_before, apart_now]
        lines.append(
            f"| {name.removeprefix('real ')} | {all_before} | **{all_now}** | {draws_before} | {apart_before[0]} | "
            f"{draws_now} | {apart_now[0]} |"
        )
    (before_apart, before_pairs), (now_apart, now_pairs) = totals.tolist()
    lines.append(f"| all | | | | {before_apart} of {before_pairs} | | {now_apart} of {now_pairs} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
