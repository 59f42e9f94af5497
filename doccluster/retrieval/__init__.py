"""Finding documents: ranked for a query, search results in groups, and browsing."""

from __future__ import annotations

from doccluster.retrieval.grouped_hits import GroupedHits, HitGroup
from doccluster.retrieval.grouping import group_rows
from doccluster.retrieval.hits import SearchHit, read_hits
from doccluster.retrieval.neighbour_scores import rerank, smooth_scores
from doccluster.retrieval.ranking import Bm25Index
from doccluster.retrieval.scattering import scatter

__all__ = [
    "Bm25Index",
    "GroupedHits",
    "HitGroup",
    "SearchHit",
    "group_rows",
    "read_hits",
    "rerank",
    "scatter",
    "smooth_scores",
]
