"""What a reader hands over: one document as it was found, before ids are made unique and limits are applied."""

from __future__ import annotations

from dataclasses import dataclass, field

from doccluster.corpus.document import Skipped
from doccluster.errors import InputError


@dataclass(slots=True)
class Draft:
    """One document as a reader found it; empty strings stand for what the input does not say.

    `where` names the place for a person (and for the list of what was skipped); it is the id of a document that has
    none of its own. `is_whole_file` is true when the file is the document, so that its folder can be its class.
    """

    text: str
    where: str
    id: str = ""
    title: str = ""
    date: str = ""
    source: str = ""
    link: str = ""
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    is_whole_file: bool = False


Found = Draft | Skipped  # what a reader may hand over


class ReadFailure(Exception):
    """A file (or what is left of it) cannot be read; the run goes on and lists `reason` and `detail`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnknownColumn(InputError):
    """A column that was named, or one with the text, is not in a table; the message lists the columns there are."""
