"""A corpus in parts: files are read by themselves, wherever that is, and the documents come together afterwards.

Texts go to disk where they are read. What comes back of the documents (names, labels, metadata, in columns) is put
together in the order of the files, by the builder of a corpus in one process: so ids, classes and what was skipped are
the same.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doccluster.base.progress import silent
from doccluster.corpus.assembly import ReadRows
from doccluster.corpus.document import Skipped
from doccluster.corpus.named_files import Files
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.reading import Reading, Remarks
from doccluster.corpus.stored_texts import StoredTexts, TextBlock, TextRows, TextWriter
from doccluster.corpus.walking import ListedFile, Walk
from doccluster.errors import InputError
from doccluster.text.boilerplate import Repeated, without_repeated

PART_BYTES = 8 * 2**20  # files are read together up to this size


@dataclass(frozen=True)
class Part:
    """Files that are read together: one, or several small ones in a row, and entries that were skipped."""

    number: int
    items: tuple[ListedFile | Skipped, ...]


class PartRead(NamedTuple):
    """The documents of a part, where their texts lie, and remarks on the files."""

    rows: list[ReadRows]
    blocks: list[TextBlock]
    remarks: Remarks


class OutletRows(NamedTuple):
    """Documents of one block of texts, each with its title and its outlet."""

    rows: TextRows
    titles: Sequence[str]
    outlets: Sequence[str]


def read_part(part: Part, options: ReadOptions, folder: str) -> PartRead:
    """Return the documents of a part, their texts in a folder; what cannot be read is listed as skipped."""
    writer = TextWriter(Path(folder), f"part-{part.number}")
    reading = Reading(options, silent, writer)
    for item in part.items:
        walked = iter([item]) if isinstance(item, Skipped) else Walk([], options.expanded_size).read(item)
        reading.read_items(walked)
    writer.flush()
    reading.builder.end_rows()
    return PartRead(reading.builder.rows, writer.blocks, reading.remarks)


def as_parts(items: Sequence[ListedFile | Skipped]) -> list[Part]:
    """Return files as parts: small ones together, so that a part is worth a journey."""
    groups: list[list[ListedFile | Skipped]] = []
    filled = 0
    for item in items:
        size = 0 if isinstance(item, Skipped) else item.size
        if not groups or filled + size > PART_BYTES:
            groups.append([])
            filled = 0
        groups[-1].append(item)
        filled += size
    return [Part(number, tuple(group)) for number, group in enumerate(groups)]


def write_without_repeated(
    documents: OutletRows, repeated: Mapping[str, dict[str, Repeated]], folder: str
) -> list[TextBlock]:
    """Write the texts of a block again, without what their outlets repeat."""
    writer = TextWriter(Path(folder), f"from-{documents.rows.first}")
    for text, title, outlet in zip(documents.rows.texts, documents.titles, documents.outlets, strict=True):
        lines = repeated.get(outlet)
        writer.add(without_repeated(text, lines, title=str(title)) if lines else text)
    writer.flush()
    return writer.blocks


class FilesInParts:
    """Files to be read one by one, elsewhere: what `read_corpus` takes in place of their paths."""

    def __init__(self, files: Files, folder: Path, map_files: Callable[..., Iterator[Any]]) -> None:
        self._files, self._folder, self._map_files = files, folder, map_files

    def feed(self, reading: Reading) -> None:
        """Read all parts, and hand what they hold to a reading, in the order of the files."""
        listed = list(Walk(self._files.paths, reading.options.expanded_size).listed())
        if any(isinstance(item, ListedFile) and item.is_stdin for item in listed):
            raise InputError("standard input has no parts", remedy="write it to files first, and give these")
        parts: Iterator[PartRead] = self._map_files(read_part, as_parts(listed), reading.options, str(self._folder))
        for part in parts:
            reading.builder.add_rows(part.rows, part.blocks)
            reading.remarks.add(part.remarks)
            reading.progress("read", len(reading.builder))

    def without_repeated(
        self,
        texts: StoredTexts,
        titles: Sequence[str],
        outlets: Sequence[str],
        repeated: Mapping[str, dict[str, Repeated]],
    ) -> StoredTexts:
        """Return the texts without what each outlet repeats; those that were read leave the disk."""
        blocks = [
            OutletRows(rows, *(column[rows.first : rows.first + len(rows.rows)] for column in (titles, outlets)))
            for rows in texts.blocks
        ]
        cleaned = self._folder.with_name(f"{self._folder.name}-without-repeated")
        cleaned.mkdir()
        parts = self._map_files(write_without_repeated, blocks, repeated, str(cleaned))
        written = [block for part in parts for block in part]
        texts.let_go()
        shutil.rmtree(self._folder)
        return StoredTexts(written, np.arange(len(texts)))
