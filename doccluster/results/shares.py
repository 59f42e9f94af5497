"""What share of the words of each document is in each cluster, of a run whose rows are parts of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from doccluster.base.arrays import Floats, Integers
from doccluster.base.plain_values import ShortRepr
from doccluster.errors import InputError, SchemaError
from doccluster.geometry.partition import Partition
from doccluster.measures import Evaluation, evaluate
from doccluster.measures.truth import coverage_note
from doccluster.results.document_table import DocumentTable

DIGITS = 6
N_LARGEST = 3  # shares that are shown of a document
NEARLY_ALL = 0.8  # of the words of a cluster, for a remark that they are of one document


@dataclass(frozen=True, eq=False, repr=False)
class DocumentParts(ShortRepr):
    """Parts of documents, and where each is; arrays have an entry for each part, those of a document in their order."""

    ids: Sequence[str]  # of the documents
    document_of: Integers  # ascending: the document of each part
    words: Integers
    nearest: Integers  # the nearest cluster, -1 for a part without known words
    shown: Integers  # where it is shown: its cluster, `n_clusters` for Other, and the number after it without any
    n_clusters: int

    @cached_property
    def totals(self) -> Integers:
        """The words of each document in each cluster, in Other, and in none: of shape (n_documents, n_clusters + 2)."""
        return self._summed(self.shown)

    @cached_property
    def n_words(self) -> Integers:
        """The words of each document."""
        return np.asarray(self.totals.sum(axis=1))

    @cached_property
    def shares(self) -> Floats:
        """The same as shares of the words of a document, which sum to 1; a document without words is in none."""
        has_words = self.n_words > 0
        shares: Floats = self.totals / np.maximum(self.n_words, 1)[:, None]
        shares[~has_words, -1] = 1.0
        return shares

    @cached_property
    def largest(self) -> Integers:
        """The cluster with the largest share of each document, the nearest one where all is Other; -1 without any."""
        k = self.n_clusters
        of_shown, of_nearest = self.totals[:, :k], self._summed(np.where(self.nearest < 0, k, self.nearest))[:, :k]
        totals = np.where(of_shown.any(axis=1, keepdims=True), of_shown, of_nearest)
        return np.where(totals.any(axis=1), totals.argmax(axis=1), -1)

    @cached_property
    def standing(self) -> Integers:
        """The part that stands for each document with known words: its longest in the nearest cluster of most words."""
        k, rows = self.n_clusters, np.flatnonzero(self.nearest >= 0)
        most = self._summed(np.where(self.nearest < 0, k, self.nearest))[:, :k].argmax(axis=1)
        is_elsewhere = self.nearest[rows] != most[self.document_of[rows]]
        order = rows[np.lexsort((-self.words[rows], is_elsewhere, self.document_of[rows]))]
        return order[np.unique(self.document_of[order], return_index=True)[1]]

    def largest_shares(self, document: int) -> list[tuple[int, float]]:
        """Return the clusters (or Other, or none) with the largest shares of a document, the largest first."""
        shares = self.shares[document]
        order = np.argsort(-shares, kind="stable")[:N_LARGEST]
        return [(column, float(shares[column])) for column in order.tolist() if shares[column] > 0]

    def documents_in(self, cluster: int) -> tuple[int, int | None]:
        """Return of how many documents a cluster has parts, and the one that nearly all of its words are of, if any."""
        is_in = self.totals[:, cluster]
        n_documents = np.unique(self.document_of[self.shown == cluster]).size
        is_one = is_in.sum() > 0 and is_in.max() > NEARLY_ALL * is_in.sum()
        return n_documents, int(is_in.argmax()) if is_one else None

    def _summed(self, columns: Integers) -> Integers:
        width = self.n_clusters + 2
        cells = self.document_of * width + columns
        totals = np.bincount(cells, self.words, minlength=len(self.ids) * width)
        return totals.reshape(-1, width).astype(np.int64)


def needed(parts: DocumentParts | None) -> DocumentParts:
    """Return the parts of the documents of a run. Raises InputError if its rows are whole documents."""
    if parts is None:
        raise InputError("the run is of whole documents, each in one cluster", remedy="make it in parts: parts='auto'")
    return parts


def parts_of(
    tables: Sequence[DocumentTable], document_of: Integers, order: Integers, nearest: Integers, shown: Integers, k: int
) -> DocumentParts:
    """Return the documents whose parts are the rows of some tables, one below the other, which are read in an `order`.

    `nearest` and `shown` are those of the first table; rows of the others have no cluster. Raises SchemaError if their
    words are not said.
    """
    ids = [name for table in tables for name in table.ids]
    try:
        words = np.array([int(cell) for table in tables if len(table) for cell in table.columns["words"]], np.int64)
    except (ValueError, KeyError) as error:
        raise SchemaError(f"the run does not say how many words its parts have ({error})") from error
    without = np.ones(len(ids) - nearest.size, np.int64)
    nearest, shown = np.append(nearest, -without)[order], np.append(shown, without * (k + 1))[order]
    first = order[np.flatnonzero(np.diff(document_of, prepend=-1))].tolist()
    names = [ids[row].rpartition("#")[0] for row in first]
    return DocumentParts(names, document_of, words[order], nearest, shown, k)


def shares_columns(parts: DocumentParts, rows: slice = slice(None)) -> dict[str, list[Any]]:
    """Return the words of some documents and their share in each cluster, in Other, and in none, by column."""
    names = [*(f"cluster_{number}" for number in range(parts.n_clusters)), "other", "none"]
    columns: dict[str, list[Any]] = {"words": parts.n_words[rows].tolist()}
    return columns | dict(zip(names, np.round(parts.shares[rows], DIGITS).T.tolist(), strict=True))


def parts_with_terms(documents: DocumentTable, partition: Partition) -> DocumentParts:
    """Return the parts of documents that have a cluster, and so have terms, in the order of the table."""
    names = np.array([name.rpartition("#")[0] for name in documents.ids], dtype=object)
    is_first = np.append(np.True_, names[1:] != names[:-1])
    words = np.array([int(cell) for cell in documents.columns["words"]], np.int64)
    of_parts = np.cumsum(is_first) - 1, words, partition.labels, partition.labels
    return DocumentParts(names[is_first].tolist(), *of_parts, partition.n_clusters)


def judge_documents(documents: DocumentTable, columns: Sequence[str], partition: Partition, **how: Any) -> Evaluation:
    """Return the scores of clusters of parts, by the classes of whole documents where `columns` name some.

    Each document counts once in external measures, by its largest share: with the part that stands for it. `how` is
    what else `evaluate` takes.
    """
    parts = parts_with_terms(documents, partition)
    n_parts, n_documents = len(documents), len(parts.ids)
    is_standing = np.isin(np.arange(n_parts), parts.standing)
    truth = {
        column: [list(of_part) if stands else [] for of_part, stands in zip(labels_of, is_standing, strict=True)]
        for column, labels_of in ((column, documents.labels[column]) for column in columns)
    }
    judged = evaluate(partition, truth=truth or None, **how)
    n_beside, coverage = n_parts - n_documents, {}
    notes: dict[tuple[str | None, str | None], str] = {}
    for column, counts in judged.coverage.items():
        of_documents = {**counts, "n_documents": n_documents, "n_unlabelled": counts["n_unlabelled"] - n_beside}
        coverage[column] = of_documents
        several = {"n_used": counts["n_used"] + counts["n_several"], "n_several": 0}
        for change in ({}, several):
            said = coverage_note({**of_documents, **change})
            by_share = f"by the largest share of each of {n_documents:,} documents"
            notes[column, coverage_note({**counts, **change})] = f"{by_share}, {said}" if said else by_share
    scores = tuple(
        replace(score, notes=tuple(notes.get((score.truth, note), note) for note in score.notes))
        for score in judged.scores
    )
    return replace(judged, scores=scores, coverage=coverage)
