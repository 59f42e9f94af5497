"""Finding documents: ranked for a query, search results in groups, and browsing."""

from __future__ import annotations

from doccluster.retrieval.grouping import group_rows, scatter
from doccluster.retrieval.hits import GroupedHits, HitGroup, SearchHit, read_hits
from doccluster.retrieval.ranking import Bm25Index, rerank, smooth_scores

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
