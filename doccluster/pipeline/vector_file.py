"""Documents written as a matrix file, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from doccluster.base.paths import check_file, new_file, shown_path
from doccluster.base.progress import Progress, silent
from doccluster.errors import InputError
from doccluster.pipeline.naming import MAX_CHARACTERS, in_written_forms
from doccluster.pipeline.sources import check_truth, read_source
from doccluster.pipeline.vectorizing import Vectorization, vectorize_texts
from doccluster.vectors import write_matrix


def write_vectors(
    source: Any,
    output: str | Path,
    *,
    overwrite: bool = False,
    classes_from: str | None = None,
    reader: Mapping[str, Any] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Vectorization:
    """Write the vectors of a source to an npz file, and return them.

    Raises InputError if the output is there, or cannot be written, or the source is a matrix already.

    `source`, `reader`, `language`, `vectorizer`, `n_threads`, `progress`: as for `run_pipeline`. `overwrite`: replace a
    file that is there. `classes_from`: the label column to write as classes; a document with none or several gets an
    empty class.
    """
    path = Path(output)
    if path.suffix != ".npz":
        raise InputError(f"{shown_path(path)} does not end in .npz", remedy="vectors are written as npz")
    check_file(path, overwrite=overwrite)
    truth = () if classes_from is None else (classes_from,)
    documents_read = read_source(source, reader=reader or {}, truth=truth, progress=progress)
    if documents_read.corpus is None:
        raise InputError("the source is a matrix already", remedy="give it to `doccluster cluster`")
    check_truth(truth, documents_read.documents)
    vectorization = vectorize_texts(
        documents_read.corpus, language=language, options=vectorizer or {}, n_threads=n_threads
    )
    step = max(1, sum(map(len, documents_read.corpus.texts)) // MAX_CHARACTERS)
    vectorization = replace(
        vectorization,
        vectors=in_written_forms(vectorization, vectorization.vectors, documents_read.corpus.texts[::step]),
    )
    classes = None
    if classes_from is not None:
        classes = [labels[0] if len(labels) == 1 else "" for labels in documents_read.documents.labels[classes_from]]
    _write(path, vectorization, classes)
    return vectorization


def _write(path: Path, vectorization: Vectorization, classes: list[str] | None) -> None:
    with new_file(path) as unfinished:
        write_matrix(unfinished, vectorization.vectors, classes=classes)
