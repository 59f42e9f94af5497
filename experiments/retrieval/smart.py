"""Test collections in the formats of SMART (.I, .T, .W fields) and TREC (judgements)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import InputError

_FIELD = re.compile(r"\.([A-Z])(?:[ \t]+(\S+))?[ \t]*")


@dataclass(frozen=True)
class SmartRecord:
    """A document or a query: its name and the text of each field (T title, A author, W words ...)."""

    id: str
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The title, unless the words begin with it, and the words."""
        title, words = self.fields.get("T", ""), self.fields.get("W", "")
        return words if words.startswith(title) else f"{title}\n{words}".strip()


def read_smart(text: str) -> list[SmartRecord]:
    r"""Return the records of a text in SMART's format.

    Raises
    ------
    InputError
        If something stands before the first record.

    Examples
    --------
    >>> read_smart(".I 1\n.T\nLift\n.W\nLift of wings\n.I 2\n.W\nDrag\n")[0].text
    'Lift of wings'
    """
    records: list[SmartRecord] = []
    lines: list[str] | None = None
    collected: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _FIELD.fullmatch(line)
        if match and match[1] == "I":
            _close(records, collected)
            collected, lines = {}, None
            records.append(SmartRecord(match[2] or str(len(records) + 1)))
        elif match and records:
            lines = collected.setdefault(match[1], [])
        elif lines is not None:
            lines.append(line)
        elif line.strip():
            raise InputError(f"line {number} is in no field of a record; SMART records begin with .I and a number.")
    _close(records, collected)
    return records


def _close(records: list[SmartRecord], collected: dict[str, list[str]]) -> None:
    if records:
        records[-1].fields.update({name: "\n".join(lines).strip() for name, lines in collected.items()})


def read_judgements(path: str | Path) -> dict[str, dict[str, float]]:
    """Return the grade of each judged document of each query.

    Parameters
    ----------
    path : str or Path
        Lines of three columns (query, document, grade) or TREC's four (query, iteration, document, grade). CISI's four
        columns (query, document, 0, 0.000000) are known by their third and fourth; all of its pairs are relevant.

    Raises
    ------
    InputError
        If the file cannot be read, or a line has another number of columns, or no grade.
    """
    try:
        text = read_whole(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason}); write it in UTF-8.") from error
    except ReadFailure as error:
        raise InputError(f"{path} cannot be read: {error.detail}.") from error
    rows = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1)]
    filled = [(number, row) for number, row in rows if row]
    is_cisi = all(len(row) == 4 and row[2] == "0" and row[3] == "0.000000" for _, row in filled)
    found: dict[str, dict[str, float]] = {}
    for number, row in filled:
        if len(row) not in (3, 4):
            raise InputError(f"{path}, line {number} has {len(row)} columns; give query, document and grade.")
        document = row[1] if is_cisi or len(row) == 3 else row[2]
        try:
            grade = 1.0 if is_cisi else float(row[-1])
        except ValueError:
            raise InputError(f"{path}, line {number} has the grade {row[-1][:40]!r}; give a number.") from None
        found.setdefault(row[0], {})[document] = grade
    return found
