"""What is in a source, before anything is clustered: described, or as a matrix file, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.arrays import Integers
from doccluster.base.checksums import checksum
from doccluster.base.parameter_fields import described_by
from doccluster.base.paths import check_file, new_file, shown_path
from doccluster.base.plain_values import cut
from doccluster.base.progress import LOOPS, Progress, silent
from doccluster.corpus import Corpus, Skipped
from doccluster.corpus.columns import type_of
from doccluster.corpus.dates import DateCounts
from doccluster.errors import InputError
from doccluster.pipeline.naming import MAX_CHARACTERS, in_written_forms
from doccluster.pipeline.run_arguments import with_parts
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.sources import check_truth, read_source
from doccluster.pipeline.vectorizing import Vectorization, vectorize_texts
from doccluster.results.overview import doubt
from doccluster.text.language import survey_writing
from doccluster.vectors import write_matrix


@dataclass(frozen=True)
class LabelColumn:
    """One column of class labels: how many classes, the commonest, and how many documents have none, one, several."""

    name: str
    n_classes: int
    commonest: tuple[tuple[str, int], ...]
    n_without: int
    n_single: int
    n_several: int


@dataclass(frozen=True)
class KeptColumn:
    """One more column of a source: its type, how many values there are, and how many documents have none."""

    name: str
    type: str  # int, float, bool or str
    n_values: int
    n_without: int


@dataclass(frozen=True, repr=False)
class Inspection:
    """What is in a source; what does not apply (texts of a matrix, columns of texts) is None.

    Attributes
    ----------
    lengths : mapping or None
        Characters per document: least, median, mean, most.
    n_same_text : int or None
        Documents that are exact copies of an earlier one.
    languages : mapping of name to share, or None
        By function words; the rest is in languages without a list, or too short to tell.
    division : str
        What of the files is a document, in words.
    text_columns : tuple of str
        The columns of tables that the texts were read from.
    scripts : mapping of name to share, or None
        Scripts without blanks between words, and the share of the texts with letters of them.
    first_date, last_date : str
        Of those that have one that can be believed.
    doubtful_dates : mapping of str to int
        How many dates are not believed, by the reason.
    dates : DateCounts or None
        How many dates were read, could not be read, or are a guess.
    guessed_encodings : mapping of str to int
        How many files were read in an encoding that is a guess.
    labels : tuple of LabelColumn
    columns : tuple of KeptColumn
        What else the source says of its documents.
    skipped : tuple of Skipped
        What gave no document.
    renamed : tuple of Skipped
        Documents whose id was taken, kept under another one.
    n_terms, n_entries, n_empty : int or None
        Of a matrix.
    checksum : str
        As in run.json.
    """

    n_documents: int
    labels: tuple[LabelColumn, ...]
    skipped: tuple[Skipped, ...]
    renamed: tuple[Skipped, ...]
    checksum: str
    lengths: Mapping[str, float] | None = None
    n_same_text: int | None = None
    languages: Mapping[str, float] | None = None
    scripts: Mapping[str, float] | None = None
    division: str = ""
    text_columns: tuple[str, ...] = ()
    columns: tuple[KeptColumn, ...] = ()
    first_date: str = ""
    last_date: str = ""
    doubtful_dates: Mapping[str, int] = field(default_factory=dict)
    dates: DateCounts | None = None
    guessed_encodings: Mapping[str, int] = field(default_factory=dict)
    n_terms: int | None = None
    n_entries: int | None = None
    n_empty: int | None = None

    def __repr__(self) -> str:
        parts = [f"{self.n_documents:,} documents"]
        if self.n_terms is not None:
            parts.append(f"{self.n_terms:,} terms")
        if self.text_columns:
            parts.append(f"text: {', '.join(self.text_columns)}")
        if self.first_date:
            parts.append(f"{self.first_date[:10]} to {self.last_date[:10]}")
        parts += [f"{share:.0%} {name}" for name, share in (self.languages or {}).items()][:3]
        parts += [f"{column.n_classes:,} classes of {column.name}" for column in self.labels]
        parts += [f"{number:,} skipped: {reason}" for reason, number in self.reasons.items()]
        return cut(f"Inspection({', '.join(parts)})")

    def to_pandas(self) -> pd.DataFrame:
        """Return one row with a column for each number, such as lengths.median, languages.english, skipped.empty."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)} | {
            "labels": {column.name: column.n_classes for column in self.labels},
            "columns": {column.name: column.n_values for column in self.columns},
            "skipped": self.reasons,
            "renamed": len(self.renamed),
        }
        return pd.json_normalize({name: value for name, value in facts.items() if value is not None})

    @property
    def reasons(self) -> dict[str, int]:
        """How many inputs were skipped for each reason, the commonest first."""
        return dict(Counter(document.reason for document in self.skipped).most_common())


