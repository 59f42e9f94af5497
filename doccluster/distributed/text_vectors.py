"""From texts on disk to blocks of rows: counted block by block, learned together, and then the rows written.

The texts are read once: counts wait on disk, by the terms of their block, until the columns and weights are known.
Source of what is learned: `vectors/vectorizer.py`; the statistics of blocks are added in a tree, and give the terms,
the columns and the weights of one process.
"""

from __future__ import annotations

import copy
import shutil
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers, Reals
from doccluster.base.blocks import open_array, write_arrays, write_in_pieces
from doccluster.base.blocks import write_rows as write_table_rows
from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.base.place import CsrFiles, FilePlace, Place, csr_over, join_rows
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import unit_rows
from doccluster.clustering.nesting import nearest_parts
from doccluster.clustering.task import LinearRule, decide
from doccluster.corpus.stored_texts import StoredTexts, TextRows
from doccluster.geometry.documents import as_documents
from doccluster.labeling.placement import place_labels
from doccluster.vectors.document_vectors import DocumentVectors
from doccluster.vectors.encoders import Encoder, encode, get_encoder
from doccluster.vectors.meaning import Meaning
from doccluster.vectors.term_counts import TermStatistics, joined_statistics
from doccluster.vectors.vectorize import unknown_term_shares, vectorize, weigh_counts
from doccluster.vectors.vectorizer import TfidfVectorizer
from doccluster.vectors.weighting import dtype_of

_one_at_a_time = threading.Lock()  # an encoder of our user may not be called by two threads at once
COUNTS = "counts"
_TERMS = ("characters.npy", "ends.npy")


def learn_terms(place: FilePlace, texts: Sequence[TextRows], vectorizer: TfidfVectorizer) -> None:
    """Fit a vectorizer to texts in blocks, whose counts are written to the place; it is that of one process."""
    shared = single_threaded(vectorizer), str(place.folder / COUNTS)
    vectorizer.fit_statistics(place.reduce(count_block, joined_statistics, texts, *shared))


def count_block(texts: TextRows, vectorizer: TfidfVectorizer, folder: str) -> TermStatistics:
    """Write the counts of a block, by its own terms, and return how common each term is in it."""
    counts, statistics = vectorizer.count_batch(texts.texts)
    terms = dict(zip(_TERMS, pack_strings(counts.terms), strict=True))
    matrix = counts.matrix(dtype=np.float32)
    arrays = {"data.npy": matrix.data, "indices.npy": matrix.indices, "starts.npy": matrix.indptr, **terms}
    write_arrays(_counts_of(texts, folder), arrays)
    return statistics


def write_rows(
    place: FilePlace,
    texts: Sequence[TextRows],
    vectorizer: TfidfVectorizer,
    keeps: Flags | None = None,
    *,
    name: str = "rows",
) -> tuple[CsrArray, CsrArray, Integers]:
    """Return the rows of the documents that have terms, their counts, and the places of these documents in the corpus.

    Both are mapped from files in the folder `name` of the place. What `learn_terms` wrote there is removed at the end.
    """
    with place.for_a_while() as inner:
        folders = str(place.folder / COUNTS), str(inner.folder)
        weighed = place.map(weigh_block, texts, single_threaded(vectorizer), *folders, keeps)
        pieces, places = zip(*weighed, strict=True)
        shutil.rmtree(folders[0], ignore_errors=True)  # not earlier: a worker that is replaced needs them again
        files = join_rows(place.folder / name, lambda: (piece.open() for piece in pieces))
        rows, counts = files.open(), replace(files, values=COUNTS)
        values = (replace(piece, values=COUNTS).open().data for piece in pieces)
        write_in_pieces(Path(counts.folder) / f"{COUNTS}.npy", values, np.float32, rows.nnz)
        return rows, counts.open(), np.concatenate(places)


def weigh_block(
    texts: TextRows,
    vectorizer: TfidfVectorizer,
    counts_folder: str,
    folder: str,
    keeps: Flags | None,
) -> tuple[CsrFiles, Integers]:
    """Write the rows and counts of the documents of a block that have terms; return these and their places."""
    counts = _counts_by_column(_counts_of(texts, counts_folder), vectorizer)
    rows = as_documents(unit_rows(weigh_counts(counts, vectorizer), warn=False), name="vectors")
    stays = rows.squared_norms > 0
    if keeps is not None:
        stays |= keeps[texts.first : texts.first + stays.size]
    filled = np.flatnonzero(stays)
    block_rows, target = rows.matrix[filled], Path(folder) / f"rows-{texts.first}"
    arrays = {"data.npy": block_rows.data.astype(np.float32, copy=False), "indices.npy": block_rows.indices}
    write_arrays(target, {**arrays, "starts.npy": block_rows.indptr, f"{COUNTS}.npy": counts[filled].data})
    return CsrFiles(str(target), block_rows.shape[1]), texts.first + filled


