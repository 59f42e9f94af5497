"""From texts on disk to blocks of rows: terms are counted block by block, learned together, and then the rows written.

Source of what is learned: `vectors/vectorizer.py`; the statistics of blocks are added in a tree, and give the terms,
the columns and the weights of one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.corpus.stored_texts import TextRows
from doccluster.distributed.executors import Executor
from doccluster.distributed.matrix_block import MatrixBlock, csr_over, write_block
from doccluster.scratch_files import scratch_failed, write_array
from doccluster.vectors.term_counts import TermStatistics
from doccluster.vectors.vectorize import vectorize
from doccluster.vectors.vectorizer import TfidfVectorizer

_INT32_MAX = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class VectorBlock:
    """The rows of the documents of a block that have terms, and the places of these in the corpus."""

    block: MatrixBlock
    places: npt.NDArray[np.int64]


def learn_terms(executor: Executor, texts: Sequence[TextRows], vectorizer: TfidfVectorizer) -> None:
    """Fit a vectorizer to texts in blocks; it is that of one process.

    Raises
    ------
    NothingUsable
        If no term is found, or none stays.
    """
    vectorizer.fit_statistics(executor.reduce(count_block, merge_statistics, texts, single_threaded(vectorizer)))


def count_block(texts: TextRows, vectorizer: TfidfVectorizer) -> TermStatistics:
    """Return how common each term is in a block."""
    return vectorizer.statistics_of(texts.texts)


def merge_statistics(parts: list[TermStatistics]) -> TermStatistics:
    """Return the statistics of all parts together."""
    total = TermStatistics()
    for part in parts:
        total.absorb(part)
    return total


def write_rows(
    executor: Executor, texts: Sequence[TextRows], vectorizer: TfidfVectorizer, folder: Path
) -> tuple[list[MatrixBlock], npt.NDArray[np.int64]]:
    """Return the rows of the documents that have terms, in blocks, and the places of these documents in the corpus."""
    found = list(executor.map(vectorize_block, texts, single_threaded(vectorizer), str(folder)))
    firsts = accumulate((one.block.n_rows for one in found), initial=0)
    blocks = [replace(one.block, first=first) for one, first in zip(found, firsts, strict=False)]
    return [block for block in blocks if block.n_rows], np.concatenate([one.places for one in found])


def vectorize_block(texts: TextRows, vectorizer: TfidfVectorizer, folder: str) -> VectorBlock:
    """Write the rows of the documents of a block that have terms, and their counts."""
    vectors = vectorize(texts.texts, vectorizer)
    filled = np.flatnonzero(~vectors.is_empty)
    counts = None if vectors.counts is None else vectors.counts[filled]
    block = write_block(Path(folder) / f"rows-{texts.first}", vectors.matrix[filled], counts=counts)
    return VectorBlock(block, texts.first + filled)


def single_threaded(vectorizer: TfidfVectorizer) -> TfidfVectorizer:
    """Return the same vectorizer for one thread: blocks are what is done side by side."""
    alone = TfidfVectorizer(**{**vectorizer.get_params(deep=False), "n_threads": 1})
    learned = {name: value for name, value in vars(vectorizer).items() if name.endswith("_")}
    for name, value in learned.items():
        setattr(alone, name, value)
    return alone


def joined_rows(blocks: Sequence[MatrixBlock], folder: Path) -> tuple[Any, Any | None]:
    """Return the rows of all blocks as one matrix, and their counts, mapped from files that are written to `folder`."""
    n_entries, n_rows = sum(block.n_entries for block in blocks), sum(block.n_rows for block in blocks)
    has_counts = all(block.counts is not None for block in blocks)
    starts = np.zeros(n_rows + 1, np.int64)
    try:
        data, indices, counts = (
            np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=dtype, shape=(size,))
            for name, dtype, size in (
                ("data", np.float32, n_entries),
                ("indices", np.int32 if n_entries <= _INT32_MAX else np.int64, n_entries),
                ("counts", np.float32, n_entries if has_counts else 0),
            )
        )
    except OSError as error:
        raise scratch_failed(folder, error) from error
    at = 0
    for block in blocks:
        matrix, entries = block.matrix, slice(at, at + block.n_entries)
        data[entries], indices[entries] = matrix.data, matrix.indices
        if has_counts:
            counts[entries] = block.counts.data  # type: ignore[union-attr]
        starts[block.first + 1 : block.first + block.n_rows + 1] = at + matrix.indptr[1:]
        at += block.n_entries
    write_array(folder / "starts.npy", starts)  # data and indices are there: workers read rows from these files
    shape = (n_rows, blocks[0].n_columns)
    rows = csr_over(data, indices, starts, shape)
    if not has_counts:
        return rows, None
    return rows, csr_over(counts, rows.indices, rows.indptr, shape)
