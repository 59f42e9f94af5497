"""New documents for the clusters of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.arrays import Flags, Floats, Integers
from doccluster.base.named_places import Announce, Record
from doccluster.base.parameter_fields import described_by, parameters_of
from doccluster.base.progress import Progress, silent
from doccluster.base.text_table import storable
from doccluster.corpus import Corpus
from doccluster.corpus.reader_options import SourceParameters
from doccluster.corpus.reading import texts_of_rows
from doccluster.corpus.stored_texts import StoredTexts
from doccluster.distributed.text_vectors import NewDocuments, PlacingModel, place_blocks
from doccluster.errors import InputError, SchemaError
from doccluster.pipeline.block_runs import block_stages
from doccluster.pipeline.run_settings import RunSettings, check_group
from doccluster.pipeline.source_meaning import (
    decides_by_meaning,
    encoder_for,
    going_by_meaning,
    meaning_like,
    reader_for,
)
from doccluster.pipeline.sources import Source, SourceDocuments, read_source
from doccluster.results.document_frame import plain_where_whole
from doccluster.results.record import Run
from doccluster.results.run_model import Model, load_model, model_of
from doccluster.results.shares import DocumentParts, shares_columns
from doccluster.vectors.vectorize import unknown_term_shares

DIGITS = 6
# the reader's settings for the files of the run, and not of how they are written
OF_THE_RUN_ALONE = frozenset(
    {"labels_file", "label_columns", "label_separator", "keep_columns", "drop_columns", "split", "classes", "terms"}
)


@described_by(RunSettings)
def assign_documents(
    model: Run | Model | str | Path,
    source: object,
    *,
    reader: Mapping[str, object] | None = None,
    as_run: bool = True,
    threshold: float | None = None,
    embeddings: object = None,
    encoder: object = None,
    n_threads: int | None = None,
    scheduler: object = None,
    scratch: str | Path | None = None,
    announce: Announce | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the cluster of each document of `source`, as the algorithm of a finished run would have it.

    Similarities and margins are cosines of the weighted rows to the centroids, whatever the algorithm went by.

    Parameters
    ----------
    model : Run, or path of a run folder or its folder ``model``
    source : path, paths, Corpus, DataFrame, texts; a matrix file for a model that was fitted to a matrix
    as_run : bool
        Read as the run did, where `reader` does not say otherwise: format, columns, encoding, markup. What belongs to
        the files of the run alone (label columns and files, the part of a split) is left out.
    threshold : float, optional
        The cosine to its centroid below which a document fits no cluster. By default the run's own, below which one in
        ten of its documents would fall if it had not helped to make its cluster.
    embeddings, encoder : optional
        As for `run`, of the same model as the run's; an encoder that the run names is used without, unless it may run
        code or lies on another machine.
    scheduler, scratch : optional
        As for `run_pipeline`: files are read and their documents placed on the workers of a Dask cluster, or a block at
        a time in this process. The table is the same.
    announce : callable, optional
        Called with a sentence that a person should know beforehand, and before a folder that the run names is read.
    progress : callable

    Returns
    -------
    DataFrame
        Of a run in parts documents are cut as then, a line is of a document and its largest share, and the columns of
        `Run.shares` follow; "other" are parts that fit no cluster.
        Its index is that of a frame or Series, else numbers from 0. Columns id, title, date, cluster, label,
        similarity, runner_up, margin, unknown, new. A document without any term of the model has no cluster, or where
        clusters are of meaning too, one without similarities. `unknown` is the share of its terms that the run did not
        know (nan for a matrix), `new` whether it fits no cluster: the one named is only the nearest. Where the run has
        levels above or below its clusters, a column of each says what the document is in there: above what its cluster
        is part of, below the nearest part of it.

    Raises
    ------
    InputError
        If the source does not fit the model.
    SchemaError
        If the model is damaged or from a newer version.
    """
    fitted = fitted_model(model)
    limit = chosen_threshold(fitted, threshold)
    encoder = encoder_for(fitted, embeddings, encoder, announce=announce)
    finer = [(level.parents, level.centroids) for level in fitted.levels if level.centroids is not None]
    reading: dict[str, Any] = {
        "reader": reader_settings(fitted, source, reader_for(reader, embeddings), as_run=as_run),
        "weighting": (fitted.settings.get("vectorizer") or {}).get("weighting"),
        "progress": progress,
    }
    if scheduler is None and scratch is None:
        documents_read = read_source(source, **reading)
        vectors, corpus = documents_read.vectorize_like(fitted), documents_read.corpus
        unknown = np.full(len(documents_read.documents), np.nan)
        if corpus is not None and fitted.vectorizer is not None:
            unknown = unknown_term_shares(corpus.texts, fitted.vectorizer)
        going = None
        if decides_by_meaning(fitted):
            going = going_by_meaning(
                fitted, meaning_like(fitted, documents_read, embeddings, encoder, progress, n_threads)
            )
        placing = PlacingModel(fitted.rule, fitted.centroids, finer, going)
        placed = placing.place(vectors, unknown, n_threads=n_threads)
        return _table(fitted, documents_read, placed, limit)
    if fitted.vectorizer is None:
        raise InputError("the model was fitted to a matrix, which has no blocks", remedy="leave out the scheduler")
    if reading["reader"].get("parts") is not None:
        raise InputError("are cut in memory, not in blocks", argument="parts", remedy="leave out the scheduler")
    with block_stages(RunSettings(n_threads=n_threads), scheduler, scratch, announce=announce) as stages:
        documents_read = read_source(stages.parted(Source(source, reading["reader"])), **reading)
        assert documents_read.corpus is not None  # a source in parts is made of texts
        assert isinstance(documents_read.corpus.texts, StoredTexts)
        going = None
        if decides_by_meaning(fitted):
            meaning = meaning_like(fitted, documents_read, embeddings, encoder, progress, n_threads, place=stages.place)
            going = going_by_meaning(fitted, meaning)
        blocks = documents_read.corpus.texts.blocks
        placing = PlacingModel(fitted.rule, fitted.centroids, finer, going)
        placed = place_blocks(stages.place, blocks, fitted.vectorizer, placing)
        return _table(fitted, documents_read, placed, limit)


