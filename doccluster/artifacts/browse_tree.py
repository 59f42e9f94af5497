"""The meta-documents of a run, kept in its folder so that `browse` makes them once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from doccluster.artifacts.storage import check_numbers, read_arrays, unpack_matrix, write_arrays
from doccluster.digests import matrix_checksum
from doccluster.errors import DocclusterError
from doccluster.retrieval import MetaDocuments
from doccluster.unfinished import finished_file

VERSION = 1  # of how the tree is made and written; a tree of another version is made again
FILE = "browse.npz"


def save_browse_tree(tree: MetaDocuments, folder: str | Path, rows: Any, seed: int) -> bool:
    """Write the tree of a run beside its model, and return whether that was possible.

    A folder that cannot be written costs the time to make the tree again, and nothing else.

    Parameters
    ----------
    folder : path
        Of the run.
    rows : csr array of shape (n_documents, n_terms)
        What the tree was made of.
    seed : int
        What it was made with.
    """
    counts = [children.size for children in tree.children]
    arrays = {
        "made_of": np.array(_made_of(rows, seed)),
        "order": tree.order,
        "first": tree.first,
        "last": tree.last,
        "weights": tree.weights,
        "children": np.concatenate(tree.children),
        "children_ends": np.cumsum(counts, dtype=np.int64),
        "data": tree.directions.data,
        "indices": tree.directions.indices,
        "indptr": tree.directions.indptr,
        "shape": np.array(tree.directions.shape),
    }
    try:
        with finished_file(_place(folder)) as unfinished:
            write_arrays(unfinished, arrays)
    except OSError:
        return False
    return True


def load_browse_tree(folder: str | Path, rows: Any, seed: int) -> MetaDocuments | None:
    """Return the tree in the folder of a run; None if there is none, or it is damaged or made of something else."""
    place = _place(folder)
    if not place.is_file():
        return None
    try:
        arrays = read_arrays(place, needs=("made_of", "order", "first", "last", "weights", "children", "children_ends"))
        if str(arrays["made_of"]) != _made_of(rows, seed):
            return None
        order, first, last, children, ends = (
            check_numbers(arrays, name, kinds="i").astype(np.int64)
            for name in ("order", "first", "last", "children", "children_ends")
        )
        tree = MetaDocuments(
            order,
            first,
            last,
            tuple(np.split(children, ends[:-1])),
            unpack_matrix(arrays, place),
            check_numbers(arrays, "weights", kinds="f"),
        )
    except (DocclusterError, ValueError):
        return None
    return tree if _is_whole(tree, rows.shape) else None


def _is_whole(tree: MetaDocuments, shape: tuple[int, int]) -> bool:
    """Return whether a tree names each document and each node below the first once."""
    n_nodes = tree.first.size
    sizes = {tree.last.size, tree.weights.size, len(tree.children), tree.directions.shape[0]}
    if sizes != {n_nodes} or n_nodes == 0 or tree.directions.shape[1] != shape[1]:
        return False
    below = np.sort(np.concatenate(tree.children))
    return (
        np.array_equal(np.sort(tree.order), np.arange(shape[0]))
        and np.array_equal(below, np.arange(1, n_nodes))
        and bool(((tree.first >= 0) & (tree.first < tree.last) & (tree.last <= shape[0])).all())
    )


def _made_of(rows: Any, seed: int) -> str:
    return matrix_checksum(rows, seed=seed, version=VERSION)


def _place(folder: str | Path) -> Path:
    return Path(folder) / "model" / FILE
