"""What the JSON files of a run hold, as dataclasses: their schema, by which they are checked when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doccluster.corpus.document import Skipped
from doccluster.labeling.description import ClusterDescription
from doccluster.record import Provenance
from doccluster.short_repr import ShortRepr


@dataclass(frozen=True)
class Counts:
    """How much there was in a run."""

    n_documents: int
    n_empty: int
    n_skipped: int
    n_terms: int
    n_clusters: int


@dataclass(frozen=True, repr=False)
class RunRecord(ShortRepr):
    """What run.json holds."""

    command: str
    parameters: Mapping[str, Any]
    provenance: Provenance
    truth: tuple[str, ...]
    notes: tuple[str, ...]
    counts: Counts
    labels_checksum: str


@dataclass(frozen=True)
class DocumentColumns:
    """The columns of `Documents` in documents.json."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    dates: tuple[str, ...]
    sources: tuple[str, ...]
    links: tuple[str, ...]
    excerpts: tuple[str, ...]
    lengths: tuple[int, ...]
    positions: tuple[int, ...]
    labels: Mapping[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class DocumentsRecord:
    """What documents.json holds."""

    documents: DocumentColumns
    empty_documents: DocumentColumns
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class ClustersRecord:
    """What clusters.json holds."""

    clusters: tuple[ClusterDescription, ...]
