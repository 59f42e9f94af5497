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

from doccluster.cli.reproduction import Work
from doccluster.clustering import SphericalKMeans
from doccluster.corpus import load_sample, read_corpus
from doccluster.measures import score
from doccluster.vectors import TfidfVectorizer, read_matrix, vectorize

SOURCE = "Dhillon & Modha 2001, Machine Learning 42:143-175, doi:10.1023/A:1007612920971"

SEEDS = 5


def reproduce(work: Work) -> dict[str, float]:
    """Return 1.0 for each claim that holds on every set, else 0.0."""
    rows: list[dict[str, Any]] = []
    monotone = True
    for name, matrix, classes in corpora(work):
        k = len(set(classes))
        best = svd_error(matrix, k)
        for seed in range(2 if work.quick else SEEDS):
            rows.append({"corpus": name, "seed": seed, "svd_error": best, **one_run(matrix, classes, k, seed)})
        monotone &= never_falls(matrix, k)
    runs = pd.DataFrame(rows)
    if work.tables is not None:
        runs.to_csv(work.tables / "comparison.csv", index=False, float_format="%.6g", lineterminator="\n")
        table = runs.drop(columns="seed").groupby("corpus", sort=False).mean(numeric_only=True)
        table.to_csv(work.tables / "means.csv", float_format="%.4f", lineterminator="\n")
    means = runs.groupby("corpus").mean(numeric_only=True)
    return {
        "objective_never_falls": float(monotone),
        "spherical_objective_at_least_k_means": float((means["objective"] >= means["k_means_objective"]).all()),
        "concept_error_within_20_percent_of_svd": float((means["concept_error"] <= 1.2 * means["svd_error"]).all()),
    }


def corpora(work: Work) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield name, unit rows and classes of CLUTO's matrices and of Reuters; of the sample where neither is there."""
    n_sets = 0
    for name, matrix, classes in () if work.quick else cluto_sets(work):
        n_sets += 1
        yield name, matrix, classes
    if reuters := [] if work.quick else work.files("reut2-*.sgm*"):
        n_sets += 1
        corpus = read_corpus(reuters[0].parent)
        single = [row for row, topics in enumerate(corpus.labels["topics"]) if len(topics) == 1]
        texts = [corpus.texts[row] for row in single]
        vectorizer = TfidfVectorizer(stop_words="english", min_df=2)
        matrix = vectorizer.fit_transform(texts)
        filled = np.flatnonzero(np.diff(matrix.indptr))
        yield "reuters", matrix[filled], [corpus.labels["topics"][single[row]][0] for row in filled]
    if not n_sets:
        sample = load_sample()
        yield "newsroom", vectorize(sample).matrix, [labels[0] for labels in sample.labels["topic"]]


def cluto_sets(work: Work) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield name, unit rows and classes of each of CLUTO's matrices that has classes, by name.

    Of two of one name the one in the folder of that name counts.
    """
    paths = sorted(work.files("*.mat"), key=lambda path: path.parent.name == path.stem)
    for name, path in sorted({path.stem: path for path in paths}.items()):
        vectors, classes = read_matrix(path)
        if classes is not None:
            yield name, vectors.matrix, list(classes)


def one_run(matrix: Any, classes: list[Any], k: int, seed: int) -> dict[str, float]:
    """Return objective, agreement with the classes and decomposition error of one start of each algorithm."""
    model = SphericalKMeans(k, n_init=1, random_state=seed).fit(matrix)
    other = KMeans(k, n_init=1, random_state=seed).fit(matrix).labels_
    return {
        "objective": objective(matrix, model.labels_),
        "k_means_objective": objective(matrix, other),
        **agreement("", model.labels_, classes),
        **agreement("k_means_", other, classes),
        "concept_error": concept_error(matrix, model.centroids_),
    }


def agreement(prefix: str, labels: Any, classes: list[Any]) -> dict[str, float]:
    """Return NMI and adjusted Rand."""
    names = ("nmi", "adjusted_rand")
    return {f"{prefix}{name}": float(score(name, labels, truth=classes).value) for name in names}


def objective(matrix: Any, labels: Any) -> float:
    """Return the sum of the cosines to the own unit centroid."""
    return float(score("skm_objective", labels, vectors=matrix).value)


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
    seeds = SphericalKMeans(k, n_init=1, max_iter=1, random_state=0).fit(matrix).centroids_
    values = [
        SphericalKMeans(k, init=seeds, n_init=1, max_iter=steps, tol=0, random_state=0).fit(matrix).objective_
        for steps in range(1, 12)
    ]
    return all(after >= before - 1e-6 * before for before, after in itertools.pairwise(values))
