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
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import open_array, write_arrays, write_in_pieces
from doccluster.base.blocks import write_rows as write_table_rows
from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.base.place import CsrFiles, FilePlace, csr_over, join_rows
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import unit_rows
from doccluster.corpus.stored_texts import StoredTexts, TextRows
from doccluster.geometry.documents import as_documents
from doccluster.vectors.encoders import Encoder, encode, get_encoder
from doccluster.vectors.term_counts import TermStatistics, joined_statistics
from doccluster.vectors.vectorize import weigh_counts
from doccluster.vectors.vectorizer import TfidfVectorizer
from doccluster.vectors.weighting import dtype_of

_one_at_a_time = threading.Lock()  # an encoder of our user may not be called by two threads at once
COUNTS = "counts"
_TERMS = ("characters.npy", "ends.npy")


@dataclass(frozen=True, eq=False)
class VectorBlock:
    """The rows of the documents of a block that have terms, counts beside them, and where these are in the corpus."""

    rows: CsrFiles
    places: npt.NDArray[np.int64]


def learn_terms(place: FilePlace, texts: Sequence[TextRows], vectorizer: TfidfVectorizer) -> None:
    """Fit a vectorizer to texts in blocks, whose counts are written to the place; it is that of one process.

    Raises NothingUsable if no term is found, or none stays.
    """
    shared = single_threaded(vectorizer), str(place.folder / COUNTS)
    vectorizer.fit_statistics(place.reduce(count_block, joined_statistics, texts, *shared))


def count_block(texts: TextRows, vectorizer: TfidfVectorizer, folder: str) -> TermStatistics:
    """Write the counts of a block, by its own terms, and return how common each term is in it."""
    counts, statistics = vectorizer.count_batch(texts.texts)
    terms = dict(zip(_TERMS, pack_strings(counts.terms), strict=True))
    matrix = counts.rows.to_matrix(len(counts.terms), dtype=np.float32)
    arrays = {"data.npy": matrix.data, "indices.npy": matrix.indices, "starts.npy": matrix.indptr, **terms}
    write_arrays(_counts_of(texts, folder), arrays)
    return statistics


def write_rows(
    place: FilePlace,
    texts: Sequence[TextRows],
    vectorizer: TfidfVectorizer,
    keeps: npt.NDArray[np.bool_] | None = None,
    *,
    name: str = "rows",
) -> tuple[Any, Any, npt.NDArray[np.int64]]:
    """Return the rows of the documents that have terms, their counts, and the places of these documents in the corpus.

    Both are csr arrays mapped from files in the folder `name` of the place, in the same places. What `learn_terms`
    wrote there is removed at the end. `keeps` says which documents stay without a term. Raises InputError if there is
    no room.
    """
    with place.for_a_while() as inner:
        folders = str(place.folder / COUNTS), str(inner.folder)
        parts = list(place.map(weigh_block, texts, single_threaded(vectorizer), *folders, keeps))
        shutil.rmtree(folders[0], ignore_errors=True)  # not earlier: a worker that is replaced needs them again
        files = join_rows(place.folder / name, lambda: (part.rows.open() for part in parts))
        rows, counts = files.open(), replace(files, values=COUNTS)
        values = (replace(part.rows, values=COUNTS).open().data for part in parts)
        write_in_pieces(Path(counts.folder) / f"{COUNTS}.npy", values, np.float32, rows.nnz)
        return rows, counts.open(), np.concatenate([part.places for part in parts])


def weigh_block(
    texts: TextRows,
    vectorizer: TfidfVectorizer,
    counts_folder: str,
    folder: str,
    keeps: npt.NDArray[np.bool_] | None = None,
) -> VectorBlock:
    """Write the rows and counts of the documents of a block that have terms; the texts are not read again."""
    counts = _counts_by_column(_counts_of(texts, counts_folder), vectorizer)
    rows = as_documents(unit_rows(weigh_counts(counts, vectorizer), warn=False), name="vectors")
    stays = rows.squared_norms > 0
    if keeps is not None:
        stays |= keeps[texts.first : texts.first + stays.size]
    filled = np.flatnonzero(stays)
    block_rows, target = rows.matrix[filled], Path(folder) / f"rows-{texts.first}"
    arrays = {"data.npy": block_rows.data.astype(np.float32, copy=False), "indices.npy": block_rows.indices}
    write_arrays(target, {**arrays, "starts.npy": block_rows.indptr, f"{COUNTS}.npy": counts[filled].data})
    return VectorBlock(CsrFiles(str(target), block_rows.shape[1]), texts.first + filled)


def encode_texts(
    place: FilePlace, texts: StoredTexts, encoder_named: Any, encoded: Any, *, progress: Progress = silent
) -> npt.NDArray[Any]:
    """Return the rows of texts by an encoder, as `get_encoder` takes it, made where the texts are read.

    `encoded` are the rows that were made before, which makes no others (`results.encoded_rows.EncodedRows`).
    """
    encoder = get_encoder(encoder_named, n_threads=1)
    is_known = encoder.digest != "" and encoded.model == encoder.digest
    first = encoded.rows if is_known else encode(encoder, [texts[0]])
    dtype = np.float32 if encoder.digest else first.dtype
    table, n_done = place.empty_table(len(texts), first.shape[1], dtype), 0
    with place.for_a_while() as inner:
        texts_and_rows = inner.keep(encoded.texts), inner.keep(encoded.rows)
        settings = table.path, encoder_named, replace(encoded, texts=None, rows=None)
        for n_rows in place.map(encode_block, texts.blocks, *settings, *texts_and_rows):
            n_done += n_rows
            progress("encode", n_done, len(texts))
    return table.open()


def encode_block(
    texts: TextRows, path: str, encoder_named: Any, encoded: Any, encoded_texts: Any, encoded_rows: Any
) -> int:
    """Write the rows of the texts of a block into their place in a table, and return how many there are."""
    is_ours = isinstance(encoder_named, str)
    encoder = known_encoder(encoder_named) if is_ours else get_encoder(encoder_named)
    rows_before = replace(encoded, texts=encoded_texts, rows=encoded_rows)
    with nullcontext() if is_ours else _one_at_a_time:
        rows = rows_before.rows_of(texts.texts, encoder, partial(encode, encoder))
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
