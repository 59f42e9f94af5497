"""The record of one run: its values, and what can be had from them: explanations, tables, a report, an edited run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import Floats, Integers
from doccluster.base.package import load
from doccluster.base.plain_values import cut
from doccluster.base.text_table import html_table, latex_escaped, latex_table
from doccluster.base.validation import RandomState
from doccluster.corpus.document import Corpus
from doccluster.corpus.source_rows import n_rows_of
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.results.explanation import Explanation
from doccluster.results.run_values import Provenance as Provenance
from doccluster.results.run_values import RunValues
from doccluster.results.views import InlineReport, Prevalence

if TYPE_CHECKING:
    import pandas as pd

    from doccluster.labeling import NamingRequest

PIPELINE = "doccluster.pipeline"  # above the run: what its methods need of it they load by name
MAX_CLUSTERS_SHOWN = 30  # in a notebook; the report has all


@dataclass(frozen=True, eq=False, repr=False)
class Run(RunValues):
    """One run, from its source to its scores; its attributes are those of `RunValues`."""

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

    def validation(
        self,
        output: str | Path,
        *,
        n_coders: int = 2,
        tests: Sequence[str] = ("words", "documents", "names"),
        n_clusters: int = 20,
        per_cluster: int = 1,
        random_state: RandomState = 0,
    ) -> Any:
        """Write questions by which people judge the clusters, and their key, into a new folder, and return them.

        Each coder gets the same in another order, about at most `n_clusters` clusters, which are drawn. Raises
        NothingUsable if the run gives nothing to ask. `doccluster.score_validation` reads the answers.
        """
        return load("doccluster.lab.coders:validate")(
            self, output, n_coders, tests, n_clusters, per_cluster, random_state
        )

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

    def __repr__(self) -> str:
        largest = "; ".join(f"{cluster.label} ({cluster.size:,})" for cluster in self.clusters[:3])
        ellipsis = "; ..." if self.n_clusters > 3 else ""
        size = f"{self.size_told} in {self.n_clusters:,} clusters, {self.vectors.n_terms:,} terms"
        return cut(f"Run({size}, seed {self.provenance.seed}: {largest}{ellipsis})")

    @cached_property
    def map_positions(self) -> Floats:
        """Where the report's map draws each document, float64 array of shape (n_documents, 2), in reading order.

        It is drawn when first asked for; a document without terms has nan. Raises InputError if fewer than four have
        terms.
        """
        positions = np.full((self.labels_.size, 2), np.nan)
        positions[self._places] = load("doccluster.report.plane:plane_of")(self).places
        return positions

    def column(self, name: str) -> list[Any]:
        """Return a column of `to_pandas` as a plain list: a value for each row that came in, None where it was skipped.

        Of a run in parts there is a value for each document: the cluster is the one with its largest share.

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
        if self.parts is not None and isinstance(truth, dict):  # each document counts once, by its largest share
            stands = np.isin(np.arange(self.n_documents), self.reading_order[self.parts.standing])
            truth = {
                name: [cell if stand else "" for cell, stand in zip(cells, stands, strict=True)]
                for name, cells in truth.items()
            }
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

    def shares(self) -> pd.DataFrame:
        """Return the share of the words of each document that is in each cluster, of a run in parts.

        Returns
        -------
        DataFrame
            One row per document in reading order, with the index of the frame or Series that the run is of, else its
            id. Columns words, cluster_0, cluster_1 ..., other (parts that are shown as Other) and none (parts without
            a known word); the shares of a row sum to 1.

        Raises
        ------
        InputError
            If the run is of whole documents.

        >>> import doccluster
        >>> texts = ["Oil prices rise. Wheat harvest.", "Crude oil prices.", "Rain on the wheat harvest."]
        >>> run = doccluster.run(texts, n_clusters=2, parts="sentences", language="english")
        >>> run.shares()[["cluster_0", "cluster_1"]].round(1).to_numpy().tolist()
        [[0.4, 0.6], [0.0, 1.0], [1.0, 0.0]]
        """
        frame: pd.DataFrame = load("doccluster.results.document_frame:shares_frame")(self)
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
        size = f"{self.size_told} in {self.n_clusters:,} clusters, {self.vectors.n_terms:,} terms"
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
