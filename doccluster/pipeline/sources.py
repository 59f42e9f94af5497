"""The first stage: whatever was given becomes texts with names, or a matrix that is ready."""

from __future__ import annotations

import os
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Matrix
from doccluster.base.checksums import checksum
from doccluster.base.parameter_fields import check_names, parameters_of
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import in_form_of_content
from doccluster.base.worker_processes import in_shares, shares_of
from doccluster.corpus import Corpus, Skipped, read_corpus
from doccluster.corpus.assembly import is_companion
from doccluster.corpus.columns import cell_labels
from doccluster.corpus.document_parts import corpus_in_parts
from doccluster.corpus.named_files import Files, as_paths
from doccluster.corpus.parts import FilesInParts
from doccluster.corpus.reader_options import SourceParameters
from doccluster.corpus.source_rows import SourceRows
from doccluster.corpus.stored_texts import PickedTexts, StoredTexts
from doccluster.errors import Argument, InputError, NothingUsable, listed_arguments
from doccluster.pipeline.vectorizing import Vectorization, adopt_vectors, vectorize_texts
from doccluster.results.document_table import NO_TERMS, DocumentTable
from doccluster.results.overview import outlets_of
from doccluster.results.run_model import Model
from doccluster.text.analysis import TfidfParameters
from doccluster.text.boilerplate import N_SAMPLED, Repeated, repeated_by_outlet, texts_without
from doccluster.vectors import DocumentVectors, read_matrix, vectorize
from doccluster.vectors.meaning import Meaning, trusted_weight

MATRIX_SUFFIXES = (".mat", ".mtx", ".mtx.gz", ".npz", ".npy")
MATRIX_NAMES = (".rclass", ".clabel", ".rlabel")  # the classes, terms and ids that lie beside a matrix
MATRIX_FORMATS = ("cluto", "matrix-market", "npz", "npy")
MATRIX_OPTIONS = ("classes", "terms")
CLASS_COLUMN = "class"
# of the lines that outlets repeat
N_SHOWN = 2
MAX_SHOWN_LETTERS = 50  # characters
N_KEPT = 200  # in run.json


class Source:
    """What a person gives to be read, and of which kind it is: a matrix, files of documents, or what is in memory.

    `reader`: how it will be read, which may name its format. Raises InputError if it is a folder with several matrices,
    or with a matrix beside documents.
    """

    def __init__(self, given: Any, reader: Mapping[str, Any] | None = None) -> None:
        self.given, format = given, (reader or {}).get("format")
        self.paths = as_paths(given)  # None of what is in memory
        single = self.paths[0] if self.paths is not None and len(self.paths) == 1 else given
        # a folder with a matrix, its names and its classes stands for the matrix
        single = matrix_in(single) if format is None else single
        self.matrix = single if is_matrix(single, format=format) else None  # in memory, or its file

    @property
    def is_matrix(self) -> bool:
        """Whether it is a matrix, which has no texts."""
        return self.matrix is not None

    @property
    def matrices(self) -> list[Path]:
        """The paths of matrices; among files of documents there may be none."""
        return [path for path in self.paths or () if is_matrix(path)]

    @cached_property
    def files(self) -> Files | None:
        """The files that it names, which are there; None of what is in memory."""
        return None if self.paths is None else Files(self.paths)