def fitted_model(model: object) -> Model:
    """Return the model of a run or in a folder. Raises InputError if it is neither."""
    if isinstance(model, Run):
        return model_of(model)
    if not isinstance(model, Model | str | Path):
        problem = f"is a {type(model).__name__}, not a run or its folder"
        raise InputError(problem, argument="model", remedy="give the run first: assign(run, documents)")
    return model if isinstance(model, Model) else load_model(model)


def texts_of_source(run: Run, source: object) -> list[str] | None:
    """Return the texts of a source in memory, read as those of a run; None of files, a Corpus or a matrix."""
    kind, is_stream = Source(source), callable(getattr(source, "read", None))
    if kind.paths is not None or kind.is_matrix or is_stream or isinstance(source, Corpus):
        return None
    settings = reader_settings(fitted_model(run), source, {}, as_run=True)
    if settings.get("parts") is not None:
        raise InputError("the run is of parts of documents", remedy="call doccluster.assign, which gives their shares")
    return texts_of_rows(source, **{name: value for name, value in settings.items() if name != "keep_boilerplate"})


def _table(fitted: Model, documents_read: SourceDocuments, placed: NewDocuments, limit: float) -> pd.DataFrame:
    names = np.array(fitted.labels, dtype=object)
    ids, titles = ([*map(storable, names)] for names in (documents_read.documents.ids, documents_read.documents.titles))
    table = pd.DataFrame({"id": ids, "title": titles, "date": documents_read.documents.dates})
    table["cluster"] = pd.array(placed.labels, dtype="Int64")
    table["label"] = names[placed.labels]
    table["similarity"] = np.round(placed.similarity, DIGITS)
    table["runner_up"] = pd.array(placed.runner_up, dtype="Int64")
    table["margin"] = np.round(placed.margin, DIGITS)
    table.loc[placed.runner_up < 0, "runner_up"] = pd.NA
    table.loc[placed.is_empty, "cluster"] = pd.NA
    table.loc[placed.is_empty, "label"] = ""
    table["unknown"] = np.round(placed.unknown, DIGITS)
    finer = iter(placed.parts.T)
    for level in fitted.levels:
        numbers = level.parents[placed.labels] if level.centroids is None else next(finer)
        table[level.name] = np.where(placed.is_empty, "", np.array(level.labels, dtype=object)[numbers])
    table["new"] = placed.is_empty | (placed.has_words & (placed.similarity < limit))
    document_of = documents_read.source_rows.document_of
    if document_of is not None:
        return _table_of_documents(fitted, documents_read, table, document_of)
    table.loc[~placed.has_words, "runner_up"] = pd.NA
    table.loc[~placed.has_words, ["similarity", "margin"]] = np.nan
    rows = replace(documents_read.source_rows, has_ids=False)  # ids are a column here
    if rows.index is not None:
        table.index = rows.index_for(ids)
    return plain_where_whole(table)


