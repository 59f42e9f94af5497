"""From texts on disk to blocks of rows: counted block by block, learned together, and then the rows written.

The texts are read once: counts wait on disk, by the terms of their block, until the columns and weights are known.
Source of what is learned: `vectors/vectorizer.py`; the statistics of blocks are added in a tree, and give the terms,
the columns and the weights of one process.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import open_array, write_arrays
from doccluster.base.blocks import write_rows as write_table_rows
from doccluster.base.executors import ArrayFile, Executor, InFiles, csr_over, opened
from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import unit_rows
from doccluster.corpus.stored_texts import StoredTexts, TextRows
from doccluster.distributed.matrix_block import MatrixBlock, write_block
from doccluster.geometry.documents import as_documents
from doccluster.vectors.encoders import Encoder, encode, get_encoder
from doccluster.vectors.term_counts import TermStatistics, joined_statistics
from doccluster.vectors.vectorize import weigh_counts
from doccluster.vectors.vectorizer import TfidfVectorizer
from doccluster.vectors.weighting import dtype_of

_one_at_a_time = threading.Lock()  # an encoder of our user may not be called by two threads at once
_TERMS = ("characters.npy", "ends.npy")


@dataclass(frozen=True, eq=False)
class VectorBlock:
    """The rows of the documents of a block that have terms, and the places of these in the corpus."""

    block: MatrixBlock
    places: npt.NDArray[np.int64]


def learn_terms(executor: Executor, texts: Sequence[TextRows], vectorizer: TfidfVectorizer, folder: Path) -> None:
    """Fit a vectorizer to texts in blocks, whose counts are written to `folder`; it is that of one process.

    Raises NothingUsable if no term is found, or none stays.
    """
    statistics = executor.reduce(count_block, joined_statistics, texts, single_threaded(vectorizer), str(folder))
    vectorizer.fit_statistics(statistics)


def count_block(texts: TextRows, vectorizer: TfidfVectorizer, folder: str) -> TermStatistics:
    """Write the counts of a block, by its own terms, and return how common each term is in it."""
    counts, statistics = vectorizer.count_batch(texts.texts)
    terms = dict(zip(_TERMS, pack_strings(counts.terms), strict=True))
    matrix = counts.rows.to_matrix(len(counts.terms), dtype=np.float32)
    arrays = {"data.npy": matrix.data, "indices.npy": matrix.indices, "starts.npy": matrix.indptr, **terms}
    write_arrays(_counts_of(texts, folder), arrays)
    return statistics


def write_rows(
    executor: Executor,
    texts: Sequence[TextRows],
    vectorizer: TfidfVectorizer,
    counts: Path,
    folder: Path,
    keeps: npt.NDArray[np.bool_] | None = None,
) -> tuple[list[MatrixBlock], npt.NDArray[np.int64]]:
    """Return the rows of the documents that have terms, in blocks, and the places of these documents in the corpus.

    `counts` is where `learn_terms` wrote the counts, which are removed at the end. `keeps` says which documents stay
    without a term.
    """
    vector_blocks = list(executor.map(weigh_block, texts, single_threaded(vectorizer), str(counts), str(folder), keeps))
    shutil.rmtree(counts, ignore_errors=True)  # not earlier: a worker that is replaced needs them again
    firsts = accumulate((part.block.n_rows for part in vector_blocks), initial=0)
    blocks = [replace(part.block, first=first) for part, first in zip(vector_blocks, firsts, strict=False)]
    return [block for block in blocks if block.n_rows], np.concatenate([part.places for part in vector_blocks])


def weigh_block(
    texts: TextRows,
    vectorizer: TfidfVectorizer,
    counts_folder: str,
    folder: str,
    keeps: npt.NDArray[np.bool_] | None = None,
) -> VectorBlock:
    """Write the rows of the documents of a block that have terms, and their counts; the texts are not read again."""
    counts = _counts_by_column(_counts_of(texts, counts_folder), vectorizer)
    rows = as_documents(unit_rows(weigh_counts(counts, vectorizer), warn=False), name="vectors")
    stays = rows.squared_norms > 0
    if keeps is not None:
        stays |= keeps[texts.first : texts.first + stays.size]
    filled = np.flatnonzero(stays)
    block = write_block(Path(folder) / f"rows-{texts.first}", rows.matrix[filled], counts=counts[filled])
    return VectorBlock(block, texts.first + filled)


def encode_texts(
    place: InFiles, texts: StoredTexts, encoder_named: Any, encoded: Any, *, progress: Progress = silent
) -> ArrayFile:
    """Return the rows of texts by an encoder, as `get_encoder` takes it, made where the texts are read.

    `encoded` are the rows that were made before, which makes no others (`results.encoded_rows.EncodedRows`).
    """
    encoder = get_encoder(encoder_named, n_threads=1)
    is_known = encoder.digest != "" and encoded.model == encoder.digest
    first = encoded.rows if is_known else encode(encoder, [texts[0]])
    dtype = np.float32 if encoder.digest else first.dtype
    table, n_done = place.empty_table(len(texts), first.shape[1], dtype), 0
    with place.for_a_while() as inner:
        encoded = replace(encoded, texts=inner.keep(encoded.texts), rows=inner.keep(encoded.rows))
        for n_rows in place.executor.map(encode_block, texts.blocks, table.path, encoder_named, encoded):
            n_done += n_rows
            progress("encode", n_done, len(texts))
    return table


def encode_block(texts: TextRows, path: str, encoder_named: Any, encoded: Any) -> int:
    """Write the rows of the texts of a block into their place in a table, and return how many there are."""
    is_ours = isinstance(encoder_named, str)
    encoder = known_encoder(encoder_named) if is_ours else get_encoder(encoder_named)
    opened_rows = replace(encoded, texts=opened(encoded.texts), rows=opened(encoded.rows))
    with nullcontext() if is_ours else _one_at_a_time:
        rows = opened_rows.rows_of(texts.texts, encoder, partial(encode, encoder))
    write_table_rows(Path(path), texts.first, np.ascontiguousarray(rows))
    return len(rows)


@lru_cache(maxsize=1)
def known_encoder(name: str) -> Encoder:
    """Return an encoder by its name, read once in each process."""
    return get_encoder(name, n_threads=1)


def _counts_of(texts: TextRows, folder: str) -> Path:
    return Path(folder) / f"counts-{texts.first}"


def _counts_by_column(folder: Path, vectorizer: TfidfVectorizer) -> Any:
    """Return the counts of a block in the columns of a fitted vectorizer, csr array.

    Terms ascend in a block as they do among the columns, so the entries of each row stay in order.
    """
    data, indices, starts = (open_array(folder / f"{name}.npy") for name in ("data", "indices", "starts"))
    column = vectorizer.columns_of(unpack_strings(*(open_array(folder / name) for name in _TERMS)))
    columns = column[indices]
    stays = columns >= 0
    kept_before = np.concatenate([[0], np.cumsum(stays)])
    values = data[stays].astype(dtype_of(vectorizer))
    return csr_over(values, columns[stays], kept_before[starts], (starts.size - 1, len(vectorizer.vocabulary_)))


def single_threaded(vectorizer: TfidfVectorizer) -> TfidfVectorizer:
    """Return the same vectorizer for one thread: blocks are what is done side by side."""
    alone = TfidfVectorizer(**{**vectorizer.get_params(deep=False), "n_threads": 1})
    learned = {name: value for name, value in vars(vectorizer).items() if name.endswith("_")}
    for name, value in learned.items():
        setattr(alone, name, value)
    return alone
