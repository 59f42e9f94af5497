"""`read_corpus`: from whatever the user has to a `Corpus`, where one bad file never ends the run."""

from __future__ import annotations

import csv
import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from doccluster.base.parameter_fields import at_the_door, called_with, described_by, part_of
from doccluster.base.progress import Progress, silent
from doccluster.base.worker_processes import begin, n_shares, shares_of
from doccluster.corpus._delimited import LARGEST_FIELD, choose_dialect
from doccluster.corpus.assembly import CorpusBuilder, LabelsOf, ReadRows, clean_line
from doccluster.corpus.columns import cell_labels, listed
from doccluster.corpus.document import Corpus, Skipped
from doccluster.corpus.encodings import UNKNOWN, decode
from doccluster.corpus.formats import FORMATS, check_format, check_is_text, read_apart, recognise
from doccluster.corpus.frames import pandas_frame, read_in_memory
from doccluster.corpus.markup import without_markup
from doccluster.corpus.named_files import files_named
from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import Draft, Found, InputFile, ReadFailure, UnknownColumn, boundary, guarded
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.source_rows import RowTally, SourceRows
from doccluster.corpus.stored_texts import TextWriter
from doccluster.corpus.walking import ListedFile, Walk, stream_file
from doccluster.errors import Argument, DocclusterWarning, InputError, MissingDependency

_TOLD_EVERY = 500  # documents between two calls of progress
BYTES_OF_DOCUMENT = 500  # of files, packed or not, from which workers read some
_LONGEST_NAME = 60  # characters of a file's name in a sentence


@dataclass(frozen=True, kw_only=True)
class ReadArguments(ReadOptions):
    """The signature of `read_corpus`."""

    source: object = field(kw_only=False)
    progress: Progress = silent


@described_by(ReadOptions)
@at_the_door
@called_with(ReadArguments)
def read_corpus(source: object, arguments: ReadArguments) -> Corpus:
    """Return the documents of a source, with ids, titles, dates, links and labels, and a list of what was skipped.

    Parameters
    ----------
    source : path, paths, table, Series or iterable of str
        A file, a folder, an archive, ``"-"`` for standard input, several of these, or texts that are in memory. A list
        of str is taken as paths when all of them look like paths and one exists; give ``Path`` objects to be sure.
        A table is one of pandas, polars, pyarrow, DuckDB or Hugging Face's datasets, or has `__arrow_c_stream__`; a
        mapping of columns, a Bunch of scikit-learn, or what a query finds: ``"sqlite:///news.db?SELECT title, body FROM
        news"``, or ``duckdb:///``, of which nothing is changed. So are records, in a list or one by one: mappings,
        named tuples, dataclasses, rows of a database.
    progress : callable
        Called with ("read", number of documents so far).

    Returns
    -------
    Corpus
        Nothing that could not be read is fatal: it is listed in ``skipped`` with a reason.

    Raises
    ------
    InputError
        If a path does not exist, or a format, option or column is not known.
    NothingUsable
        If no document is left.
    MissingDependency
        If a named file needs an optional package that is not installed.

    Warns
    -----
    DocclusterWarning
        If the encoding of files had to be guessed, or NULs of a file or the markup of a table were left out.

    Examples
    --------
    >>> corpus = read_corpus(["Wheat exports rise.", "", "The match ended in a draw."])
    >>> len(corpus), corpus.ids, [one.reason for one in corpus.skipped]
    (2, ('1', '3'), ['empty'])
    """
    options = part_of(arguments, ReadOptions)
    return source if isinstance(source, Corpus) else _read(source, options, arguments.progress)


def texts_of_rows(source: object, **reader: Any) -> list[str]:
    """Return the text of each row of a table, records or texts in memory, in their order; empty where it has none."""
    reading = Reading(ReadOptions(**reader).checked(), silent)
    drafts = reading._prepared(read_in_memory(source, reading.options), "the source")
    return [draft.text if isinstance(draft, Draft) else "" for draft in drafts]


