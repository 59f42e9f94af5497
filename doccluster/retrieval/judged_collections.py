"""Test collections: documents, queries and judgements in the formats of SMART (.I, .T, .W fields) and TREC.

What is counted in a collection is counted once, for all models that rank it.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.corpus.opening import read_whole
from doccluster.corpus.reader import ReadFailure
from doccluster.errors import InputError
from doccluster.vectors import TfidfVectorizer

_FIELD = re.compile(r"\.([A-Z])(?:[ \t]+(\S+))?[ \t]*")
FILES = {
    "Cranfield": ("cran.all.1400*", "cran.qry", "cranqrel"),
    "CISI": ("CISI.ALL*", "CISI.QRY", "CISI.REL"),
}
ANALYSIS: dict[str, Any] = {"stop_words": "english", "stemming": "english", "n_threads": 1}


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
    grades: dict[str, dict[str, float]] = {}
    for number, row in filled:
        if len(row) not in (3, 4):
            raise InputError(f"{path}, line {number} has {len(row)} columns; give query, document and grade.")
        document = row[1] if is_cisi or len(row) == 3 else row[2]
        try:
            grade = 1.0 if is_cisi else float(row[-1])
        except ValueError:
            raise InputError(f"{path}, line {number} has the grade {row[-1][:40]!r}; give a number.") from None
        grades.setdefault(row[0], {})[document] = grade
    return grades


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, queries, and the grades of relevant documents for each query."""

    name: str
    texts: list[str]
    queries: list[str]
    grades: list[dict[int, float]]

    @cached_property
    def counter(self) -> TfidfVectorizer:
        """What cuts texts into terms and counts them, fitted on the documents."""
        return TfidfVectorizer(weighting="nnn", norm=None, dtype=np.float64, **ANALYSIS).fit(self.texts)

    @cached_property
    def counts(self) -> sparse.csr_array:
        """How often each term occurs in each document."""
        return sparse.csr_array(self.counter.transform_counts(self.texts))

    @cached_property
    def query_counts(self) -> sparse.csr_array:
        """How often each term occurs in each query."""
        return sparse.csr_array(self.counter.transform_counts(self.queries))

    @cached_property
    def rows(self) -> sparse.csr_array:
        """The documents as unit rows of tf-idf."""
        return sparse.csr_array(self._weigher.transform(self.texts))

    @cached_property
    def query_rows(self) -> sparse.csr_array:
        """The queries as unit rows of tf-idf."""
        return sparse.csr_array(self._weigher.transform(self.queries))

    @cached_property
    def _weigher(self) -> TfidfVectorizer:
        return TfidfVectorizer(**ANALYSIS).fit(self.texts)


def read_collection(paths: Sequence[Path], name: str) -> Collection:
    """Return a collection of its documents, queries and judgements; queries without a relevant document are left out.

    Cranfield's queries are numbered by their position, its grades 1 (best) to 4 count as 4 to 1, and its code -1 is not
    relevant. What CISI judges is relevant.
    """
    texts, queries = (read_whole(path) for path in paths[:2])
    texts = gzip.decompress(texts) if paths[0].suffix == ".gz" else texts
    records, asked_records = read_smart(texts.decode("latin-1")), read_smart(queries.decode("latin-1"))
    judgements = read_judgements(paths[2])
    place = {record.id: number for number, record in enumerate(records)}
    is_graded = {grade for of_query in judgements.values() for grade in of_query.values()} != {1.0}
    query_texts: list[str] = []
    grades: list[dict[int, float]] = []
    for number, query in enumerate(asked_records):
        query_id = str(number + 1) if is_graded else query.id
        relevant = {
            place[document]: 5 - grade if is_graded else grade
            for document, grade in judgements.get(query_id, {}).items()
            if grade > 0 and document in place
        }
        if relevant:
            query_texts.append(query.text)
            grades.append(relevant)
    return Collection(name, [record.text for record in records], query_texts, grades)