def _table_of_documents(
    fitted: Model, documents_read: SourceDocuments, table: pd.DataFrame, document_of: Integers
) -> pd.DataFrame:
    """Return the line of each document, for its largest share, and its shares behind that; `table` is of its parts.

    Similarity, margin and `unknown` are means over words: of the parts in the cluster named, and of all. A document is
    new where most of its words are in parts that are.
    """
    corpus = documents_read.corpus
    assert corpus is not None  # what is in parts has texts
    k, words = len(fitted.labels), np.fromiter(map(int, corpus.column("words")), np.int64, len(corpus))
    nearest = table["cluster"].fillna(-1).to_numpy(np.int64)
    shown = np.select([nearest < 0, table["new"].to_numpy(bool)], [k + 1, k], nearest)
    first = np.flatnonzero(np.diff(document_of, prepend=-1))
    ids = [name.rpartition("#")[0] for name in table["id"].iloc[first]]
    parts = DocumentParts(ids, document_of, words, nearest, shown, k)
    in_largest = nearest == parts.largest[document_of]

    def mean(column: str, chosen: Flags) -> Floats:
        values = table[column].to_numpy(np.float64, na_value=np.nan)
        weights = np.where(chosen & ~np.isnan(values), words, 0)
        sums = np.bincount(document_of, weights * np.nan_to_num(values), len(ids))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.round(sums / np.bincount(document_of, weights, len(ids)), DIGITS))

    lines = table.iloc[first].assign(id=ids)
    standing = np.full(len(ids), -1)
    standing[document_of[parts.standing]] = parts.standing  # of the same cluster, unless all of it is new
    order = np.argsort(-parts.totals[:, :k], axis=1, kind="stable")
    second = order[:, 1] if k > 1 else np.full(len(ids), -1)
    has_second = (second >= 0) & (np.take_along_axis(parts.totals, np.maximum(second, 0)[:, None], 1)[:, 0] > 0)
    lines["cluster"] = pd.array(np.where(parts.largest < 0, 0, parts.largest), dtype="Int64")
    lines["runner_up"] = pd.array(np.where(has_second, second, 0), dtype="Int64")
    lines.loc[parts.largest < 0, "cluster"] = pd.NA
    lines.loc[~has_second, "runner_up"] = pd.NA
    lines["label"] = ["" if cluster < 0 else fitted.labels[cluster] for cluster in parts.largest.tolist()]
    for column in ("similarity", "margin"):
        lines[column] = mean(column, in_largest)
    lines["unknown"] = mean("unknown", np.ones(words.size, np.bool_))
    for level in fitted.levels:
        lines[level.name] = np.where(standing < 0, "", table[level.name].to_numpy()[standing])
    lines["new"] = 2 * (parts.shares[:, k] + parts.shares[:, k + 1]) > 1
    whole = documents_read.source_rows.whole
    lines.index = pd.RangeIndex(len(ids)) if whole is None or whole.index is None else whole.index_for(ids)
    return plain_where_whole(lines).assign(**shares_columns(parts))


def chosen_threshold(model: Model, threshold: float | None) -> float:
    """Return the threshold that was given, else the model's; -1, which everything reaches, if it has none.

    Raises InputError if it is not a cosine.
    """
    if threshold is None:
        return -1.0 if model.threshold is None else model.threshold
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not -1 <= threshold <= 1:
        raise InputError("is not a cosine", argument="threshold", received=threshold, expected="a number from -1 to 1")
    return float(threshold)


def reader_settings(model: Model, source: object, reader: Mapping[str, Any], *, as_run: bool) -> dict[str, object]:
    """Return how to read new documents: as the run did, unless `reader` says otherwise.

    Raises SchemaError if the model's settings are none that a reader takes.
    """
    recorded = model.settings.get("reader") if as_run else None
    if not recorded or Source(source, reader).is_matrix:
        return dict(reader)
    try:
        check_group(SourceParameters, recorded, "reader")
    except ValueError as error:
        raise SchemaError(f"the settings in the model are damaged ({error})", remedy="make the run again") from error
    record = Record(model.record or Path("run.json"), anew=reader, is_own=model.record is None)
    usual = parameters_of(SourceParameters)
    settings = {name: value for name, value in recorded.items() if name not in OF_THE_RUN_ALONE}
    for name in settings:
        if name.startswith("max_"):
            settings[name] = record.take(name, settings[name], usual=usual[name].default)
    return {**settings, **reader}
