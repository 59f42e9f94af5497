"""Every public call that takes a matrix, and matrices in memory whose parts do not fit: each call refuses each of them.

Run as a program (`python -m tests.hostile_calls 0`) it makes the calls one after the other and prints a line before
each, so that whoever reads the lines knows which one ended the process.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster import clustering, corpus, distributed, geometry, labeling, measures, retrieval, selection, synthetic
from doccluster import vectors as vectors_package
from doccluster.clustering.hierarchical.agglomeration import agglomerate
from doccluster.errors import DocclusterError
from doccluster.geometry.partition import Partition
from doccluster.labeling.label_terms import rank_label_terms
from doccluster.vectors import DocumentVectors, TfidfVectorizer
from tests.fuzz.campaign import check_sentence
from tests.fuzz.matrices import LABELS, N_ROWS, good_matrix
from tests.fuzz.watch import limit_memory

Call = Callable[[Any], Any]

MEMORY = 6 * 1024**3  # bytes of address space: what asks for more gets a MemoryError

DAMAGES = {
    "a column beyond the width": "X.indices[3] = 10**6",
    "a column far beyond": "X.indices[3] = 2**31 - 1",
    "a negative column": "X.indices[3] = -5",
    "a row start beyond the values": "X.indptr[7] = 10**6",
    "a negative row start": "X.indptr[7] = -10**6",
    "a first row start above 0": "X.indptr[0] = 2",
    "a negative last row start": "X.indptr[-1] = -3",
    "row starts that descend": "X.indptr[4:6] = X.indptr[4:6][::-1].copy() + [1, 0]",
    "columns in 64 bits, beyond 32": "X.indices = X.indices.astype(np.int64); X.indices[3] = 2**40",
    "columns that are 0 in 32 bits": "X.indices = X.indices.astype(np.int64) + 2**32",
    "columns that are fractions": "X.indices = X.indices.astype(float)",
    "columns of objects": "X.indices = X.indices.astype(object)",
    "fewer columns than values": "X.indices = X.indices[:-3]",
    "fewer values than columns": "X.data = X.data[:-3]",
    "no columns": "X.indices = None",
    "values in a table": "X.data = X.data.reshape(-1, 1)",
    "too few row starts": "X.indptr = X.indptr[:-2]",
    "too many row starts": "X.indptr = np.append(X.indptr, X.indptr[-1])",
    "row starts in a table": "X.indptr = X.indptr[None]",
    "a csc with a row beyond the height": "X = X.tocsc(); X.indices[3] = 10**6",
    "a csc with a column start beyond the values": "X = X.tocsc(); X.indptr[2] = 10**6",
    "a coo with a row beyond the height": "X = X.tocoo(); X.row[3] = 10**6",
    "a coo with a negative column": "X = X.tocoo(); X.col[3] = -10**6",
    "a coo of two billion rows": "X = sparse.coo_array(([1.0], ([0], [1])), shape=(2 * 10**9, 12))",
    "a bsr with a column beyond the width": "X = X.tobsr((2, 3)); X.indices[1] = 10**6",
    "a bsr with a block too few": "X = X.tobsr((2, 3)); X.data = X.data[:-1]",
    "a bsr with a start of two billion": "X = X.tobsr((2, 3)); X.indptr[1] = 2 * 10**9",
    "a lil with a column beyond the width": "X = X.tolil(); X.rows[1] = [10**6]; X.data[1] = [1.0]",
    "a lil with more values than columns": "X = X.tolil(); X.data[1] = X.data[1] * 1000",
    "a dia with an offset too few": "X = X.todia(); X.offsets = X.offsets[:-1]",
}


def damaged(damage: str, matrix: sparse.csr_array) -> Any:
    """Return a good matrix after a damage; the matrix itself may be changed."""
    names = {"X": matrix, "np": np, "sparse": sparse}
    exec(DAMAGES[damage], names)
    return names["X"]


ESTIMATORS = tuple(
    getattr(clustering, name) for name in clustering.__all__ if hasattr(getattr(clustering, name), "fit")
)


def _of_estimators(good: sparse.csr_array) -> Iterator[tuple[str, Call]]:
    for kind in ESTIMATORS:
        size = {"n_clusters": 3}
        known = {"n_init": 1, "max_iter": 2, "random_state": 0, "n_threads": 1}
        options = {name: value for name, value in known.items() if name in kind().get_params()}
        fitted = kind(**size, **options).fit(good)
        for name in METHODS:
            if name.startswith("fit") and hasattr(kind, name):
                yield f"{kind.__name__}.{name}(X)", partial(_fitted_to, kind, size, name)
            elif hasattr(fitted, name):
                yield f"{kind.__name__}.{name}(X)", getattr(fitted, name)


def _fitted_to(kind: Any, size: dict[str, int], name: str, matrix: Any) -> Any:
    return getattr(kind(**size), name)(matrix)


METHODS = (
    *("fit", "fit_predict", "fit_transform", "predict", "predict_proba", "transform", "inverse_transform", "score"),
    *("score_samples", "bic", "aic", "icl", "entropy", "plan_memory"),
)


@cache
def calls() -> dict[str, Call]:
    """Return what is called with a matrix, by its name and parameter; the fits that some need are done here."""
    good, partition = good_matrix(), Partition.from_labels(LABELS)
    space = geometry.latent_semantic_space(good, 3, random_state=0)
    graph = geometry.nearest_neighbours(good, 3, n_threads=1)
    vectorizer = TfidfVectorizer(n_threads=1).fit(["a1 b1 c1 d1 e1 f1", "g1 h1 i1 j1 k1 l1"])
    index = retrieval.Bm25Index.from_counts(good, vectorizer)
    pruning = retrieval.ClusterPruning.from_rows(good, good[:3])
    centroids = labeling.ClusterProfiles.from_partition(good, partition).centroids
    profiles = labeling.ClusterProfiles.from_partition(good, partition)
    scores = np.linspace(1, 0, N_ROWS)
    ids = tuple(map(str, range(N_ROWS)))
    folder = Path(tempfile.gettempdir())  # nothing is written: each matrix is refused first
    one: dict[str, Any] = {"n_threads": 1}
    names = np.array([f"t{column}" for column in range(good.shape[1])], dtype=object)

    def vectors(matrix: Any) -> DocumentVectors:
        return DocumentVectors(matrix, ids, names, names)

    def corpora(matrix: Any, counts: Any = None) -> list[selection.LabelledCorpus]:
        return [selection.LabelledCorpus("x", matrix, None, 2, counts=counts)]

    return {
        **dict(_of_estimators(good)),
        "DocumentClustering.fit(letters)": lambda X: clustering.DocumentClustering(2).fit(good, letters=X),
        "SphericalKMeans(init)": lambda X: clustering.SphericalKMeans(N_ROWS, init=X).fit(good),
        "agglomerate(rows)": lambda X: agglomerate(X, **one),
        "assign_to_centroids(matrix)": lambda X: clustering.assign_to_centroids(X, good[:3], **one),
        "assign_to_centroids(centroids)": lambda X: clustering.assign_to_centroids(good, X, **one),
        "find_near_copies(matrix)": corpus.find_near_copies,
        "write_block(matrix)": lambda X: distributed.write_block(folder / "block", X),
        "evaluate(vectors)": lambda X: measures.evaluate(LABELS, vectors=X, measures=["silhouette"], **one),
        "score(vectors)": lambda X: measures.score("silhouette", LABELS, vectors=X, **one),
        "ClusterEvidence(documents)": lambda X: geometry.ClusterEvidence(X, partition, **one).sums,
        "SemanticSpace.project(matrix)": space.project,
        "as_documents(matrix)": geometry.as_documents,
        "latent_semantic_space(matrix)": lambda X: geometry.latent_semantic_space(X, 3, **one),
        "nearest_neighbours(matrix)": lambda X: geometry.nearest_neighbours(X, 3, **one),
        "smoothed_rows(rows)": lambda X: geometry.smoothed_rows(X, graph.symmetric()),
        "smoothed_rows(graph)": lambda X: geometry.smoothed_rows(np.eye(N_ROWS), X),
        "ClusterProfiles.from_partition(matrix)": lambda X: labeling.ClusterProfiles.from_partition(X, partition),
        "contrast_clusters(vectors)": lambda X: labeling.contrast_clusters(vectors(X), partition, centroids, 0, 1),
        "contrast_clusters(centroids)": lambda X: labeling.contrast_clusters(vectors(good), partition, X, 0, 1),
        "describe_clusters(vectors)": lambda X: labeling.describe_clusters(vectors(X), partition, **one),
        "explain_membership(matrix)": lambda X: labeling.explain_membership(X, 2, centroids, 2),
        "explain_membership(centroids)": lambda X: labeling.explain_membership(good, 2, X, 0),
        "place_documents(matrix)": lambda X: labeling.place_documents(X, partition, centroids, **one),
        "place_documents(centroids)": lambda X: labeling.place_documents(good, partition, X, **one),
        "rank_label_terms(rows)": lambda X: rank_label_terms(profiles, names, rows=X, partition=partition),
        "representative_documents(matrix)": lambda X: labeling.representative_documents(X, partition, scores),
        "Bm25Index.from_counts(counts)": lambda X: retrieval.Bm25Index.from_counts(X, vectorizer),
        "Bm25Index.score_counts(query)": lambda X: index.score_counts(X),
        "group_rows(rows)": lambda X: retrieval.group_rows(X, 3, **one),
        "rerank(rows)": lambda X: retrieval.rerank(scores, X, n_neighbors=3, **one),
        "scatter(rows)": lambda X: retrieval.scatter(X, n_clusters=3, **one),
        "ClusterPruning.from_rows(rows)": lambda X: retrieval.ClusterPruning.from_rows(X, good[:3]),
        "ClusterPruning.from_rows(leaders)": lambda X: retrieval.ClusterPruning.from_rows(good, X),
        "ClusterPruning.candidates(query)": pruning.candidates,
        "ClusterPruning.rank(query)": pruning.rank,
        "query_likelihood(counts)": lambda X: retrieval.query_likelihood(X, good[[0]]),
        "query_likelihood(query)": lambda X: retrieval.query_likelihood(good, X),
        "cluster_likelihood(counts)": lambda X: retrieval.cluster_likelihood(X, good[[0]], np.array(LABELS)),
        "cluster_likelihood(query)": lambda X: retrieval.cluster_likelihood(good, X, np.array(LABELS)),
        "cluster_hypothesis(rows)": lambda X: retrieval.cluster_hypothesis(X, [{0: 1, 1: 1}], **one),
        "cluster_distances(vectors)": lambda X: measures.cluster_distances(LABELS, vectors=X),
        "scatter_matrices(vectors)": lambda X: measures.scatter_matrices(LABELS, vectors=X),
        "hopkins_test(matrix)": selection.hopkins_test,
        "distance_distribution_test(matrix)": selection.distance_distribution_test,
        "spatial_histogram_test(matrix)": selection.spatial_histogram_test,
        "best_partition(vectors)": lambda X: selection.best_partition(X, 2),
        "stability(matrix)": lambda X: selection.stability(X, ks=[2], n_samples=2, **one),
        "choose_k(counts)": lambda X: selection.choose_k(good, counts=X, random_state=0, **one),
        "choose_k(matrix)": lambda X: selection.choose_k(X, granularity="topics", random_state=0, **one),
        "criteria_over_k(vectors)": lambda X: selection.criteria_over_k(
            X, ks=[2, 3], criteria=["silhouette"], random_state=0, **one
        ),
        "tendency(vectors)": lambda X: selection.tendency(X, random_state=0),
        "compare(corpora)": lambda X: selection.compare(corpora(X), seeds=[0]),
        "compare(corpora), counts": lambda X: selection.compare(corpora(good, X), seeds=[0]),
        "fit_corpus_model(vectors)": lambda X: synthetic.fit_corpus_model(vectors(X), 2, random_state=0, **one),
        "make_twin(vectors)": lambda X: synthetic.make_twin(vectors(X), 2, random_state=0, **one),
        "DocumentVectors.take(rows)": lambda X: vectors(X).take(np.array([0, 1])),
        "TfidfVectorizer.inverse_transform(X)": vectorizer.inverse_transform,
        "TfidfVectorizer.weigh(counts)": vectorizer.weigh,
        "write_matrix(vectors)": lambda X: vectors_package.write_matrix(folder / "x.npz", vectors(X)),
    }


def main(first: int) -> None:
    """Make the calls after the `first`, each with every damage; print what comes of each."""
    limit_memory(MEMORY)
    number = 0
    for name, call in calls().items():
        for damage in DAMAGES:
            number += 1
            if number <= first:
                continue
            matrix = damaged(damage, good_matrix())
            _say(number, name, damage)
            try:
                call(matrix)
            except DocclusterError as error:
                check_sentence(error)
            except Exception as error:  # noqa: BLE001  what else comes out is what is looked for
                _say("not a sentence", name, damage, f"{type(error).__name__}: {str(error)[:100]!r}")
            else:
                _say("taken", name, damage)


def _say(*parts: object) -> None:
    sys.stdout.write("\t".join(map(str, parts)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]))
