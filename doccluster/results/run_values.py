"""The values of one run, the same whether it was just made or read from its folder.

Everything that has one entry per document (`documents`, rows of `vectors`, `partition.labels`, `similarity`,
`runner_up`, `margin`, the rows named in `clusters`, the per-document scores) is in the same order and covers the
documents that have terms, or a meaning. Those with neither are in `empty_documents`, and take part in nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers, Matrix
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import unit_rows
from doccluster.clustering.algorithms import get_algorithm
from doccluster.clustering.task import LinearRule
from doccluster.corpus.document import Corpus, Skipped
from doccluster.corpus.source_rows import SourceRows
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import ClusterDescription
from doccluster.results.document_table import DocumentTable
from doccluster.results.shares import DocumentParts, needed, parts_of
from doccluster.results.tree import Levels, Node, TreeLevel, tree_of
from doccluster.vectors.document_vectors import DocumentVectors

if TYPE_CHECKING:
    from doccluster.labeling import Placement
    from doccluster.measures import Evaluation
    from doccluster.vectors import TfidfVectorizer
    from doccluster.vectors.meaning import Meaning


@dataclass(frozen=True, repr=False)
class Provenance(ShortRepr):
    """Where a run comes from, so that it can be repeated.

    Attributes
    ----------
    command : str
        What to type to repeat the run.
    versions : mapping of str to str
        doccluster, python, platform, and the packages the numbers depend on.
    seed : int
        The seed every random choice was drawn from.
    checksum : str
        SHA-256 of the ids and texts (or of the matrix), independent of where they lie.
    started : str
        ISO 8601 time, UTC.
    timings : mapping of stage to seconds
        In the order of the stages: read, vectorize, cluster, label, judge. Before them "start", what the command line
        took until then; among them "compile" where code was compiled, which counts for no stage.
    peak_memory : int or None
        Bytes, where the system says.
    interrupted : bool
        Whether a person stopped the fit; the run then holds the best found so far.
    """

    command: str
    versions: Mapping[str, str]
    seed: int
    checksum: str
    started: str
    timings: Mapping[str, float]
    peak_memory: int | None = None
    interrupted: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class RunValues:
    """What a run found, from its source to its scores, and what follows from that alone.

    Attributes
    ----------
    documents : DocumentTable
        The documents that have terms; row i of everything below is document i.
    empty_documents : DocumentTable
        The documents without any term: they have no cluster.
    vectors : DocumentVectors of shape (n_documents, n_terms)
    partition : Partition
        Clusters 0..k-1, largest first.
    centroids : csr array (or dense, where the matrix is) of shape (k, n_terms), unit rows
    similarity : float64 array of shape (n_documents,)
        Cosine of each document to the centroid of its cluster.
    runner_up : int64 array of shape (n_documents,)
        The next best cluster, -1 when there is only one cluster.
    runner_up_similarity : float64 array of shape (n_documents,)
        The cosine to its centroid, nan when there is only one cluster.
    clusters : tuple of ClusterDescription, of length k
    evaluation : Evaluation
        Every score; per cluster, per document and per pair where a measure has them.
    skipped : tuple of Skipped
        Inputs that gave no document, then documents that gave no term.
    truth : tuple of str
        The label columns the clusters were judged against (keys of `documents.labels`).
    parameters : mapping of str to JSON values
        Every argument of the run.
    notes : tuple of str
        Sentences a reader of the results should see (a repaired cluster, a fit that was stopped, ...).
    vectorizer : TfidfVectorizer or None
        What turns new texts into vectors of the same columns; None when the run began from a matrix.
    copy_of : int64 array of shape (n_documents,), or None
        The row of the first document of each one's family of near-copies: its own row where it is the first, or has no
        copy. None where copies were not looked for (dense vectors).
    rule : LinearRule or None
        Which cluster a new document belongs to; None: the one with the nearest centroid.
    is_other : bool array of shape (n_documents,), or None
        Which documents fit no cluster and are shown as Other. Their label is that of the nearest cluster, and scores
        count them there; the sizes in `clusters` leave them out. None where they were not looked for.
    around : Levels
        The levels above and below `clusters`; `levels` has them all in one line, `tree` as nodes.
    """

    documents: DocumentTable
    empty_documents: DocumentTable
    vectors: DocumentVectors
    partition: Partition
    centroids: Matrix
    similarity: Floats
    runner_up: Integers
    runner_up_similarity: Floats
    clusters: tuple[ClusterDescription, ...]
    evaluation: Evaluation
    skipped: tuple[Skipped, ...]
    truth: tuple[str, ...]
    parameters: Mapping[str, Any]
    provenance: Provenance
    notes: tuple[str, ...] = field(default=())
    vectorizer: TfidfVectorizer | None = None
    copy_of: Integers | None = None
    rule: LinearRule | None = None
    is_other: Flags | None = None
    around: Levels = field(default_factory=Levels)
    _corpus: Corpus | None = None  # what was read, where that is in memory
    _record: Path | None = None  # the run.json that it was read from, which may be a stranger's; None of one just made
    _rows: SourceRows | None = None  # those of the source, where they are known

    @property
    def n_documents(self) -> int:
        """The number of documents that have a cluster."""
        return len(self.documents)

    @property
    def size_told(self) -> str:
        """How many documents were clustered, or parts of how many, in words."""
        counts = {"document": self.n_documents}
        if self.parts is not None:
            counts = {"part": self.n_documents, "document": len(self.parts.ids)}
        return " of ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items())

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.partition.n_clusters

    @property
    def n_other(self) -> int:
        """How many documents are shown as Other."""
        return 0 if self.is_other is None else int(self.is_other.sum())

    @cached_property
    def levels(self) -> tuple[TreeLevel, ...]:
        """The nested levels, the coarsest first; the clusters of the run are one of them, or the only one."""
        shown = TreeLevel(self.around.shown, self.partition.labels, self.clusters)
        return (*self.around.coarser, shown, *self.around.finer)

    @property
    def tree(self) -> tuple[Node, ...]:
        """The clusters of the coarsest level, each with its parts on the next one, down to the finest."""
        return tree_of(self.levels)

    @cached_property
    def shown_labels(self) -> Integers:
        """Where each document is shown: the number of its cluster, or the one after the last cluster for Other."""
        labels = self.partition.labels
        return labels if self.is_other is None else np.where(self.is_other, self.n_clusters, labels)

    @cached_property
    def shown_sizes(self) -> Integers:
        """How many documents are shown in each cluster, then in Other if any are."""
        return np.bincount(self.shown_labels, minlength=self.n_clusters)

    def members(self, number: int) -> Integers:
        """Return the rows of the documents shown in a cluster, or in Other, ascending."""
        if self.is_other is None:
            return self.partition.members(number)
        if number == self.n_clusters:
            return np.flatnonzero(self.is_other)
        rows = self.partition.members(number)
        return rows[~self.is_other[rows]]

    @cached_property
    def margin(self) -> Floats:
        """How much nearer each document is to its own centroid than to the next; negative if the next is nearer."""
        return self.similarity - self.runner_up_similarity

    @property
    def shows_stories(self) -> bool:
        """Whether the clusters are the stories of news."""
        resolved = self.parameters.get("resolved")
        return isinstance(resolved, Mapping) and bool(resolved.get("stories"))

    @property
    def method(self) -> str:
        """The name of the algorithm, or whose labels the clusters are."""
        if self.shows_stories:
            return "the rule of stories"
        resolved = self.parameters.get("resolved")
        resolved = resolved if isinstance(resolved, Mapping) else {}
        labels_from = resolved.get("labels_from")
        return str(self.parameters.get("algorithm") or "") if labels_from is None else f"the labels in {labels_from}"

    @cached_property
    def memberships(self) -> CsrArray | None:
        """How much each document belongs to its likeliest clusters: the posterior probabilities of the mixture.

        csr array of shape (n_documents, n_clusters), at most three entries a row, none in that of a document without
        words; None where no mixture made the clusters. Of long texts nearly all are 0 or 1.
        """
        rule, algorithm = self.rule, self.parameters.get("algorithm")
        counted = self.vectors.whole_counts if rule is not None and rule.on_counts else self.vectors.matrix
        if rule is None or counted is None or rule.weights.shape[0] != counted.shape[1]:
            return None
        return rule.memberships(counted, self.n_clusters) if get_algorithm(str(algorithm)).gives_probabilities else None

    @cached_property
    def meaning_of_clusters(self) -> Meaning | None:
        """The directions of the sums of the meanings in each cluster, None where documents have none."""
        meaning = self.vectors.meaning
        if meaning is None:
            return None
        from doccluster.geometry.sums import sums_by_label  # brings in numba

        sums = sums_by_label(meaning.rows, self.partition.labels, self.n_clusters)
        return replace(meaning, rows=unit_rows(sums, warn=False).astype(np.float32))

    @cached_property
    def by_meaning(self) -> Placement | None:
        """How each document sits in its cluster by meaning alone, None where it was clustered by words alone."""
        of_clusters = self.meaning_of_clusters
        if of_clusters is None or self.parameters.get("space") == "words":
            return None
        from doccluster.labeling import place_documents

        assert self.vectors.meaning is not None  # clusters have one where documents have
        return place_documents(self.vectors.meaning.rows, self.partition, of_clusters.rows)

    @property
    def labels_(self) -> Integers:
        """The cluster of each document in reading order, as in `to_pandas`; -1 for those without terms."""
        labels = np.full(self.n_documents + len(self.empty_documents), -1, dtype=np.int64)
        labels[self._places] = self.partition.labels
        return labels

    @cached_property
    def reading_order(self) -> Integers:
        """The rows in the order of reading; those from `n_documents` on are of documents without terms."""
        both = np.concatenate([self.documents.positions, self.empty_documents.positions])
        return np.argsort(both, kind="stable")

    @cached_property
    def _places(self) -> Integers:
        """The place of each document among all that were read."""
        return np.argsort(self.reading_order)[: self.n_documents]

    @cached_property
    def source_rows(self) -> SourceRows:
        """The rows of the source, whose documents are all that were read."""
        return SourceRows.of_documents(self.reading_order.size) if self._rows is None else self._rows

    @cached_property
    def parts(self) -> DocumentParts | None:
        """The documents of a run in parts, with the part of each that is in each cluster; None of whole documents."""
        document_of, tables = self.source_rows.document_of, (self.documents, self.empty_documents)
        if document_of is None:
            return None
        labels = self.partition.labels, self.shown_labels, self.n_clusters
        return parts_of(tables, document_of, self.reading_order, *labels)

    @property
    def document_of(self) -> Integers:
        """The document that each row is a part of, by its place in `parts`; of a run in parts."""
        return needed(self.parts).document_of[self._places]

    @property
    def cluster_scores(self) -> dict[str, Floats]:
        """The value of each cluster by every measure that has one, by its name (and truth, where there are several)."""
        values = {}
        for score in self.evaluation.scores:
            if score.per_cluster is not None and len(score.per_cluster) == self.n_clusters:
                name = score.name if score.truth is None or len(self.truth) < 2 else f"{score.name} ({score.truth})"
                values[name] = score.per_cluster
        return values

    def classes(self, column: str) -> tuple[Integers, tuple[str, ...]]:
        """Return the rows that have exactly one label in `column`, and those labels."""
        labels = self.documents.labels[column]
        rows = np.flatnonzero(np.fromiter((len(document_labels) == 1 for document_labels in labels), bool, len(labels)))
        return rows, tuple(labels[row][0] for row in rows.tolist())