def read_to_disk(source: object, folder: Path, **reader: Any) -> Corpus:
    """Return the documents that `read_corpus` returns; their texts are files of a folder, which must stay as long."""
    writer = TextWriter(folder, "texts", characters=2**21)
    return source if isinstance(source, Corpus) else _read(source, ReadOptions(**reader), silent, writer)


def _read(source: object, options: ReadOptions, progress: Progress, writer: TextWriter | None = None) -> Corpus:
    options = replace(options, format=check_format(options.format)).checked()
    labels = None if options.labels_file is None else labels_beside(Path(options.labels_file), options)
    reading = Reading(options, progress, writer)
    reading.run(source)
    if writer is not None:
        writer.flush()
        reading.builder.end_rows()
        reading.builder.add_rows([], writer.blocks)
    return reading.finish(labels)


_Row = TypeVar("_Row", bound=Found)


_REFERENCES = " are read as the characters they stand for; to keep them, give ", Argument("strip_html", False), "."
# what readers do to files of their own accord: by kind, what of these files, and what was done to it
_SENTENCES: dict[str, tuple[str, str, *tuple[str | Argument, ...]]] = {
    "guess": ("encoding", " is not known; read as cp1252 (name another with ", Argument("encoding"), ")."),
    "tags": ("texts", " are HTML and were read without markup; to keep it, give ", Argument("strip_html", False), "."),
    "references": ("character references", *_REFERENCES),
    "escapes": (r"escapes (\n, \u00e9)", *_REFERENCES),
    "partly read": ("front matter", " holds more than keys with values or lists; the rest of it stays in the text."),
    "NULs": ("NULs", " are left out ({:,})."),
    "renamed columns": ("line ends and tabs in names of columns", " are read as blanks."),
}


class Remarks:
    """Remarks on the files, beside their documents."""

    def __init__(self) -> None:
        # How often what was seen, by kind: for the kinds of `_SENTENCES` the names of files; further "encodings" that
        # are a guess, "splits", "text columns", what is said of "dates", and the numbers of files of which each of the
        # "units" is a document ("" where the file is one), or that are "unread", with the sentence why.
        self.seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.first_files: dict[str, str] = {}  # of units, and of sentences
        self.unknown_column: UnknownColumn | None = None

    def add(self, remarks: Remarks) -> None:
        """Add the remarks on files that were read elsewhere."""
        for kind, counts in remarks.seen.items():
            self.seen[kind].update(counts)
        self.first_files = remarks.first_files | self.first_files
        self.unknown_column = self.unknown_column or remarks.unknown_column

    def count_file(self, kind: str, word: str, name: str) -> None:
        """Count a file among the units or the unread."""
        self.seen[kind][word] += 1
        self.first_files.setdefault(word, name)

    def division(self, n_about: int) -> str:
        """Return in words what of the files is a document; `n_about` files were about the collection."""
        counts = self.seen["units"] - Counter({"": n_about})
        sentences = []
        for unit, n_files in counts.items():
            name = clean_line(self.first_files[unit])
            first = name if len(name) <= _LONGEST_NAME else f"...{name[-_LONGEST_NAME:]}"
            if unit:
                sentences.append(f"each {unit} of {first if n_files == 1 else f'{n_files:,} files'} is a document")
            elif n_files == 1:
                sentences.append(f"{'one file' if n_about else first} is one document")
            else:
                sentences.append(f"{'each file' if len(counts) == 1 else f'each of {n_files:,} files'} is a document")
        return "; ".join(sentences)

    def warnings(self) -> Iterator[DocclusterWarning]:
        """Yield a sentence for each kind of thing that readers did to files, and for each package that they need."""
        for kind, (what, done, *words) in _SENTENCES.items():
            if names := self.seen[kind]:
                first = _first_of(next(iter(names)), len(names))
                yield DocclusterWarning(f"the {what} of {first}{done.format(names.total())}", *words)
        for sentence, n_files in self.seen["unread"].items():
            first = _first_of(self.first_files[sentence], n_files)
            yield DocclusterWarning(f"{first} {'is' if n_files == 1 else 'are'} not read: {sentence}")


