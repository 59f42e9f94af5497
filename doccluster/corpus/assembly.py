"""From drafts to a `Corpus`: what is empty or over-long is listed, ids are made unique."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar

from doccluster.base.control_characters import CONTROLS, SURROGATES
from doccluster.corpus.document import RENAMED, Corpus, Skipped
from doccluster.corpus.draft import Draft
from doccluster.corpus.input_file import InputFile
from doccluster.errors import NothingUsable

# controls carry nothing, and lone surrogates (from JSON escapes) cannot be written to any file again
_UNWRITABLE = re.compile(f"[{CONTROLS}{SURROGATES}]")
_NEWLINES = re.compile("\r\n?")
_COMPANION = re.compile(r"(readme|licen[cs]e|copying|notice|source|citation|changelog)(\.[a-z0-9._-]*)?", re.IGNORECASE)
_LONGEST_LINE = 300  # characters of what is listed about something that was skipped
_STANDARD = ("title", "date", "source", "link")
_BLANK = "\ufeff\u200b\u2060 \t\n\x0c\xa0"  # a mark or an invisible space does not count as text

_T = TypeVar("_T")


class UniqueNames:
    """The names that are taken: a second "a" becomes "a#2" (with the separator "#"), a third "a#3".

    >>> names = UniqueNames("#")
    >>> [names.take(name) for name in ("a", "a", "a#2", "a")]
    ['a', 'a#2', 'a#2#2', 'a#3']
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._last: dict[str, int] = {}  # the number given last for each name; every taken name is a key
        self.n_tries = 0

    def take(self, wanted: str) -> str:
        """Return `wanted`, or with the lowest number that makes it new; it is taken from now on."""
        chosen, number = wanted, self._last.get(wanted, 0)
        while chosen in self._last:
            number += 1
            self.n_tries += 1
            chosen = f"{wanted}{self._separator}{number}"
        if chosen != wanted:
            self._last[wanted] = number
        self._last[chosen] = 1
        return chosen


def clean_text(text: str) -> str:
    """Return `text` with plain newlines and without characters that cannot be shown or written."""
    if "\r" in text:
        text = _NEWLINES.sub("\n", text)
    if _UNWRITABLE.search(text):
        text = _UNWRITABLE.sub(lambda found: "\ufffd" if found[0] >= "\ud800" else " ", text)
    return text


def clean_line(text: str) -> str:
    """Return `text` on one line, without surrounding space."""
    return " ".join(clean_text(text).split())


def why_refused(text: str, max_length: int) -> tuple[str, str] | None:
    """Return why a clean text is not taken as a document, as reason and detail; None if it is."""
    if not text.strip(_BLANK) or text.isspace():
        return "empty", ""
    if len(text) > max_length:
        return "too-long", f"{len(text):,} characters, the limit is {max_length:,}"
    return None


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


