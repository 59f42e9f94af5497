"""How a whole run goes, from a source to a run folder with its report."""

from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.choosing import Choice, choose_clusters
from doccluster.pipeline.comparing import compare_sources
from doccluster.pipeline.inspecting import Inspection, LabelColumn, inspect_source
from doccluster.pipeline.main_line import RunInterrupted, run_pipeline
from doccluster.pipeline.repeating import Repetition, repeat_run
from doccluster.pipeline.sources import Source, is_matrix, read_source
from doccluster.pipeline.vector_file import write_vectors
from doccluster.pipeline.vectorizing import Vectorized, vectorize_texts

__all__ = [
    "Choice",
    "Inspection",
    "LabelColumn",
    "Repetition",
    "RunInterrupted",
    "Source",
    "Vectorized",
    "assign_documents",
    "choose_clusters",
    "compare_sources",
    "inspect_source",
    "is_matrix",
    "read_source",
    "repeat_run",
    "run_pipeline",
    "vectorize_texts",
    "write_vectors",
]
