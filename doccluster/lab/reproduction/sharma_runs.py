"""The experiment of Sharma & Sharma: do intrinsic measures follow the adjusted Rand index over runs of k-means?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.cli.reproduction import Work
from doccluster.clustering import SphericalKMeans
from doccluster.lab.reproduction.dhillon_modha import cluto_sets
from doccluster.lab.synthetic import SyntheticVectors, make_sharma, make_sparse_vmf, make_vmf_mixture
from doccluster.measures import score
from doccluster.report.figures import line_chart

SOURCE = "Sharma & Sharma, intrinsic measures for clusterings by spherical k-means"
K, RUNS = 5, 50
RUNS_ON_CORPORA, LARGEST_CORPUS = 20, 1600  # real matrices cost more: fewer runs, and the larger ones are left out
FOLLOWS = 0.5
FIGURES = {
    "figure-2": ("objective", "similarity_of_largest"),
    "figure-3": ("coherence_of_largest", "density_of_largest"),
    "figure-4": ("adherence_max", "adherence_min"),
}


def reproduce(work: Work) -> dict[str, float]:
    """Return the shape of the matrix and 1.0 for each measure that follows ARI (by its mean correlation over sets)."""
    n_sets = 2 if work.quick else 20
    correlations = pd.concat([correlate(name, sets) for name, sets in all_sets(n_sets, work)])
    if work.tables is not None:
        correlations.to_csv(work.tables / "correlations.csv", index=False, float_format="%.4f", lineterminator="\n")
        summary = correlations.groupby(["data", "measure"], sort=False)["correlation"].agg(["mean", "std", "count"])
        summary.to_csv(work.tables / "mean_correlations.csv", float_format="%.3f", lineterminator="\n")
        draw(work, work.tables)
    means = correlations[correlations["data"] == "algorithm 1, block"].groupby("measure")["correlation"].mean()
    return {
        "n_documents": float(min(pair(make_sharma(K, random_state=seed))[0].shape[0] for seed in range(20))),
        "n_terms": float(pair(make_sharma(K, random_state=0))[0].shape[1]),
        **{f"{name}_follows_ari": float(follows(name, means[name])) for name in ("objective", *SHOWN)},
        "coherence_follows_better_than_objective": float(means["coherence_of_largest"] > means["objective"]),
    }


SHOWN = ("similarity_of_largest", "coherence_of_largest", "density_of_largest", "adherence_max", "adherence_min")

LOWER_IS_BETTER = ("adherence_max", "adherence_min")


def follows(name: str, correlation: float) -> bool:
    """Return whether a measure is the better the higher ARI is, by the threshold on its correlation."""
    return (-correlation if name in LOWER_IS_BETTER else correlation) > FOLLOWS


def all_sets(n_sets: int, work: Work) -> Iterator[tuple[str, Iterator[tuple[Any, Any]]]]:
    """Yield a name and the (matrix, truth) pairs of each kind of data."""
    seeds = range(n_sets)
    yield "algorithm 1, block", (pair(make_sharma(K, random_state=seed)) for seed in seeds)
    if work.tables is None:  # the numbers are of the block sets alone
        return
    yield "algorithm 1, dense (literal)", (pair(make_sharma(K, structure="dense", random_state=seed)) for seed in seeds)
    fewer = range(n_sets // 2)  # of 200 rows, ten times as many as those of the algorithm
    yield (
        "sparse vMF",
        (pair(make_sparse_vmf(200, 2000, K, mean_resultant_length=0.5, random_state=seed)) for seed in fewer),
    )
    yield (
        "vMF mixture",
        (pair(make_vmf_mixture(200, 50, K, kappa=40.0, separation=0.3, random_state=seed)) for seed in fewer),
    )
    for corpus, matrix, classes in cluto_sets(work):
        if len(classes) <= LARGEST_CORPUS:
            yield corpus, iter([(matrix, classes)])


def pair(made: SyntheticVectors) -> tuple[Any, Any]:
    """Return the matrix and the truth of a generated set."""
    return made.vectors.matrix, made.truth


def correlate(name: str, sets: Iterator[tuple[Any, Any]]) -> pd.DataFrame:
    """Return one row per data set and measure: its correlation with ARI over 50 runs from random seeds."""
    rows = []
    for number, (matrix, truth) in enumerate(sets):
        runs = measure_runs(matrix, truth)
        for measure in runs.columns.drop("ari"):
            flat = runs[measure].std() == 0 or runs["ari"].std() == 0
            value = float("nan") if flat else float(np.corrcoef(runs[measure], runs["ari"])[0, 1])
            rows.append((name, number, measure, value))
    return pd.DataFrame(rows, columns=["data", "set", "measure", "correlation"])


def measure_runs(matrix: Any, truth: Any) -> pd.DataFrame:
    """Return the measures of the paper's figures, and ARI, for runs of spherical k-means from random documents."""
    k = len(set(truth)) if not isinstance(truth, np.ndarray) else int(np.unique(truth).size)
    runs = RUNS if isinstance(truth, np.ndarray) else RUNS_ON_CORPORA
    return pd.DataFrame([measure_run(matrix, truth, k, seed) for seed in range(runs)])


def measure_run(matrix: Any, truth: Any, k: int, seed: int) -> dict[str, float]:
    """Return the measures of one run."""
    model = SphericalKMeans(k, init="random", n_init=1, random_state=seed).fit(matrix)
    labels = model.labels_
    largest = int(np.bincount(labels).argmax())

    def of_largest(name: str) -> float:
        return float(np.asarray(score(name, labels, vectors=matrix).per_cluster)[largest])

    return {
        "ari": float(score("adjusted_rand", labels, truth=truth).value),
        "objective": model.objective_,
        "similarity_of_largest": of_largest("cluster_similarity"),
        "coherence_of_largest": of_largest("coherence"),
        "density_of_largest": of_largest("density"),
        "coherence": float(score("coherence", labels, vectors=matrix).value),
        "silhouette": float(score("silhouette", labels, vectors=matrix).value),
        "adherence_max": float(score("adherence_max", labels, vectors=matrix).value),
        "adherence_min": float(score("adherence_min", labels, vectors=matrix).value),
    }


def draw(work: Work, folder: Path) -> None:
    """Draw figures 2 to 4 for one generated set, the runs in ascending order of ARI, each curve scaled to [0, 1]."""
    runs = (
        measure_runs(*pair(make_sharma(K, random_state=work.seed)))
        .sort_values("ari", kind="stable")
        .reset_index(drop=True)
    )
    runs.to_csv(folder / "runs.csv", index=False, float_format="%.5g", lineterminator="\n")
    scaled = (runs - runs.min()) / (runs.max() - runs.min()).replace(0, 1)
    for name, measures in FIGURES.items():
        series = {"ARI": runs["ari"].to_numpy(), **{measure: scaled[measure].to_numpy() for measure in measures}}
        line_chart(
            {measure: (np.arange(1, RUNS + 1), values) for measure, values in series.items()},
            x_label="runs by ARI",
            y_label="value (scaled to [0, 1] but for ARI)",
        ).save(folder / f"{name}.svg")
