"""How well clusters agree with human classes: our algorithms beside scikit-learn's.

``python -m experiments.quality.run [--kept] [--seeds N] [--corpora A,B] [--algorithms WORD,WORD] [FOLDER]`` clusters
the seven CLUTO matrices, the single-topic texts of Reuters-21578, StackOverflow titles and 20 Newsgroups (by default in
../shared/corpora), k = number of classes, ten seeds, on the same counts and their unit tf-idf rows; and counts the
clusters of one document that one start of each seeding makes. An algorithm is taken if its name has one of the words.
The time is that of the processor, of a whole fit from the counts or the rows; the memory is what the fit adds at its
peak. ``--kept`` runs nothing: it prints the means of the kept results and writes them, with a picture, into
docs/explanation/quality.md.
Writes results/runs.csv, summary.csv and singletons.csv; an interrupted run goes on where it stopped.
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
from doccluster.selection.peak_memory import PeakMemory
from doccluster.vectors.matrix_files import load_matrix_file
from experiments.quality.algorithms import ALGORITHMS
from experiments.quality.page import write_page
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
CLUTO = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
SEEDINGS = ("ours", "scikit-learn k-means++")
MEASURES = ("nmi", "adjusted_rand", "skm_objective", "seconds", "megabytes")
SINGLETON_SETS = ("stackoverflow", "tr11", "tr12", "tr23", "re0", "k1b")


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the tables."""
    results = HERE / "results"
    if "--kept" in arguments:
        write_page(pd.read_csv(results / "runs.csv"), HERE.parents[1] / "docs" / "explanation")
        return
    n_seeds = int(taken(arguments, "--seeds") or 10)
    corpora, words = taken(arguments, "--corpora"), taken(arguments, "--algorithms")
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    asked = corpora.split(",") if corpora else (*CLUTO, "reuters", "stackoverflow", "newsgroups")
    names = [name for name in asked if is_there(folder, name)]
    if not names:
        sys.exit(f"no corpus was found in {folder}; name the folder that holds cluto_matrices and reuters21578")
    chosen = [name for name in ALGORITHMS if not words or any(word in name for word in words.split(","))]
    runs = pd.DataFrame(
        run_cases(
            results / "runs.csv",
            [{"corpus": c, "algorithm": a, "seed": s} for c in names for a in chosen for s in range(n_seeds)],
            lambda corpus, algorithm, seed: [one_run(str(folder), corpus, algorithm, seed)],
            columns=MEASURES,
        )
    )
    runs[list(MEASURES)] = runs[list(MEASURES)].astype(float)
    table = runs.groupby(["corpus", "algorithm"], sort=False)[list(MEASURES)].agg(["mean", "std"])
    print(table.round(4).to_string())
    if words:
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
                for i in range(n_seeds)
            ],
            lambda corpus, seeding, seed: [{"singletons": count_singletons(str(folder), corpus, seeding, seed)}],
            columns=("singletons",),
        )
    )
    singletons["singletons"] = singletons["singletons"].astype(float)
    print(singletons.pivot_table(index="corpus", columns="seeding", values="singletons", sort=False).to_string())


def taken(arguments: list[str], name: str) -> str | None:
    """Take an option and its value out of the arguments, and return the value."""
    if name not in arguments:
        return None
    place = arguments.index(name)
    _, value = arguments.pop(place), arguments.pop(place)
    return value


def is_there(folder: pathlib.Path, name: str) -> bool:
    """Return whether a corpus is available."""
    places = {"reuters": "reuters21578", "stackoverflow": "stackoverflow_titles", "newsgroups": "newsgroups20"}
    return (folder / places.get(name, f"cluto_matrices/{name}")).is_dir()


@cache
def load(folder: str, name: str) -> tuple[Any, Any, list[str]]:
    """Return the counts and the unit tf-idf rows of the documents that have terms, and their classes."""
    place = pathlib.Path(folder)
    if name == "reuters":
        corpus = doccluster.read_corpus(place / "reuters21578")
        labels = corpus.labels["topics"]
        rows = [row for row, topics in enumerate(labels) if len(topics) == 1]
        counts = count_terms([corpus.texts[row] for row in rows])
        classes = [labels[row][0] for row in rows]
    elif name == "newsgroups":
        corpus = doccluster.read_corpus(place / "newsgroups20" / "20news-18828.tar.xz")
        counts = count_terms(list(corpus.texts))
        classes = [label for (label,) in corpus.labels["class"]]
    elif name == "stackoverflow":
        titles = place / "stackoverflow_titles" / "rawText"
        counts = count_terms((titles / "title_StackOverflow.txt").read_text(encoding="utf-8").splitlines())
        classes = (titles / "label_StackOverflow.txt").read_text(encoding="utf-8").split()
    else:
        file = place / "cluto_matrices" / name / f"{name}.mat"
        _, classes = doccluster.read_matrix(file)
        every = load_matrix_file(file).matrix  # the counts themselves; read_matrix gives unit rows
        counts = every[:, np.flatnonzero(np.bincount(every.indices, minlength=every.shape[1]) > 1)]
    filled = np.flatnonzero(np.diff(counts.indptr))
    counts = counts[filled]
    return counts, weigh(counts), [classes[row] for row in filled]


def count_terms(texts: list[str]) -> Any:
    """Return counts of the terms of texts, English function words and terms of one document left out."""
    return doccluster.TfidfVectorizer(stop_words="english", min_df=2, weighting="nnn").fit_transform(texts)


def weigh(counts: Any) -> Any:
    """Return scikit-learn's default tf-idf of counts."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(counts).astype(np.float32)


def one_run(folder: str, corpus: str, algorithm: str, seed: int) -> dict[str, float]:
    """Return the measures of one fit, the seconds that it took the processor, and the memory that it added."""
    counts, matrix, classes = load(folder, corpus)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # what an algorithm has to say is printed, and is no error
        start = time.process_time()
        with PeakMemory() as memory:
            found = ALGORITHMS[algorithm](counts, matrix, len(set(classes)), seed)
        seconds = time.process_time() - start
    return {
        "nmi": doccluster.score("nmi", found, truth=classes).value,
        "adjusted_rand": doccluster.score("adjusted_rand", found, truth=classes).value,
        "skm_objective": doccluster.score("skm_objective", found, vectors=matrix).value,
        "seconds": round(seconds, 3),
        "megabytes": round(memory.added / 1e6, 1),
    }


def count_singletons(folder: str, corpus: str, seeding: str, seed: int) -> int:
    """Return how many clusters of one document a single start of spherical k-means ends with."""
    _, matrix, classes = load(folder, corpus)
    k = len(set(classes))
    init: Any = "k-means++"
    if seeding != "ours":
        from sklearn.cluster import kmeans_plusplus

        init = kmeans_plusplus(matrix, k, random_state=seed)[0]
    model = doccluster.SphericalKMeans(k, init=init, n_init=1, random_state=seed).fit(matrix)
    return int((np.bincount(model.labels_) == 1).sum())


if __name__ == "__main__":
    main(sys.argv[1:])
