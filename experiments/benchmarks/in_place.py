"""What it saves that some block functions write into arrays of their caller instead of returning what they found.

Each is run as it is, and with arrays of its own for each block, which the caller then puts in place; the numbers are
the same. Sweeps keep bounds from one iteration to the next: a function that returned them would be given its part.
"""

from __future__ import annotations

import numpy as np

from doccluster.blocks import row_blocks
from experiments.benchmarks.clustering import load_kernels
from experiments.benchmarks.harness import Session, row, start_clock
from experiments.benchmarks.matrices import load_matrix, random_rows

TIMED = ("doccluster/clustering/k_means", "doccluster/kernels")
REPEATS = 9


@row("sweep-in-place", "a plain sweep of 100 thousand documents, k = 20, bounds in place over blocks that return them")
def sweeps(session: Session) -> None:
    from doccluster.clustering.k_means.document_matrix import prepare
    from doccluster.clustering.k_means.mean_table import head_length, lane_table
    from doccluster.clustering.k_means.sweep import HIGHEST, LINE, LOWEST, Bounds, assign_rows

    load_kernels()
    name = "made-20k" if session.quick else "made-100k"
    documents, _ = prepare(load_matrix(name))
    table = lane_table(documents.take(random_rows(name, 20)).to_csr(), head_length(documents.frequencies, 20))
    n, blocks = documents.n_documents, documents.blocks()
    shape = n, table.head.shape[1] // LINE
    bounds = Bounds(np.zeros(n, np.int32), np.full(n, LOWEST, np.float32), np.full(shape, HIGHEST, np.float32))

    def in_place() -> None:
        for block in blocks:
            assign_rows(documents.rows(block), table, np.arange(block.stop - block.start), LINE, bounds.part(block))

    def returned() -> None:
        for block in blocks:
            found = Bounds(*(array.copy() for array in bounds.part(block)))
            assign_rows(documents.rows(block), table, np.arange(block.stop - block.start), LINE, found)
            for whole, part in zip(bounds, found, strict=True):
                whole[block] = part

    session.compare_on_one_thread({"in place": in_place, "returned": returned}, repeats=REPEATS)


@row("rows-in-place", "the rows of 100 thousand documents renumbered, in place over blocks that return them")
def renumbering(session: Session) -> None:
    load_kernels()
    name = "made-20k" if session.quick else "made-100k"
    ways = {"in place": lambda: renumber_in_place(name), "returned": lambda: renumber_and_join(name)}
    session.compare_on_one_thread(ways, repeats=REPEATS)
    both = ("in place", "renumber_in_place"), ("returned", "renumber_and_join")
    session.compare_memory({way: f"{__name__}:{function}" for way, function in both}, name=name)


def renumber_in_place(name: str) -> None:
    """Renumber the rows of a matrix as a fit does."""
    from doccluster.clustering.k_means.document_matrix import document_frequencies, frequency_order, reorder

    matrix = load_matrix(name)
    start_clock()
    reorder(matrix, frequency_order(document_frequencies(matrix)), np.ones(matrix.shape[0]))


def renumber_and_join(name: str) -> None:
    """Do the same block by block, and join the blocks."""
    from doccluster.clustering.k_means.document_matrix import (
        BLOCK_ROWS,
        document_frequencies,
        frequency_order,
        reorder,
    )

    matrix = load_matrix(name)
    start_clock()
    order = frequency_order(document_frequencies(matrix))
    parts = [
        reorder(matrix[block], order, np.ones(block.stop - block.start))
        for block in row_blocks(matrix.shape[0], BLOCK_ROWS)
    ]
    for array in ("values", "columns"):
        np.concatenate([getattr(part, array) for part in parts])
