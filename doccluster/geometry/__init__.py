"""Documents as points: checked once, summed by cluster, compared with clusters and with one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

# loaded when used: texts become vectors without a compiled loop
_HOMES = {
    "ClusterEvidence": "doccluster.geometry.evidence",
    "Documents": "doccluster.geometry.documents",
    "NeighbourGraph": "doccluster.geometry.neighbours",
    "SemanticSpace": "doccluster.geometry.projection",
    "as_documents": "doccluster.geometry.documents",
    "latent_semantic_space": "doccluster.geometry.projection",
    "nearest_neighbours": "doccluster.geometry.neighbours",
    "smoothed_rows": "doccluster.geometry.projection",
}

__all__ = [*_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.geometry.documents import Documents as Documents
    from doccluster.geometry.documents import as_documents as as_documents
    from doccluster.geometry.evidence import ClusterEvidence as ClusterEvidence
    from doccluster.geometry.neighbours import NeighbourGraph as NeighbourGraph
    from doccluster.geometry.neighbours import nearest_neighbours as nearest_neighbours
    from doccluster.geometry.projection import SemanticSpace as SemanticSpace
    from doccluster.geometry.projection import latent_semantic_space as latent_semantic_space
    from doccluster.geometry.projection import smoothed_rows as smoothed_rows
