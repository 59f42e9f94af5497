"""Finding documents: ranked for a query, search results in groups, and browsing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

# loaded when used: hits are read without what ranks and groups them
_HOMES = {
    "Bm25Index": "doccluster.retrieval.ranking",
    "GroupedHits": "doccluster.retrieval.hits",
    "HitGroup": "doccluster.retrieval.hits",
    "SearchHit": "doccluster.retrieval.hits",
    "group_rows": "doccluster.retrieval.grouping",
    "read_hits": "doccluster.retrieval.hits",
    "rerank": "doccluster.retrieval.ranking",
    "scatter": "doccluster.retrieval.browsing",
    "smooth_scores": "doccluster.retrieval.ranking",
}

__all__ = [*_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.retrieval.browsing import scatter as scatter
    from doccluster.retrieval.grouping import group_rows as group_rows
    from doccluster.retrieval.hits import GroupedHits as GroupedHits
    from doccluster.retrieval.hits import HitGroup as HitGroup
    from doccluster.retrieval.hits import SearchHit as SearchHit
    from doccluster.retrieval.hits import read_hits as read_hits
    from doccluster.retrieval.ranking import Bm25Index as Bm25Index
    from doccluster.retrieval.ranking import rerank as rerank
    from doccluster.retrieval.ranking import smooth_scores as smooth_scores
