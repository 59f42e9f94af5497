"""New documents for the clusters of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.artifacts import Model, load_model, storable
from doccluster.clustering import assign_to_centroids
from doccluster.errors import InputError
from doccluster.pipeline.sources import Source, read_source
from doccluster.progress import Progress, silent
from doccluster.vectors import DocumentVectors, vectorize


def assign_documents(
    model: Model | str | Path,
    source: Any,
    *,
    reader: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the cluster of each document of `source`, by the centroids of a finished run.

    Parameters
    ----------
    model : Model, or path of a run folder or its folder ``model``
    source : path, paths, Corpus, DataFrame, texts; a matrix file for a model that was fitted to a matrix
    reader : mapping, optional
        Arguments of `read_corpus`.
    n_threads : int, optional
    progress : callable

    Returns
    -------
    DataFrame
        Columns id, title, date, cluster, label, similarity, runner_up, margin; a document without any term of the
        model has no cluster.

    Raises
    ------
    InputError
        If the source does not fit the model.
    SchemaError
        If the model is damaged or from a newer version.
    """
    fitted = model if isinstance(model, Model) else load_model(model)
    weighting = (fitted.settings.get("vectorizer") or {}).get("weighting")
    read = read_source(source, reader=reader or {}, weighting=weighting, progress=progress)
    vectors = _vectors(fitted, read)
    best = assign_to_centroids(vectors.matrix, fitted.centroids, n_threads=n_threads)
    names = np.array(fitted.labels, dtype=object)
    ids, titles = ([*map(storable, names)] for names in (read.documents.ids, read.documents.titles))
    table = pd.DataFrame({"id": ids, "title": titles, "date": read.documents.dates})
    table["cluster"] = pd.array(best.labels, dtype="Int64")
    table["label"] = names[best.labels]
    table["similarity"] = np.round(best.similarity, 6)
    table["runner_up"] = pd.array(best.runner_up, dtype="Int64")
    table["margin"] = np.round(best.similarity - best.runner_up_similarity, 6)
    table.loc[best.runner_up < 0, "runner_up"] = pd.NA
    table.loc[vectors.is_empty, ["cluster", "runner_up"]] = pd.NA
    table.loc[vectors.is_empty, "label"] = ""
    table.loc[vectors.is_empty, ["similarity", "margin"]] = np.nan
    return table


def _vectors(model: Model, read: Source) -> DocumentVectors:
    if read.corpus is not None:
        if model.vectorizer is None:
            raise InputError("the model was fitted to a matrix and knows no words; give a matrix of the same columns.")
        return vectorize(read.corpus, model.vectorizer)
    assert read.vectors is not None  # a source has one of the two
    if read.vectors.n_terms != model.n_terms:
        raise InputError(
            f"the matrix has {read.vectors.n_terms:,} columns, the model has {model.n_terms:,}; give a matrix with the "
            "columns the model was fitted to."
        )
    if read.vectors.terms is not None and model.terms is not None and list(read.vectors.terms) != list(model.terms):
        raise InputError("the columns of the matrix are other terms than those of the model; give the same columns.")
    return read.vectors
