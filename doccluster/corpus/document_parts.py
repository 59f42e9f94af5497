"""A corpus of long documents as one of their parts, which keep the labels and the columns of what they are part of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.corpus.document import Corpus
from doccluster.corpus.source_rows import name_beside_parts
from doccluster.text.scripts import count_words
from doccluster.text.text_parts import checked_rule, cut_text


def corpus_in_parts(corpus: Corpus, rule: object) -> Corpus:
    """Return the parts of the documents of a corpus, in their order; `rule` is that of `cut_text`.

    The parts of a document "a" are called "a#1", "a#2" and so on, also where there is only one, and a document without
    text has one without text. Columns say which document a part is of, its number, and its words; a column of the
    source that has such a name becomes "source.words". Raises InputError if there is no such rule.

    >>> parts = corpus_in_parts(Corpus(ids=["a", "b"], texts=["It rains. It pours.", "Snow."]), "sentences")
    >>> parts.ids, list(parts.column("words"))
    (('a#1', 'a#2', 'b#1'), ['2', '2', '1'])
    """
    rule = checked_rule(rule)
    cut_texts = [cut_text(text, rule) or [""] for text in corpus.texts]
    n_parts = np.fromiter(map(len, cut_texts), np.int64, len(cut_texts))
    document_of = np.repeat(np.arange(n_parts.size), n_parts)
    numbers = [str(number) for n in n_parts.tolist() for number in range(1, n + 1)]

    def of_parts(columns: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
        return {
            name_beside_parts(name): tuple(values[row] for row in document_of.tolist())
            for name, values in columns.items()
        }

    ids = of_parts({"id": corpus.ids})["id"]
    texts = tuple(part for parts in cut_texts for part in parts)
    metadata = of_parts({str(name): corpus.column(name) for name in corpus.metadata_columns})
    metadata |= {"part_of": ids, "part": tuple(numbers), "words": tuple(str(count_words(part)) for part in texts)}
    return Corpus(
        ids=tuple(f"{name}#{number}" for name, number in zip(ids, numbers, strict=True)),
        texts=texts,
        labels=of_parts(corpus.labels),
        metadata=metadata,
        source_rows=corpus.source_rows.in_parts(document_of),
        skipped=corpus.skipped,
        stripped_html=corpus.stripped_html,
        skipped_after=corpus.skipped_after,
        text_columns=corpus.text_columns,
        dates=corpus.dates,
        guessed_encodings=corpus.guessed_encodings,
        division=corpus.division,
    )


def in_two_documents(counts: Any, document_of: Integers) -> Any:
    """Return which columns of a csr matrix have entries in rows of two documents, bool array of shape (n_terms,).

    >>> from scipy import sparse
    >>> in_two_documents(sparse.csr_array([[1, 1], [1, 0], [0, 1]]), np.array([0, 0, 1])).tolist()
    [False, True]
    """
    documents = np.repeat(document_of, np.diff(counts.indptr))
    first, last = np.full(counts.shape[1], document_of.size), np.full(counts.shape[1], -1)
    np.minimum.at(first, counts.indices, documents)
    np.maximum.at(last, counts.indices, documents)
    return first < last
