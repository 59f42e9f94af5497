"""The definition, written naively: what exact labels are compared with."""

from __future__ import annotations

import pathlib

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer


def naive_similarities(documents, means):
    """Cosines in float64, terms added in ascending order of the columns."""
    return sparse.csr_array(documents, dtype=np.float64) @ means.T.astype(np.float64)


def naive_refill(documents, labels, similarities, usable):
    """Give each empty cluster the farthest document of a cluster with more than one distinct row."""
    kinds = [documents[[row]].toarray().tobytes() for row in range(documents.shape[0])]
    refilled = False
    for cluster in range(similarities.shape[1]):
        if np.any(labels[usable] == cluster):
            continue
        candidates = [
            (similarities[row, labels[row]], row)
            for row in np.flatnonzero(usable)
            if len({kinds[other] for other in np.flatnonzero((labels == labels[row]) & usable)}) > 1
        ]
        # a document given away a moment ago sits alone and is no candidate, as its cluster has one row
        if candidates:
            labels[min(candidates)[1]] = cluster
            refilled = True
    return refilled


def naive_means(documents, labels, weights, previous):
    """float32(sum / |sum|), float64 sums over the members ascending; a cluster without direction keeps its mean."""
    means = previous.copy()
    for cluster in range(previous.shape[0]):
        total = np.zeros(documents.shape[1])
        for row in np.flatnonzero(labels == cluster):
            entries = slice(documents.indptr[row], documents.indptr[row + 1])
            total[documents.indices[entries]] += weights[row] * documents.data[entries].astype(np.float64)
        length = np.sqrt(np.sum(total**2))
        if length > 1e-9 * weights[labels == cluster].sum():
            means[cluster] = (total / length).astype(np.float32)
    return means


def naive_lloyd(documents, means, *, weights=None, max_iter=100):
    """Yield (means, labels) after each assignment until nothing moves."""
    documents = sparse.csr_array(documents, dtype=np.float32)
    weights = np.ones(documents.shape[0]) if weights is None else np.asarray(weights, float)
    usable = (abs(documents).sum(axis=1) > 0) & (weights > 0)
    before = None
    for _ in range(max_iter + 1):
        similarities = naive_similarities(documents, means)
        labels = similarities.argmax(axis=1)
        naive_refill(documents, labels, similarities, usable)
        yield means, labels
        if before is not None and np.array_equal(before, labels):
            return
        before = labels
        means = naive_means(documents, labels, weights, means)


def cluto_counts(folder: pathlib.Path, name: str):
    """Read a matrix of term counts in CLUTO's sparse format and its classes, columns of df > 1."""
    lines = (folder / name / f"{name}.mat").read_text(encoding="ascii").splitlines()
    n_documents, n_terms, _ = map(int, lines[0].split())
    rows = [np.array(line.split(), dtype=np.int64) for line in lines[1 : n_documents + 1]]
    indptr = np.concatenate([[0], np.cumsum([row.size // 2 for row in rows])])
    flat = np.concatenate(rows)
    counts = sparse.csr_matrix((flat[1::2].astype(np.float64), flat[::2] - 1, indptr), shape=(n_documents, n_terms))
    counts = counts[:, np.flatnonzero(np.bincount(counts.indices, minlength=n_terms) > 1)]
    classes = np.array((folder / name / f"{name}.rclass").read_text(encoding="ascii").split())
    return counts, classes


def cluto_matrix(folder: pathlib.Path, name: str):
    """Read the counts of `cluto_counts` as tf-idf rows, and their classes."""
    counts, classes = cluto_counts(folder, name)
    return sparse.csr_array(TfidfTransformer().fit_transform(counts).astype(np.float32)), classes
