"""New documents for the clusters of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.artifacts import Model, load_model, storable
from doccluster.clustering.linear_rule import decide
from doccluster.errors import InputError, SchemaError
from doccluster.labeling.placement import place_labels
from doccluster.pipeline.run_settings import ReaderSettings, check_group
from doccluster.pipeline.sources import Source, is_matrix, read_source
from doccluster.progress import Progress, silent
from doccluster.vectors.unknown_terms import unknown_term_shares

DIGITS = 6
# the reader's settings for the files of the run, and not of how they are written
OF_THE_RUN_ALONE = frozenset(
    {"labels_file", "label_columns", "label_separator", "keep_columns", "split", "classes", "terms"}
)


def assign_documents(
    model: Model | str | Path,
    source: Any,
    *,
    reader: Mapping[str, Any] | None = None,
    as_run: bool = True,
    threshold: float | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the cluster of each document of `source`, as the algorithm of a finished run would have it.

    Similarities and margins are cosines of the weighted rows to the centroids, whatever the algorithm went by.

    Parameters
    ----------
    model : Model, or path of a run folder or its folder ``model``
    source : path, paths, Corpus, DataFrame, texts; a matrix file for a model that was fitted to a matrix
    reader : mapping, optional
        Arguments of `read_corpus`.
    as_run : bool
        Read as the run did, where `reader` does not say otherwise: format, columns, encoding, markup. What belongs to
        the files of the run alone (label columns and files, the part of a split) is left out.
    threshold : float, optional
        The cosine to its centroid below which a document fits no cluster. By default the run's own, below which one in
        ten of its documents would fall if it had not helped to make its cluster.
    n_threads : int, optional
    progress : callable

    Returns
    -------
    DataFrame
        Columns id, title, date, cluster, label, similarity, runner_up, margin, unknown, new. A document without any
        term of the model has no cluster. `unknown` is the share of its terms that the run did not know (nan for a
        matrix), `new` whether it fits no cluster: the one named is only the nearest.

    Raises
    ------
    InputError
        If the source does not fit the model.
    SchemaError
        If the model is damaged or from a newer version.
    """
    fitted = model if isinstance(model, Model) else load_model(model)
    limit = chosen_threshold(fitted, threshold)
    weighting = (fitted.settings.get("vectorizer") or {}).get("weighting")
    read = read_source(
        source,
        reader=reader_settings(fitted, source, reader or {}, as_run=as_run),
        weighting=weighting,
        progress=progress,
    )
    vectors = read.vectorize_like(fitted)
    labels = decide(fitted.rule, vectors.matrix, vectors.counts, fitted.centroids, n_threads=n_threads)
    placed = place_labels(vectors.matrix, labels, fitted.centroids, n_threads=n_threads)
    names = np.array(fitted.labels, dtype=object)
    ids, titles = ([*map(storable, names)] for names in (read.documents.ids, read.documents.titles))
    table = pd.DataFrame({"id": ids, "title": titles, "date": read.documents.dates})
    table["cluster"] = pd.array(labels, dtype="Int64")
    table["label"] = names[labels]
    table["similarity"] = np.round(placed.similarity, DIGITS)
    table["runner_up"] = pd.array(placed.runner_up, dtype="Int64")
    table["margin"] = np.round(placed.margin, DIGITS)
    table.loc[placed.runner_up < 0, "runner_up"] = pd.NA
    table.loc[vectors.is_empty, ["cluster", "runner_up"]] = pd.NA
    table.loc[vectors.is_empty, "label"] = ""
    table["unknown"] = np.round(_unknown_shares(fitted, read), DIGITS)
    table["new"] = vectors.is_empty | (placed.similarity < limit)
    table.loc[vectors.is_empty, ["similarity", "margin"]] = np.nan
    return table


def chosen_threshold(model: Model, threshold: float | None) -> float:
    """Return the threshold that was given, else the model's; -1, which everything reaches, if it has none.

    Raises
    ------
    InputError
        If it is no cosine.
    """
    if threshold is None:
        return -1.0 if model.threshold is None else model.threshold
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not -1 <= threshold <= 1:
        raise InputError("is not a cosine", argument="threshold", received=threshold, expected="a number from -1 to 1")
    return float(threshold)


def reader_settings(model: Model, source: Any, given: Mapping[str, Any], *, as_run: bool) -> dict[str, Any]:
    """Return how to read new documents: as the run did, unless `given` says otherwise.

    Raises
    ------
    SchemaError
        If the model's settings are none that a reader takes.
    """
    told = model.settings.get("reader") if as_run else None
    if not told or is_matrix(source, format=given.get("format")):
        return dict(given)
    try:
        check_group(ReaderSettings, told, "reader")
    except ValueError as error:
        raise SchemaError(f"the settings in the model are damaged ({error})", remedy="make the run again") from error
    return {**{name: value for name, value in told.items() if name not in OF_THE_RUN_ALONE}, **given}


def _unknown_shares(model: Model, read: Source) -> Any:
    if read.corpus is None or model.vectorizer is None:
        return np.full(len(read.documents), np.nan)
    return unknown_term_shares(read.corpus.texts, model.vectorizer)
