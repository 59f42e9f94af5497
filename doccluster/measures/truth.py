"""What measures are computed from: columns of truth made ready, and evidence that is built once.

External measures compare partitions, so they see the documents that have exactly one label; how many were left out,
and why, travels with every score.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.arrays import Array, Flags, Integers, Reals
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import is_missing
from doccluster.errors import DocclusterWarning, InputError, shown
from doccluster.geometry.partition import Partition, label_list
from doccluster.measures.contingency import ContingencyTable, LabelSets
from doccluster.measures.registry import Measure

if TYPE_CHECKING:
    from doccluster.geometry import ClusterEvidence, Documents
    from doccluster.measures._distances import PairwiseDistances
    from doccluster.measures.topics import TopicWords

DEFAULT_COLUMN = "truth"


@dataclass(frozen=True, eq=False)
class TruthColumn:
    """One column of class labels, reduced to the documents that an external measure can use."""

    name: str
    partition: Partition  # of the documents with exactly one label, and so is the truth
    truth: Partition
    clusters: Integers  # which cluster of the whole partition each of these is
    several: LabelSets | None = None  # of all documents that have a label, where some have several
    n_documents: int = 0
    n_unlabelled: int = 0
    n_several: int = 0

    @cached_property
    def contingency_table(self) -> ContingencyTable:
        """The evidence of the external measures."""
        return ContingencyTable.from_partitions(self.partition, self.truth, several=self.several)

    @property
    def coverage(self) -> dict[str, int]:
        """How many documents there are, are used, have no label, have several; and how many classes."""
        return {
            "n_documents": self.n_documents,
            "n_used": self.truth.n_documents,
            "n_unlabelled": self.n_unlabelled,
            "n_several": self.n_several,
            "n_classes": self.truth.n_clusters,
        }

    def note_for(self, *, several_labels: bool) -> str | None:
        """Return in words what a measure leaves out, which may count several labels; None if nothing."""
        coverage = self.coverage
        if several_labels:
            coverage |= {"n_used": coverage["n_used"] + coverage["n_several"], "n_several": 0}
        return coverage_note(coverage)


def coverage_note(coverage: Mapping[str, int]) -> str | None:
    """Return in words which documents a truth column leaves out; None if it leaves out none.

    >>> coverage_note({"n_documents": 9, "n_used": 7, "n_unlabelled": 2, "n_several": 0})
    'on 7 of 9 documents (2 without a label)'
    """
    kinds = (("n_unlabelled", "without a label"), ("n_several", "with several labels"))
    reasons = [f"{coverage[count]:,} {what}" for count, what in kinds if coverage[count]]
    if not reasons:
        return None
    return f"on {coverage['n_used']:,} of {coverage['n_documents']:,} documents ({', '.join(reasons)})"


def truth_columns(
    truth: Any, partition: Partition, keep: Flags | None = None, *, several_labels: bool = False
) -> list[TruthColumn]:
    """Return the columns of `truth`: labels, or a mapping (or DataFrame) of column name to labels.

    None, NaN and empty text are missing. A list, set or tuple is several labels, unless every document has a tuple of
    two or more: then the tuples are the labels. `keep` says which of the documents `partition` is of. Raises InputError
    if lengths differ, or no document of any column has exactly one label (or any label, with `several_labels`).
    """
    columns: dict[str, object] = {DEFAULT_COLUMN: truth}
    if isinstance(truth, Mapping) or hasattr(type(truth), "columns"):
        names = truth if isinstance(truth, Mapping) else getattr(truth, "column_names", None) or truth.columns
        columns = {str(name): truth[name] for name in names}
        if not columns:
            raise InputError(
                "has no column", argument="truth", remedy="give labels, or a mapping of column name to labels"
            )
    found = [_column(name, labels, partition, keep) for name, labels in columns.items()]
    result = [column for column in found if column.truth.n_documents or (several_labels and column.n_several)]
    refused = [column.name for column in found if column not in result]
    which = "a label" if several_labels else "exactly one label"
    if not result:
        raise InputError(
            f"no document has {which} in {', '.join(refused)}", remedy="external measures need at least one"
        )
    if refused:
        left_out = f"no document has {which} in {', '.join(refused)}; that truth is skipped."
        warnings.warn(left_out, DocclusterWarning, stacklevel=4)
    return result


def _column(name: str, labels: object, partition: Partition, keep: Flags | None) -> TruthColumn:
    values = _as_array(labels, name)
    expected = partition.n_documents if keep is None else keep.size
    if values.size != expected:
        raise InputError(
            f"has {expected} values, {name} has {values.size}", argument="labels", expected="one of each per document"
        )
    if keep is not None:
        values = values[keep]
    several, sets = _several_labels(values) if values.dtype == object else None, None
    if several is None:
        n_labels = (~_missing(values)).astype(np.int64)
        single = values[n_labels == 1]
    else:
        n_labels = np.fromiter(map(len, several), np.int64, len(several))
        single = _objects([labels[0] for labels in several if len(labels) == 1])
        if n_labels.max(initial=0) > 1:
            sets = LabelSets.of_documents(several, partition.labels, partition.n_clusters)
    truth = Partition.from_labels(single, name=name) if single.size else Partition(np.empty(0, np.int64), ())
    part, clusters = partition, np.arange(partition.n_clusters)
    if single.size < partition.n_documents:
        part, clusters = subset(partition, n_labels == 1)
    n_without, n_several = int(np.count_nonzero(n_labels == 0)), int(np.count_nonzero(n_labels > 1))
    return TruthColumn(name, part, truth, clusters, sets, partition.n_documents, n_without, n_several)


def _as_array(labels: Any, name: str) -> Reals:
    """Return one value per document: a plain array of numbers or text, else an array of objects."""
    if isinstance(labels, Partition):
        return _objects(labels.names)[labels.labels]
    if hasattr(labels, "to_numpy") and not hasattr(labels, "to_pylist"):  # pyarrow would not copy texts for numpy
        labels = labels.to_numpy()
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels
    return _objects(label_list(labels, name))


def _objects(values: Sequence[object]) -> Reals:
    """Return an array of objects, each value one of them, also where the values are sequences themselves."""
    return np.fromiter(values, object, len(values))


def _missing(values: Array) -> Flags:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "US":
        return np.asarray(values == values.dtype.type(""))
    if values.dtype != object:
        return np.zeros(values.size, np.bool_)
    return np.fromiter((_says_nothing(value) for value in values), np.bool_, values.size)


def _says_nothing(value: object) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _several_labels(values: Array) -> list[tuple[object, ...]] | None:
    """Return the labels of each document as a tuple, or None if each value is a label itself."""
    containers = [isinstance(value, list | tuple | set | frozenset) for value in values]
    if not any(containers):
        return None
    if all(isinstance(value, tuple) and len(value) > 1 for value in values):
        return None
    result = []
    for value, is_container in zip(values, containers, strict=True):
        labels = value if is_container else (value,)
        try:
            result.append(tuple(dict.fromkeys(label for label in labels if not _says_nothing(label))))
        except TypeError as error:
            raise InputError(
                f"{shown(value)} holds a label that is neither text nor a number", remedy="give each label by itself"
            ) from error
    return result


def subset(partition: Partition, usable: Flags) -> tuple[Partition, Integers]:
    """Return the partition of the usable documents, and which of the old clusters each new one is."""
    clusters, labels = np.unique(partition.labels[usable], return_inverse=True)
    return Partition(labels.astype(np.int64), tuple(partition.names[cluster] for cluster in clusters)), clusters


@dataclass(eq=False)
class EvidenceStore:
    """The evidence for the measures of one partition; each object is built when the first measure needs it."""

    partition: Partition
    columns: list[TruthColumn]
    documents: Documents | None
    metric: str
    terms: object = None  # what the topic measures take as top terms; None for those of largest weight
    n_threads: int | None = None
    max_memory: str | int | None = None
    progress: Progress = silent
    evidence: ClusterEvidence | None = None

    def missing_for(self, measure: Measure) -> str | None:
        """Return which input this measure lacks (truth or vectors), or None."""
        if measure.family == "external":
            return None if self.columns else "truth"
        return None if self.documents is not None else "vectors"

    @cached_property
    def geometry(self) -> ClusterEvidence:
        """The evidence that was given, or is made of the documents."""
        if self.evidence is not None:
            return self.evidence
        from doccluster.geometry.evidence import ClusterEvidence

        return ClusterEvidence(
            self.documents, self.partition, metric=self.metric, n_threads=self.n_threads, progress=self.progress
        )

    @cached_property
    def pairwise(self) -> PairwiseDistances:
        """The distances of all pairs of documents."""
        from doccluster.measures._distances import PairwiseDistances

        return PairwiseDistances(self.geometry, max_memory=self.max_memory)

    @cached_property
    def topics(self) -> TopicWords:
        """The top terms of the clusters."""
        from doccluster.measures.topics import TopicWords

        return TopicWords(self.geometry, terms=self.terms)
