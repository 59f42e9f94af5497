"""How good the clusters are: spherical k-means, with and without refinement, beside scikit-learn's KMeans.

``python -m experiments.quality.run [--quick] [FOLDER]`` clusters the seven CLUTO matrices and the single-topic texts
of Reuters-21578 (by default in ../shared/corpora), k = number of classes, ten seeds, ten starts each for both, on the
same unit tf-idf rows; and counts the clusters of one document that one start of each seeding makes.
Writes results/runs.csv, summary.csv and singletons.csv; an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import pathlib
import sys
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import doccluster
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
CLUTO = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
ALGORITHMS = ("spherical k-means", "spherical k-means, refined", "scikit-learn KMeans")
SEEDINGS = ("ours", "scikit-learn k-means++")
MEASURES = ("nmi", "adjusted_rand", "skm_objective")
SINGLETON_SETS = ("stackoverflow", "tr11", "tr12", "tr23", "re0", "k1b")


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the tables."""
    quick = "--quick" in arguments
    named = [argument for argument in arguments if not argument.startswith("--")]
    folder = pathlib.Path(named[0]) if named else HERE.parents[2] / "shared" / "corpora"
    seeds = range(2 if quick else 10)
    names = [name for name in (*CLUTO, "reuters") if is_there(folder, name)]
    if not names:
        sys.exit(f"no corpus was found in {folder}; name the folder that holds cluto_matrices and reuters21578")
    results = HERE / "results"
    runs = pd.DataFrame(
        run_cases(
            results / ("quick.csv" if quick else "runs.csv"),
            [{"corpus": c, "algorithm": a, "seed": s} for c in names for a in ALGORITHMS for s in seeds],
            lambda corpus, algorithm, seed: [one_run(str(folder), corpus, algorithm, seed)],
            columns=MEASURES,
        )
    )
    runs[list(MEASURES)] = runs[list(MEASURES)].astype(float)
    table = runs.groupby(["corpus", "algorithm"], sort=False)[list(MEASURES)].agg(["mean", "std"])
    print(table.round(4).to_string())
    if quick:
        return
    table.round(6).to_csv(results / "summary.csv")
    singletons = pd.DataFrame(
        run_cases(
            results / "singletons.csv",
            [
                {"corpus": c, "seeding": s, "seed": i}
                for c in SINGLETON_SETS
                if is_there(folder, c)
                for s in SEEDINGS
                for i in seeds
            ],
            lambda corpus, seeding, seed: [{"singletons": count_singletons(str(folder), corpus, seeding, seed)}],
            columns=("singletons",),
        )
    )
    singletons["singletons"] = singletons["singletons"].astype(float)
    print(singletons.pivot_table(index="corpus", columns="seeding", values="singletons", sort=False).to_string())


def is_there(folder: pathlib.Path, name: str) -> bool:
    """Return whether a corpus is at hand."""
    places = {"reuters": "reuters21578", "stackoverflow": "stackoverflow_titles"}
    return (folder / places.get(name, f"cluto_matrices/{name}")).is_dir()


@cache
def load(folder: str, name: str) -> tuple[Any, list[str]]:
    """Return the unit rows that have terms, and their classes."""
    place = pathlib.Path(folder)
    if name == "reuters":
        corpus = doccluster.read_corpus(place / "reuters21578")
        labels = corpus.labels["topics"]
        rows = [row for row, topics in enumerate(labels) if len(topics) == 1]
        matrix = tfidf([corpus.texts[row] for row in rows])
        classes = [labels[row][0] for row in rows]
    elif name == "stackoverflow":
        titles = place / "stackoverflow_titles" / "rawText"
        texts = (titles / "title_StackOverflow.txt").read_text(encoding="utf-8").splitlines()
        matrix = tfidf(texts)
        classes = (titles / "label_StackOverflow.txt").read_text(encoding="utf-8").split()
    else:
        vectors, classes = doccluster.read_matrix(place / "cluto_matrices" / name / f"{name}.mat", weighting="none")
        counts = vectors.matrix
        common = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) > 1)
        matrix = weigh(counts[:, common])
    filled = np.flatnonzero(np.diff(matrix.indptr))
    return matrix[filled], [classes[row] for row in filled]


def tfidf(texts: list[str]) -> Any:
    """Return tf-idf rows of texts, English function words and terms of one document left out."""
    return doccluster.TfidfVectorizer(stop_words="english", min_df=2).fit_transform(texts)


def weigh(counts: Any) -> Any:
    """Return scikit-learn's default tf-idf of counts."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(counts).astype(np.float32)


def one_run(folder: str, corpus: str, algorithm: str, seed: int) -> dict[str, float]:
    """Return the measures of the best of ten starts."""
    matrix, classes = load(folder, corpus)
    k = len(set(classes))
    if algorithm == "scikit-learn KMeans":
        found = KMeans(k, n_init=10, random_state=seed).fit(matrix).labels_
    else:
        refine = algorithm.endswith("refined")
        found = doccluster.SphericalKMeans(k, n_init=10, refine=refine, random_state=seed).fit(matrix).labels_
    return {
        "nmi": doccluster.score("nmi", found, truth=classes).value,
        "adjusted_rand": doccluster.score("adjusted_rand", found, truth=classes).value,
        "skm_objective": doccluster.score("skm_objective", found, vectors=matrix).value,
    }


def count_singletons(folder: str, corpus: str, seeding: str, seed: int) -> int:
    """Return how many clusters of one document a single start of spherical k-means ends with."""
    matrix, classes = load(folder, corpus)
    k = len(set(classes))
    init: Any = "k-means++"
    if seeding != "ours":
        from sklearn.cluster import kmeans_plusplus

        init = kmeans_plusplus(matrix, k, random_state=seed)[0]
    model = doccluster.SphericalKMeans(k, init=init, n_init=1, random_state=seed).fit(matrix)
    return int((np.bincount(model.labels_) == 1).sum())


if __name__ == "__main__":
    main(sys.argv[1:])