def encode_texts(
    place: FilePlace, texts: StoredTexts, encoder_named: Any, encoded: Any, *, progress: Progress = silent
) -> Reals:
    """Return the rows of texts by an encoder, made where the texts are read, but for those that were made before."""
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


def _counts_by_column(folder: Path, vectorizer: TfidfVectorizer) -> CsrArray:
    """Return the counts of a block in the columns of a fitted vectorizer; terms ascend in both."""
    data, indices, starts = (open_array(folder / f"{name}.npy") for name in ("data", "indices", "starts"))
    column = vectorizer.columns_of(unpack_strings(*(open_array(folder / name) for name in _TERMS)))
    columns = column[indices]
    stays = columns >= 0
    kept_before = np.concatenate([[0], np.cumsum(stays)])
    values = data[stays].astype(dtype_of(vectorizer))
    return csr_over(values, columns[stays], kept_before[starts], (starts.size - 1, len(vectorizer.vocabulary_)))


def single_threaded(vectorizer: TfidfVectorizer) -> TfidfVectorizer:
    """Return the same vectorizer for one thread: blocks are what is done side by side."""
    alone = copy.copy(vectorizer)
    alone.n_threads = 1
    return alone


@dataclass(frozen=True, eq=False)
class NewDocuments:
    """Where new documents belong, and how surely; one entry for each."""

    labels: Integers
    runner_up: Integers
    similarity: Floats  # cosines to the centroids, as the margin
    margin: Floats
    is_empty: Flags  # whether a document has no term of the model, nor a meaning
    has_words: Flags  # whether it has a term of the model
    unknown: Floats  # the share of its terms that the model does not know; nan without texts
    parts: Integers  # of shape (n_documents, n_levels): its cluster on each finer level


@dataclass(frozen=True, eq=False)
class GoingByMeaning:
    """What new documents mean, and where they go by it."""

    meaning: Meaning
    centroids: CsrArray  # of the meaning alone, or of words and meaning side by side
    is_alone: bool

    def decide(self, words: CsrArray, *, n_threads: int | None = None) -> Integers:
        """Return the cluster of each document, of their rows of words."""
        rows = self.meaning.rows if self.is_alone else self.meaning.beside(words)
        return decide(None, rows, None, self.centroids, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class PlacingModel:
    """What says where new documents belong: a rule, without one the nearest centroid, or what they mean."""

    rule: LinearRule | None
    centroids: CsrArray
    finer: Sequence[tuple[Integers, CsrArray]] = ()  # parents and centroids of each finer level
    going: GoingByMeaning | None = None

    def place(self, vectors: DocumentVectors, unknown: Floats, *, n_threads: int | None = None) -> NewDocuments:
        """Return where documents belong."""
        if self.going is None:
            labels = decide(self.rule, vectors.matrix, vectors.counts, self.centroids, n_threads=n_threads)
        else:
            labels = self.going.decide(vectors.matrix, n_threads=n_threads)
            vectors = replace(vectors, meaning=self.going.meaning)
        placed = place_labels(vectors.matrix, labels, self.centroids, n_threads=n_threads)
        has_words = vectors.documents.squared_norms > 0
        path = [labels]
        for parents, part_centroids in self.finer:
            path.append(nearest_parts(vectors.matrix, path[-1], parents, part_centroids))
        parts = np.column_stack(path)[:, 1:]
        return NewDocuments(
            labels, placed.runner_up, placed.similarity, placed.margin, vectors.is_empty, has_words, unknown, parts
        )

    def with_meaning(self, rows: Any) -> PlacingModel:
        """Return the same model with other rows of meaning, if it goes by them."""
        if self.going is None:
            return self
        return replace(self, going=replace(self.going, meaning=replace(self.going.meaning, rows=rows)))


def place_block(texts: TextRows, vectorizer: TfidfVectorizer, placing: PlacingModel, meaning_rows: Any) -> NewDocuments:
    """Return where the texts of a block belong; `meaning_rows` are those of all texts."""
    strings = texts.texts
    unknown = unknown_term_shares(strings, vectorizer)
    if meaning_rows is not None:
        placing = placing.with_meaning(meaning_rows[texts.first : texts.first + len(strings)])
    return placing.place(vectorize(strings, vectorizer), unknown, n_threads=1)


def place_blocks(
    place: Place, texts: Sequence[TextRows], vectorizer: TfidfVectorizer, placing: PlacingModel
) -> NewDocuments:
    """Return where the texts of all blocks belong, in their order; only these few numbers of each come back."""
    # rows of meaning are large, and in files, from which each worker reads its part
    meaning_rows = None if placing.going is None else placing.going.meaning.rows
    shared = single_threaded(vectorizer), placing.with_meaning(None), meaning_rows
    parts = list(place.map(place_block, texts, *shared))
    return NewDocuments(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(NewDocuments))
    )
