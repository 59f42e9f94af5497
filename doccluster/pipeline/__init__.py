"""How a whole run goes, from a source to a run folder with its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.lazy import offer

# loaded when used: no command needs all of it
_HOMES = {
    "Choice": "doccluster.pipeline.choosing",
    "Inspection": "doccluster.pipeline.inspecting",
    "LabelColumn": "doccluster.pipeline.inspecting",
    "Repetition": "doccluster.pipeline.repeating",
    "RunInterrupted": "doccluster.pipeline.main_line",
    "SearchIndex": "doccluster.pipeline.searching",
    "Source": "doccluster.pipeline.sources",
    "Vectorized": "doccluster.pipeline.vectorizing",
    "assign_documents": "doccluster.pipeline.assigning",
    "choose_clusters": "doccluster.pipeline.choosing",
    "cluster_search_results": "doccluster.pipeline.grouping_hits",
    "compare_sources": "doccluster.pipeline.comparing",
    "inspect_source": "doccluster.pipeline.inspecting",
    "is_matrix": "doccluster.pipeline.sources",
    "open_search": "doccluster.pipeline.searching",
    "read_source": "doccluster.pipeline.sources",
    "repeat_run": "doccluster.pipeline.repeating",
    "run_pipeline": "doccluster.pipeline.main_line",
    "search": "doccluster.pipeline.searching",
    "vectorize_texts": "doccluster.pipeline.vectorizing",
    "warm_up": "doccluster.pipeline.warming",
    "write_vectors": "doccluster.pipeline.vector_file",
}

__all__ = [*_HOMES]
__getattr__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.pipeline.assigning import assign_documents as assign_documents
    from doccluster.pipeline.choosing import Choice as Choice
    from doccluster.pipeline.choosing import choose_clusters as choose_clusters
    from doccluster.pipeline.comparing import compare_sources as compare_sources
    from doccluster.pipeline.grouping_hits import cluster_search_results as cluster_search_results
    from doccluster.pipeline.inspecting import Inspection as Inspection
    from doccluster.pipeline.inspecting import LabelColumn as LabelColumn
    from doccluster.pipeline.inspecting import inspect_source as inspect_source
    from doccluster.pipeline.main_line import RunInterrupted as RunInterrupted
    from doccluster.pipeline.main_line import run_pipeline as run_pipeline
    from doccluster.pipeline.repeating import Repetition as Repetition
    from doccluster.pipeline.repeating import repeat_run as repeat_run
    from doccluster.pipeline.searching import SearchIndex as SearchIndex
    from doccluster.pipeline.searching import open_search as open_search
    from doccluster.pipeline.searching import search as search
    from doccluster.pipeline.sources import Source as Source
    from doccluster.pipeline.sources import is_matrix as is_matrix
    from doccluster.pipeline.sources import read_source as read_source
    from doccluster.pipeline.vector_file import write_vectors as write_vectors
    from doccluster.pipeline.vectorizing import Vectorized as Vectorized
    from doccluster.pipeline.vectorizing import vectorize_texts as vectorize_texts
    from doccluster.pipeline.warming import warm_up as warm_up
