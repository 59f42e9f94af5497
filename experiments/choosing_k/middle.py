"""The level between broad and fine clusters: where there is one, and how it agrees with the classes.

    python -m experiments.choosing_k.middle [--kept] [FOLDER]

For each real set of known_k, as if nothing were dated, and each set without clusters, it prints the numbers of the
levels that `choose_k` tells, the agreement of the topics where 20 to 60 of them lie between sections that are shown and
subtopics, their normalised mutual information with the classes, and that of clustering with the same number. Finished
sets are lines of results/middle.csv; the same command continues from there. ``--kept`` runs nothing.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.selection import choose_k
from doccluster.selection.levels import MIDDLE
from doccluster.vectors.document_vectors import as_vectors
from experiments.choosing_k.known_k import HERE, ROOT, Labelled, noise_sets, real_sets
from experiments.resumable import run_cases

COLUMNS = ("documents", "classes", "shown", "sections", "topics", "subtopics", "agreement", "nmi", "nmi_of_k")


def main(arguments: list[str]) -> None:
    """Measure the sets that are not done yet, and print the table."""
    results = HERE / "results" / "middle.csv"
    if "--kept" in arguments:
        table = pd.read_csv(results, dtype=str, keep_default_na=False)
    else:
        named = [argument for argument in arguments if not argument.startswith("--")]
        folder = pathlib.Path(named[0]) if named else ROOT.parent / "shared" / "corpora"
        sets = {**real_sets(folder), **noise_sets(folder)}

        def measure(set: str) -> list[dict[str, Any]]:
            return [measured(sets[set])]

        table = pd.DataFrame(run_cases(results, [{"set": name} for name in sets], measure, columns=COLUMNS))
    print(f"| {' | '.join(table)} |\n{'|---' * len(table.columns)}|")
    for row in table.itertuples(index=False):
        print(f"| {' | '.join(map(str, row))} |")


def measured(make: Callable[[], Labelled]) -> dict[str, Any]:
    """Return the levels of a set, and of a middle one how it agrees with the classes."""
    matrix, counts, classes, letters = make()
    vectors = as_vectors(matrix, counts=counts, letters=letters)
    asked: dict[str, Any] = {"random_state": 0, "n_threads": 1}
    smoothed = DocumentWork(vectors, DocumentParameters(n_clusters=1, **asked)).smooth()
    found = choose_k(matrix, counts=counts, letters=letters, smoothed=smoothed, **asked)
    numbers = {name: getattr(found, name) or "" for name in ("sections", "topics", "subtopics")} if found.k else {}
    line = {"documents": matrix.shape[0], "classes": len(set(classes)), "shown": found.k or 0, **numbers}
    if not (found.k and found.k == found.sections and MIDDLE[0] <= (found.topics or 0) <= MIDDLE[1]):
        return line
    table, labels = found.table, found.levels["topics"]
    parameters = DocumentParameters(n_clusters=int(labels.max()) + 1, **asked)
    by_k = DocumentWork(vectors, parameters, smoothed_rows=smoothed).run().labels
    line["agreement"] = f"{table.loc[table['chosen'] == 'topics', 'agreement'].iloc[0]:.2f}"
    for name, partition in (("nmi", labels), ("nmi_of_k", by_k)):
        rows = np.flatnonzero(labels >= 0)
        truth = [str(classes[row]) for row in rows]
        line[name] = f"{doccluster.score('nmi', partition[rows], truth=truth).value:.3f}"
    return line


if __name__ == "__main__":
    main(sys.argv[1:])
