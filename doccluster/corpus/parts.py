"""A corpus in parts: each file is read by itself, wherever that is, and the documents come together afterwards.

Texts go to disk where they are read. What comes back of each document (its name, its labels, its metadata) goes through
the same builder as in one process, in the order of the files: so ids, classes and what was skipped are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from doccluster.base.progress import silent
from doccluster.corpus.assembly import clean_text, why_refused
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, UnknownColumn
from doccluster.corpus.file_ranges import MapFiles, in_ranges, is_large
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions
from doccluster.corpus.reading import Reading
from doccluster.corpus.stored_builder import ROWS_AT_ONCE, RowCollector, StoredBuilder, StoredDraft, StoredRows
from doccluster.corpus.stored_texts import TextBlock, TextWriter
from doccluster.corpus.walking import ListedFile, Walk, check_paths, expanded
from doccluster.errors import InputError

# None: the file is one of a collection
Event = tuple[StoredRows | StoredDraft | Skipped | None, InputFile | None]


FEW_ROWS = 16  # of a file are not worth columns
PART_BYTES = 8 * 2**20  # files are read together up to this size


@dataclass
class FileRead:
    """What came of one file: what it holds, in its order, and with the last file of a part the texts of all of them."""

    found: list[Event] = field(default_factory=list)
    part: int = 0
    blocks: list[TextBlock] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)
    stripped: list[str] = field(default_factory=list)
    unknown_column: UnknownColumn | None = None


@dataclass(frozen=True)
class ReadTask:
    """How parts are read, the same for all of them; `in_columns` if nothing is asked of each document by itself."""

    options: ReadOptions
    format: str | None
    folder: str
    in_columns: bool = False


@dataclass(frozen=True)
class Part:
    """Files that are read together: one, or several small ones that follow one another."""

    number: int
    files: tuple[ListedFile, ...]


ReadAll = Callable[[Sequence[Part], ReadTask], Iterator[list[FileRead]]]


def read_part(part: Part, task: ReadTask) -> list[FileRead]:
    """Return the documents of each file of a part; the texts are in the folder of the task.

    What cannot be read is among the found.
    """
    writer = TextWriter(Path(task.folder), f"part-{part.number}")
    files = []
    for listed in part.files:
        reading = _PartReading(task, writer)
        reading.read_items(Walk([], task.options.limits).read(listed))
        reading.end_rows()
        told = (reading.guessed, reading.stripped, reading.unknown_column)
        files.append(FileRead(reading.found, part.number, [], *told))
    writer.flush()
    files[-1].blocks = writer.blocks
    return files


def as_parts(files: Sequence[ListedFile]) -> list[Part]:
    """Return files, or ranges of them, as parts: small ones together, so that a part is worth a journey."""
    groups: list[list[ListedFile]] = []
    filled = 0
    for file in files:
        size = file.size if file.part is None else PART_BYTES
        if not groups or filled + size > PART_BYTES:
            groups.append([])
            filled = 0
        groups[-1].append(file)
        filled += size
    return [Part(number, tuple(group)) for number, group in enumerate(groups)]


_OF_A_DRAFT = tuple(one.name for one in fields(Draft))


class _PartReading(Reading):
    """A reading that writes down what it finds instead of building a corpus of it: it is its own builder."""

    def __init__(self, task: ReadTask, writer: TextWriter) -> None:
        super().__init__(task.options, task.format, None, None, silent)
        self.found: list[Event] = []
        self.builder: Any = self
        self._in_columns, self._writer = task.in_columns, writer
        self._rows: list[tuple[StoredDraft, str] | Skipped] = []
        self._seen: tuple[InputFile | None, InputFile | None] = (None, None)  # a file, and what is sent of it

    def take(self, item: Draft | Skipped, file: InputFile | None = None) -> None:
        """Write the text of a document to disk, and the rest down."""
        if isinstance(item, Skipped):
            self.skip(item.source, item.reason, item.detail)
            return
        text = clean_text(item.text)
        refusal = why_refused(text, self.options.limits.document_length)
        number = self._writer.add(text) if refusal is None else -1
        known = {name: getattr(item, name) for name in _OF_A_DRAFT}
        if self._seen[0] is not file:
            self.end_rows()
            self._seen = file, None if file is None else file.without_bytes()
        stored = StoredDraft(**{**known, "text": ""}, number=number, refusal=refusal)
        if not self._in_columns or file is None or item.is_whole_file:
            self._note((stored, self._seen[1]))
        elif refusal is not None:
            self.skip(item.where, *refusal)
        else:
            self._rows.append((stored, file.name))
            if len(self._rows) >= ROWS_AT_ONCE:
                self.end_rows()

    def skip(self, source: str, reason: str, detail: str = "") -> None:
        """Note that something gives no document."""
        skipped = Skipped(source, reason, detail)
        if self._rows:
            self._rows.append(skipped)
        else:
            self.found.append((skipped, None))

    def mark_collection(self, file: InputFile) -> None:
        """Note that a file is one of a known collection."""
        self._note((None, file.without_bytes()))

    def _note(self, event: Event) -> None:
        """Note what comes after the rows so far."""
        self.end_rows()
        self.found.append(event)

    def end_rows(self) -> None:
        """Write the rows so far down, in columns if that is worth it."""
        rows, self._rows = self._rows, []
        if len(rows) < FEW_ROWS:
            self.found += [(one, None) if isinstance(one, Skipped) else (one[0], self._seen[1]) for one in rows]
            return
        collected = RowCollector()
        for one in rows:
            if isinstance(one, Skipped):
                collected.skip(one)
            else:
                collected.add(one[0], one[0].number, one[1])
        self.found.append((collected.rows(), self._seen[1]))


class FilesInParts:
    """Files to be read one by one, elsewhere: what `read_corpus` takes in place of their paths.

    Parameters
    ----------
    paths : sequence of Path
        Files, folders and patterns.
    folder : path
        Where the texts go.
    read_all : function
        Returns `read_part` of each of some numbered files, in their order.
    map_files : function, optional
        With it large files are read in ranges; see `in_ranges`.
    tell : function, optional
        Given a sentence about large files that are not.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        folder: Path,
        read_all: ReadAll,
        map_files: MapFiles | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self._paths, self._folder, self._read_all = list(paths), folder, read_all
        self._map_files, self._tell = map_files, tell

    def feed(self, reading: Reading) -> None:
        """Read all parts, and hand what they hold to a reading, in the order of the files."""
        paths = expanded(self._paths)
        check_paths(paths)
        listed = list(Walk(paths, reading.options.limits).listed())
        if any(isinstance(one, ListedFile) and one.is_stdin for one in listed):
            raise InputError("standard input has no parts", remedy="write it to files first, and give these")
        in_columns = reading.labels is None and reading.split is None
        task = ReadTask(reading.options, reading.format, str(self._folder), in_columns)
        whole = [one for one in listed if isinstance(one, ListedFile)]
        ranges = [[one] for one in whole]
        if self._map_files is not None:
            ranges = in_ranges(whole, self._map_files, reading.options, reading.format)
            self._tell_about([file[0] for file in ranges if len(file) == 1 and is_large(file[0])])
        parts = as_parts([one for file in ranges for one in file])
        n_ranges = iter(map(len, ranges))
        reading.builder = builder = StoredBuilder(max_length=reading.options.limits.document_length)
        files = (file for part in self._read_all(parts, task) for file in part)
        for one in listed:
            if isinstance(one, Skipped):
                builder.skip(one.source, one.reason, one.detail)
            else:
                for _ in range(next(n_ranges)):
                    _replay(next(files), reading, builder)

    def _tell_about(self, whole: Sequence[ListedFile]) -> None:
        if whole and self._tell is not None:
            more = f" and {len(whole) - 1:,} more large files are" if len(whole) > 1 else " is"
            self._tell(
                f"{whole[0].place}{more} read in one piece each, by one worker: packed files, and those that are not "
                "lines, rows or records in UTF-8, cannot be divided"
            )


def _replay(file: FileRead, reading: Reading, builder: StoredBuilder) -> None:
    """Hand what a file holds to a reading, as it would have come from the file itself."""
    if file.blocks:
        builder.blocks[file.part] = file.blocks
    builder.part = file.part
    for item, seen in file.found:
        if isinstance(item, StoredRows):
            builder.add_rows(item)
            reading.progress("read", len(builder))
        elif item is not None:
            reading.take(item, seen)
        elif seen is not None:
            builder.mark_collection(seen)
    reading.guessed += file.guessed
    reading.stripped += file.stripped
    reading.unknown_column = reading.unknown_column or file.unknown_column
