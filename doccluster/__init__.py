"""Cluster text documents, and say how good the clustering is.

The line of a run: ``read_corpus`` -> ``vectorize`` -> ``SphericalKMeans`` -> ``evaluate`` -> ``write_report``.
What a command does with documents or a run is a function here too: ``run``, ``assign``, ``inspect``, ``choose_k``,
``compare``, ``search``, ``browse``, ``explain``, ``label``, ``merge``, ``undo``, ``rerun``, ``diff``.
Names are loaded when they are first used, so importing the package takes milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doccluster.base.package import __version__ as __version__
from doccluster.base.package import offer

_HOMES = {
    "Corpus": "doccluster.corpus",
    "load_sample": "doccluster.corpus",
    "read_corpus": "doccluster.corpus",
    "TfidfVectorizer": "doccluster.vectors",
    "DocumentVectors": "doccluster.vectors",
    "read_matrix": "doccluster.vectors",
    "vectorize": "doccluster.vectors",
    "Partition": "doccluster.geometry.partition",
    "DocumentClustering": "doccluster.clustering",
    "SphericalKMeans": "doccluster.clustering",
    "VonMisesFisherMixture": "doccluster.clustering",
    "evaluate": "doccluster.measures",
    "score": "doccluster.measures",
    "make_scorer": "doccluster.measures",
    "tendency": "doccluster.selection",
    "get_measure": "doccluster.measures",
    "list_measures": "doccluster.measures",
    "StoryStream": "doccluster.streams",
    "Topic": "doccluster.pipeline.known_topics:Topic",
    "run": "doccluster.pipeline.main_line:run_pipeline",
    "assign": "doccluster.pipeline.assigning:assign_documents",
    "choose_k": "doccluster.pipeline.choosing:choose_clusters",
    "compare": "doccluster.lab.comparing:compare_sources",
    "inspect": "doccluster.pipeline.inspecting:inspect_source",
    "search": "doccluster.retrieval.searching",
    "browse": "doccluster.retrieval.browsing:open_browser",
    "explain": "doccluster.pipeline.explaining",
    "label": "doccluster.pipeline.editing:label_cluster",
    "merge": "doccluster.pipeline.editing:merge_clusters",
    "undo": "doccluster.pipeline.editing",
    "rerun": "doccluster.pipeline.repeating:repeat_run",
    "diff": "doccluster.streams.store.diff",
    "cluster_search_results": "doccluster.retrieval.grouping",
    "load_run": "doccluster.results.run_folder",
    "write_report": "doccluster.report",
    "InlineReport": "doccluster.report",
    "plots": "doccluster.report",
    "errors": "doccluster.errors",
}

_CHECKED = (
    "doccluster.pipeline.",
    "doccluster.retrieval.",
    "doccluster.lab.comparing",
    "doccluster.streams.store.diff",
)

__all__ = ["__version__", *sorted(_HOMES)]
_loaded, __dir__ = offer(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    value = _loaded(name)
    if not _HOMES[name].startswith(_CHECKED):
        return value
    from doccluster.base.parameter_fields import at_the_door

    globals()[name] = checked = at_the_door(value, name)
    return checked


if TYPE_CHECKING:
    from doccluster import errors as errors
    from doccluster.clustering import DocumentClustering as DocumentClustering
    from doccluster.clustering import SphericalKMeans as SphericalKMeans
    from doccluster.clustering import VonMisesFisherMixture as VonMisesFisherMixture
    from doccluster.corpus import Corpus as Corpus
    from doccluster.corpus import load_sample as load_sample
    from doccluster.corpus import read_corpus as read_corpus
    from doccluster.geometry.partition import Partition as Partition
    from doccluster.lab import comparing
    from doccluster.measures import evaluate as evaluate
    from doccluster.measures import get_measure as get_measure
    from doccluster.measures import list_measures as list_measures
    from doccluster.measures import make_scorer as make_scorer
    from doccluster.measures import score as score
    from doccluster.pipeline import assigning, choosing, editing, inspecting, main_line, repeating
    from doccluster.pipeline.editing import undo as undo
    from doccluster.pipeline.explaining import explain as explain
    from doccluster.pipeline.known_topics import Topic as Topic
    from doccluster.report import InlineReport as InlineReport
    from doccluster.report import plots as plots
    from doccluster.report import write_report as write_report
    from doccluster.results.run_folder import load_run as load_run
    from doccluster.retrieval import browsing
    from doccluster.retrieval.grouping import cluster_search_results as cluster_search_results
    from doccluster.retrieval.searching import search as search
    from doccluster.selection import tendency as tendency
    from doccluster.streams import StoryStream as StoryStream
    from doccluster.streams.store.diff import diff as diff
    from doccluster.vectors import DocumentVectors as DocumentVectors
    from doccluster.vectors import TfidfVectorizer as TfidfVectorizer
    from doccluster.vectors import read_matrix as read_matrix
    from doccluster.vectors import vectorize as vectorize

    run = main_line.run_pipeline
    assign = assigning.assign_documents
    choose_k = choosing.choose_clusters
    compare = comparing.compare_sources
    inspect = inspecting.inspect_source
    browse = browsing.open_browser
    label = editing.label_cluster
    merge = editing.merge_clusters
    rerun = repeating.repeat_run
