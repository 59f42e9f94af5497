"""The record of one run, the same whether it was just made or read from its folder.

Everything that has one entry per document (`documents`, rows of `vectors`, `partition.labels`, `similarity`,
`runner_up`, `margin`, the rows named in `clusters`, the per-document scores) is in the same order and covers the
documents that have terms, or a meaning. Those with neither are in `empty_documents`, and take part in nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers, Matrix
from doccluster.base.package import load
from doccluster.base.plain_values import ShortRepr, cut
from doccluster.base.text_table import html_table, latex_escaped, latex_table
from doccluster.base.validation import RandomState, unit_rows
from doccluster.clustering.algorithms import get_algorithm
from doccluster.clustering.task import LinearRule
from doccluster.corpus.document import Corpus, Skipped
from doccluster.corpus.source_rows import SourceRows, n_rows_of
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import ClusterDescription
from doccluster.results.document_table import DocumentTable
from doccluster.results.explanation import Explanation
from doccluster.results.tree import Levels, Node, TreeLevel, tree_of
from doccluster.results.views import InlineReport, Prevalence
from doccluster.vectors.document_vectors import DocumentVectors

if TYPE_CHECKING:
    import pandas as pd

    from doccluster.labeling import NamingRequest, Placement
    from doccluster.measures import Evaluation
    from doccluster.vectors import TfidfVectorizer
    from doccluster.vectors.meaning import Meaning

PIPELINE = "doccluster.pipeline"  # above the run: what its methods need of it they load by name
MAX_CLUSTERS_SHOWN = 30  # in a notebook; the report has all


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
class Run:
    """One run, from its source to its scores.

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

    @cached_property
    def corpus(self) -> Corpus:
        """The documents with their texts, as they were clustered; of a run read from its folder they are read again.

        Raises InputError if they cannot be, or have changed.
        """
        corpus: Corpus = self._corpus if self._corpus is not None else load(f"{PIPELINE}.repeating:corpus_of_run")(self)
        return corpus

    def explain(self, cluster: int | str | None = None, other: int | None = None) -> Explanation:
        """Say what a cluster (its number) or a document (its id) is about, as `doccluster.explain` does."""
        explanation: Explanation = load(f"{PIPELINE}.explaining:explain")(self, cluster, other)
        return explanation

    def prevalence(self, by: str, *, random_state: RandomState = 0) -> Prevalence:
        """Return how common each cluster is by party, source, month or any column: shares, intervals, lifts, tests.

        See `doccluster.results.views.Prevalence`; "year", "month" and "day" are those of the date.
        """
        table: Prevalence = load("doccluster.results.prevalence:prevalence")(self, by, random_state=random_state)
        return table

    def words_over_time(self, cluster: int, by: str = "month", *, n_words: int = 5) -> dict[str, list[str]]:
        """Return the words that set each month (year, day, or value of a column) of a cluster apart from the others."""
        function = load("doccluster.results.prevalence:words_over_time")
        words: dict[str, list[str]] = function(self, cluster, by, n_words=n_words)
        return words

    def topic_coherence(
        self, measure: Any = "c_v", *, n_terms: int = 10, window: int | None = None, reference: Any = None
    ) -> Floats:
        """Return how well the top terms of each cluster go together in windows of the texts, array of shape (k,).

        Parameters
        ----------
        measure, window
            As for `doccluster.measures.topics`: "c_v", "c_npmi" or "c_uci".
        n_terms : int
            How many terms of largest mean weight.
        reference : Corpus or iterable of texts, optional
            Where windows are counted; by default the texts of the run.

        Raises
        ------
        InputError
            If the run was not made of texts, or these cannot be read again.
        """
        from doccluster.geometry.evidence import ClusterEvidence
        from doccluster.measures.topics import TopicWords, window_coherence
        from doccluster.text.analysis import analysis_of

        if self.vectorizer is None:
            raise InputError("the run has no texts to count windows of", remedy="make it of documents, not of a matrix")
        analysis, terms = analysis_of(self.vectorizer), self.vectors.get_feature_names_out()
        topic_words = TopicWords(ClusterEvidence(self.vectors.documents, self.partition))
        topics = [terms[columns].tolist() for columns in topic_words.top_terms(n_terms)]
        texts = getattr(reference, "texts", reference) if reference is not None else self.corpus.texts
        forms = (map(analysis.term_of, analysis.analyze(text)) for text in texts)
        return window_coherence(
            topics, ([term or "" for term in tokens] for tokens in forms), measure=measure, window=window
        )

    def rename(self, cluster: int | Mapping[int, str], name: str | None = None) -> Run:
        """Return the run with another name for a cluster, as `doccluster.label` does; this one stays as it is."""
        renamed: Run = load(f"{PIPELINE}.editing:label_cluster")(self, cluster, name)
        return renamed

    def rename_with(self, namer: Callable[[NamingRequest], str]) -> Run:
        """Return the run with names that a function chooses, on all levels, parents first; this one stays as it is.

        The function gets the description of a cluster and returns a name of at most 60 characters. Where that cannot be
        used a cluster keeps its label, and a note says why. Names that a person gave stay.

        Raises InputError if not one cluster gets a name.
        """
        renamed: Run = load(f"{PIPELINE}.editing:label_cluster")(self, namer)
        return renamed

    def merge(self, *clusters: object) -> Run:
        """Return the run with clusters made one, as `doccluster.merge` does; this one stays as it is."""
        merged: Run = load(f"{PIPELINE}.editing:merge_clusters")(self, *clusters)
        return merged

    @property
    def n_documents(self) -> int:
        """The number of documents that have a cluster."""
        return len(self.documents)

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

    def __repr__(self) -> str:
        largest = "; ".join(f"{cluster.label} ({cluster.size:,})" for cluster in self.clusters[:3])
        ellipsis = "; ..." if self.n_clusters > 3 else ""
        size = f"{self.n_documents:,} documents in {self.n_clusters:,} clusters, {self.vectors.n_terms:,} terms"
        return cut(f"Run({size}, seed {self.provenance.seed}: {largest}{ellipsis})")

    @property
    def labels_(self) -> Integers:
        """The cluster of each document in reading order, as in `to_pandas`; -1 for those without terms."""
        labels = np.full(self.n_documents + len(self.empty_documents), -1, dtype=np.int64)
        labels[self._places] = self.partition.labels
        return labels

    @cached_property
    def map_positions(self) -> Floats:
        """Where the report's map draws each document, float64 array of shape (n_documents, 2), in reading order.

        It is drawn when first asked for; a document without terms has nan. Raises InputError if fewer than four have
        terms.
        """
        positions = np.full((self.labels_.size, 2), np.nan)
        positions[self._places] = load("doccluster.report.plane:plane_of")(self).places
        return positions

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

    def column(self, name: str) -> list[Any]:
        """Return a column of `to_pandas` as a plain list: a value for each row that came in, None where it was skipped.

        Parameters
        ----------
        name : str
            A column of `to_pandas`, "id" (text), or "shown": the cluster, but None for a document in Other.

        Raises
        ------
        InputError
            If there is no such column.

        Examples
        --------
        >>> import doccluster
        >>> texts = ["oil and gas prices rise", "", "crude oil prices", "wheat harvest", "rain on the wheat harvest"]
        >>> doccluster.run(texts, n_clusters=2, language="english").column("cluster")
        [1, None, 1, 0, 0]
        """
        values: list[Any] = load("doccluster.results.document_frame:column_of")(self, name)
        return values

    def evidence_for(self, truth: Any, vectors: Any) -> tuple[Partition, Any, Any]:
        """Return partition, classes and vectors, row for row, as `evaluate` needs them to judge the run.

        `truth` may be the name of a label column (or several), or labels, which are taken by name where they have names
        (`SourceRows.in_order`). Raises InputError if there is no such column, or labels do not fit.
        """
        columns = [truth] if isinstance(truth, str) else truth if isinstance(truth, list | tuple) else []
        if columns and all(column in self.documents.labels for column in columns):
            truth = {column: list(map(list, self.documents.labels[column])) for column in columns}
        elif columns and all(column in self.documents.columns for column in columns):
            truth = {column: list(self.documents.columns[column]) for column in columns}
        elif isinstance(truth, str):
            there = ", ".join(map(repr, [*self.documents.labels, *self.documents.columns])) or "none"
            raise InputError(f"there is no label column {truth!r} to judge by", remedy=f"the run has {there}")
        else:
            truth = self._in_order(truth, "truth")
        return self.partition, truth, self.vectors if vectors is None else self._in_order(vectors, "vectors")

    def _in_order(self, table: Any, name: str) -> Any:
        """Return the rows of the documents: `table` has one for each, for each that was read, or each that came in."""
        rows = replace(self.source_rows, columns={})
        if not isinstance(table, Mapping) and n_rows_of(table) == self.labels_.size:
            rows = rows.take(np.arange(self.labels_.size))
        return replace(rows, places=rows.places[self._places]).in_order(table, name, self.documents.ids)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per document in reading order, with the index of the frame or Series that the run is of.

        Returns
        -------
        DataFrame
            Its index is that of the frame; where a column or a file gives ids, these; else numbers, from 0. A run that
            was read from its folder has numbers or ids. Columns title, date, source, link, cluster, label, similarity,
            runner_up, margin, other (whether it is shown as Other, and the cluster is only the nearest), one for each
            level where there are several ("level.topic" where the source has a column "topic"), and one for each column
            of class labels and each other column of the source, with its numbers, booleans, dates and categories
            ("source.label" for a column "label"); a document without terms has no cluster.
        """
        frame: pd.DataFrame = load("doccluster.results.document_frame:document_frame")(self)
        return frame

    def to_latex(self) -> str:
        """Return a LaTeX table (package booktabs) of the clusters: number, size, label, mean similarity."""
        rows = [
            [str(number), f"{size:,}", latex_escaped(label), f"{similarity:.3f}"]
            for number, label, size, similarity in self._cluster_rows()
        ]
        return latex_table(("cluster", "documents", "label", "similarity"), rows, alignment="rrlr")

    def report(self) -> InlineReport:
        """Return the report of the run, which a notebook shows inline; ``run.report().save("report.html")`` keeps it.

        Returns
        -------
        doccluster.report.InlineReport
        """
        report: InlineReport = load("doccluster.report.html:inline_report")(self)
        return report

    def _repr_html_(self) -> str:
        size = f"{self.n_documents:,} documents in {self.n_clusters:,} clusters, {self.vectors.n_terms:,} terms"
        shown = list(itertools.islice(self._cluster_rows(), MAX_CLUSTERS_SHOWN))
        remark = "" if self.n_clusters <= len(shown) else f"; the {len(shown)} largest are shown"
        return html_table(
            ("cluster", "label", "documents", "similarity"),
            shown,
            caption=f"{size}, seed {self.provenance.seed}{remark}. run.report() shows the whole report.",
            bar="documents",
        )

    def _cluster_rows(self) -> Iterator[tuple[int, str, int, float]]:
        """Yield number, label, size and mean similarity of each cluster."""
        sums = np.bincount(self.shown_labels, self.similarity, self.n_clusters)
        means = sums / np.maximum(self.shown_sizes, 1)
        for cluster in self.clusters:
            yield cluster.cluster, cluster.label, cluster.size, float(means[cluster.cluster])

    def clusters_frame(self) -> pd.DataFrame:
        """Return one row per cluster, with its number as index.

        Returns
        -------
        DataFrame
            Columns size, label, terms (commas between them), central_document (its id), and one for each measure that
            has a value per cluster.
        """
        import pandas as pd

        central = [cluster.representatives[0].row if cluster.representatives else None for cluster in self.clusters]
        columns: dict[str, Any] = {
            "size": [cluster.size for cluster in self.clusters],
            "label": [cluster.label for cluster in self.clusters],
            "terms": [", ".join(cluster.terms) for cluster in self.clusters],
            "central_document": [None if row is None else self.documents.ids[row] for row in central],
        }
        return pd.DataFrame(columns | self.cluster_scores, index=pd.RangeIndex(self.n_clusters, name="cluster"))

    def predict(self, source: Any, *, n_threads: int | None = None) -> Integers:
        """Return the cluster of each new document, as `doccluster assign` does; -1 where no term is known.

        `source`: what a run can be made of. Of texts, a table or records in memory there is a number for each row, in
        their order; of files, a Corpus or a matrix for each document.

        Raises InputError if the run began from a matrix, and so knows no words, or new documents need a meaning too.
        """
        texts = load(f"{PIPELINE}.assigning:texts_of_source")(self, source)
        if texts is None:
            placed = load(f"{PIPELINE}.assigning:assign_documents")(self, source, n_threads=n_threads)
            return np.asarray(placed["cluster"].fillna(-1), dtype=np.int64)
        if self.vectorizer is None:
            raise InputError(
                "the run began from a matrix and knows no words", remedy="use assign_to_centroids on a matrix"
            )
        if self.vectors.meaning is not None and self.rule is None and self.parameters.get("space") != "words":
            raise InputError("the clusters are of meaning too", remedy="call doccluster.assign, which takes embeddings")
        from doccluster.clustering.task import decide
        from doccluster.vectors import vectorize

        vectors = vectorize(texts, self.vectorizer)
        labels = decide(self.rule, vectors.matrix, vectors.counts, self.centroids, n_threads=n_threads)
        labels[vectors.is_empty] = -1
        return labels

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