class CorpusBuilder:
    """Collects documents in reading order; `build` makes the value."""

    def __init__(self, *, max_length: int) -> None:
        self._max_length = max_length
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._names = UniqueNames("#")
        self._metadata: dict[str, list[str]] = {name: [] for name in _STANDARD}
        self._labels: dict[str, list[tuple[str, ...]]] = {}
        self._places: dict[int, _Place] = {}
        self._collections: set[tuple[str, PurePosixPath]] = set()
        self.skipped: list[Skipped] = []
        self._skipped_after: list[int] = []  # how many documents came before each of them

    def __len__(self) -> int:
        return len(self._texts)

    def skip(self, source: str, reason: str, detail: str = "") -> None:
        """List something that gives no document."""
        self.skipped.append(_listed(source, reason, detail))
        self._skipped_after.append(len(self))

    def add(self, draft: Draft, *, file: InputFile | None = None) -> bool:
        """Take one document in and return true, or list why not."""
        text = clean_text(draft.text)
        refusal = why_refused(text, self._max_length)
        if refusal is not None:
            self.skip(draft.where, *refusal)
            return False
        number = len(self._texts)
        self._texts.append(text)
        self._ids.append(self._unique(clean_line(draft.id) or clean_line(draft.where), draft.where))
        self._add_columns(draft, number, file)
        self._note_place(draft, number, file)
        return True

    def mark_collection(self, file: InputFile) -> None:
        """Say that the folder of `file` is a known collection: plain text files beside it are not its documents."""
        self._collections.add((file.root, file.place.parent))

    def _add_columns(self, draft: Draft, number: int, file: InputFile | None) -> None:
        for column, value in fields_of(draft, None if file is None else file.name).items():
            padded(self._metadata, column, number, "").append(value)
        for column, labels in labels_of(draft).items():
            padded(self._labels, column, number, ()).append(labels)

    def _unique(self, wanted: str, where: str) -> str:
        chosen = self._names.take(wanted)
        if chosen != wanted:
            self.skipped.append(renamed(where, wanted, chosen))
            self._skipped_after.append(len(self))
        return chosen

    def build(self, *, stripped_html: bool = False) -> Corpus:
        """Return the corpus. Raises NothingUsable if no document is left."""
        n_documents = len(self._texts)
        if n_documents == 0:
            raise NothingUsable(f"no document could be read: {_summary(self.skipped)}.")
        if "class" not in self._labels and any(found := self._folder_classes()):
            self._labels["class"] = found
        for column in self._metadata:
            padded(self._metadata, column, n_documents, "")
        for column in self._labels:
            padded(self._labels, column, n_documents, ())
        left_out = self._leave_out_companions(self._ids)
        kept = [number for number in range(n_documents) if number not in left_out]
        return Corpus(
            ids=_pick(self._ids, kept),
            texts=_pick(self._texts, kept),
            labels={column: _pick(values, kept) for column, values in self._labels.items()},
            metadata={name: _pick(values, kept) for name, values in self._metadata.items()},
            skipped=tuple(self.skipped),
            stripped_html=stripped_html,
            skipped_after=() if left_out else tuple(self._skipped_after),
        )

    def _folder_classes(self) -> list[tuple[str, ...]]:
        """Return the folder of each document that is a whole file; none if it is only an archive's wrapper."""
        places = [place for place in self._places.values() if not place.is_companion]
        folders = {(place.root, place.folder) for place in places}
        if not folders or (len(folders) == 1 and places[0].in_archive):
            return []
        return [self._folder_class(number) for number in range(len(self))]

    def _folder_class(self, number: int) -> tuple[str, ...]:
        place = self._places.get(number)
        return (place.folder.name,) if place is not None and place.folder.name else ()

    def _leave_out_companions(self, ids: Sequence[str]) -> set[int]:
        """Return which documents are a collection's README or licence, unless there is nothing else, and list them."""
        companions = {
            number
            for number, place in self._places.items()
            if place.is_companion or (place.is_plain and (place.root, place.folder) in self._collections)
        }
        if len(companions) == len(self):
            return set()
        for number in sorted(companions):
            self.skip(ids[number], "about-the-collection", "a file about the collection, not one of its documents")
        return companions

    def _note_place(self, draft: Draft, number: int, file: InputFile | None) -> None:
        if file is not None and draft.is_whole_file:
            companion = is_companion(file.place.name)
            is_plain = file.format == "text"
            self._places[number] = _Place(file.root, file.place.parent, file.in_archive, is_plain, companion)


def renamed(where: str, wanted: str, chosen: str) -> Skipped:
    """Return the entry for a document whose id another one has."""
    return _listed(where, RENAMED, f"the id {wanted!r} was taken; this document is kept as {chosen!r}")


def _listed(source: str, reason: str, detail: str) -> Skipped:
    return Skipped(_cut(clean_line(source)), reason, _cut(clean_line(detail)))


def fields_of(draft: Draft, file_name: str | None) -> dict[str, str]:
    """Return the metadata of a document by column."""
    values = {"title": draft.title, "date": draft.date, "source": draft.source, "link": draft.link}
    if file_name is not None:
        values["file"] = file_name
    return {column: clean_line(value) if value else "" for column, value in {**values, **draft.extra}.items()}


def labels_of(draft: Draft) -> dict[str, tuple[str, ...]]:
    """Return the class labels of a document by column."""
    return {column: tuple(filter(None, map(clean_line, names))) for column, names in draft.labels.items()}


def padded(columns: dict[str, list[_T]], column: str, length: int, missing: _T) -> list[_T]:
    """Return the column, made as long as it should be by now: earlier documents did not have it."""
    values = columns.setdefault(column, [])
    values.extend([missing] * (length - len(values)))
    return values


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]} ..."


def _pick(values: Sequence[_T], kept: Sequence[int]) -> tuple[_T, ...]:
    return tuple(values) if len(kept) == len(values) else tuple(values[number] for number in kept)


def _summary(skipped: Sequence[Skipped]) -> str:
    """Return the reasons with their counts, the commonest first, and one example; for one sentence."""
    if not skipped:
        return "there is nothing in the source"
    counts = Counter(one.reason for one in skipped)
    reasons = ", ".join(f"{number} {reason}" for reason, number in counts.most_common(5))
    first = skipped[0]
    return f"{reasons} (first: {first.source}{': ' + first.detail if first.detail else ''})"
