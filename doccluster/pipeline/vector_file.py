"""Documents written as a matrix file, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from doccluster.base.file_names import shown_path
from doccluster.base.new_folder import check_file, new_file
from doccluster.base.progress import Progress, silent
from doccluster.errors import InputError
from doccluster.pipeline.naming import MAX_CHARACTERS, in_written_forms
from doccluster.pipeline.sources import check_truth, read_source
from doccluster.pipeline.vectorizing import Vectorized, vectorize_texts
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
) -> Vectorized:
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
    read = read_source(source, reader=reader or {}, truth=truth, progress=progress)
    if read.corpus is None:
        raise InputError("the source is a matrix already", remedy="give it to `doccluster cluster`")
    check_truth(truth, read.documents)
    made = vectorize_texts(read.corpus, language=language, options=vectorizer or {}, n_threads=n_threads)
    step = max(1, sum(map(len, read.corpus.texts)) // MAX_CHARACTERS)
    made = replace(made, vectors=in_written_forms(made, made.vectors, read.corpus.texts[::step]))
    classes = None
    if classes_from is not None:
        classes = [own[0] if len(own) == 1 else "" for own in read.documents.labels[classes_from]]
    _write(path, made, classes)
    return made


def _write(path: Path, made: Vectorized, classes: list[str] | None) -> None:
    with new_file(path) as written:
        write_matrix(written, made.vectors, classes=classes)
