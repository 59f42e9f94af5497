"""Evidence on demand: each object is built when the first measure asks for it, and never again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from doccluster.base.progress import Progress, silent
from doccluster.evaluation.truth import TruthColumn
from doccluster.measures.registry import Measure
from doccluster.partition import Partition

if TYPE_CHECKING:
    from doccluster.geometry import ClusterEvidence, Documents


@dataclass(eq=False)
class EvidenceStore:
    """What is known of one partition; builds each evidence object at most once."""

    partition: Partition
    columns: list[TruthColumn]
    documents: Documents | None
    metric: str
    terms: Any = None  # what the topic measures take as top terms; None for those of largest weight
    n_threads: int | None = None
    max_memory: str | int | None = None
    progress: Progress = silent
    evidence: ClusterEvidence | None = None
    _built: dict[Any, Any] = field(default_factory=dict)

    def evidence_kind(self, measure: Measure) -> str:
        """Return which evidence the measure needs under the metric."""
        return measure.evidence_for(self.metric)

    def missing_for(self, measure: Measure) -> str | None:
        """Return which input this measure lacks (truth or vectors), or None."""
        if measure.family == "external":
            return None if self.columns else "truth"
        return None if self.documents is not None else "vectors"

    def table(self, column: TruthColumn) -> Any:
        """Return the contingency table of one truth column."""
        return self._once(("contingency", column.name), column.contingency_table)

    def of(self, kind: str) -> Any:
        """Return the geometry, the pairwise distances or the topics."""
        builders = {"geometry": self._geometry, "pairwise": self._pairwise, "topics": self._topics}
        return self._once(kind, builders[kind])

    def _once(self, key: Any, build: Callable[[], Any]) -> Any:
        if key not in self._built:
            self._built[key] = build()
        return self._built[key]

    def _geometry(self) -> Any:
        if self.evidence is not None:
            return self.evidence
        from doccluster.geometry.evidence import ClusterEvidence

        return ClusterEvidence(
            self.documents, self.partition, metric=self.metric, n_threads=self.n_threads, progress=self.progress
        )

    def _pairwise(self) -> Any:
        from doccluster.measures.distances import PairwiseDistances

        return PairwiseDistances(self.of("geometry"), max_memory=self.max_memory)

    def _topics(self) -> Any:
        from doccluster.measures.topic_words import TopicWords

        return TopicWords(self.of("geometry"), terms=self.terms)
