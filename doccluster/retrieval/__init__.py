"""Finding documents: ranked for a query, judged, and search results in groups."""

from __future__ import annotations

from doccluster.retrieval.cluster_pruning import ClusterPruning, draw_leaders
from doccluster.retrieval.grouped_hits import GroupedHits, HitGroup
from doccluster.retrieval.grouping import group_rows
from doccluster.retrieval.hits import SearchHit, read_hits
from doccluster.retrieval.judgements import average_precision, ndcg_at, precision_at
from doccluster.retrieval.language_model import cluster_likelihood, query_likelihood
from doccluster.retrieval.neighbour_scores import rerank, smooth_scores
from doccluster.retrieval.ranking import Bm25Index
from doccluster.retrieval.reading_cost import reading_cost, subtopic_search_length
from doccluster.retrieval.scattering import MetaDocuments, build_meta_documents, scatter
from doccluster.retrieval.smart import SmartRecord, read_judgements, read_smart

__all__ = [
    "Bm25Index",
    "ClusterPruning",
    "GroupedHits",
    "HitGroup",
    "MetaDocuments",
    "SearchHit",
    "SmartRecord",
    "average_precision",
    "build_meta_documents",
    "cluster_likelihood",
    "draw_leaders",
    "group_rows",
    "ndcg_at",
    "precision_at",
    "query_likelihood",
    "read_hits",
    "read_judgements",
    "read_smart",
    "reading_cost",
    "rerank",
    "scatter",
    "smooth_scores",
    "subtopic_search_length",
]
