"""Graphs of nearest neighbours: the exact search and the search in cells, beside scikit-learn's brute force."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import kneighbors_graph

from doccluster.clustering.search_cells import search_cells
from doccluster.geometry import nearest_neighbours
from experiments.benchmarks.harness import Session, row
from experiments.benchmarks.matrices import load_matrix, real_names

N_NEIGHBORS = 10
PROBES = (4, 16, 64)


@row("neighbours", "the ten nearest neighbours by cosine: time, and the share of the exact ones found in cells")
def neighbours(session: Session) -> None:
    """Search real and made documents; generated ones share most of their words by chance, which is the hardest case."""
    real = [name for name in ("reuters", "la1") if name in real_names()]
    for name in ("made-20k",) if session.quick else (*real, "made-20k"):
        rows = load_matrix(name)
        contenders = {
            f"{name}, exact": lambda rows=rows: nearest_neighbours(rows, N_NEIGHBORS, fold=None),
            f"{name}, scikit-learn": lambda rows=rows: kneighbors_graph(
                rows, N_NEIGHBORS, mode="distance", metric="cosine"
            ),
        }
        for n in PROBES:
            contenders[f"{name}, {n} cells"] = lambda rows=rows, n=n: nearest_neighbours(
                rows, N_NEIGHBORS, fold=None, cells=search_cells(rows, n_probes=n, random_state=0)
            )
        session.compare(contenders, repeats=1)
        exact = contenders[f"{name}, exact"]().neighbours
        for n in PROBES:
            found = contenders[f"{name}, {n} cells"]().neighbours
            session.record(f"{name}, {n} cells", "recall", recall(found, exact))


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the mean share of the exact neighbours that were found."""
    return float(
        np.mean([np.isin(one[one >= 0], two).mean() for one, two in zip(exact, found, strict=True) if one[0] >= 0])
    )
