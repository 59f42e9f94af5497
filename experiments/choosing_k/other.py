"""What it gains to set documents aside that fit no cluster: real corpora with classes, clustered as `run` does.

    python -m experiments.choosing_k.other [--kept] [FOLDER]

FOLDER holds the corpora, as for known_k. ``--kept`` prints the kept results and runs nothing. Columns: the share of the
documents that goes to Other; how many of those that go, of those that stay, and of all are of the class that most of
their cluster is of; and the precision (B-cubed) of what stays and of all.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.labeling import place_documents
from doccluster.labeling.placement import is_nearer_to_another
from doccluster.pipeline.fit import centroids_of, largest_first
from doccluster.selection import choose_k
from doccluster.vectors.document_vectors import as_vectors
from doccluster.vectors.letters import Letters
from experiments.choosing_k.known_k import DATED, HERE, ROOT, real_sets
from experiments.resumable import run_cases

MOST = 5_000  # documents of a set
COLUMNS = (
    "documents",
    "clusters",
    "goes",
    "right_gone",
    "right_stays",
    "right_all",
    "precision_stays",
    "precision_all",
)


def main(arguments: list[str]) -> None:
    """Measure the sets that are not done yet, and print the table."""
    results = HERE / "results" / "other.csv"
    if "--kept" in arguments:
        table = pd.read_csv(results)
    else:
        named = [argument for argument in arguments if not argument.startswith("--")]
        sets = real_sets(pathlib.Path(named[0]) if named else ROOT.parent / "shared" / "corpora")

        def measure(set: str) -> list[dict[str, Any]]:
            return [measured(*sets[set](), is_dated=set in DATED)]

        table = pd.DataFrame(run_cases(results, [{"set": name} for name in sets], measure, columns=COLUMNS))
    print(table.to_string(index=False))


def measured(
    matrix: Any, counts: Any, classes: Sequence[Any], letters: Letters | None, *, is_dated: bool
) -> dict[str, Any]:
    """Return the effect of setting aside on one set, of at most 5,000 documents."""
    truth = np.unique(np.array([str(one) for one in classes]), return_inverse=True)[1]
    if truth.size > MOST:
        rows = np.sort(np.random.default_rng(0).choice(truth.size, MOST, replace=False))
        matrix, counts, truth = matrix[rows], None if counts is None else counts[rows], truth[rows]
        letters = None if letters is None else letters.take(rows)
    asked: dict[str, Any] = {"random_state": 0, "n_threads": 1}
    vectors = as_vectors(matrix, counts=counts, letters=letters)
    smoothed = DocumentWork(vectors, DocumentParameters(n_clusters=1, **asked)).smooth()
    why = "because the documents are dated" if is_dated else None
    choice = choose_k(matrix, counts=counts, subtopics_because=why, smoothed=smoothed, **asked)
    parameters = DocumentParameters(n_clusters=choice.k or 1, **asked)
    fit = DocumentWork(vectors, parameters, smoothed_rows=smoothed, start=choice.labels).run()
    partition = largest_first(fit.labels)[0]
    placed = place_documents(matrix, partition, centroids_of(matrix, partition))
    goes = is_nearer_to_another(partition.labels, placed)
    right, stays = is_of_the_class(partition.labels, truth), ~goes
    told = {
        "goes": goes.mean(),
        "right_gone": right[goes].mean() if goes.any() else np.nan,
        "right_stays": right[stays].mean(),
        "right_all": right.mean(),
        "precision_stays": precision(partition.labels[stays], truth[stays]),
        "precision_all": precision(partition.labels, truth),
    }
    rounded = {name: round(float(value), 3) for name, value in told.items()}
    return {"documents": truth.size, "clusters": partition.n_clusters, **rounded}


def is_of_the_class(labels: npt.NDArray[np.int64], truth: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return whether each document is of the class that most of its cluster is of."""
    table = _table(labels, truth)
    same: npt.NDArray[np.bool_] = table.argmax(axis=1)[labels] == truth
    return same


def precision(labels: npt.NDArray[np.int64], truth: npt.NDArray[np.int64]) -> float:
    """Return the mean over documents of the share of their cluster that is of their class."""
    table = _table(labels, truth)
    return float((table[labels, truth] / table.sum(axis=1)[labels]).mean())


def _table(labels: npt.NDArray[np.int64], truth: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    table = np.zeros((labels.max() + 1, truth.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, truth), 1)
    return table


if __name__ == "__main__":
    main(sys.argv[1:])
