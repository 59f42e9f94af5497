"""New documents for the clusters of a finished run, a block of texts at a time, wherever the texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.linear_rule import LinearRule, decide
from doccluster.corpus.stored_texts import TextRows
from doccluster.distributed.text_vectors import single_threaded
from doccluster.executors import Executor
from doccluster.labeling.placement import place_labels
from doccluster.vectors.vectorize import unknown_term_shares, vectorize
from doccluster.vectors.vectorizer import TfidfVectorizer

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NewDocuments:
    """Where new documents belong, and how surely; one entry for each.

    `similarity`, `margin`: cosines to the centroids.
    """

    labels: Integers
    runner_up: Integers
    similarity: Floats
    margin: Floats
    is_empty: npt.NDArray[np.bool_]  # whether a document has no term of the model, nor a meaning
    has_words: npt.NDArray[np.bool_]  # whether it has a term of the model
    unknown: Floats  # the share of its terms that the model does not know; nan without texts


def place_new(
    vectors: Any,
    rule: LinearRule | None,
    centroids: Any,
    unknown: Floats,
    *,
    labels: Integers | None = None,
    n_threads: int | None = None,
) -> NewDocuments:
    """Return where documents belong, of their vectors in the columns of a model; `labels` where that was decided."""
    if labels is None:
        labels = decide(rule, vectors.matrix, vectors.counts, centroids, n_threads=n_threads)
    placed = place_labels(vectors.matrix, labels, centroids, n_threads=n_threads)
    has_words = vectors.documents.squared_norms > 0
    return NewDocuments(
        labels, placed.runner_up, placed.similarity, placed.margin, vectors.is_empty, has_words, unknown
    )


def place_block(texts: TextRows, vectorizer: TfidfVectorizer, rule: LinearRule | None, centroids: Any) -> NewDocuments:
    """Return where the texts of a block belong."""
    read = texts.texts
    unknown = unknown_term_shares(read, vectorizer)
    return place_new(vectorize(read, vectorizer), rule, centroids, unknown, n_threads=1)


def place_blocks(
    executor: Executor,
    texts: Sequence[TextRows],
    vectorizer: TfidfVectorizer,
    rule: LinearRule | None,
    centroids: Any,
) -> NewDocuments:
    """Return where the texts of all blocks belong, in their order; only these few numbers of each come back."""
    parts = list(executor.map(place_block, texts, single_threaded(vectorizer), rule, centroids))
    return NewDocuments(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(NewDocuments)))
