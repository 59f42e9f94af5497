"""Near-copies of one text: found for every run, and clustered as one document on request."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.corpus import Corpus, find_near_copies
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, InputError
from doccluster.pipeline.fit import Fit, largest_first
from doccluster.results.document_table import DocumentTable
from doccluster.vectors import DocumentVectors

Rows = Integers


def find_first_copies(
    vectors: DocumentVectors, documents: DocumentTable, corpus: Corpus | None, candidates: Rows | None = None
) -> Rows | None:
    """Return the row of the first document of each one's family of near-copies, its own where it has no copy.

    The first is the earliest; without dates, the first that was read. None for dense vectors, which have no terms to
    tell copies by. `candidates` are the rows that may be copies (`alike_in_a_band`), if they were found elsewhere.
    """
    if isinstance(vectors.matrix, np.ndarray):
        return None
    texts = None if corpus is None else PickedTexts(corpus.texts, documents.positions)
    first = np.arange(len(documents), dtype=np.int64)
    for family in find_near_copies(vectors.matrix, texts, candidates=candidates):
        # a document without a date is later than those with one
        first[list(family)] = min(family, key=lambda row: (not documents.dates[row], documents.dates[row], row))
    return first


def first_copies(first: Rows | None) -> Rows:
    """Return the first document of each family, ascending. Raises InputError if copies could not be looked for."""
    if first is None:
        raise InputError(
            "near-copies are found by the terms they share, and a dense matrix has no terms",
            remedy=("leave out ", Argument("fold_copies")),
        )
    return np.unique(first)


def spread_to_copies(fit: Fit, first: Rows | None) -> Fit:
    """Return a fit of first documents as one of all: copies have the cluster of what they repeat, and count in it."""
    if first is None:
        return fit
    family = np.searchsorted(np.unique(first), first)
    partition, order = largest_first(fit.partition.labels[family])
    points = None if fit.points is None else fit.points[family]
    choice = None if fit.choice is None else fit.choice.for_rows(family)
    return replace(fit.renumbered(partition.labels, order), points=points, choice=choice)


def folding_note(first: Rows | None) -> str | None:
    """Return a sentence that says how many copies were folded, None where there were none."""
    n_copies = 0 if first is None else int(np.count_nonzero(first != np.arange(first.size)))
    if n_copies == 0:
        return None
    have = "has the cluster of the text it repeats" if n_copies == 1 else "have the cluster of the text they repeat"
    return f"Near-copies were folded: {n_copies:,} of the documents {have}."