def _first_of(name: str, number: int) -> str:
    return f"{name} and {number - 1:,} more" if number > 1 else name


class Reading:
    """One call of `read_corpus`: feeds everything that readers find to a builder."""

    def __init__(self, options: ReadOptions, progress: Progress, writer: TextWriter | None = None) -> None:
        self.options = options
        self.progress = progress
        self.builder = CorpusBuilder(max_length=options.max_document_length, writer=writer)
        self.remarks = Remarks()
        self._shares_files = writer is None
        self.source_rows: SourceRows | None = None  # of a source in memory

    def run(self, source: Any) -> None:
        """Read whatever kind of source it is."""
        if callable(getattr(source, "feed", None)):
            source.feed(self)  # files that are read elsewhere, `FilesInParts`
        elif (files := files_named(source)) is not None:
            self._read_files(Walk(files.paths, self.options.expanded_size))
        elif callable(getattr(source, "read", None)):  # no column of that name
            name = str(getattr(source, "name", "stream"))
            self.read_items(Walk([], self.options.expanded_size).unpacked(stream_file(_binary(source), name)))
        else:
            tally, frame = RowTally(), pandas_frame(source)
            rows = read_in_memory(source if frame is None else frame, self.options)
            for item in self._prepared(rows, "the source"):
                n_before = len(self.builder)
                self.take(item)
                tally.count(item if isinstance(item, Draft) and len(self.builder) > n_before else None)
            self.source_rows = tally.rows(frame)

    def _read_files(self, walk: Walk) -> None:
        """Read files; where they are large, workers read those behind the first of them."""
        items = list(walk.listed()) if self._shares_files and n_shares() > 1 else []
        files = [item for item in items if isinstance(item, ListedFile)]
        if not files or any(file.is_stdin for file in files):
            self.read_items(walk.files_of(items or walk.listed()))
            return
        sizes = [0 if isinstance(item, Skipped) else item.size for item in items]
        n_documents = max(len(items), sum(sizes) // BYTES_OF_DOCUMENT)
        first, *further = [items[share] for share in shares_of(sizes, n_documents)]
        others = [begin(read_share, share, self.options) for share in further]
        self.read_items(walk.files_of(first))
        for other in others:
            rows, texts, remarks = other()
            self.builder.add_read(rows, texts)
            self.remarks.add(remarks)
            self.progress("read", len(self.builder))

    def finish(self, labels: LabelsOf | None) -> Corpus:
        """Return the corpus, or raise the error that explains best why there is none."""
        split = self.options.split
        remarks, seen = self.remarks, self.remarks.seen
        if len(self.builder) == 0 and remarks.unknown_column is not None:
            raise remarks.unknown_column
        if split is not None and len(self.builder) == 0 and {*seen["splits"]} != {split}:
            splits_known = ", ".join(sorted(seen["splits"])) or "none"
            raise InputError(
                "is in no document", argument="split", received=split, remedy=f"the splits there are: {splits_known}"
            )
        corpus = self.builder.build(
            labels_of=labels,
            date_remarks=tuple(filter(None, seen["dates"])),
            stripped_html=bool(seen["tags"]),
            text_columns=tuple(seen["text columns"]),
            guessed_encodings=dict(seen["encodings"]),
            source_rows=self.source_rows,
        )
        corpus.division = remarks.division(self.builder.n_companions)
        for sentence in remarks.warnings():
            warnings.warn(sentence, stacklevel=3)
        self.progress("read", len(corpus), len(corpus))
        return corpus

    def read_items(self, items: Iterator[InputFile | Skipped]) -> None:
        """Read files and add their documents."""
        for item in items:
            if isinstance(item, Skipped):
                self.builder.skip(item)
            else:
                self._read_file(item)

    def _read_file(self, file: InputFile) -> None:
        file.encoding = self.options.encoding
        n_before, is_whole = len(self.builder), False
        try:
            with boundary("broken-file"):
                file.format = self.options.format or recognise(file, self.options)
                if self.options.format is not None:
                    check_is_text(file)
            if file.format == "reuters":
                self.builder.mark_collection(file)
            format = FORMATS[file.format]
            is_apart = format.is_apart or (format.is_apart_packed and file.budget is not None)
            reader = read_apart if is_apart else format.read
            drafts = guarded(reader(file, self.options), "broken-file")
            for item in self._prepared(drafts, file.name) if format.has_columns else drafts:
                if file.budget is not None:
                    file.budget.add_document()
                self.take(item, file)
                is_whole = is_whole or (isinstance(item, Draft) and item.is_whole_file)
        except ReadFailure as failure:
            self.builder.skip(Skipped(file.name, failure.reason, failure.detail))
        # a file that was named has to have the column; among the files of a folder others may have it
        except UnknownColumn as error:
            if file.is_explicit:
                raise
            self.remarks.unknown_column = self.remarks.unknown_column or error
            self.builder.skip(Skipped(file.name, "unknown-column", str(error)))
        except MissingDependency as error:
            if file.is_explicit:
                raise
            self.builder.skip(Skipped(file.name, "missing-dependency", str(error)))
            self.remarks.count_file("unread", str(error), file.name)
        seen = self.remarks.seen
        if len(self.builder) > n_before:
            self.remarks.count_file("units", "" if is_whole else FORMATS[file.format].unit, file.name)
        if file.guessed:
            seen["encodings"][" and ".join(sorted(file.guessed))] += 1
        counts = {"guess": UNKNOWN in file.guessed, "partly read": file.is_partly_read, "NULs": file.n_nuls}
        for kind, number in counts.items():
            if number:
                seen[kind][file.name] += number

    def _prepared(self, rows: Iterable[_Row], name: str) -> Iterable[_Row]:
        """Return the rows of a table, without markup where the options leave that open and it is certain."""
        if self.options.strip_html is not None:
            return rows
        return without_markup(rows, lambda kind: self.remarks.seen[kind].update([name]))

    def take(self, item: Draft | Skipped, file: InputFile | None = None) -> None:
        """Add one document, or list it as skipped."""
        if isinstance(item, Skipped):
            self.builder.skip(item)
            return
        seen = self.remarks.seen
        if self.options.split is not None:
            seen["splits"][item.extra.get("split", "")] += 1
            if item.extra.get("split", "") != self.options.split:
                self.builder.leave_out()
                return
        seen["text columns"].update(item.text_columns)
        seen["renamed columns"].update(map(repr, item.renamed_columns))
        seen["dates"][item.date_remark] += 1
        self.builder.add(item, file=file)
        if len(self.builder) % _TOLD_EVERY == 0:
            self.progress("read", len(self.builder))


def read_share(items: Sequence[ListedFile | Skipped], options: ReadOptions) -> tuple[ReadRows, list[str], Remarks]:
    """Return the documents of some files, their texts, and remarks on the files."""
    reading = Reading(options, silent)
    reading.read_items(Walk([], options.expanded_size).files_of(items))
    return *reading.builder.read_rows(), reading.remarks


def _binary(source: Any) -> Any:
    """Return the binary stream under an open file."""
    if hasattr(source, "buffer"):
        return source.buffer
    if isinstance(source.read(0), str):
        raise InputError(
            "the open file gives text", remedy="open it in binary mode ('rb'), so that its encoding can be found"
        )
    return source


LABEL_COLUMN = "label"
_JSON_LINES = (".jsonl", ".ndjson")


def labels_beside(path: Path, options: ReadOptions) -> LabelsOf:
    """Return the function that gives documents the labels of a file, by their places in their source or their ids.

    Raises InputError if the file cannot be read, or is a table without a column id.
    """
    try:
        with boundary("unreadable"):
            text = decode(read_whole(path)).text
            if path.suffix.lower() in (".csv", ".tsv", *_JSON_LINES):
                return partial(_labels_by_id, _table(text, path, options))
    except ReadFailure as failure:
        raise InputError(f"the labels file {str(path)!r} cannot be read: {failure.detail}.") from failure
    lines = text.replace("\r\n", "\n").split("\n")
    return partial(_labels_by_line, lines[:-1] if lines[-1] == "" else lines, path.name)


def _labels_by_id(by_id: Mapping[str, dict[str, tuple[str, ...]]], rows: ReadRows) -> dict[str, list[tuple[str, ...]]]:
    labels_of_rows = [by_id.get(name, {}) for name in rows.names]
    names = dict.fromkeys(name for labels in labels_of_rows for name in labels)
    before = {name: rows.labels.get(name) or ((),) * len(rows) for name in names}
    return {
        name: [labels.get(name, former) for labels, former in zip(labels_of_rows, before[name], strict=True)]
        for name in names
    }


def _labels_by_line(lines: list[str], file: str, rows: ReadRows) -> dict[str, list[tuple[str, ...]]]:
    # empty and over-long documents have lines too, so a line counts on from those before it
    n_found = len(rows) + len(rows.left_out)
    if len(lines) != n_found:
        raise InputError(
            f"{file} has {len(lines)} label(s) for {n_found} document(s)",
            remedy="give one line for each, or a csv or jsonl with the columns id and label",
        )
    places = np.arange(len(rows)) + np.searchsorted(rows.left_out, np.arange(len(rows)), side="right")
    return {LABEL_COLUMN: [cell_labels(clean_line(lines[place])) for place in places.tolist()]}


def _table(text: str, path: Path, options: ReadOptions) -> dict[str, dict[str, tuple[str, ...]]]:
    if path.suffix.lower() in _JSON_LINES:
        # not splitlines: strings may hold other ends of lines
        rows: Any = [json.loads(line) for line in text.lstrip("\ufeff").split("\n") if line.strip()]
        if not all(isinstance(row, dict) for row in rows):
            raise ReadFailure("unreadable", "a line is no JSON object")
        names = list(dict.fromkeys(name for row in rows for name in row))
    else:
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
        rows = csv.DictReader(text.lstrip("\ufeff").splitlines(keepends=True), dialect=choose_dialect(text[:65_536]))
        names = [name for name in rows.fieldnames or () if name]
    if "id" not in names:
        raise InputError(f"{path.name} has no column 'id' to join labels by", remedy=f"its columns are {listed(names)}")
    columns = [name for name in names if name != "id"]
    return {
        clean_line(str(row["id"])): {
            name: tuple(map(clean_line, cell_labels(row.get(name), options.label_separator))) for name in columns
        }
        for row in rows
        if row.get("id") is not None
    }


_PACKAGE = Path(__file__).parents[1]


def load_sample() -> Corpus:
    """Return 176 short news articles of four outlets over five weeks, written for this project.

    Returns
    -------
    Corpus
        With titles, dates, outlets and two label columns: ``topic`` (8 classes) and ``story`` (32).

    Raises
    ------
    InputError
        If the file is missing from the installed package.

    Examples
    --------
    >>> from doccluster import load_sample
    >>> corpus = load_sample()
    >>> len(corpus), corpus[0].metadata["title"]
    (176, 'Crane operators walk out at Port Ellery container terminal')
    """
    return read_corpus(sample_path(), label_columns=["topic", "story"])


def sample_path() -> Path:
    """Return the file of the sample: in the wheel beside the package, in a checkout among the corpora."""
    places = (_PACKAGE / "samples/articles.jsonl", _PACKAGE.parent / "corpora/samples/newsroom/articles.jsonl")
    for path in places:
        if path.is_file():
            return path
    raise InputError("the sample that comes with doccluster is missing; install doccluster again.")
