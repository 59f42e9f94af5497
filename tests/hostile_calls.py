"""Every public call that takes a matrix, by name: what the test of hostile indices goes through.

Run as a program it makes the calls from a given number on, each with every damage, and prints a line before each, so
that whoever reads the lines knows which one ended the process.
"""

from __future__ import annotations

import functools
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster import clustering, corpus, distributed, geometry, labeling, retrieval, selection
from doccluster.errors import DocclusterError
from doccluster.partition import Partition
from doccluster.vectors import DocumentVectors
from tests.fuzz.matrices import LABELS, N_COLUMNS, N_ROWS, good_matrix, uses

Call = Callable[[Any], Any]
ONE: dict[str, Any] = {"n_threads": 1}
ESTIMATORS = tuple(name for name in clustering.__all__ if hasattr(getattr(clustering, name), "fit"))


def calls() -> dict[str, Call]:
    """Return what is called with a matrix; the fits that some of them need are done here."""
    found: dict[str, Call] = {f"use {number}": use for number, use in enumerate(uses())}
    good, partition = good_matrix(), Partition.from_labels(LABELS)
    for name in ESTIMATORS:
        make: Callable[[], Any] = functools.partial(getattr(clustering, name), n_clusters=3)
        found[f"{name}.fit"] = lambda matrix, make=make: make().fit(matrix)
        fitted = make().fit(good)
        for method in ("predict", "predict_proba", "transform", "score", "score_samples", "bic", "icl"):
            if hasattr(fitted, method):
                found[f"{name}.{method}"] = getattr(fitted, method)
    reduction = geometry.LatentSemanticAnalysis(3, random_state=0).fit(good)
    space = geometry.latent_semantic_space(good, 3, random_state=0)
    graph = geometry.nearest_neighbours(good, 3, **ONE)
    pruning = retrieval.ClusterPruning.from_rows(good, [0, 1, 2])
    centroids = labeling.ClusterProfiles.from_partition(good, partition).centroids
    scores = np.linspace(1, 0, N_ROWS)

    def vectors(matrix: Any) -> DocumentVectors:
        return DocumentVectors(matrix, tuple(map(str, range(N_ROWS))))

    return {
        **found,
        "agglomerate": lambda matrix: clustering.agglomerate(matrix, **ONE),
        "buckshot_centroids": lambda matrix: clustering.buckshot_centroids(matrix, 3, random_state=0),
        "find_near_copies": corpus.find_near_copies,
        "write_block": lambda matrix: distributed.write_block(Path(tempfile.mkdtemp()), matrix),
        "write_block, counts": lambda matrix: distributed.write_block(Path(tempfile.mkdtemp()), good, counts=matrix),
        "Documents.take": lambda matrix: geometry.Documents(matrix).take(np.arange(4)),
        "as_documents": geometry.as_documents,
        "ClusterEvidence": lambda matrix: geometry.ClusterEvidence(matrix, partition).sums,
        "LatentSemanticAnalysis.fit": lambda matrix: geometry.LatentSemanticAnalysis(3).fit(matrix),
        "LatentSemanticAnalysis.transform": reduction.transform,
        "latent_semantic_space": lambda matrix: geometry.latent_semantic_space(matrix, 3, **ONE),
        "SemanticSpace.project": space.project,
        "nearest_neighbours": lambda matrix: geometry.nearest_neighbours(matrix, 3, **ONE),
        "kneighbors_graph": lambda matrix: geometry.kneighbors_graph(matrix, 3, **ONE),
        "smoothed_rows": lambda matrix: geometry.smoothed_rows(matrix, graph.symmetric()),
        "smoothed_rows, graph": lambda matrix: geometry.smoothed_rows(np.eye(N_ROWS), matrix),
        "group_rows": lambda matrix: retrieval.group_rows(matrix, 3, **ONE),
        "scatter": lambda matrix: retrieval.scatter(matrix, n_clusters=3, **ONE),
        "build_meta_documents": lambda matrix: retrieval.build_meta_documents(matrix, leaf=4, **ONE),
        "ClusterPruning.from_rows": lambda matrix: retrieval.ClusterPruning.from_rows(matrix, [0, 1, 2]),
        "ClusterPruning.rank": lambda matrix: pruning.rank(matrix),
        "rerank": lambda matrix: retrieval.rerank(scores, matrix, n_neighbors=3, **ONE),
        "query_likelihood": lambda matrix: retrieval.query_likelihood(matrix, good[[0]]),
        "cluster_likelihood": lambda matrix: retrieval.cluster_likelihood(matrix, good[[0]], LABELS),
        "contrast_clusters": lambda matrix: labeling.contrast_clusters(vectors(matrix), partition, centroids, 0, 1),
        "contrast_clusters, centroids": lambda matrix: labeling.contrast_clusters(
            vectors(good), partition, matrix, 0, 1
        ),
        "DocumentVectors.take": lambda matrix: vectors(matrix).take([0, 1]),
        "choose_k": lambda matrix: selection.choose_k(matrix, granularity="topics", random_state=0, **ONE),
    }


def main(first: int) -> None:
    """Make the calls from the `first` on, with every damage."""
    from tests.test_hostile_matrices import DAMAGES

    number = 0
    for name, call in calls().items():
        for damage, code in DAMAGES.items():
            number += 1
            if number <= first:
                continue
            names = {"X": good_matrix(), "np": np, "sparse": sparse}
            exec(code, names)  # the damages are ours
            sys.stdout.write(f"{number} {name}: {damage}\n")
            sys.stdout.flush()
            try:
                call(names["X"])
            except DocclusterError:
                continue
            except Exception as error:  # noqa: BLE001  it is counted
                sys.stdout.write(f"? {name}: {damage}: {type(error).__name__}: {str(error)[:200]}\n")
            else:
                sys.stdout.write(f"= {name}: {damage}\n")
    sys.stdout.write("done\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    assert N_COLUMNS == 12  # as the damages have it
    main(int(sys.argv[1]))
