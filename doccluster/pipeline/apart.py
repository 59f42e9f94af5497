"""Topics apart from who wrote them: terms that go with the values of a column are weighed down, in two rounds.

First the others are all other documents, then those of the same clusters, so that an author's own subjects stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers
from doccluster.clustering.linear_rule import LinearRule
from doccluster.corpus.columns import kept_name
from doccluster.errors import InputError
from doccluster.results.document_table import DocumentTable
from doccluster.vectors import DocumentVectors
from doccluster.vectors.apart_from import SPARED_DOCUMENTS, author_terms

MAX_AUTHORS_SHOWN, N_TERMS_SHOWN = 5, 5


@dataclass(frozen=True, eq=False)
class Apart:
    """Vectors whose terms of authors are weighed down.

    Attributes
    ----------
    vectors : DocumentVectors
    authors : mapping of column to int64 array of shape (n_documents,)
        -1 where a document has no value.
    share_before : mapping of column to float
        How much of the clusters the column explained before, 0 to 1 (see `explained_share`).
    strongest : mapping of column to mapping of value to terms
        The values whose terms were weighed down most.
    share_taken : float
        The share of all occurrences of terms that the factors took away.
    """

    vectors: DocumentVectors
    authors: dict[str, Integers]
    share_before: dict[str, float]
    strongest: dict[str, dict[str, list[str]]]
    share_taken: float

    @property
    def factors(self) -> npt.NDArray[np.float64]:
        """What is left of each term, float64 array of shape (n_terms,)."""
        assert self.vectors.term_factors is not None  # they were weighed down
        return self.vectors.term_factors

    def notes(self, labels: Integers, *, has_meaning: bool) -> list[str]:
        """Return sentences on what was weighed down, and how much of the clusters each column explains now."""
        sentences = []
        for column, authors in self.authors.items():
            now = explained_share(labels, authors)
            sentence = (
                f"Apart from {column}: it explained {self.share_before[column]:.0%} of the clusters, now {now:.0%}."
            )
            terms = [f"{author} ({', '.join(words)})" for author, words in self.strongest[column].items()]
            if terms:
                sentence += f" Weighed down most: {'; '.join(terms)}."
            elif np.bincount(authors[authors >= 0], minlength=1).max() <= SPARED_DOCUMENTS:
                sentence += " No value has three documents, so nothing was weighed down."
            sentences.append(sentence)
        if has_meaning:
            sentences.append("Only words are weighed down; the meaning of the texts may still follow the column.")
        return sentences


def vectors_apart(
    vectors: DocumentVectors,
    documents: DocumentTable,
    columns: Sequence[str],
    cluster: Callable[[DocumentVectors], Integers],
) -> Apart:
    """Return vectors apart from the values of some columns of their documents.

    `cluster` returns the labels of the clusters of some vectors; it is called twice.

    Raises InputError if there is no such column, it has one value, or the counts of terms are not known.
    """
    if vectors.counts is None:
        raise InputError(
            "needs the counts of terms",
            argument="apart_from",
            received=columns[0],
            remedy="give documents, not a matrix",
        )
    names, authors = {}, {}
    for column in columns:
        values = values_of(documents, column)
        names[column], codes = np.unique(values, return_inverse=True)
        has_value = names[column] != ""
        authors[column] = np.where(has_value[codes], (np.cumsum(has_value) - 1)[codes], -1)
        names[column] = names[column][has_value]
        if len(names[column]) < 2:
            raise InputError(
                "has fewer than two values", argument="apart_from", received=column, remedy="choose another column"
            )
    plain_labels = cluster(vectors)
    factors = _factors(vectors, authors, None)[0]
    labels = cluster(vectors.weighed_down(factors))
    factors, bound = _factors(vectors, authors, labels)
    terms = vectors.display_terms if vectors.display_terms is not None else vectors.get_feature_names_out()
    strongest = {}
    for column, of_column in bound.items():
        n_beyond = np.asarray(of_column.beyond.sum(axis=1)).ravel()
        order = [
            place for place in np.argsort(-n_beyond, kind="stable")[:MAX_AUTHORS_SHOWN].tolist() if n_beyond[place] > 0
        ]
        words = of_column.strongest(terms, N_TERMS_SHOWN)
        strongest[column] = {str(names[column][place]): words[place] for place in order}
    weighed = vectors.weighed_down(factors)
    assert weighed.counts is not None  # as those it was made of
    share_taken = 1 - float(weighed.counts.sum() / vectors.counts.sum())
    before = {column: explained_share(plain_labels, codes) for column, codes in authors.items()}
    return Apart(weighed, authors, before, strongest, share_taken)


def _factors(vectors: DocumentVectors, authors: dict[str, Integers], labels: Integers | None) -> Any:
    bound = {column: author_terms(vectors.counts, codes, labels) for column, codes in authors.items()}
    factors = np.ones(vectors.n_terms)
    for of_column in bound.values():
        factors *= of_column.factors
    return factors, bound


def values_of(documents: DocumentTable, column: str) -> list[str]:
    """Return the value of a column for each document, empty where it has none.

    Raises InputError if there is no such column.
    """
    for name in (column, kept_name(column)):
        if name in documents.columns:
            return list(documents.columns[name])
    if column in documents.labels:
        return ["; ".join(labels) for labels in documents.labels[column]]
    if column == "source":
        return list(documents.sources)
    there = ", ".join([*documents.columns, *documents.labels, "source"])
    raise InputError("is no column", argument="apart_from", received=column, expected=f"one of {there}")


def explained_share(labels: Integers, authors: Integers) -> float:
    """Return the share of the entropy of clusters that their authors explain, I(C; A) / H(C), 0 to 1.

    >>> explained_share(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    1.0
    """
    is_known = authors >= 0
    table = np.unique(np.stack([labels[is_known], authors[is_known]]), axis=1, return_counts=True)
    (clusters, writers), counts = table[0], table[1].astype(np.float64)
    share = counts / max(counts.sum(), 1)
    of_cluster, of_writer = np.bincount(clusters, share), np.bincount(writers, share)
    entropy = -float(np.sum(of_cluster[of_cluster > 0] * np.log(of_cluster[of_cluster > 0])))
    mutual = float(np.sum(share * np.log(share / (of_cluster[clusters] * of_writer[writers]))))
    return mutual / entropy if entropy > 0 and not math.isnan(mutual) else 0.0


def rule_apart(rule: LinearRule | None, factors: npt.NDArray[np.float64]) -> LinearRule | None:
    """Return a rule for counts as they are, from one for counts that hold factors."""
    if rule is None or not rule.on_counts:
        return rule
    weights = rule.weights.copy()
    weights.data *= np.repeat(factors, np.diff(weights.indptr))
    return replace(rule, weights=weights)
