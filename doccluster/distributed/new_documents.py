"""New documents for the clusters of a finished run, a block of texts at a time, wherever the texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.place import Place
from doccluster.clustering.nesting import nearest_parts
from doccluster.clustering.task import LinearRule, decide
from doccluster.corpus.stored_texts import TextRows
from doccluster.distributed.text_vectors import single_threaded
from doccluster.labeling.placement import place_labels
from doccluster.vectors.meaning import Meaning
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
    parts: Integers  # of shape (n_documents, n_levels): its cluster on each finer level


@dataclass(frozen=True, eq=False)
class GoingByMeaning:
    """What new documents mean, and where they go by it.

    `centroids`: of the meaning alone, or of words and meaning side by side.
    """

    meaning: Meaning
    centroids: Any
    is_alone: bool

    def decide(self, words: Any, *, n_threads: int | None = None) -> Integers:
        """Return the cluster of each document, of their rows of words."""
        rows = self.meaning.rows if self.is_alone else self.meaning.beside(words)
        return decide(None, rows, None, self.centroids, n_threads=n_threads)


def place_new(
    vectors: Any,
    rule: LinearRule | None,
    centroids: Any,
    unknown: Floats,
    *,
    finer: Sequence[tuple[Integers, Any]] = (),
    going: GoingByMeaning | None = None,
    n_threads: int | None = None,
) -> NewDocuments:
    """Return where documents belong, of their vectors in the columns of a model.

    `finer` are the parents and the centroids of each finer level.
    """
    if going is None:
        labels = decide(rule, vectors.matrix, vectors.counts, centroids, n_threads=n_threads)
    else:
        labels = going.decide(vectors.matrix, n_threads=n_threads)
        vectors = replace(vectors, meaning=going.meaning)
    placed = place_labels(vectors.matrix, labels, centroids, n_threads=n_threads)
    has_words = vectors.documents.squared_norms > 0
    path = [labels]
    for parents, part_centroids in finer:
        path.append(nearest_parts(vectors.matrix, path[-1], parents, part_centroids))
    parts = np.column_stack(path)[:, 1:]
    return NewDocuments(
        labels, placed.runner_up, placed.similarity, placed.margin, vectors.is_empty, has_words, unknown, parts
    )


def place_block(
    texts: TextRows,
    vectorizer: TfidfVectorizer,
    rule: LinearRule | None,
    centroids: Any,
    finer: Sequence[tuple[Integers, Any]],
    going: GoingByMeaning | None,
    meaning_rows: Any,
) -> NewDocuments:
    """Return where the texts of a block belong; `meaning_rows` are those of all texts."""
    strings = texts.texts
    unknown = unknown_term_shares(strings, vectorizer)
    if going is not None:
        block_rows = meaning_rows[texts.first : texts.first + len(strings)]
        going = replace(going, meaning=replace(going.meaning, rows=block_rows))
    vectors = vectorize(strings, vectorizer)
    return place_new(vectors, rule, centroids, unknown, finer=finer, going=going, n_threads=1)


def place_blocks(
    place: Place,
    texts: Sequence[TextRows],
    vectorizer: TfidfVectorizer,
    rule: LinearRule | None,
    centroids: Any,
    going: GoingByMeaning | None = None,
    finer: Sequence[tuple[Integers, Any]] = (),
) -> NewDocuments:
    """Return where the texts of all blocks belong, in their order; only these few numbers of each come back."""
    meaning_rows = None
    if going is not None:
        meaning_rows = going.meaning.rows  # large, and in files, from which each worker reads its part
        going = replace(going, meaning=replace(going.meaning, rows=None))
    shared = single_threaded(vectorizer), rule, centroids, finer, going, meaning_rows
    parts = list(place.map(place_block, texts, *shared))
    return NewDocuments(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(NewDocuments))
    )