@dataclass(frozen=True, eq=False, repr=False)
class SourceDocuments(ShortRepr):
    """What was read: documents, and either their texts (`corpus`) or their vectors, never both."""

    documents: DocumentTable
    skipped: tuple[Skipped, ...]
    checksum: str
    corpus: Corpus | None = None
    vectors: DocumentVectors | None = None
    left_out: tuple[Repeated, ...] = ()  # of the texts, as boilerplate
    meaning: Meaning | None = None  # of the documents, where that was asked for
    meaning_weight: float | None = None  # None for `trusted_weight`
    language_note: str | None = None  # what of the documents their encoder was not made for
    max_expanded_size: int | str = "4G"  # of `read_corpus`
    is_numbered: bool = False  # a matrix in memory, whose rows have no names

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what could not be read as it is written, or only by a guess, and what an encoder cannot read."""
        if self.corpus is None:
            return ()
        encodings = self.corpus.guessed_encodings
        guesses = ", ".join(f"{count:,} {name}" for name, count in encodings.items())
        guess = f"Encodings guessed, where files do not state theirs: {guesses}." if guesses else ""
        return tuple(filter(None, (self.corpus.dates.doubts, guess, self.language_note)))

    @property
    def source_rows(self) -> SourceRows:
        """The rows of the source: those that are documents, and what they are called."""
        if self.corpus is not None:
            return self.corpus.source_rows
        rows = SourceRows.of_documents(len(self.documents))
        return replace(rows, index=rows.places, has_ids=False) if self.is_numbered else rows

    def vectorize(
        self,
        *,
        language: str | Sequence[str] = "auto",
        options: Mapping[str, object] | None = None,
        n_threads: int | None = None,
    ) -> Vectorization:
        """Return the vectors of the documents: made of their texts, or those that were ready.

        `language`, `options`, `n_threads`: as for `vectorize_texts`; of a matrix only its weighting may be given, which
        was used when it was read.
        """
        check_names(options or {}, parameters_of(TfidfParameters), "vectorizer")
        if self.corpus is not None:
            vectorization = vectorize_texts(self.corpus, language=language, options=options or {}, n_threads=n_threads)
        else:
            vectorization = adopt_vectors(self._ready, language=language, options=options)
        if self.meaning is None:
            return vectorization
        words = vectorization.vectors
        weight = self.meaning_weight or trusted_weight(words.matrix, words.mean_words, self.meaning, n_threads)
        return replace(
            vectorization, vectors=replace(vectorization.vectors, meaning=replace(self.meaning, weight=weight))
        )

    def vectorize_like(self, model: Model) -> DocumentVectors:
        """Return the vectors of the documents in the columns of a model.

        Raises InputError if the source does not fit the model.
        """
        if self.corpus is None:
            vectors = self._ready
            if vectors.n_terms != model.n_terms:
                raise InputError(
                    f"the matrix has {vectors.n_terms:,} columns, the model has {model.n_terms:,}",
                    remedy="give a matrix with the columns the model was fitted to",
                )
            if vectors.terms is not None and model.terms is not None and list(vectors.terms) != list(model.terms):
                problem = "the columns of the matrix are other terms than those of the model"
                raise InputError(problem, remedy="give the same columns")
            return vectors
        if model.vectorizer is None:
            raise InputError(
                "the model was fitted to a matrix and knows no words", remedy="give a matrix of the same columns"
            )
        return vectorize(self.corpus, model.vectorizer)

    @property
    def _ready(self) -> DocumentVectors:
        assert self.vectors is not None  # a source has texts or vectors
        return self.vectors


def split_empty(
    documents: DocumentTable, vectors: DocumentVectors, *, space: str = "both"
) -> tuple[DocumentTable, DocumentTable, DocumentVectors]:
    """Return the documents that have terms or a meaning, those that have neither, and the vectors of the former.

    In the space "words" a meaning does not count. Raises NothingUsable if no document is left.
    """
    is_empty = (vectors.in_space("words") if space == "words" else vectors).is_empty
    if not is_empty.any():
        return documents, documents.take(np.array([], dtype=np.int64)), vectors
    filled, lost = np.flatnonzero(~is_empty), np.flatnonzero(is_empty)
    if filled.size == 0:
        raise NothingUsable(
            f"none of the {len(documents):,} document(s) has a term left: all rows are zero",
            remedy=("of texts check the language and ", Argument("min_df"), ", of a matrix the values"),
        )
    return documents.take(filled), documents.take(lost), vectors.take(filled)


def without_terms(empty: DocumentTable) -> list[Skipped]:
    """Return documents that have no term as skipped, with the reason."""
    return [
        Skipped(name, NO_TERMS, "the text is empty" if length == 0 else "no term of the text was kept")
        for name, length in zip(empty.ids, empty.lengths, strict=True)
    ]


def is_matrix(source: object, *, format: str | None = None) -> bool:
    """Return whether a source is a matrix: in memory, or in a file, by the format asked for or the end of its name."""
    if format is not None:
        return format in MATRIX_FORMATS
    if sparse.issparse(source) or isinstance(source, DocumentVectors):
        return True
    if isinstance(source, np.ndarray):
        return source.ndim == 2 and source.dtype.kind in "biuf"
    return isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(MATRIX_SUFFIXES)


def read_source(
    source: Any,
    *,
    reader: Mapping[str, Any],
    weighting: str | None = None,
    truth: Sequence[str] = (),
    kept_words: Iterable[str] = (),
    progress: Progress = silent,
) -> SourceDocuments:
    """Open `source`: a Source, a Corpus, a matrix in memory or in a file, or anything `read_corpus` takes.

    `reader`: arguments of `read_corpus`, and `keep_boilerplate`; `classes` and `terms` of `read_matrix`. `weighting`:
    for a matrix of counts. `truth`: columns that will be judged by: read as label columns, unless `reader` says which
    ones are. `kept_words`: a line with one of them is no boilerplate. `progress`: called with the number of documents
    read.
    """
    check_names(reader, parameters_of(SourceParameters), "reader")
    options = {name: value for name, value in reader.items() if value is not None}
    max_expanded_size = options.get("max_expanded_size", "4G")
    source = source if isinstance(source, Source) else Source(source, options)
    if source.is_matrix:
        return replace(_read_matrix(source.matrix, options, weighting), max_expanded_size=max_expanded_size)
    if source.matrices:
        problem = f"{source.matrices[0]} is a matrix and cannot be read together with others"
        raise InputError(problem, remedy="give it alone")
    for name in MATRIX_OPTIONS:
        if name in options:
            raise InputError(
                "belongs to a matrix, and the source is not one",
                argument=name,
                received=options[name],
                remedy="leave it out",
            )
    if truth:
        options.setdefault("label_columns", tuple(truth))
    keeps_boilerplate, rule = options.pop("keep_boilerplate", False), options.pop("parts", None)
    if rule is not None and isinstance(source.given, FilesInParts):
        raise InputError("are cut in memory, not in blocks", argument="parts", received=rule, remedy="leave it out")
    corpus = read_corpus(source.files or source.given, progress=progress, **options)
    checksum = corpus_checksum(corpus)
    parts = source.given if isinstance(source.given, FilesInParts) else None
    corpus, left_out = (corpus, ()) if keeps_boilerplate else leave_out_boilerplate(corpus, parts, kept_words)
    if rule is not None:
        corpus = corpus_in_parts(corpus, rule)
    documents = _with_classes(DocumentTable.from_corpus(corpus), truth)
    source_documents = SourceDocuments(documents, corpus.skipped, checksum, corpus=corpus, left_out=left_out)
    return replace(source_documents, max_expanded_size=max_expanded_size)


def _with_classes(documents: DocumentTable, truth: Sequence[str]) -> DocumentTable:
    """Return documents whose columns named in `truth` are labels, as they are where these are read from a file."""
    columns = dict(documents.columns)
    labels = {name: tuple(map(cell_labels, columns.pop(name))) for name in truth if name in columns}
    return replace(documents, labels={**documents.labels, **labels}, columns=columns) if labels else documents


def matrix_in(source: object) -> Matrix:
    """Return the matrix file that a folder holds with its names and classes and nothing else, else the source itself.

    Raises InputError if the folder holds several matrices, or a matrix beside documents.
    """
    if not isinstance(source, str | os.PathLike) or not os.path.isdir(source):  # noqa: PTH112  never raises
        return source
    try:
        files = [path for path in sorted(Path(source).iterdir()) if not path.name.startswith(".")]
    except OSError:
        return source
    matrices = [path for path in files if is_matrix(path) and not path.is_dir()]
    if not matrices:
        return source
    strays = [path for path in files if path not in matrices and not _goes_with_matrix(path)]
    if len(matrices) > 1:
        raise InputError(
            f"{source} holds {len(matrices)} matrices ({matrices[0].name}, {matrices[1].name}"
            f"{', ...' if len(matrices) > 2 else ''})",
            remedy="give one of them",
        )
    if strays:
        raise InputError(
            f"{source} holds a matrix ({matrices[0].name}) next to other files ({strays[0].name})",
            remedy="give the matrix or the files",
        )
    return matrices[0]


def _goes_with_matrix(path: Path) -> bool:
    return path.name.lower().endswith(MATRIX_NAMES) or is_companion(path.name) or path.stem.lower() == "description"


def _read_matrix(path: Any, options: Mapping[str, Any], weighting: str | None) -> SourceDocuments:
    unused = sorted(set(options) - {*MATRIX_OPTIONS, "format", "max_expanded_size"})
    if unused:
        name = str(path) if isinstance(path, str | os.PathLike) else "the source"
        raise InputError(
            (f"{name} is a matrix, which has no text to read with ", *listed_arguments(unused)),
            remedy="leave that out",
        )
    names = {name: options[name] for name in MATRIX_OPTIONS if name in options}
    vectors, classes = path, None
    if not isinstance(path, DocumentVectors):
        vectors, classes = read_matrix(path, weighting=weighting or "tfidf", **names)
        if vectors.counts is None:
            vectors = replace(vectors, matrix=in_form_of_content(vectors.matrix))
    labels = {} if classes is None else {CLASS_COLUMN: tuple((name,) if name else () for name in classes)}
    is_numbered = not isinstance(path, str | os.PathLike | DocumentVectors)
    table, digest = DocumentTable.from_ids(vectors.ids, labels), vectors.documents.digest
    return SourceDocuments(table, (), digest, vectors=vectors, is_numbered=is_numbered)


def check_truth(truth: Sequence[str], documents: DocumentTable) -> None:
    """Raise InputError, with the label columns there are, if one of `truth` is unknown."""
    for column in truth:
        if column not in documents.labels:
            there = ", ".join(map(repr, documents.labels)) or "none"
            raise InputError(f"there is no label column {column!r} to judge by", remedy=f"the source has {there}")


def leave_out_boilerplate(
    corpus: Corpus, parts: FilesInParts | None = None, kept_words: Iterable[str] = ()
) -> tuple[Corpus, tuple[Repeated, ...]]:
    """Return a corpus without what its outlets repeat, and what that was, the commonest first.

    Lines with one of the `kept_words` stay. Documents without an outlet are looked at together. Texts that lie on disk,
    in blocks, are written again by `parts`.
    """
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    table = replace(DocumentTable.from_ids(corpus.ids, {}), sources=corpus.column("source"))
    outlets = outlets_of(table)
    for row, outlet in enumerate(outlets):
        rows_of[outlet].append(row)
    # what one outlet repeats is boilerplate; what several say is news
    sampled = {outlet: rows[:: max(1, len(rows) // N_SAMPLED)] for outlet, rows in rows_of.items()}
    samples = [(outlet, PickedTexts(corpus.texts, rows)) for outlet, rows in sampled.items()]
    shares = shares_of([len(sample) for _, sample in samples], len(corpus))
    here, *elsewhere = [samples[share] for share in shares]
    # a worker gets the texts themselves
    loaded = ([(outlet, sample[:]) for outlet, sample in share] for share in elsewhere)
    words = tuple(kept_words)
    by_share = in_shares(repeated_by_outlet, [(here, words), *((share, words) for share in loaded)])
    repeated = {outlet: lines for by_outlet in by_share for outlet, lines in by_outlet.items() if lines}
    if not repeated:
        return corpus, ()
    titles = corpus.column("title")
    texts: Sequence[str]
    if isinstance(corpus.texts, StoredTexts):
        if parts is None:
            return corpus, ()
        texts = parts.without_repeated(corpus.texts, titles, outlets, repeated)
    else:
        cleaned = list(corpus.texts)
        rows = sorted(row for outlet in repeated for row in rows_of[outlet])
        shares = shares_of([len(cleaned[row]) for row in rows], len(corpus))
        columns = [[cleaned[row] for row in rows], [str(titles[row]) for row in rows], [outlets[row] for row in rows]]
        arguments = [(*(column[share] for column in columns), repeated) for share in shares]
        for row, text in zip(rows, chain.from_iterable(in_shares(texts_without, arguments)), strict=True):
            cleaned[row] = text
        texts = tuple(cleaned)
    left_out = [line for lines in repeated.values() for line in lines.values()]
    return corpus.with_texts(texts), tuple(sorted(left_out, key=lambda line: -line.n_documents))


def boilerplate_note(lines: tuple[Repeated, ...]) -> str | None:
    """Return the note of a run; None where nothing was left out.

    >>> note = boilerplate_note((Repeated("Gazette", "Sign up now!", 12), Repeated("Post", "Photo", 7)))
    >>> note.partition("; ")[0]
    'Removed as boilerplate: 2 lines that outlets repeat ("Sign up now!" in 12 documents, "Photo" in 7)'
    """
    if not lines:
        return None
    times: Counter[str] = Counter()
    for line in lines:
        times[textwrap.shorten(line.text, MAX_SHOWN_LETTERS, placeholder=" …")] += line.n_documents
    (first, count), *further = times.most_common(N_SHOWN)
    shown = [f'"{first}" in {count:,} documents', *(f'"{text}" in {n:,}' for text, n in further)]
    n_lines = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
    who = "outlets repeat" if any(line.outlet for line in lines) else "many documents share"
    return f"Removed as boilerplate: {n_lines} that {who} ({', '.join(shown)}); --keep-boilerplate keeps them."


def corpus_checksum(corpus: Corpus) -> str:
    """Return the checksum of the ids and texts of a corpus, in their order, wherever they lie."""
    parts = (encoded(corpus.ids), encoded(corpus.texts))
    return checksum(part for pair in zip(*parts, strict=True) for part in pair)


def encoded(strings: Sequence[str]) -> Iterator[str | bytes]:
    """Return strings in UTF-8 where they lie in it already, else as they are: their checksum is the same."""
    texts: Iterator[str | bytes] = strings.encoded() if hasattr(strings, "encoded") else iter(strings)
    return texts
