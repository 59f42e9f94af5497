"""From drafts to a `Corpus`: what is empty or over-long is listed, ids are made unique.

What is known of documents is in columns, of lists where a corpus is read in this process, else of arrays: rows travel
so from where they are read, their texts on disk, and stay so in the corpus.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeVar

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.characters import CONTROLS, SURROGATES, without_invisible
from doccluster.base.packed_strings import CodedColumn, PackedStrings
from doccluster.corpus.column_names import UniqueNames
from doccluster.corpus.dates import DateColumns, DateCounts, DateTally
from doccluster.corpus.document import RENAMED, Corpus, Skipped
from doccluster.corpus.reader import Draft, InputFile
from doccluster.corpus.source_rows import SourceRows
from doccluster.corpus.stored_texts import StoredTexts, TextBlock, TextWriter
from doccluster.errors import NothingUsable

# controls carry nothing, and lone surrogates (from JSON escapes) cannot be written to any file again
_UNWRITABLE = re.compile(f"[{CONTROLS}{SURROGATES}]")
# a control or a _ in the XML of a spreadsheet: _x000D_, and _x005F_ before what would read like one
_SPREADSHEET_ESCAPE = re.compile(r"_x(?:005[Ff]_(?=x[0-9A-Fa-f]{4}_)|(00[01][0-9A-Fa-f])_)")
_NEWLINES = re.compile("\r\n?")
_COMPANION = re.compile(r"(readme|licen[cs]e|copying|notice|source|citation|changelog)(\.[a-z0-9._-]*)?", re.IGNORECASE)
# what stands beside texts in a folder: annotations, key words, settings, vocabularies and features of other programs
_BESIDE_TEXTS = re.compile(
    r".*\.(ann|a1|a2|conf|vocab|feat|key|contr|uncontr)|(vocab(ulary)?|stop_?words|imdbEr|urls_\w+)\.txt", re.IGNORECASE
)
_PROSE = (".txt", ".text", ".md", ".markdown", ".rst", ".org", ".tex", ".adoc", ".asc", ".log", ".html", ".xml", "")
_LONGEST_LINE = 300  # characters of what is listed about something that was skipped
_BLANK = "\ufeff\u200b\u2060 \t\n\x0c\xa0"  # a mark or an invisible space does not count as text
ROWS_AT_ONCE = 50_000  # that travel together
N_TEXTS_OF_LANGUAGE = 500  # that say in which languages a collection is

_T = TypeVar("_T")


def changed_names(names: Sequence[str], separator: str = "#") -> dict[int, str]:
    """Return by place the names that have to change so that each is there once, as `UniqueNames` makes them.

    Only names that come again are looked at one by one, and those that a changed one could be.

    >>> changed_names(["a", "b", "a", "a#2"])
    {2: 'a#2', 3: 'a#2#2'}
    """
    hashes = np.fromiter(map(hash, names), np.int64, len(names))
    order = np.argsort(hashes, kind="stable")
    same = np.diff(hashes[order]) == 0
    if not same.any():
        return {}
    looked_at = np.fromiter((separator in name for name in names), np.bool_, len(names))
    looked_at[order[1:][same]] = looked_at[order[:-1][same]] = True
    unique_names = UniqueNames(separator)
    chosen = {place: unique_names.take(names[place]) for place in np.flatnonzero(looked_at).tolist()}
    return {place: name for place, name in chosen.items() if name != names[place]}


def clean_text(text: str) -> str:
    """Return `text` with plain newlines and without characters that are not seen, or cannot be written."""
    if "_x00" in text:
        text = _SPREADSHEET_ESCAPE.sub(lambda match: "_" if match[1] is None else chr(int(match[1], 16)), text)
    if "\r" in text:
        text = _NEWLINES.sub("\n", text)
    if _UNWRITABLE.search(text):
        text = text.replace("\0", "")
        text = _UNWRITABLE.sub(lambda match: "\ufffd" if match[0] >= "\ud800" else " ", text)
    return without_invisible(text)


def clean_line(text: str) -> str:
    """Return `text` on one line, without surrounding space."""
    return " ".join(clean_text(text).split())


def is_companion(name: str) -> bool:
    """Return whether a file of this name says something about a collection, as a README does, and is none of it."""
    return _COMPANION.fullmatch(name) is not None


class _Place(NamedTuple):
    """Where a document that is a whole file lies; its folder may be its class."""

    root: str
    folder: PurePosixPath
    in_archive: bool
    is_plain: bool
    is_companion: bool
    suffix: str  # empty where it says nothing


@dataclass(eq=False)
class ReadRows:
    """Documents one after the other, in columns."""

    numbers: Any = field(default_factory=list)  # which text each has
    names: Any = field(default_factory=list)  # the ids that they would have if no other document had them
    where: Any = field(default_factory=list)  # the places for a person
    places: Any = field(default_factory=list)  # where those lie that are whole files; None for others
    metadata: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    # what gave no document, and how many documents came before
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)  # how many documents came before each draft that is none of them
    collections: set[tuple[str, PurePosixPath]] = field(default_factory=set)  # the folders of known collections
    dates: DateTally = field(default_factory=DateTally)

    def __len__(self) -> int:
        return len(self.numbers)

    def completed(self) -> ReadRows:
        """Return the rows with every column as long as the others."""
        for columns, missing in ((self.metadata, ""), (self.labels, ())):
            for name in columns:
                _padded(columns, name, len(self), missing)
        return self

    def coded(self) -> ReadRows:
        """Return the rows in arrays, with no object for each document."""
        rows = self.completed()
        names = CodedColumn.of(rows.names)
        return replace(
            rows,
            numbers=np.array(rows.numbers, np.int64),
            names=names,
            where=names if rows.where == rows.names else CodedColumn.of(rows.where),
            places=CodedColumn.of(rows.places),
            metadata={name: CodedColumn.of(column) for name, column in rows.metadata.items()},
            labels={name: CodedColumn.of(column) for name, column in rows.labels.items()},
        )


LabelsOf = Callable[[ReadRows], dict[str, list[tuple[str, ...]]]]  # labels that lie beside the documents


def joined_rows(parts: Sequence[ReadRows]) -> ReadRows:
    """Return coded rows one after the other."""
    before = np.cumsum([0, *map(len, parts)]).tolist()
    return ReadRows(
        numbers=np.concatenate([rows.numbers for rows in parts]),
        names=CodedColumn.joined([rows.names for rows in parts]),
        where=CodedColumn.joined([rows.where for rows in parts]),
        places=CodedColumn.joined([rows.places for rows in parts]),
        metadata=joined_columns([(len(rows), rows.metadata) for rows in parts], ""),
        labels=joined_columns([(len(rows), rows.labels) for rows in parts], ()),
        skipped=[
            (start + after, skipped)
            for start, rows in zip(before, parts, strict=False)
            for after, skipped in rows.skipped
        ],
        left_out=[start + after for start, rows in zip(before, parts, strict=False) for after in rows.left_out],
        collections={folder for rows in parts for folder in rows.collections},
    )


def joined_columns(parts: Sequence[tuple[int, Mapping[str, Any]]], missing: object) -> dict[str, CodedColumn[Any]]:
    """Join the columns of several parts, of `n_rows` rows each; a part may lack columns that others have."""
    joined = {}
    for name in dict.fromkeys(name for _, columns in parts for name in columns):
        nothing = CodedColumn.of([missing])
        columns_of_parts = [columns.get(name, nothing.take(np.zeros(n, np.int32))) for n, columns in parts]
        joined[name] = CodedColumn.joined(columns_of_parts)
    return joined


class CorpusBuilder:
    """Collects documents in reading order; `build` makes the value. With a `writer` texts go to disk."""

    def __init__(self, *, max_length: int, writer: TextWriter | None = None) -> None:
        self._max_length, self._writer = max_length, writer
        self._texts: list[str] = []
        self._blocks: list[TextBlock] = []
        self._open = ReadRows()
        self.rows: list[ReadRows] = []  # coded
        self._n_coded = self._n_texts = self.n_companions = 0

    def __len__(self) -> int:
        return self._n_coded + len(self._open)

    def skip(self, skipped: Skipped) -> None:
        """List something that gives no document."""
        self._open.skipped.append(
            (len(self._open), Skipped(_cut(skipped.source), skipped.reason, _cut(skipped.detail)))
        )

    def leave_out(self) -> None:
        """Note that a draft is of no interest; labels that lie beside the documents count it."""
        self._open.left_out.append(len(self._open))

    def add(self, draft: Draft, *, file: InputFile | None = None) -> None:
        """Take one document in, or list why not."""
        text, rows = clean_text(draft.text), self._open
        if not text.strip(_BLANK) and not draft.is_whole_file:  # as in feeds that carry titles alone
            text = clean_line(draft.title)
        is_empty = not text.strip(_BLANK) or text.isspace()
        if is_empty or len(text) > self._max_length:
            self.leave_out()
            why = "" if is_empty else f"{len(text):,} characters, the limit is {self._max_length:,}"
            self.skip(Skipped(draft.where, "empty" if is_empty else "too-long", why))
            return
        before = len(rows)
        date = rows.dates.take(draft.date, draft.extra.get("file", "" if file is None else file.name))
        fields = {"title": draft.title, "date": date, "source": draft.source, "link": draft.link}
        fields |= ({} if file is None else {"file": file.name}) | draft.extra
        for column, value in fields.items():
            _padded(rows.metadata, column, before, "").append(clean_line(value) if value else "")
        for column, names in draft.labels.items():
            _padded(rows.labels, column, before, ()).append(tuple(filter(None, map(clean_line, names))))
        rows.names.append(clean_line(draft.id) or clean_line(draft.where))
        rows.where.append(draft.where)
        rows.places.append(_place(file) if file is not None and draft.is_whole_file else None)
        if self._writer is None:
            rows.numbers.append(before)
            self._texts.append(text)
        else:
            rows.numbers.append(self._writer.add(text))
            if len(rows) >= ROWS_AT_ONCE:
                self.end_rows()

    def read_rows(self) -> tuple[ReadRows, list[str]]:
        """Return the rows and texts so far, to be added to those of another process."""
        rows = self._open.completed()
        return replace(rows, places=CodedColumn.of(rows.places)), self._texts  # few places, each a heavy object

    def add_read(self, read: ReadRows, texts: list[str]) -> None:
        """Take in rows that another process read, and their texts."""
        rows, before = self._open, len(self._open)
        for name in ("names", "where", "places"):
            getattr(rows, name).extend(getattr(read, name))
        for name, values in read.metadata.items():
            _padded(rows.metadata, name, before, "").extend(values)
        for name, values in read.labels.items():
            _padded(rows.labels, name, before, ()).extend(values)
        rows.numbers.extend(number + before for number in read.numbers)
        rows.skipped.extend((after + before, skipped) for after, skipped in read.skipped)
        rows.left_out.extend(after + before for after in read.left_out)
        rows.collections |= read.collections
        rows.dates = DateTally.joined([rows.dates, read.dates])
        self._texts += texts

    def mark_collection(self, file: InputFile) -> None:
        """Say that the folder of `file` is a known collection: plain text files beside it are not its documents."""
        self._open.collections.add((file.root, file.place.parent))

    def end_rows(self) -> None:
        """Put the rows so far into arrays."""
        self._n_coded += len(self._open)
        self.rows.append(self._open.coded())
        self._open = ReadRows()

    def add_rows(self, parts: Sequence[ReadRows], blocks: Sequence[TextBlock]) -> None:
        """Take in rows that were read elsewhere, and their texts."""
        self.rows += [replace(rows, numbers=rows.numbers + self._n_texts) for rows in parts]
        self._blocks += blocks
        self._n_texts += sum(block.n_texts for block in blocks)
        self._n_coded += sum(map(len, parts))

    def build(self, *, labels_of: LabelsOf | None = None, date_remarks: tuple[str, ...] = (), **remarks: Any) -> Corpus:
        """Return the corpus, with what is remarked of its sources. Raises NothingUsable if no document is left."""
        parts = self.rows or [self._open.completed()]
        dates = replace(self._settle_dates(parts), remarks=date_remarks)
        rows = joined_rows(parts) if self.rows else parts[0]
        if labels_of is not None:
            rows.labels |= labels_of(rows)
        if not len(rows):
            raise NothingUsable(f"no document could be read: {_summary([skipped for _, skipped in rows.skipped])}.")
        if "class" not in rows.labels and any(classes := _folder_classes(rows.places)):
            rows.labels["class"] = classes
        ids, renamed = _unique_ids(rows)
        listed = sorted([(after, 0, entry) for after, entry in rows.skipped] + renamed, key=lambda entry: entry[:2])
        companions = _companions(rows)
        about = "about-the-collection", "a file about the collection, not one of its documents"
        # without the companions the places of what was skipped no longer hold, so none are told
        listed += [(0, 2, Skipped(_cut(ids[place]), *about)) for place in companions]
        self.n_companions = len(companions)
        lost = [] if companions else [after for after, _, entry in listed if not entry.is_renamed]
        remarks["source_rows"] = remarks.get("source_rows") or SourceRows.of_documents(
            len(rows) - len(companions), lost
        )
        rows_kept = np.setdiff1d(np.arange(len(rows)), companions) if companions else None

        def pick(columns: Mapping[str, object]) -> dict[str, Any]:
            return {name: _pick(column, rows_kept) for name, column in columns.items()}

        numbers = rows.numbers if rows_kept is None else np.asarray(rows.numbers)[rows_kept]
        return Corpus(
            ids=_pick(ids, rows_kept),
            texts=StoredTexts(self._blocks, numbers) if self.rows else _pick(self._texts, rows_kept),
            labels=pick(rows.labels),
            metadata={name: _coded_if_shorter(column) for name, column in pick(rows.metadata).items()},
            skipped=tuple(entry for *_, entry in listed),
            **remarks,
            skipped_after=() if companions else tuple(after for after, *_ in listed),
            dates=dates,
        )

    def _settle_dates(self, parts: Sequence[ReadRows]) -> DateCounts:
        """Read the dates that only all of a column decide on, and return how many could be read."""
        tally = DateTally.joined(rows.dates for rows in parts)
        columns = DateColumns(tally, self._languages(parts) if tally.needs_languages else ())
        for rows in parts if tally.needs_languages else ():
            dates = columns.settled(rows.metadata["date"], rows.metadata.get("file") or [""] * len(rows))
            rows.metadata["date"] = CodedColumn.of(dates) if self.rows else dates
        return columns.counts()

    def _languages(self, parts: Sequence[ReadRows]) -> tuple[str, ...]:
        """Return the languages of some of the texts, the commonest first."""
        from doccluster.text.language import survey_writing  # rarely needed, and it imports much

        numbers = np.concatenate([np.asarray(rows.numbers, np.int64) for rows in parts])
        sample = numbers[:: len(numbers) // N_TEXTS_OF_LANGUAGE + 1]
        texts = StoredTexts(self._blocks, sample) if self.rows else [self._texts[number] for number in sample.tolist()]
        return tuple(survey_writing(texts).languages)


def _unique_ids(rows: ReadRows) -> tuple[Sequence[str], list[tuple[int, int, Skipped]]]:
    """Return the ids, and an entry with its place for each document that could not have the one it asked for."""
    names, changed = rows.names, changed_names(rows.names)
    sentence = "the id {!r} was taken; this document is kept as {!r}"
    listed = [
        (place, 1, Skipped(_cut(rows.where[place]), RENAMED, _cut(sentence.format(names[place], chosen))))
        for place, chosen in changed.items()
    ]
    if not changed:
        return names, listed
    if isinstance(names, list):
        return [changed.get(place, name) for place, name in enumerate(names)], listed
    places = np.fromiter(changed, np.int64, len(changed))
    codes = names.codes.astype(np.int64)
    codes[places] = len(names.values) + np.arange(places.size)
    values = PackedStrings.joined([names.values, PackedStrings.of(changed.values())])
    return CodedColumn(values, codes), listed


def _folder_classes(places: Sequence[_Place | None]) -> list[tuple[str, ...]]:
    """Return the folder of each document that is a whole file; none if it is only an archive's wrapper."""
    whole = [place for place in places if place is not None and not place.is_companion]
    folders = {(place.root, place.folder) for place in whole}
    if not folders or (len(folders) == 1 and whole[0].in_archive):
        return []
    return [(place.folder.name,) if place is not None and place.folder.name else () for place in places]


