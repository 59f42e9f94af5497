"""Clusters that another program found: a run takes its labels in place of a fit, and names and judges them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.linear_rule import decide
from doccluster.corpus.columns import cell_text
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.measures.label_files import read_labels
from doccluster.pipeline.fitting import FittedClusters, centroids_of, largest_first
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
    ids, name = None, "labels"
    if isinstance(labels, str | os.PathLike):
        file = read_labels(labels)
        name, ids, labels = file.path, file.ids, next(iter(file.columns.values()))
    cells = np.empty((len(labels), 1), dtype=object)
    cells[:, 0] = [cell_text(label) for label in labels]
    if any(isinstance(label, list | tuple) for label in labels):
        raise InputError(f"{name} gives documents several labels", remedy="each needs one cluster")
    after = () if source.corpus is None else source.corpus.skipped_after
    cells_by_id = Embeddings(cells, None if ids is None else tuple(ids))
    names = rows_of_documents(cells_by_id, source.documents.ids, source.skipped, after, name=name)[:, 0].tolist()
    column = tuple((label,) if label else () for label in names)
    return replace(source, documents=replace(source.documents, labels={**source.documents.labels, COLUMN: column}))


def clusters_of_labels(
    vectors: DocumentVectors, documents: DocumentTable
) -> tuple[FittedClusters, npt.NDArray[np.bool_]]:
    """Return the labels of documents as a fit, and which of them have none: they go to the nearest centroid.

    Raises InputError if no document has a label.
    """
    names = np.array(["".join(labels) for labels in documents.labels[COLUMN]], dtype=str)
    has_none = np.isin(names, NO_CLUSTER)
    if has_none.all():
        raise InputError("no document has a cluster", remedy="give labels other than -1")
    return fit_of_labels(vectors, names, has_none), has_none


def fit_of_labels(vectors: DocumentVectors, names: npt.NDArray[Any], has_none: npt.NDArray[np.bool_]) -> FittedClusters:
    """Return labels as a fit, clusters in order of size; a document that has none goes to the nearest centroid."""
    rows, chosen = vectors.matrix, np.flatnonzero(~has_none)
    partition, _ = largest_first(np.unique(names[chosen], return_inverse=True)[1])
    centroids = centroids_of(rows[chosen], partition)
    labels = np.empty(names.size, dtype=np.int64)
    labels[chosen] = partition.labels
    if has_none.any():
        labels[has_none] = decide(None, rows[np.flatnonzero(has_none)], None, centroids)
    return FittedClusters(Partition(labels, partition.names), centroids, None, False, None)


def recorded_labels(labels: Any) -> str | None:
    """Return where labels come from, as run.json has it; None without any."""
    if labels is None:
        return None
    return os.fspath(labels) if isinstance(labels, str | os.PathLike) else "memory"
