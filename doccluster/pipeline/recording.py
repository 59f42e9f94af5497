"""A run as one value, with what was chosen on the way and what a reader should know; and that value in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.blocks import resolve_threads
from doccluster.base.json_values import jsonable
from doccluster.base.package import __version__
from doccluster.base.paths import CHECKPOINT, ENCODED, PARQUET_PARTS, check_output, write_page
from doccluster.base.progress import StageClock, peak_memory, versions
from doccluster.base.worker_processes import n_shares
from doccluster.clustering.algorithms import QUALITIES
from doccluster.corpus.stored_texts import StoredTexts, text_lengths
from doccluster.errors import InputError
from doccluster.labeling import Placement
from doccluster.measures import Evaluation
from doccluster.pipeline._apart import FollowedColumn, followed_column, rule_apart
from doccluster.pipeline.copies import folding_note
from doccluster.pipeline.fit import Fit
from doccluster.pipeline.foreign_labels import recorded_labels
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.pipeline.naming import NamedClusters
from doccluster.pipeline.run_arguments import RunWork
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import EncodedRows, meaning_note
from doccluster.pipeline.sources import N_KEPT, boilerplate_note, without_terms
from doccluster.pipeline.vectorizing import has_many_documents
from doccluster.results.record import Provenance, Run
from doccluster.results.run_folder import Writer, save_run
from doccluster.results.run_tables import check_parquet, write_parquet_parts
from doccluster.results.shares import parts_with_terms
from doccluster.text.scripts import count_words
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import letters_note

LONG_DOCUMENT = 1_000  # words of the median document, from which on parts are proposed
MapPlaces = Callable[[], Any]  # waits for `doccluster.report.plane.placed_rows`

OF_TERMS = ("analyzer", "min_df", "max_df", "stemming", "weighting")


def record_run(
    stages: Stages,
    prepared: Prepared,
    fit: Fit,
    placement: Placement,
    named: NamedClusters,
    evaluation: Evaluation,
    source: object,
    command: str,
    clock: StageClock,
) -> Run:
    """Return all that the stages made as one value; `source` and `command` are as a person gave them."""
    settings, of_source, documents = stages.settings, prepared.source, prepared.documents
    corpus = of_source.corpus
    known = (*settings.truth_columns, *settings.apart_columns)
    rows, counted = np.arange(len(documents)), documents
    if settings.parts is not None:  # of a document one part counts
        rows = parts_with_terms(documents, fit.partition).standing
        counted = documents.take(rows)
    followed = followed_column(
        fit.partition.labels[rows], None if fit.is_other is None else fit.is_other[rows], counted, known
    )
    notes, parameters = _notes(settings, prepared, fit, followed), settings.as_parameters(source)
    if corpus is not None and corpus.stripped_html:  # new documents are read alike, however few
        parameters["reader"] = {**(parameters["reader"] or {}), "strip_html": True}
    return Run(
        documents=documents.without_shared_openings(fit.partition.labels.tolist()),
        empty_documents=prepared.empty,
        vectors=named.vectors,
        partition=fit.partition,
        centroids=fit.centroids,
        similarity=placement.similarity,
        runner_up=placement.runner_up,
        runner_up_similarity=placement.runner_up_similarity,
        clusters=named.clusters,
        evaluation=evaluation,
        skipped=(*of_source.skipped, *without_terms(prepared.empty)),
        truth=settings.truth_columns,
        parameters=parameters | {"resolved": _choices(settings, prepared, fit, followed, stages.seed)},
        provenance=Provenance(
            command=command,
            versions=versions(__version__),
            seed=stages.seed,
            checksum=of_source.checksum,
            started=clock.started,
            timings=clock.timings,
            peak_memory=peak_memory(),
            interrupted=fit.interrupted,
        ),
        notes=(*(of_parts(note) if settings.parts is not None else note for note in filter(None, notes)), *named.notes),
        vectorizer=prepared.vectorization.vectorizer,
        copy_of=prepared.copy_of,
        rule=fit.rule if prepared.apart is None else rule_apart(fit.rule, prepared.apart.factors),
        is_other=fit.is_other,
        around=named.levels,
        _corpus=None if corpus is None or isinstance(corpus.texts, StoredTexts) else corpus,
        _rows=of_source.source_rows,
    )


def _notes(
    settings: RunSettings, prepared: Prepared, fit: Fit, followed: FollowedColumn | None
) -> Iterator[str | None]:
    """Yield what a reader of the results should know, in sentences, in the order of the stages."""
    vectors = prepared.vectors
    yield fit.why
    yield meaning_note(vectors, settings)
    yield letters_note(fit.letters, vectors.mean_words)
    yield prepared.vectorization.options_told(settings.vectorizer)
    yield boilerplate_note(prepared.source.left_out)
    yield folding_note(prepared.copy_of) if settings.fold_copies and fit.n_outlets is None else None
    yield from prepared.source.notes
    yield parts_note(prepared, settings)
    if prepared.apart is not None:
        yield from prepared.apart.notes(fit.partition.labels, has_meaning=settings.has_meaning)
    yield None if followed is None else followed.told
    yield from fit.notes


def of_parts(note: str) -> str:
    """Return a sentence on rows that are documents as one on parts of them.

    >>> of_parts("2 documents fit no cluster (Other).")
    '2 parts fit no cluster (Other).'
    """
    return re.sub(r"\bdocument(s?)(?= (?:fits? no cluster|on average))", r"part\1", note)


def parts_note(prepared: Prepared, settings: RunSettings) -> str | None:
    """Return in a sentence how documents were clustered in parts, or that they may be, where most of them are long."""
    corpus = prepared.source.corpus
    if corpus is None:
        return None
    document_of = corpus.source_rows.document_of
    if document_of is None:
        median = median_of_long(corpus.texts)
        said = f"These documents are long (median {median:,} words): `--parts auto` clusters them in parts."
        return said if median >= LONG_DOCUMENT else None
    n_documents = int(document_of.max(initial=-1)) + 1
    has_own_terms = has_many_documents(document_of) and getattr(settings.vectorizer, "other", None) is None
    left_out = "; terms of one document alone are left out" if has_own_terms else ""
    order = "" if settings.algorithm == QUALITIES["default"] else " Their order counts in the default quality alone."
    documents = "1 document is" if n_documents == 1 else f"{n_documents:,} documents are"
    return f"{documents} clustered in {len(corpus):,} part{'' if len(corpus) == 1 else 's'}{left_out}.{order}"


def median_of_long(texts: Sequence[str]) -> int:
    """Return the median number of words of texts, without looking into them where that is surely below 1,000."""
    lengths = text_lengths(texts)
    if np.median(lengths) < LONG_DOCUMENT:  # characters; no word is shorter than one
        return 0
    n_words = (count_words(text) if length >= LONG_DOCUMENT else 0 for text, length in zip(texts, lengths, strict=True))
    return int(np.median(np.fromiter(n_words, np.int64, len(lengths))))


def _choices(
    settings: RunSettings, prepared: Prepared, fit: Fit, followed: FollowedColumn | None, seed: int
) -> dict[str, Any]:
    """Return the choices that the settings leave open, as JSON values."""
    how, source, meaning = prepared.vectorization, prepared.source, prepared.vectorization.vectors.meaning
    corpus, vectorizer = source.corpus, how.vectorizer
    choices = {
        "seed": seed,
        "n_clusters": fit.n_asked or fit.partition.n_clusters,
        "labels_from": recorded_labels(settings.labels),
        "started_from": fit.choice.granularity if fit.choice is not None and fit.from_start else None,
        "meaning": None if meaning is None else meaning.told,
        "stability": None if fit.stability is None else round(fit.stability, 6),
        "languages": list(how.languages),
        "analysis": how.analysis_told,
        "division": "" if corpus is None else corpus.division,
        "text_columns": [] if corpus is None else list(corpus.text_columns),
        "boilerplate": [asdict(line) for line in source.left_out[:N_KEPT]],
        **{name: jsonable(getattr(vectorizer, name)) for name in OF_TERMS if vectorizer is not None},
        "stories": fit.n_outlets is not None,
        "letters": None if fit.letters is None else round(fit.letters.weight, 6),
        "rows": source.source_rows.record,
    }
    if prepared.apart is not None:
        share = round(prepared.apart.share_taken, 6)
        choices["apart_from"] = {"terms": prepared.apart.strongest, "share_taken": share}
    return choices if followed is None else {**choices, "follows": asdict(followed)}


def check_work(work: RunWork, settings: RunSettings) -> None:
    """Raise InputError, before any work, for what could not be done or written after it."""
    if work.namer is not None and not callable(work.namer):
        remedy = "give a function from a description to a name"
        raise InputError("is not a function", argument="namer", received=work.namer, remedy=remedy)
    if work.parquet:
        check_parquet()
    if work.output is not None:
        settings.check_written()
        goes_on = work.checkpoint is not None and (Path(work.output) / CHECKPOINT).is_file()
        check_output(Path(work.output), overwrite=work.overwrite or goes_on)


def map_begun(
    work: RunWork, stages: Stages, vectors: DocumentVectors, begin: Callable[..., MapPlaces]
) -> MapPlaces | None:
    """Begin to place documents on the map of the report, which needs no clusters; None where the report is to do it.

    That is where documents are few, and where they have a meaning, which counts only where clusters are of it too.
    """
    n = vectors.n_documents
    if work.output is None or not work.report or vectors.meaning is not None or n_shares(n) == 1:
        return None
    from doccluster.report.plane import MAX_WITH_MAP, placed_rows, semantic_rows

    if n > MAX_WITH_MAP:
        return None
    rows = semantic_rows(vectors, n_threads=stages.n_threads)  # takes more memory, and all threads
    return begin(placed_rows, rows, stages.seed, n_threads=resolve_threads(stages.n_threads) - 1)  # one names clusters


def write_run(
    run: Run,
    work: RunWork,
    *,
    encoded: EncodedRows,
    texts: Sequence[str] | None,
    placed: MapPlaces | None = None,
    also: Mapping[str, Writer],
) -> None:
    """Write a run into its output; `also` are further files, each with the function that writes it."""
    assert work.output is not None  # there is a folder to write
    work.progress("write", 0)
    files = dict(also)
    if work.parquet:
        files[PARQUET_PARTS] = write_parquet_parts
    if work.report:
        files["report.html"] = _page(work, texts, placed)
    if encoded.model:
        files[ENCODED] = lambda _, path: encoded.write(path)
    save_run(run, work.output, overwrite=work.overwrite or work.checkpoint is not None, also=files)
    if not run.provenance.interrupted:
        (Path(work.output) / CHECKPOINT).unlink(missing_ok=True)


def _page(work: RunWork, texts: Sequence[str] | None, placed: MapPlaces | None) -> Callable[[Run, Path], None]:
    from doccluster.report.html import render_report  # brings in jinja2, which a run without output needs not

    def write(run: Run, path: Path) -> None:
        work.progress("report", 0)
        shown_texts = texts if work.with_texts else None
        write_page(render_report(run, texts=shown_texts, placed=placed and placed()), path, what="report")

    return write
