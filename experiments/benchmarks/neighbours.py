"""Graphs of nearest neighbours: the exact search and the search in cells, beside scikit-learn's brute force."""

from __future__ import annotations

import importlib.util

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from doccluster.clustering.smoothed.document_spaces import search_cells
from doccluster.geometry import nearest_neighbours
from experiments.benchmarks.harness import Session, row
from experiments.benchmarks.matrices import load_matrix, real_names

TIMED = ("doccluster/geometry", "doccluster/base/compiled.py")
N_NEIGHBORS = 10
PROBES = (4, 16, 64)


@row("neighbours", "the ten nearest neighbours by cosine: time, and the share of the exact ones found in cells")
def neighbours(session: Session) -> None:
    """Search real and made documents; generated ones share most of their words by chance, which is the hardest case."""
    real = [name for name in ("reuters", "la1") if name in real_names()]
    for name in ("made-20k", "dense-20k") if session.quick else (*real, "made-20k", "dense-20k"):
        rows = dense_rows() if name == "dense-20k" else load_matrix(name)
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


def dense_rows() -> np.ndarray:
    """Return 20,000 unit rows in 384 dimensions, of a hundred subjects."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 384))[rng.integers(0, 100, 20_000)] + 1.5 * rng.normal(size=(20_000, 384))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@row("approximate-neighbours", "the same beside pynndescent, real documents, processor seconds of one thread")
def approximate_neighbours(session: Session) -> None:
    """Compare the searches that miss some neighbours; what pynndescent compiles is compiled before."""
    if importlib.util.find_spec("pynndescent") is None:
        session.say("  pynndescent is not installed; pip install pynndescent")
        return
    for name in real_names()[:1] if session.quick else ("la1", "reuters"):
        if name not in real_names():
            continue
        rows = load_matrix(name)
        descend(rows[:500])
        search(rows[:500], in_cells=True)
        found: dict[str, np.ndarray] = {}
        contenders = {
            f"{name}, exact": lambda own=found, rows=rows: own.update(exact=search(rows)),
            f"{name}, cells": lambda own=found, rows=rows: own.update(cells=search(rows, in_cells=True)),
            f"{name}, pynndescent": lambda own=found, rows=rows: own.update(pynndescent=descend(rows)),
        }
        session.compare_on_one_thread(contenders, repeats=1)
        for who in ("cells", "pynndescent"):
            session.record(f"{name}, {who}", "recall", recall(found[who], found["exact"]))


def search(rows: sparse.csr_array, *, in_cells: bool = False) -> np.ndarray:
    """Return our neighbours, with one thread."""
    cells = search_cells(rows, random_state=0, n_threads=1) if in_cells else None
    return nearest_neighbours(rows, N_NEIGHBORS, fold=None, cells=cells, n_threads=1).neighbours


def descend(rows: sparse.csr_array) -> np.ndarray:
    """Return the neighbours that pynndescent finds with its defaults, without the row itself."""
    import pynndescent

    index = pynndescent.NNDescent(
        sparse.csr_matrix(rows), metric="cosine", n_neighbors=N_NEIGHBORS + 1, random_state=0, n_jobs=1
    )
    found = index.neighbor_graph[0]
    return np.array([own[own != row][:N_NEIGHBORS] for row, own in enumerate(found)])


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the mean share of the exact neighbours that were found."""
    return float(
        np.mean([np.isin(one[one >= 0], two).mean() for one, two in zip(exact, found, strict=True) if one[0] >= 0])
    )