@described_by(RunSettings)
def inspect_source(
    source: object,
    *,
    reader: Mapping[str, object] | None = None,
    parts: str | int | None = None,
    progress: Progress = silent,
) -> Inspection:
    """Count what is in a source: a path, paths, a Corpus, a DataFrame, texts, or a matrix file.

    With `parts`, as for `run`, what is said is of the parts.

    Examples
    --------
    >>> import doccluster
    >>> found = doccluster.inspect(["The rain in the north.", "The rain in the north.", ""])
    >>> found.n_documents, found.n_same_text, found.reasons, dict(found.languages)
    (2, 1, {'empty': 1}, {'english': 1.0})
    """
    documents_read = read_source(source, reader=with_parts(reader, parts) or {}, progress=progress)
    progress("describe", 0)
    facts: dict[str, Any] = {
        "n_documents": len(documents_read.documents),
        "labels": tuple(_label_column(name, values) for name, values in documents_read.documents.labels.items()),
        "skipped": tuple(document for document in documents_read.skipped if not document.is_renamed),
        "renamed": tuple(document for document in documents_read.skipped if document.is_renamed),
        "checksum": documents_read.checksum,
    }
    corpus, table = documents_read.corpus, documents_read.documents
    if corpus is None:
        vectors = documents_read.vectors
        assert vectors is not None  # a source without texts has vectors
        entries = np.count_nonzero(vectors.matrix) if isinstance(vectors.matrix, np.ndarray) else vectors.matrix.nnz
        is_empty = vectors.is_empty
        return Inspection(**facts, n_terms=vectors.n_terms, n_entries=int(entries), n_empty=int(is_empty.sum()))
    facts["columns"] = tuple(_kept_column(name, values) for name, values in table.columns.items())
    facts |= _of_texts(corpus, table.lengths) | _of_dates(table.dates)
    return Inspection(**facts, dates=corpus.dates, guessed_encodings=corpus.guessed_encodings)


def _of_texts(corpus: Corpus, lengths: Integers) -> dict[str, object]:
    distinct = {checksum([text]) for text in LOOPS.over(corpus.texts)}
    writing, whole = survey_writing(corpus.texts), corpus.source_rows.whole
    return {
        "lengths": {
            "least": int(lengths.min()),
            "median": float(np.median(lengths)),
            "mean": float(lengths.mean()),
            "most": int(lengths.max()),
        },
        "n_same_text": len(corpus) - len(distinct),
        "languages": dict(writing.languages),
        "scripts": dict(writing.scripts),
        "division": corpus.division
        if whole is None
        else f"parts of {len(whole.places):,} documents; {corpus.division}",
        "text_columns": corpus.text_columns,
    }


def _of_dates(dates: Sequence[str]) -> dict[str, object]:
    """Return the first and the last date that can be believed, and how many cannot, by the reason."""
    reasons: Counter[str] = Counter()
    believed = []
    for text, count in Counter(filter(None, dates)).items():
        if reason := doubt(text):
            reasons[reason] += count
        else:
            believed.append(text)
    return {
        "first_date": min(believed, default=""),
        "last_date": max(believed, default=""),
        "doubtful_dates": dict(reasons.most_common()),
    }


def _kept_column(name: str, values: Sequence[str]) -> KeptColumn:
    counts = Counter(values)
    n_without = counts.pop("", 0)
    return KeptColumn(name, type_of(counts).__name__, len(counts), n_without)


def _label_column(name: str, values: Sequence[tuple[str, ...]]) -> LabelColumn:
    counts = Counter(label for labels in values for label in labels)
    numbers = Counter(min(len(labels), 2) for labels in values)
    return LabelColumn(name, len(counts), tuple(counts.most_common(10)), numbers[0], numbers[1], numbers[2])


@described_by(RunSettings)
def write_vectors(
    source: object,
    output: str | Path,
    *,
    overwrite: bool = False,
    classes_from: str | None = None,
    reader: Mapping[str, object] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: Mapping[str, object] | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Vectorization:
    """Write the vectors of a source to an npz file, and return them.

    Raises InputError if the output is there, or cannot be written, or the source is a matrix already.

    Parameters
    ----------
    overwrite : bool
        Replace a file that is there.
    classes_from : str, optional
        The label column to write as classes; a document with none or several gets an empty class.
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
    progress("vectorize", 0)
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
    progress("write", 0)
    with new_file(path) as unfinished:
        write_matrix(unfinished, vectorization.vectors, classes=classes)
    return vectorization
