"""Cranfield and CISI: documents, queries and judgements, and what is counted in them once for all models."""

from __future__ import annotations

import gzip
import pathlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.vectors import TfidfVectorizer
from experiments.retrieval.smart import read_judgements, read_smart

FILES = {
    "Cranfield": ("cran.all.1400.gz", "cran.qry", "cranqrel"),
    "CISI": ("CISI.ALL.gz", "CISI.QRY", "CISI.REL"),
}
ANALYSIS: dict[str, Any] = {"stop_words": "english", "stemming": "english", "n_threads": 1}


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
    def asked(self) -> sparse.csr_array:
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


def read_collection(folder: pathlib.Path, name: str) -> Collection:
    """Return a collection; queries without a relevant document are left out.

    Cranfield's queries are numbered by their position, its grades 1 (best) to 4 count as 4 to 1, and its code -1 is not
    relevant. What CISI judges is relevant.
    """
    documents, queries, judged = FILES[name]
    records = read_smart(gzip.decompress((folder / documents).read_bytes()).decode("latin-1"))
    asked = read_smart((folder / queries).read_text(encoding="latin-1"))
    judgements = read_judgements(folder / judged)
    place = {record.id: number for number, record in enumerate(records)}
    is_graded = {grade for of_query in judgements.values() for grade in of_query.values()} != {1.0}
    kept, grades = [], []
    for number, query in enumerate(asked):
        query_id = str(number + 1) if is_graded else query.id
        relevant = {
            place[document]: 5 - grade if is_graded else grade
            for document, grade in judgements.get(query_id, {}).items()
            if grade > 0 and document in place
        }
        if relevant:
            kept.append(query.text)
            grades.append(relevant)
    return Collection(name, [record.text for record in records], kept, grades)
