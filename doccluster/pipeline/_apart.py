"""Topics apart from who wrote them: terms that go with the values of a column are weighed down, in two rounds.

First the others are all other documents, then those of the same clusters, so that an author's own subjects stay. A term
is in some documents of an author. As many as the documents of others would have it are expected; what goes beyond that
is the author's. The factor of a term is the share of its documents that do not go beyond: it is used like idf, so that
new documents, and those without an author, need nothing else.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers
from doccluster.base.packed_strings import CodedColumn
from doccluster.clustering.task import LinearRule
from doccluster.corpus.columns import OWN_COLUMNS, kept_name
from doccluster.corpus.dates import iso_date
from doccluster.corpus.source_rows import PART_COLUMNS
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import largest_per_row
from doccluster.measures import score
from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.information import ami, nmi
from doccluster.results.document_table import DocumentTable
from doccluster.vectors import DocumentVectors

SPARED_DOCUMENTS = 2.0  # of an author that may have a term beyond what is expected
TRUSTED_DOCUMENTS = 10.0  # by which the rate in a cluster is drawn towards the rate everywhere
PAIRS_AT_A_TIME = 20_000  # of an author and a term


@dataclass(frozen=True, eq=False)
class AuthorTerms:
    """What terms keep apart from the authors of one column."""

    factors: Floats  # of shape (n_terms,), from 0 (the term is in documents of its authors alone) to 1
    # csr array of shape (n_authors, n_terms): how many documents of the author have the term beyond those expected
    beyond: CsrArray

    def strongest(self, terms: Sequence[str] | npt.NDArray[np.object_], n_terms: int = 8) -> list[list[str]]:
        """Return for each author the terms that go with the author most."""
        return [[str(terms[term]) for term in columns] for columns, _ in largest_per_row(self.beyond, n_terms)]


def author_terms(counts: CsrArray, authors: Integers, clusters: Integers | None = None) -> AuthorTerms:
    """Return the factor of each term apart from the authors, and which terms go with whom.

    `authors`, int64 array of shape (n_documents,), are 0..n_authors-1, or -1 for documents that are not counted. With
    the cluster of each document as many are expected as those of others in the same clusters would have, so that a
    subject an author writes much about stays a subject.

    >>> words = sparse.csr_array(np.array([[1, 0, 1]] * 8 + [[0, 1, 1]] * 8))
    >>> author_terms(words, np.repeat([0, 1], 8)).factors.tolist()
    [0.25, 0.25, 1.0]
    """
    n_authors, n_terms = int(authors.max(initial=-1)) + 1, counts.shape[1]
    frequencies, n_documents = _document_frequencies(counts, authors, n_authors)
    totals = np.asarray(frequencies.sum(axis=0)).ravel()
    is_many = frequencies.data > SPARED_DOCUMENTS  # only these can go beyond
    author = np.repeat(np.arange(n_authors), np.diff(frequencies.indptr))[is_many]
    term, n_with = frequencies.indices[is_many].astype(np.int64), frequencies.data[is_many]
    rate = (totals[term] - n_with) / np.maximum(n_documents.sum() - n_documents[author], 1)
    expected = n_documents[author] * rate
    if clusters is not None:
        expected = _expected_by_clusters(counts, authors, clusters, author, term, rate)
    beyond = np.maximum(n_with - expected - SPARED_DOCUMENTS, 0)
    factors = 1 - np.bincount(term, beyond, minlength=n_terms) / np.maximum(totals, 1)
    table = sparse.csr_array((beyond, (author, term)), shape=(n_authors, n_terms))
    table.eliminate_zeros()
    return AuthorTerms(factors, table)


def _expected_by_clusters(
    counts: CsrArray, authors: Integers, clusters: Integers, author: Integers, term: Integers, rate: Floats
) -> Floats:
    """Return in how many of an author's documents a term is expected, by those of others in the same clusters.

    The rate of a cluster is drawn towards the rate everywhere by some documents. `author`, `term` and `rate` have an
    entry for each pair that is looked at.
    """
    n_authors, k = int(authors.max()) + 1, int(clusters.max()) + 1
    pairs = np.where(authors >= 0, authors * k + clusters, -1)
    in_pair, n_pair = _document_frequencies(counts, pairs, n_authors * k)
    in_cluster, n_cluster = _document_frequencies(counts, np.where(authors >= 0, clusters, -1), k)
    n_pair = n_pair.reshape(n_authors, k)
    weight = n_pair / (n_cluster - n_pair + TRUSTED_DOCUMENTS)  # of one document of others in the cluster
    places = np.arange(n_authors * k), np.arange(0, n_authors * k + 1, k)
    of_author = sparse.csr_array((weight.ravel(), *places), shape=(n_authors, n_authors * k)) @ in_pair
    by_term = sparse.csc_array(in_cluster)
    expected = TRUSTED_DOCUMENTS * rate * weight.sum(axis=1)[author]
    for start in range(0, author.size, PAIRS_AT_A_TIME):
        block = slice(start, start + PAIRS_AT_A_TIME)
        columns = by_term[:, term[block]].toarray()  # k x pairs
        expected[block] += np.einsum("ij,ji->i", weight[author[block]], columns)
    return np.asarray(expected - _values_at(sparse.csr_array(of_author), author, term))


def _document_frequencies(counts: CsrArray, groups: Integers, n_groups: int) -> tuple[CsrArray, Integers]:
    """Return in how many documents of each group each term is, csr, and how many documents each group has."""
    rows = np.flatnonzero(groups >= 0)
    members = sparse.csr_array((np.ones(rows.size), (groups[rows], rows)), shape=(n_groups, groups.size))
    has_term = sparse.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    frequencies = sparse.csr_array(members @ has_term)
    frequencies.sort_indices()
    return frequencies, np.bincount(groups[rows], minlength=n_groups)


def _values_at(table: CsrArray, rows: Integers, columns: Integers) -> Floats:
    """Return the entries of a csr array at some places; 0 where none is stored."""
    table.sort_indices()
    keys = np.repeat(np.arange(table.shape[0], dtype=np.int64), np.diff(table.indptr)) * table.shape[1] + table.indices
    if not keys.size:
        return np.zeros(rows.size)
    places = rows * table.shape[1] + columns
    nearest = np.minimum(np.searchsorted(keys, places), keys.size - 1)
    return np.where(keys[nearest] == places, table.data[nearest], 0.0)


MAX_AUTHORS_SHOWN, N_TERMS_SHOWN = 5, 5


@dataclass(frozen=True, eq=False)
class Apart:
    """Vectors whose terms of authors are weighed down."""

    vectors: DocumentVectors
    authors: dict[str, Integers]  # by column, array of shape (n_documents,): -1 where a document has no value
    share_before: dict[str, float]  # by column: how much of the clusters it explained before (see `explained_share`)
    strongest: dict[str, dict[str, list[str]]]  # by column and value: the terms that were weighed down most
    share_taken: float  # of all occurrences of terms, by the factors

    @property
    def factors(self) -> Floats:
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

    `cluster` returns the labels of the clusters of some vectors; it is called twice. Raises InputError if there is no
    such column, it has one value, or the counts of terms are not known.
    """
    if vectors.counts is None:
        raise InputError(
            "needs the counts of terms",
            argument="apart_from",
            received=columns[0],
            remedy="give documents, not a matrix, and no vectorizer that makes weights alone",
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


def _factors(
    vectors: DocumentVectors, authors: dict[str, Integers], labels: Integers | None
) -> tuple[Floats, dict[str, AuthorTerms]]:
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
    if np.unique(labels[is_known]).size < 2:
        return 0.0  # there is nothing to explain
    return score("homogeneity", authors[is_known], truth=labels[is_known]).value


def rule_apart(rule: LinearRule | None, factors: Floats) -> LinearRule | None:
    """Return a rule for counts as they are, from one for counts that hold factors."""
    if rule is None or not rule.on_counts:
        return rule
    weights = rule.weights.copy()
    weights.data *= np.repeat(factors, np.diff(weights.indptr))
    return replace(rule, weights=weights)


LEAST_FOLLOWED = 0.3  # adjusted mutual information: authors have .4 and more, outlets and months at most .21
MAX_LOOKED_AT = 20_000  # documents
DATES_LOOKED_AT = 20  # values of a column
_OF_A_RUN = frozenset(["near_copy_of", *PART_COLUMNS, *map(kept_name, OWN_COLUMNS - {"source"})])
# Languages, whose words are others whatever is weighed down; what a reader of JSON calls the keys above a record.
_NO_AUTHORS = re.compile(r"lang(uage)?|key_\d+")
LEAST_WRITTEN = 20  # documents that two values have at least: of authors of a few nothing can be weighed down


@dataclass(frozen=True)
class FollowedColumn:
    """The column that clusters follow most."""

    column: str
    explained: float  # the share of the entropy of the clusters that its values explain
    by_chance: float  # what as many values of the same sizes would explain on average

    @property
    def told(self) -> str:
        """A question, since nothing can tell an author from a column that is the subject."""
        name = f'"{self.column}"' if " " in self.column else self.column
        shares = f"({100 * self.explained:.0f} %, by chance {100 * self.by_chance:.0f} %)"
        return f"The clusters follow `{self.column}` {shares}; if that is not their subject, try --apart-from {name}."


def followed_column(
    labels: Integers, is_other: Flags | None, documents: DocumentTable, known: Collection[str]
) -> FollowedColumn | None:
    """Return the column that the clusters that are shown follow most, None where they follow none.

    `known` are columns of which the user has said what they are: classes, or what the run is apart from.
    """
    is_shown = np.ones(labels.size, np.bool_) if is_other is None else ~is_other
    followed = dict[float, FollowedColumn]()
    for column, codes in _columns_with_groups(documents, known):
        rows = np.flatnonzero(is_shown & (codes >= 0))
        if 2 * rows.size < np.count_nonzero(is_shown) or rows.size == 0:
            continue
        rows = rows[:: -(-rows.size // MAX_LOOKED_AT)]
        table = ContingencyTable.from_partitions(*(Partition.from_labels(of[rows]) for of in (labels, codes)))
        # what is expected by chance takes longer, and makes the number smaller
        if min(table.n_clusters, table.n_classes) < 2 or nmi(table) < LEAST_FOLLOWED:
            continue
        explained = table.mutual_information / table.cluster_entropy
        by_chance = table.expected_mutual_information / table.cluster_entropy
        followed.setdefault(ami(table), FollowedColumn(column, explained, by_chance))
    strongest = max(followed, default=0.0)
    return followed[strongest] if strongest >= LEAST_FOLLOWED else None


def _columns_with_groups(documents: DocumentTable, known: Collection[str]) -> Iterator[tuple[str, Integers]]:
    """Yield the columns that put documents into groups, and the group of each document, -1 for none.

    Ids, links and dates do not; nor is asked about what a run wrote, nor about what classes say already, such as the
    half of a collection that each is in.
    """
    classes = [np.unique(values_of(documents, name), return_inverse=True)[1] for name in documents.labels]
    classes = [codes for codes in classes if codes.max() < len(codes) / 3]
    for column, values in {**documents.columns, "source": documents.sources}.items():
        is_named = column in (*_OF_A_RUN, *documents.labels, *known, *map(kept_name, known))
        if is_named or _NO_AUTHORS.fullmatch(column):
            continue
        coded = CodedColumn.of(values)
        is_value = np.fromiter(map(bool, coded.values), np.bool_, len(coded.values))
        looked_at = list(itertools.islice(filter(None, coded.values), DATES_LOOKED_AT))
        has_dates = 2 * sum(bool(iso_date(value)) for value in looked_at) > len(looked_at)
        if 2 <= np.count_nonzero(is_value) <= len(coded) / 3 and not has_dates:
            codes = np.asarray(coded.codes, np.int64)
            codes = np.where(is_value[codes], codes, -1)
            has_authors = np.count_nonzero(np.bincount(codes[codes >= 0]) >= LEAST_WRITTEN) > 1
            if has_authors and not any(explained_share(codes, of) > 0.99 for of in classes):
                yield column, codes
