"""`vectorize_stream`: a corpus larger than memory becomes a matrix on disk, in two passes, or in one by hashing."""

from __future__ import annotations

import os
from collections.abc import Iterator

from doccluster.errors import Argument, InputError, NothingUsable
from doccluster.progress import Progress, silent
from doccluster.sizes import parse_size
from doccluster.vectors.document_vectors import DocumentVectors
from doccluster.vectors.hashing import HashingTfidf
from doccluster.vectors.matrix_folder import MatrixWriter, open_vectors
from doccluster.vectors.stream_source import DocumentStream, Source
from doccluster.vectors.vectorizer import TfidfVectorizer


def vectorize_stream(
    source: Source,
    folder: str | os.PathLike[str],
    *,
    vectorizer: TfidfVectorizer | HashingTfidf | None = None,
    batch_size: str | int = "32M",
    text_field: str = "text",
    id_field: str = "id",
    progress: Progress = silent,
) -> DocumentVectors:
    """Return the documents of a stream as unit rows of a matrix that is written to, and mapped from, `folder`.

    A `TfidfVectorizer` reads the stream twice: once to learn the terms, once to write the rows; only the terms, and
    one batch of text, are in memory. A `HashingTfidf` reads it once: it writes counts, and weighs them on disk when the
    document frequencies are known; its memory does not grow with the number of terms either.

    Parameters
    ----------
    source : path, iterable, or function that returns an iterable
        A .jsonl file (fields `text_field` and `id_field`) or a text file of one document per line, also compressed; or
        texts or (id, text) pairs, which for two passes must be a function or something that can be read again.
    folder : path
        A new or empty folder.
    vectorizer : TfidfVectorizer, HashingTfidf or None
        None is `TfidfVectorizer()`; a fitted TfidfVectorizer is used as it is, in one pass. `norm` must be "l2".
    batch_size : str or int
        Characters of text in memory at once.
    progress : callable
        Told the number of documents done.

    Returns
    -------
    DocumentVectors
        Its matrix is mapped from disk; `open_vectors` opens it again.

    Raises
    ------
    InputError
        If the source cannot be read (again), or the folder is not empty.
    NothingUsable
        If there is no document or no term.
    """
    vectorizer = TfidfVectorizer() if vectorizer is None else vectorizer
    if vectorizer.norm != "l2" and vectorizer.weighting is None:
        raise InputError(
            "gives no unit rows",
            argument="norm",
            received=vectorizer.norm,
            remedy=("document vectors need ", Argument("norm", "l2")),
        )
    stream = DocumentStream(source, text_field=text_field, id_field=id_field)
    characters = parse_size(batch_size)
    if isinstance(vectorizer, HashingTfidf):
        _write_hashed(stream, folder, vectorizer, characters, progress)
    else:
        _write_in_two_passes(stream, folder, vectorizer, characters, progress)
    return open_vectors(folder)


def _write_in_two_passes(
    stream: DocumentStream,
    folder: str | os.PathLike[str],
    vectorizer: TfidfVectorizer,
    characters: int,
    progress: Progress,
) -> None:
    if not hasattr(vectorizer, "vocabulary_"):
        if not stream.is_repeatable:
            raise InputError(
                "the documents can be read only once", remedy="give a function that makes them, or HashingTfidf()"
            )
        vectorizer.fit_batches(_texts(stream, characters, "learn terms", progress))
    n_columns = len(vectorizer.vocabulary_)
    with MatrixWriter(folder, n_columns=n_columns, dtype=vectorizer.dtype) as writer:
        done = 0
        for ids, texts in stream.batches(characters):
            writer.append(ids, vectorizer.transform(texts))
            done += len(ids)
            progress("write rows", done)
        writer.finish(vectorizer.get_feature_names_out(), vectorizer.display_terms_)


def _write_hashed(
    stream: DocumentStream,
    folder: str | os.PathLike[str],
    vectorizer: HashingTfidf,
    characters: int,
    progress: Progress,
) -> None:
    with MatrixWriter(folder, n_columns=vectorizer.n_features, dtype=vectorizer.dtype) as writer:
        done = 0
        for ids, texts in stream.batches(characters):
            writer.append(ids, vectorizer.count(texts))
            done += len(ids)
            progress("write counts", done)
        if done == 0:
            raise NothingUsable("the stream holds no document", remedy="check the source")
        vectorizer.weigh(writer.matrix())
        writer.finish()


def _texts(stream: DocumentStream, characters: int, stage: str, progress: Progress) -> Iterator[list[str]]:
    done = 0
    for ids, texts in stream.batches(characters):
        yield texts
        done += len(ids)
        progress(stage, done)