def _companions(rows: ReadRows) -> list[int]:
    """Return which documents are a collection's README or licence or stand beside its texts, unless there is no other.

    Plain files with a suffix that no prose has are such, where each of several stands beside a text of its name.
    """
    stems: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    if any(place is not None and place.suffix not in _PROSE for place in dict.fromkeys(rows.places)):
        for place, file in zip(rows.places, rows.metadata["file"], strict=True):
            if place is not None and place.is_plain:
                stems[place.root, place.suffix].add(file.rpartition(".")[0])
    beside = {
        (root, suffix)
        for (root, suffix), names in stems.items()
        if suffix not in _PROSE and len(names) > 1 and names <= stems.get((root, ".txt"), set())
    }

    def is_beside(place: _Place) -> bool:
        is_listed = (place.root, place.folder) in rows.collections or (place.root, place.suffix) in beside
        return place.is_companion or (place.is_plain and is_listed)

    companions = [number for number, place in enumerate(rows.places) if place is not None and is_beside(place)]
    return companions if len(companions) < len(rows) else []


def _place(file: InputFile) -> _Place:
    is_plain, suffix = file.format in ("text", "markdown"), file.place.suffix.lower()
    is_beside = not file.is_explicit and _BESIDE_TEXTS.fullmatch(file.place.name) is not None
    suffix = suffix if suffix[1:].isalpha() else ""  # a number or a date says which document it is
    is_about = is_beside or is_companion(file.place.name)
    return _Place(file.root, file.place.parent, file.in_archive, is_plain, is_about, suffix)


def _padded(columns: dict[str, list[_T]], column: str, length: int, missing: _T) -> list[_T]:
    """Return the column, made as long as it should be by now: earlier documents did not have it."""
    values = columns.setdefault(column, [])
    values.extend([missing] * (length - len(values)))
    return values


def _cut(text: str) -> str:
    line = clean_line(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..."


def _pick(values: Any, rows: Integers | None) -> Sequence[Any]:
    if isinstance(values, CodedColumn):
        return values if rows is None else values.take(rows)
    return tuple(values) if rows is None else tuple(values[number] for number in rows.tolist())


def _coded_if_shorter(column: Sequence[str]) -> Sequence[str]:
    """Return a column whose values come again with each value once."""
    return CodedColumn.of(column) if isinstance(column, tuple) and len(set(column)) < len(column) / 4 else column


def _summary(skipped: Sequence[Skipped]) -> str:
    """Return the reasons with their counts, the commonest first, and one example; for one sentence."""
    if not skipped:
        return "there is nothing in the source"
    counts = Counter(item.reason for item in skipped)
    reasons = ", ".join(f"{number} {reason}" for reason, number in counts.most_common(5))
    first = skipped[0]
    return f"{reasons} (first: {first.source}{': ' + first.detail if first.detail else ''})"
