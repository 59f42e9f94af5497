"""Spherical k-means beside k-means, and concept decompositions beside the truncated SVD, on the corpora available."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans

import doccluster
from experiments.reproduction import Work

SOURCE = "Dhillon & Modha 2001, Machine Learning 42:143-175, doi:10.1023/A:1007612920971"

SEEDS = 5


def reproduce(work: Work) -> dict[str, float]:
    """Return 1.0 for each claim that holds on every set, else 0.0."""
    rows, monotone = [], True
    for name, matrix, classes in corpora(work):
        k = len(set(classes))
        best = svd_error(matrix, k)
        for seed in range(2 if work.quick else SEEDS):
            rows.append({"corpus": name, "seed": seed, "svd_error": best, **one_run(matrix, classes, k, seed)})
        monotone &= never_falls(matrix, k)
    runs = pd.DataFrame(rows)
    if not work.quick:
        runs.to_csv(work.results / "comparison.csv", index=False, float_format="%.6g", lineterminator="\n")
        table = runs.drop(columns="seed").groupby("corpus", sort=False).mean(numeric_only=True)
        table.to_csv(work.results / "means.csv", float_format="%.4f", lineterminator="\n")
    means = runs.groupby("corpus").mean(numeric_only=True)
    return {
        "objective_never_falls": float(monotone),
        "spherical_objective_at_least_k_means": float((means["objective"] >= means["k_means_objective"]).all()),
        "concept_error_within_20_percent_of_svd": float((means["concept_error"] <= 1.2 * means["svd_error"]).all()),
    }


def corpora(work: Work) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield name, unit rows and classes of each corpus at hand; the bundled sample where none is, or in a quick run."""
    shared = work.folder.parents[2] / "shared" / "corpora"
    sets = sorted(path for path in shared.glob("cluto_matrices/*/*.mat") if path.parent.name == path.stem)
    if work.quick or not sets:
        yield from _newsroom(work)
        return
    for path in sets:
        vectors, classes = doccluster.read_matrix(path)
        yield path.stem, vectors.matrix, list(classes)
    if (shared / "reuters21578").is_dir():
        corpus = doccluster.read_corpus(shared / "reuters21578")
        single = [row for row, topics in enumerate(corpus.labels["topics"]) if len(topics) == 1]
        texts = [corpus.texts[row] for row in single]
        vectorizer = doccluster.TfidfVectorizer(stop_words="english", min_df=2)
        matrix = vectorizer.fit_transform(texts)
        filled = np.flatnonzero(np.diff(matrix.indptr))
        yield "reuters", matrix[filled], [corpus.labels["topics"][single[row]][0] for row in filled]


def _newsroom(work: Work) -> Iterator[tuple[str, Any, list[Any]]]:
    sample = work.folder.parents[1] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    corpus = doccluster.read_corpus(sample, label_columns=["topic"])
    yield "newsroom", doccluster.vectorize(corpus).matrix, [labels[0] for labels in corpus.labels["topic"]]


def one_run(matrix: Any, classes: list[Any], k: int, seed: int) -> dict[str, float]:
    """Return objective, agreement with the classes and decomposition error of one start of each algorithm."""
    model = doccluster.SphericalKMeans(k, n_init=1, random_state=seed).fit(matrix)
    other = KMeans(k, n_init=1, random_state=seed).fit(matrix).labels_
    return {
        "objective": objective(matrix, model.labels_),
        "k_means_objective": objective(matrix, other),
        **agreement("", model.labels_, classes),
        **agreement("k_means_", other, classes),
        "concept_error": concept_error(matrix, model.centroids_),
    }


def agreement(prefix: str, found: Any, classes: list[Any]) -> dict[str, float]:
    """Return NMI and adjusted Rand."""
    names = ("nmi", "adjusted_rand")
    return {f"{prefix}{name}": float(doccluster.score(name, found, truth=classes).value) for name in names}


def objective(matrix: Any, labels: Any) -> float:
    """Return the sum of the cosines to the own unit centroid."""
    return float(doccluster.score("skm_objective", labels, vectors=matrix).value)


def concept_error(matrix: Any, centroids: Any) -> float:
    """Return |X - Z C|_F^2 with the least-squares Z: what the space of the concept vectors leaves out."""
    concepts = sparse.csr_array(centroids).astype(np.float64)
    products = (matrix.astype(np.float64) @ concepts.T).toarray()  # n x k
    gram = (concepts @ concepts.T).toarray()
    explained = float(np.sum(products * np.linalg.lstsq(gram, products.T, rcond=None)[0].T))
    return float(matrix.astype(np.float64).power(2).sum()) - explained


def svd_error(matrix: Any, k: int) -> float:
    """Return |X - X_k|_F^2 of the truncated SVD of rank k: the least that any rank k can leave out."""
    values = svds(matrix.astype(np.float64), k=k, return_singular_vectors=False, random_state=0)
    return float(matrix.astype(np.float64).power(2).sum() - np.square(values).sum())


def never_falls(matrix: Any, k: int) -> bool:
    """Return whether more iterations from the same seeds never lower the objective."""
    seeds = doccluster.SphericalKMeans(k, n_init=1, max_iter=1, random_state=0).fit(matrix).centroids_
    values = [
        doccluster.SphericalKMeans(k, init=seeds, n_init=1, max_iter=steps, tol=0, random_state=0)
        .fit(matrix)
        .objective_
        for steps in range(1, 12)
    ]
    return all(after >= before - 1e-6 * before for before, after in itertools.pairwise(values))
