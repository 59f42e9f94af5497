"""Finding documents: ranked for a query, and search results in groups."""

from __future__ import annotations

from doccluster.retrieval.grouped_hits import GroupedHits, HitGroup
from doccluster.retrieval.grouping import group_rows
from doccluster.retrieval.hits import SearchHit, read_hits
from doccluster.retrieval.ranking import Bm25Index
from doccluster.retrieval.reading_cost import reading_cost, subtopic_search_length

__all__ = [
    "Bm25Index",
    "GroupedHits",
    "HitGroup",
    "SearchHit",
    "group_rows",
    "read_hits",
    "reading_cost",
    "subtopic_search_length",
]
