"""How many clusters of one document a single start of spherical k-means ends with, by how it was seeded.

``python -m experiments.quality.singletons [FOLDER]`` takes ten seeds each of our seeding and scikit-learn's k-means++.
Writes results/singletons.csv; an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import kmeans_plusplus

import doccluster
from experiments.quality.corpora import is_there, load
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
SEEDINGS = ("ours", "scikit-learn k-means++")
SETS = ("stackoverflow", "tr11", "tr12", "tr23", "re0", "k1b")
N_SEEDS = 10


def main(arguments: list[str]) -> None:
    """Count what is not counted yet and print the table."""
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    names = [name for name in SETS if is_there(folder, name)]
    lines = pd.DataFrame(
        run_cases(
            HERE / "results" / "singletons.csv",
            [{"corpus": c, "seeding": s, "seed": i} for c in names for s in SEEDINGS for i in range(N_SEEDS)],
            lambda corpus, seeding, seed: [{"singletons": count_singletons(str(folder), corpus, seeding, seed)}],
            columns=("singletons",),
        )
    )
    lines["singletons"] = lines["singletons"].astype(float)
    print(lines.pivot_table(index="corpus", columns="seeding", values="singletons", sort=False).to_string())


def count_singletons(folder: str, corpus: str, seeding: str, seed: int) -> int:
    """Return the number of clusters of one document."""
    _, matrix, classes = load(folder, corpus)
    k = len(set(classes))
    init: Any = "k-means++" if seeding == "ours" else kmeans_plusplus(matrix, k, random_state=seed)[0]
    model = doccluster.SphericalKMeans(k, init=init, n_init=1, random_state=seed).fit(matrix)
    return int((np.bincount(model.labels_) == 1).sum())


if __name__ == "__main__":
    main(sys.argv[1:])
