"""The whole line, readable as one page: read, vectorize, cluster, label, judge, write."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

from doccluster.base.new_folder import CHECKPOINT, ENCODED, check_output
from doccluster.base.progress import Progress, silent
from doccluster.base.version import __version__
from doccluster.clustering.algorithms import algorithm_of, chosen_algorithm
from doccluster.corpus.stored_texts import PickedTexts, StoredTexts
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence
from doccluster.measures import Evaluation, evaluate
from doccluster.measures.judging import PAIRWISE_SECONDS
from doccluster.pipeline.block_runs import begin_checkpoints, work_wanted
from doccluster.pipeline.fitting import (
    Fit,
    find_first_copies,
    folding_note,
    other_note,
    set_aside,
    spread_to_copies,
    without_copies,
)
from doccluster.pipeline.given_labels import given_fit, labels_told, with_labels
from doccluster.pipeline.in_process import Work
from doccluster.pipeline.meaning_wanted import meaning_note, reader_for
from doccluster.pipeline.naming import name_clusters, unwanted_words
from doccluster.pipeline.news_stories import stories_of_run
from doccluster.pipeline.provenance import Stages, peak_memory, versions
from doccluster.pipeline.run_settings import RunSettings, checked_seed
from doccluster.pipeline.sources import N_KEPT, Source, boilerplate_note, check_truth, read_source, without_terms
from doccluster.pipeline.vectorizing import Vectorized, vectorizer_options
from doccluster.pipeline.wanted_clusters import Wanted
from doccluster.results.document_table import DocumentTable
from doccluster.results.encoded_rows import EncodedRows
from doccluster.results.record import Provenance, Run
from doccluster.results.run_folder import save_run
from doccluster.results.run_tables import check_parquet, parquet_writer


class RunInterrupted(KeyboardInterrupt):
    """A person stopped the fit; `run` holds the best so far, already written where an output was named."""

    def __init__(self, run: Run) -> None:
        super().__init__("interrupted; the best partition so far was kept")
        self.run = run


def run_pipeline(
    source: Any,
    *,
    n_clusters: int | str = "auto",
    granularity: str | None = None,
    other: bool = True,
    fold_copies: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    truth: str | Sequence[str] | None = None,
    random_state: int | None = 0,
    reader: Mapping[str, Any] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: Any = None,
    quality: str | None = None,
    algorithm: Any = None,
    clustering: Mapping[str, Any] | None = None,
    measures: Any = None,
    n_threads: int | None = None,
    embeddings: Any = None,
    encoder: Any = None,
    space: str = "both",
    meaning_weight: float | None = None,
    labels: Any = None,
    scheduler: Any = None,
    scratch: str | Path | None = None,
    checkpoint: int | None = None,
    report: bool = True,
    with_texts: bool = False,
    parquet: bool = False,
    command: str | None = None,
    began: float | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress = silent,
) -> Run:
    """Return a whole run, from its source to named, judged and explained clusters.

    Parameters
    ----------
    source : path, sequence of paths, Corpus, DataFrame, iterable of texts, or a matrix file
        What `read_corpus` or `read_matrix` can read.
    n_clusters : int or "auto"
        How many clusters; "auto" asks the data.
    granularity : {"sections", "topics", "subtopics", "stories"}, optional
        With "auto", how fine the clusters should be: broad or narrow. Without it the stories of dated articles of three
        outlets or more, subtopics of other dated documents, of others the broadest that are found.
    other : bool
        With "auto", show the documents that fit no cluster as Other, apart from their nearest clusters.
    fold_copies : bool
        Cluster one document of each family of near-copies, the first, and give the others its cluster.
    output : path, optional
        The folder to write: tables, model, report. It appears whole or not at all.
    overwrite : bool
        Replace an earlier run in that folder.
    truth : str or sequence of str, optional
        Label columns of the source to judge by. A document with no or several labels in a column is left out of the
        external measures, and counted.
    random_state : int or None
        The seed; None draws one, which is kept with the run.
    reader : mapping, optional
        Arguments of `read_corpus` (format, text_column, ...); `classes` and `terms` of `read_matrix`.
    language : str or sequence of str
        Whose function words are left out: "auto" for the languages found, "none", or names.
    vectorizer : mapping or TfidfVectorizer, optional
        Arguments of `TfidfVectorizer`; of an estimator those that are not as usual. The others follow from the texts.
    quality : {"fast", "default"}, optional
        "fast": spherical k-means, settled by a mixture of multinomials on the counts of terms; "default": the same of
        rows smoothed over their nearest neighbours.
    algorithm : str or estimator, optional
        Instead of a quality, a name of `doccluster.clustering.algorithms.ALGORITHMS`, with options after a colon if
        wanted (``"k-means:n_init=3"``), or an estimator of one (``SphericalKMeans(5)``), whose number of clusters and
        seed count where the run names none. "spherical-k-means" is the plain one of the papers.
    clustering : mapping, optional
        Options of the algorithm (n_init, ...; `doccluster algorithms` lists them).
    measures : optional
        As for `evaluate`; by default a run leaves out measures of all pairs of documents, however few these are.
    n_threads : int, optional
        All processors by default; the results do not depend on it.
    embeddings : path or array of shape (n_documents, n_dimensions), optional
        What the documents mean, beside their words: a .npy, .npz, Parquet or Arrow file, or the rows themselves, in the
        order of the documents or, in a file, beside their ids; or the name of a column of the source. A document whose
        row is zero goes by its words alone.
    encoder : str, object or function, optional
        Instead of embeddings, what makes them of the texts: "static" (the extra `meaning`), "model2vec:DIR", "onnx:DIR"
        (the extra `onnx`), "sentence-transformers:DIR", the name of a model in place of DIR where it was downloaded, an
        object with a method `encode`, or a function from a list of str to an array.
    space : {"both", "words", "meaning"}
        What is clustered, where there are embeddings. Labels and measures are of the words.
    meaning_weight : float, optional
        How much meaning counts beside the words: by default 1 for documents of up to 20 known words on average, down to
        0.5 for longer ones.
    labels : path or sequence, optional
        Clusters that another program found, which are named, explained and judged in place of clusters of our own: a
        file as `doccluster evaluate` takes, or a label for each document in their order. Documents with the label -1 or
        none are shown as Other. They are kept as the label column "given".
    scheduler : str or dask.distributed.Client, optional
        Read, vectorize and cluster on the workers of a Dask cluster: its address ("tcp://HOST:8786"), "local:W" for W
        processes of this machine, or a client. Needs a number of clusters.
    scratch : path, optional
        A folder for blocks of documents, which all workers see. Without a scheduler blocks are read from it one after
        another; so are those of files far larger than the algorithm's `max_memory`.
    checkpoint : int, optional
        Save progress to the output folder, every this many iterations, and resume from what a
        run that was ended has left there, unless `overwrite` is set. Documents are read and vectorized again; the
        labels are those of a run that nothing disturbed. Works in blocks.
    report, with_texts : bool
        Whether to write report.html into the output, and whether it holds the whole text of each document.
    parquet : bool
        Whether to write the assignments as Parquet parts too, into the folder assignments of the output.
    command : str, optional
        What the user typed, for the record.
    began : float, optional
        `time.perf_counter()` when the program began: what passes until the first stage is then timed as "start".
    announce : callable, optional
        Called with a sentence, before a longer piece of work, on about how long it will take.
    progress : callable
        Called as the work goes on.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If an argument cannot be used; before any work is done where that can be known.
    NothingUsable
        If no document, or none with a term, is left.
    RunInterrupted
        If the fit was stopped by Ctrl-C; the best so far is in its `run`, and in `output`.

    Examples
    --------
    >>> texts = ["oil and gas prices rise", "crude oil prices", "wheat harvest rain", "rain delays the wheat harvest"]
    >>> import doccluster
    >>> run = doccluster.run(texts, n_clusters=2, language="english")
    >>> [(cluster.size, cluster.label) for cluster in run.clusters]
    [(2, 'wheat harvest, rain'), (2, 'oil, prices')]
    """
    given = dict(locals())
    own: dict[str, Any] = {}
    if algorithm is not None and not isinstance(algorithm, str):
        estimator, (algorithm, own) = algorithm, algorithm_of(algorithm)
        given["n_clusters"] = estimator.n_clusters if n_clusters == "auto" else n_clusters
        given["random_state"] = getattr(estimator, "random_state", None) or random_state
    row, options = chosen_algorithm(algorithm, quality)
    options |= own
    given["algorithm"], given["clustering"] = row.name, {**options, **(clustering or {})} or None
    given["truth"] = truth if truth is None or isinstance(truth, str) else tuple(truth)
    given["language"] = tuple(language) if isinstance(language, list | set) else language
    given["vectorizer"] = vectorizer_options(vectorizer)
    del given["source"], given["quality"]
    settings = RunSettings(**{one.name: given.pop(one.name) for one in fields(RunSettings)})
    return make_run(source, settings, **given)


def make_run(
    source: Any,
    settings: RunSettings,
    *,
    scheduler: Any = None,
    scratch: str | Path | None = None,
    checkpoint: int | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    report: bool = True,
    with_texts: bool = False,
    parquet: bool = False,
    command: str | None = None,
    began: float | None = None,
    announce: Callable[[str], None] | None = None,
    encoded_in: Path | None = None,
    progress: Progress = silent,
) -> Run:
    """Return the run that settings ask for; `run_pipeline` says what the arguments mean and what is raised.

    `encoded_in` is a folder that may keep what the encoder makes; the output by default.
    """
    settings.check()
    goes_on = checkpoint is not None and output is not None and (Path(output) / CHECKPOINT).is_file()
    if parquet:
        check_parquet()
    if output is not None:
        check_output(Path(output), overwrite=overwrite or goes_on)
    checkpoints = begin_checkpoints(output, checkpoint, overwrite=overwrite)
    wanted = {"scheduler": scheduler, "scratch": scratch, "checkpoints": checkpoints, "announce": announce}
    with work_wanted(source, settings, **wanted) as work:
        clock = Stages(progress, began=began, ended=work.tell_stage)
        encoded = EncodedRows.read(encoded_in or output) if settings.encoder is not None else EncodedRows()
        run, texts = _made(source, settings, work, clock, encoded, wants_texts=report and with_texts, command=command)
        if output is not None:
            progress("write", 0)
            also = parquet_writer(parquet)
            if report:
                from doccluster.report import write_report  # brings in jinja2, which a run without output needs not

                also["report.html"] = partial(write_report, texts=texts if with_texts else None)
            if encoded.model:
                also[ENCODED] = lambda _, path: encoded.write(path)
            save_run(run, output, overwrite=overwrite or checkpoints is not None, also=also)
            if not run.provenance.interrupted:
                (Path(output) / CHECKPOINT).unlink(missing_ok=True)
    if run.provenance.interrupted:
        raise RunInterrupted(run)
    return run


def _made(
    source: Any,
    settings: RunSettings,
    work: Work,
    clock: Stages,
    encoded: EncodedRows,
    *,
    wants_texts: bool,
    command: str | None,
) -> tuple[Run, Sequence[str] | None]:
    """Return the run, and the texts of its documents where it was made of texts."""
    seed = secrets.randbits(31) if settings.random_state is None else checked_seed(settings.random_state)
    progress = clock.progress
    with clock.stage("read"):
        read = read_documents(work.parted(source), settings, progress, wants_texts=wants_texts)
        read = read if settings.labels is None else with_labels(read, settings.labels)
    if settings.has_meaning:
        with clock.stage("encode"):
            read = work.with_meaning(read, settings, progress, encoded)
    with clock.stage("vectorize"):
        filled = work.vectorize(read, settings)
        documents, vectors = filled.documents, filled.vectors
        copy_of = find_first_copies(vectors, documents, read.corpus, work.likely_copies())
    with clock.stage("cluster"):
        fitted = without_copies(vectors, copy_of) if settings.fold_copies else vectors
        is_other = None
        stories = stories_of_run(settings, vectors, documents, read.corpus, progress)
        if stories is not None:
            fit, wanted = stories.fit, Wanted(stories.fit.partition.n_clusters, told=stories.why)
            is_other = stories.is_alone if settings.other else None
        elif settings.labels is None:
            fit, wanted = work.cluster(fitted, documents, settings, seed, progress)
        else:
            fit, has_none = given_fit(vectors, documents)
            wanted, is_other = Wanted(fit.partition.n_clusters), has_none if settings.other else None
        if settings.fold_copies and stories is None:
            fit = spread_to_copies(fit, copy_of)
    with clock.stage("label"):
        placed = work.place(vectors, fit)
        if settings.other and wanted.choice is not None:
            fit, placed, is_other = set_aside(fit, placed)
        evidence = work.evidence(vectors, fit.partition, progress)
        texts = None if read.corpus is None else PickedTexts(read.corpus.texts, documents.positions)
        unwanted = unwanted_words(filled.made, texts, copy_of)
        vectors, clusters = name_clusters(
            filled.made, vectors, evidence, placed, texts, documents, is_other, unwanted=unwanted
        )
    with clock.stage("judge"):
        evaluation = _judged(documents, evidence, settings, progress)
    folded = folding_note(copy_of) if settings.fold_copies and stories is None else None
    told = wanted.why, meaning_note(vectors, settings), boilerplate_note(read.left_out), folded
    notes = *told, *read.notes, other_note(is_other), *_notes(fit, wanted.k)
    parameters = settings.as_parameters(source)
    if read.corpus is not None and read.corpus.stripped_html:  # new documents are read alike, however few
        parameters["reader"] = {**(parameters["reader"] or {}), "strip_html": True}
    run = Run(
        documents=documents.without_shared_openings(fit.partition.labels.tolist()),
        empty_documents=filled.empty,
        vectors=vectors,
        partition=fit.partition,
        centroids=fit.centroids,
        similarity=placed.similarity,
        runner_up=placed.runner_up,
        runner_up_similarity=placed.runner_up_similarity,
        clusters=tuple(clusters),
        evaluation=evaluation,
        skipped=(*read.skipped, *without_terms(filled.empty)),
        truth=settings.truth_columns,
        parameters=parameters
        | {
            "resolved": {
                "seed": seed,
                **_resolved(read, filled.made, fit, wanted, labels_told(settings.labels)),
                "stories": stories is not None,
            }
        },
        provenance=Provenance(
            command=command or "",
            versions=versions(__version__),
            seed=seed,
            checksum=read.checksum,
            started=clock.started,
            timings=clock.timings,
            peak_memory=peak_memory(),
            interrupted=fit.interrupted,
        ),
        notes=tuple(filter(None, notes)),
        vectorizer=filled.made.vectorizer,
        copy_of=copy_of,
        rule=fit.rule,
        is_other=is_other,
        _corpus=None if read.corpus is None or isinstance(read.corpus.texts, StoredTexts) else read.corpus,
    )
    return run, texts


def read_documents(source: Any, settings: RunSettings, progress: Progress, *, wants_texts: bool) -> Source:
    """Return a source as settings ask for it; raise InputError where it lacks a truth, or the texts wanted."""
    columns = settings.truth_columns
    weighting = (settings.vectorizer or {}).get("weighting")
    reader = reader_for(settings.reader, settings.embeddings)
    read = read_source(source, reader=reader, weighting=weighting, truth=columns, progress=progress)
    check_truth(columns, read.documents)
    if wants_texts and read.corpus is None:
        raise InputError("a matrix has no texts to put into the report", remedy="leave out --with-texts")
    return read


def _judged(
    documents: DocumentTable, evidence: ClusterEvidence, settings: RunSettings, progress: Progress
) -> Evaluation:
    return evaluate(
        evidence.partition,
        truth={column: list(map(list, documents.labels[column])) for column in settings.truth_columns} or None,
        evidence=evidence,
        measures=settings.measures,
        pairwise_seconds=PAIRWISE_SECONDS if settings.measures is not None else 0.0,
        n_threads=settings.n_threads,
        progress=progress,
    )


def _resolved(read: Source, made: Vectorized, fit: Fit, wanted: Wanted, labels_from: str | None) -> dict[str, Any]:
    """Return the choices made on the way."""
    chosen = {} if made.vectorizer is None else made.vectorizer.get_params(deep=False)
    return {
        "n_clusters": wanted.k,
        "labels_from": labels_from,
        "started_from": wanted.choice.granularity if wanted.choice is not None and fit.from_start else None,
        "meaning": None if made.vectors.meaning is None else made.vectors.meaning.told,
        "stability": None if fit.stability is None else round(fit.stability, 6),
        "languages": list(made.languages),
        "analysis": made.analysis_told,
        "text_columns": [] if read.corpus is None else list(read.corpus.text_columns),
        "boilerplate": [asdict(one) for one in read.left_out[:N_KEPT]],
        **{name: chosen[name] for name in ("analyzer", "min_df", "max_df", "stemming", "weighting") if chosen},
    }


def _notes(fit: Fit, k: int) -> list[str]:
    notes = list(fit.left_out)
    if fit.interrupted:
        notes.append("The fit was interrupted: these are the best clusters found until then.")
    if fit.partition.n_clusters < k:
        notes.append(f"You asked for {k:,} clusters; only {fit.partition.n_clusters:,} could be filled.")
    return notes
