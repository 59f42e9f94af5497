"""The fourth stage: what the clusters are about, in words as they are written in the texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.corpus.stored_texts import PickedTexts, text_lengths
from doccluster.geometry import ClusterEvidence
from doccluster.labeling import ClusterDescription, LabelPhrases, Placement, count_label_phrases, describe_clusters
from doccluster.partition import Partition
from doccluster.pipeline.vectorizing import Vectorized
from doccluster.text.boilerplate import boilerplate_words
from doccluster.text.tokens import build_preprocessor
from doccluster.text.written_forms import written_forms
from doccluster.vectors import DocumentVectors
from doccluster.vectors.parameters import analysis_of

MAX_CHARACTERS = 4_000_000  # of text that is read again for the way its words are written
PER_DOCUMENT = 4_000
MAX_PHRASE_CHARACTERS = 2_000_000


def name_clusters(
    made: Vectorized,
    vectors: DocumentVectors,
    evidence: ClusterEvidence,
    placed: Placement,
    texts: Sequence[str] | None,
    copy_of: npt.NDArray[np.int64] | None,
) -> tuple[DocumentVectors, list[ClusterDescription]]:
    """Return what each cluster is about, and the vectors with their terms in the commonest written form.

    `texts` are those of the rows of `vectors`, None for a ready matrix. The vectorizer learns the written forms too, so
    that whoever asks later shows the same words.
    """
    partition = evidence.partition
    known: dict[str, Any] = {"placement": placed, "evidence": evidence}
    if texts is None or made.vectorizer is None:
        return vectors, describe_clusters(vectors, partition, function_words=made.function_words, **known)
    vectors = in_written_forms(made, vectors, PickedTexts(texts, _most_central(partition, placed, texts)))
    once = texts if copy_of is None else PickedTexts(texts, np.unique(copy_of))
    unwanted = made.function_words | boilerplate_words(once)
    phrases = phrases_of(made, vectors, partition, texts, unwanted)
    described = describe_clusters(vectors, partition, texts=texts, phrases=phrases, function_words=unwanted, **known)
    return vectors, described


def phrases_of(
    made: Vectorized,
    vectors: DocumentVectors,
    partition: Partition,
    texts: Sequence[str],
    unwanted: Collection[str],
    max_characters: int = MAX_PHRASE_CHARACTERS,
) -> LabelPhrases | None:
    """Return the phrases that may name clusters; None where terms are not words, or phrases already.

    They are looked for in `max_characters` of the texts.
    """
    chosen, names = made.vectorizer, vectors.display_terms
    if chosen is None or names is None or chosen.analyzer not in ("word", "script") or tuple(chosen.ngram_range)[1] > 1:
        return None
    column, term_of = chosen.vocabulary_, analysis_of(chosen).term_of

    def column_of(word: str) -> int | None:
        term = term_of(word)
        return None if term is None else column.get(term)

    return count_label_phrases(
        texts,
        partition,
        names,
        column_of,
        function_words=unwanted,
        prepare=_prepare(made),
        max_characters=max_characters,
    )


def in_written_forms(made: Vectorized, vectors: DocumentVectors, texts: Iterable[str]) -> DocumentVectors:
    """Return the vectors with their terms as they are most often written in `texts`; the vectorizer learns it too."""
    chosen = made.vectorizer
    if chosen is None or callable(chosen.analyzer) or chosen.analyzer.startswith("char"):
        return vectors
    read = (text[:PER_DOCUMENT] for text in texts)
    forms = np.array(written_forms(chosen.display_terms_.tolist(), read, prepare=_prepare(made)), dtype=object)
    chosen.display_terms_ = forms
    return vectors.shown_as(forms)


def _prepare(made: Vectorized) -> Callable[[str], str]:
    chosen = made.vectorizer
    assert chosen is not None  # who calls has looked
    return build_preprocessor(
        lowercase=chosen.lowercase, strip_accents=chosen.strip_accents, preprocessor=chosen.preprocessor
    )


def _most_central(partition: Partition, placed: Placement, texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the rows nearest to their centroids, as many of each cluster, up to `MAX_CHARACTERS`."""
    by_nearness = np.lexsort((-placed.similarity, partition.labels))
    rank = np.empty(by_nearness.size, dtype=np.int64)
    rank[by_nearness] = np.arange(by_nearness.size) - np.repeat(
        np.cumsum(partition.sizes) - partition.sizes, partition.sizes
    )
    order = np.lexsort((partition.labels, rank))
    lengths = np.minimum(text_lengths(texts), PER_DOCUMENT)[order]
    taken: npt.NDArray[np.int64] = order[: int(np.searchsorted(np.cumsum(lengths), MAX_CHARACTERS)) + 1]
    return taken
