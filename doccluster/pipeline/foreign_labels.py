"""Labels of another program, which take the place of a fit."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from doccluster.corpus.columns import cell_text
from doccluster.corpus.source_rows import names_of
from doccluster.errors import InputError
from doccluster.geometry.partition import label_list
from doccluster.measures.label_files import read_labels
from doccluster.pipeline.fit import Fit, fit_of_labels
from doccluster.pipeline.sources import SourceDocuments
from doccluster.results.document_table import DocumentTable
from doccluster.vectors import DocumentVectors
from doccluster.vectors.meaning import Embeddings, rows_of_documents

COLUMN = "given"  # the column of labels in which the documents keep them
NO_CLUSTER = ("", "-1")  # the labels of documents that the other program left out


def with_labels(source: SourceDocuments, labels: Any) -> SourceDocuments:
    """Return a source whose documents have the labels of another program as a column.

    Raises InputError if there are more or fewer labels than documents, an id has none, or a document has several.
    """
    ids, rows = source.documents.ids, source.source_rows
    file = read_labels(labels) if isinstance(labels, str | os.PathLike) else None
    name = "labels" if file is None else file.path
    values = label_list(labels if file is None else next(iter(file.columns.values())), "labels")
    if any(isinstance(label, list | tuple) for label in values):
        raise InputError(f"{name} gives documents several labels", remedy="each needs one cluster")
    cells = np.array([[cell_text(label)] for label in values], dtype=object)
    by_id = Embeddings(cells, None if file is None or file.ids is None else tuple(file.ids))
    remedy = "give a label for each id, -1 for a document that is in no cluster"
    cells = rows_of_documents(by_id, ids, rows, name=name, index=names_of(labels), remedy=remedy)
    column = tuple((label,) if label else () for label in cells[:, 0].tolist())
    return replace(source, documents=replace(source.documents, labels={**source.documents.labels, COLUMN: column}))


def clusters_of_labels(vectors: DocumentVectors, documents: DocumentTable) -> Fit:
    """Return the labels of documents as a fit: those that have none go to the nearest centroid, as Other.

    Raises InputError if no document has a label.
    """
    names = np.array(["".join(labels) for labels in documents.labels[COLUMN]], dtype=str)
    has_none = np.isin(names, NO_CLUSTER)
    if has_none.all():
        raise InputError("no document has a cluster", remedy="give labels other than -1")
    return fit_of_labels(vectors, names, has_none)


def recorded_labels(labels: object) -> str | None:
    """Return where labels come from, as run.json has it; None without any."""
    if labels is None:
        return None
    return os.fspath(labels) if isinstance(labels, str | os.PathLike) else "memory"
