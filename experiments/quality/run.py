"""How well clusters agree with human classes: our algorithms beside scikit-learn's.

``python -m experiments.quality.run [--kept] [--seeds N] [--limit SECONDS] [--corpora A,B] [--algorithms WORD,WORD]
[FOLDER]`` clusters the seven CLUTO matrices, English news of ITN, StackOverflow titles, the single-topic texts of
Reuters-21578 and 20 Newsgroups (by default in ../shared/corpora), k = number of classes, ten seeds, on the same counts
and their unit tf-idf rows. An algorithm is taken if its name has one of the words. Each fit has one thread; one that
takes the processor more than ``--limit`` seconds (300) is ended, and is not tried with further seeds. One that does not
depend on the seed is run once. What matters most comes first, so that an interrupted run is of use too; it goes on
where it stopped. ``--kept`` runs nothing: it prints the tables of the kept results, and writes them, with a picture,
into docs/evidence/quality.md.
Writes results/runs.csv. The memory is what a fit adds at its peak.
"""

from __future__ import annotations

import pathlib
import sys
import time
import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from experiments.quality.algorithms import ALGORITHMS, WITHOUT_SEED
from experiments.quality.bounded import BoundedCalls
from experiments.quality.corpora import CLUTO, CORPORA, is_there, load
from experiments.quality.page import write_page
from experiments.quality.peak_memory import PeakMemory
from experiments.resumable import read_lines, run_cases

HERE = pathlib.Path(__file__).resolve().parent
RUNS = HERE / "results" / "runs.csv"
MEASURES = ("nmi", "adjusted_rand", "clusters", "seconds", "wall_seconds", "megabytes")
SMALL = (*CLUTO, "itn")
FIRST_SEEDS = 3  # of all corpora, before the others of the small ones
LIMIT = 300


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the tables."""
    if "--kept" in arguments:
        write_page(pd.read_csv(RUNS), HERE.parents[1] / "docs" / "evidence")
        return
    n_seeds, limit = int(taken(arguments, "--seeds") or 10), int(taken(arguments, "--limit") or LIMIT)
    corpora, words = taken(arguments, "--corpora"), taken(arguments, "--algorithms")
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    names = [name for name in (corpora.split(",") if corpora else CORPORA) if is_there(folder, name)]
    if not names:
        sys.exit(f"no corpus was found in {folder}; name the folder that holds cluto_matrices and reuters21578")
    chosen = [name for name in ALGORITHMS if not words or any(word in name for word in words.split(","))]
    calls = BoundedCalls(one_run, seconds=limit)
    too_long = {(line["corpus"], line["algorithm"]) for line in read_lines(RUNS) if not line["nmi"]}

    def measure(corpus: str, algorithm: str, seed: int) -> list[dict[str, Any]]:
        if (corpus, algorithm) in too_long:
            return []
        found = calls(folder=str(folder), corpus=corpus, algorithm=algorithm, seed=seed)
        if found is None:
            too_long.add((corpus, algorithm))
        return [{"seconds": limit} if found is None else found]

    lines = run_cases(RUNS, cases_in_order(names, chosen, n_seeds), measure, columns=MEASURES)
    calls.close()
    runs = pd.DataFrame(lines).replace("", np.nan)
    runs[list(MEASURES)] = runs[list(MEASURES)].astype(float)
    print(runs.groupby(["corpus", "algorithm"], sort=False)[list(MEASURES)].mean().round(3).to_string())


def cases_in_order(names: list[str], algorithms: list[str], n_seeds: int) -> list[dict[str, Any]]:
    """Return the cases: one seed of everything, two more, then the others, the small corpora first."""
    few = [name for name in names if name in SMALL]
    many = [name for name in names if name not in SMALL]
    rounds = [(few, 0, 1), (many, 0, 1), (few, 1, FIRST_SEEDS), (many, 1, FIRST_SEEDS)]
    rounds += [(few, FIRST_SEEDS, n_seeds), (many, FIRST_SEEDS, n_seeds)]
    return [
        {"corpus": corpus, "algorithm": algorithm, "seed": seed}
        for own, low, high in rounds
        for seed in range(low, min(high, n_seeds))
        for corpus in own
        for algorithm in algorithms
        if seed == 0 or algorithm not in WITHOUT_SEED
    ]


def taken(arguments: list[str], name: str) -> str | None:
    """Take an option and its value out of the arguments, and return the value."""
    if name not in arguments:
        return None
    place = arguments.index(name)
    _, value = arguments.pop(place), arguments.pop(place)
    return value


def one_run(folder: str, corpus: str, algorithm: str, seed: int) -> dict[str, float]:
    """Return the measures of one fit, the seconds that it took the processor and the clock, and the memory it added."""
    counts, matrix, classes = load(folder, corpus)
    warm_up(folder, algorithm)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # what an algorithm has to say is printed, and is no error
        start, wall = time.process_time(), time.perf_counter()
        with PeakMemory() as memory:
            found = ALGORITHMS[algorithm](counts, matrix, len(set(classes)), seed)
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
    return {
        "nmi": doccluster.score("nmi", found, truth=classes).value,
        "adjusted_rand": doccluster.score("adjusted_rand", found, truth=classes).value,
        "clusters": np.unique(found[found >= 0]).size,
        "seconds": round(seconds, 3),
        "wall_seconds": round(wall, 3),
        "megabytes": round(memory.added / 1e6, 1),
    }


@cache
def warm_up(folder: str, algorithm: str) -> None:
    """Fit the smallest corpus once, so that no time is that of loading programs."""
    if is_there(pathlib.Path(folder), "tr23"):
        counts, matrix, classes = load(folder, "tr23")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says the same when it is measured
            ALGORITHMS[algorithm](counts, matrix, len(set(classes)), 0)


if __name__ == "__main__":
    main(sys.argv[1:])
