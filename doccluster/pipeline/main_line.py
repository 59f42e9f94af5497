"""The whole line, readable as one page: read, vectorize, cluster, label, judge, write."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.json_values import jsonable
from doccluster.base.package import __version__
from doccluster.base.parameter_fields import described_by
from doccluster.base.paths import CHECKPOINT, ENCODED, PARQUET_PARTS, check_output
from doccluster.base.progress import Progress, StageClock, peak_memory, silent, versions
from doccluster.clustering.algorithms import algorithm_of, chosen_algorithm
from doccluster.corpus.stored_texts import PickedTexts, StoredTexts
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence
from doccluster.labeling import ClusterDescription, Placement
from doccluster.labeling.profiles import Namer
from doccluster.measures import Evaluation, evaluate
from doccluster.measures.judging import PAIRWISE_SECONDS
from doccluster.pipeline._apart import Apart, followed_column, rule_apart, vectors_apart
from doccluster.pipeline.block_runs import begin_checkpoints, stages_for
from doccluster.pipeline.copies import Rows, find_first_copies, first_copies, folding_note, spread_to_copies
from doccluster.pipeline.fit import Fit, set_aside
from doccluster.pipeline.foreign_labels import clusters_of_labels, recorded_labels, with_labels
from doccluster.pipeline.guiding import correct_stories, guide_clusters, has_groups, roots, with_names_of_topics
from doccluster.pipeline.in_process import Stages, VectorizedDocuments
from doccluster.pipeline.known_topics import checked_topics, n_guides
from doccluster.pipeline.model_names import RunInterrupted, answers_writer, read_answers
from doccluster.pipeline.naming import name_clusters, unwanted_words
from doccluster.pipeline.nested_levels import FEWEST, LARGE, LabelsOfLevels, LevelsWork
from doccluster.pipeline.news import stories_of_run
from doccluster.pipeline.run_settings import RunSettings, checked_seed
from doccluster.pipeline.source_meaning import EncodedRows, meaning_note, read_documents
from doccluster.pipeline.sources import (
    N_KEPT,
    Source,
    SourceDocuments,
    boilerplate_note,
    without_terms,
)
from doccluster.pipeline.vectorizing import Vectorization, vectorizer_options
from doccluster.results.document_table import DocumentTable
from doccluster.results.record import Provenance, Run
from doccluster.results.run_folder import Writer, save_run
from doccluster.results.run_tables import check_parquet, write_parquet_parts
from doccluster.results.tree import Levels
from doccluster.selection.recommendation import MAX_DOCUMENTS
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import letters_note


@described_by(RunSettings)
def run_pipeline(
    source: object,
    *,
    n_clusters: int | str = "auto",
    granularity: str | None = None,
    other: bool = True,
    fold_copies: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    truth: str | Sequence[str] | None = None,
    random_state: int | None = 0,
    reader: Mapping[str, object] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: object = None,
    quality: str | None = None,
    algorithm: Any = None,
    clustering: Mapping[str, object] | None = None,
    measures: object = None,
    n_threads: int | None = None,
    embeddings: object = None,
    encoder: object = None,
    space: str = "both",
    meaning_weight: float | None = None,
    labels: object = None,
    apart_from: str | Sequence[str] | None = None,
    levels: str = "auto",
    topics: object = None,
    only_topics: bool = False,
    letters: bool | None = None,
    namer: Namer | None = None,
    scheduler: object = None,
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
    output : path, optional
        The folder to write: tables, model, report. It appears whole or not at all.
    overwrite : bool
        Replace an earlier run in that folder.
    quality : {"fast", "default"}, optional
        "fast": spherical k-means, settled by a mixture of multinomials on the counts of terms; "default": the same of
        rows smoothed over their nearest neighbours.
    namer : function, optional
        Names the clusters: gets the description of each, a `doccluster.labeling.NamingRequest`, and returns a name of
        at most 60 characters. Where that cannot be used a cluster keeps its label, and `notes` says why.
    scheduler : str or dask.distributed.Client, optional
        Read, vectorize and cluster on the workers of a Dask cluster: its address ("tcp://HOST:8786"), "local:W" for W
        processes of this machine, or a client.
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
        If the fit or the namer was stopped by Ctrl-C; the best so far is in its `run`, and in `output`.

    Examples
    --------
    >>> texts = ["oil and gas prices rise", "crude oil prices", "wheat harvest rain", "rain delays the wheat harvest"]
    >>> import doccluster
    >>> run = doccluster.run(texts, n_clusters=2, language="english")
    >>> [(cluster.size, cluster.label) for cluster in run.clusters]
    [(2, 'wheat harvest, rain'), (2, 'oil, prices')]
    """
    estimator_options: dict[str, object] = {}
    if algorithm is not None and not isinstance(algorithm, str):
        estimator, (algorithm, estimator_options) = algorithm, algorithm_of(algorithm)
        n_clusters = estimator.n_clusters if n_clusters == "auto" else n_clusters
        random_state = getattr(estimator, "random_state", None) or random_state
    chosen, options = chosen_algorithm(algorithm, quality)
    settings = RunSettings(
        n_clusters=n_clusters,
        granularity=granularity,
        other=other,
        fold_copies=fold_copies,
        truth=truth if truth is None or isinstance(truth, str) else tuple(truth),
        random_state=random_state,
        reader=reader,
        # anything else is refused in a sentence, where languages are looked up
        language=tuple(language) if isinstance(language, list | set) else language,  # type: ignore[arg-type]
        vectorizer=vectorizer_options(vectorizer),
        algorithm=chosen.name,
        clustering={**options, **estimator_options, **(clustering or {})} or None,
        measures=measures,
        n_threads=n_threads,
        embeddings=embeddings,
        encoder=encoder,
        space=space,
        meaning_weight=meaning_weight,
        labels=labels,
        apart_from=apart_from if apart_from is None or isinstance(apart_from, str) else tuple(apart_from),
        levels=levels,
        topics=checked_topics(topics),
        only_topics=only_topics,
        letters=letters,
    )
    return make_run(
        source,
        settings,
        namer=namer,
        scheduler=scheduler,
        scratch=scratch,
        checkpoint=checkpoint,
        output=output,
        overwrite=overwrite,
        report=report,
        with_texts=with_texts,
        parquet=parquet,
        command=command,
        began=began,
        announce=announce,
        progress=progress,
    )


def make_run(
    source: object,
    settings: RunSettings,
    *,
    namer: Namer | None = None,
    scheduler: object = None,
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
    may_write: Callable[[Run], bool] | None = None,
    progress: Progress = silent,
) -> Run:
    """Return the run that settings ask for; `run_pipeline` says what the arguments mean and what is raised.

    `encoded_in` is a folder that may keep what the encoder makes, and what models answered; the output by default.
    `may_write` says of the run that was made whether it is written.
    """
    settings.check()
    if namer is not None and not callable(namer):
        remedy = "give a function from a description to a name"
        raise InputError("is not a function", argument="namer", received=namer, remedy=remedy)
    goes_on = checkpoint is not None and output is not None and (Path(output) / CHECKPOINT).is_file()
    if parquet:
        check_parquet()
    if output is not None:
        settings.check_written()
        check_output(Path(output), overwrite=overwrite or goes_on)
    checkpoints = begin_checkpoints(output, checkpoint, overwrite=overwrite)
    named = Source(source, settings.reader)
    with stages_for(
        named, settings, scheduler=scheduler, scratch=scratch, checkpoints=checkpoints, announce=announce
    ) as stages:
        clock = StageClock(progress, began=began, tell=stages.tell_stage)
        encoded = EncodedRows.read(encoded_in or output) if settings.encoder is not None else EncodedRows()
        line = _Line(settings, stages, clock, encoded)
        run, texts = line.run(named, wants_texts=report and with_texts, command=command or "")
        answers, is_stopped = read_answers(encoded_in or output), run.provenance.interrupted
        writers: dict[str, Writer] = {}
        if namer is not None and not is_stopped:
            from doccluster.pipeline.editing import name_new_run

            run, naming, writers = name_new_run(run, namer, answers, progress)
            is_stopped = naming.n_left > 0
        if output is not None and (may_write is None or may_write(run)):
            progress("write", 0)
            also: dict[str, Writer] = {**writers, **answers_writer(answers)}
            if parquet:
                also[PARQUET_PARTS] = write_parquet_parts
            if report:
                from doccluster.report import write_report  # brings in jinja2, which a run without output needs not

                def report_page(written: Run, path: Path) -> None:
                    progress("report", 0)
                    write_report(written, path, texts=texts if with_texts else None)

                also["report.html"] = report_page
            if encoded.model:
                also[ENCODED] = lambda _, path: encoded.write(path)
            save_run(run, output, overwrite=overwrite or checkpoints is not None, also=also)
            if not run.provenance.interrupted:
                (Path(output) / CHECKPOINT).unlink(missing_ok=True)
    if is_stopped:
        raise RunInterrupted(run)
    return run


@dataclass(frozen=True, eq=False)
class _Labeled:
    """What the stage "label" makes of clusters: their order by size without Other, and what is said of each."""

    fit: Fit
    placement: Placement
    vectors: DocumentVectors
    evidence: ClusterEvidence
    descriptions: tuple[ClusterDescription, ...]
    levels: Levels
    notes: tuple[str, ...]


class _Line:
    """The six stages of a run, in the order of the methods: each takes what those before it return."""

    def __init__(self, settings: RunSettings, stages: Stages, clock: StageClock, encoded: EncodedRows) -> None:
        self.settings, self.stages, self.clock, self.encoded = settings, stages, clock, encoded
        seed = settings.random_state
        self.seed = secrets.randbits(31) if seed is None else checked_seed(seed)

    def run(self, source: Source, *, wants_texts: bool, command: str) -> tuple[Run, Sequence[str] | None]:
        """Return the run, and the texts of its documents where it was made of texts."""
        with self.clock.stage("read"):
            documents = self.read(source, wants_texts=wants_texts)
        if self.settings.has_meaning:
            with self.clock.stage("encode"):
                documents = self.encode(documents)
        with self.clock.stage("vectorize"):
            vectorized, copy_of = self.vectorize(documents)
        corpus = documents.corpus
        texts = None if corpus is None else PickedTexts(corpus.texts, vectorized.documents.positions)
        with self.clock.stage("cluster"):
            apart = None
            if self.settings.apart_columns:
                vectorized, apart = self.apart(vectorized)
            fit = self.cluster(vectorized, documents, copy_of)
        with self.clock.stage("label"):
            labeled = self.label(fit, vectorized, texts, copy_of)
        with self.clock.stage("judge"):
            evaluation = self.judge(vectorized.documents, labeled.evidence)
        return self._record(source.given, documents, vectorized, copy_of, labeled, evaluation, command, apart), texts

    def read(self, source: Source, *, wants_texts: bool) -> SourceDocuments:
        """Return the documents of a source, with the labels of another program where there are such."""
        documents = read_documents(
            self.stages.parted(source), self.settings, self.clock.progress, wants_texts=wants_texts
        )
        return documents if self.settings.labels is None else with_labels(documents, self.settings.labels)

    def encode(self, documents: SourceDocuments) -> SourceDocuments:
        """Return the documents with their meaning."""
        return self.stages.with_meaning(documents, self.settings, self.clock.progress, self.encoded)

    def vectorize(self, documents: SourceDocuments) -> tuple[VectorizedDocuments, Rows | None]:
        """Return the vectors of the documents that have terms, and the first copy of each (see `find_first_copies`)."""
        vectorized = self.stages.vectorize(documents, self.settings)
        likely = self.stages.likely_copies(vectorized.vectors)
        return vectorized, find_first_copies(vectorized.vectors, vectorized.documents, documents.corpus, likely)

    def apart(self, vectorized: VectorizedDocuments) -> tuple[VectorizedDocuments, Apart]:
        """Return the vectors with terms of authors weighed down; the vectorizer weighs new documents alike."""
        settings, table = self.settings, vectorized.documents

        def labels_of(vectors: DocumentVectors) -> Integers:
            return self._fit(vectors, table, settings).partition.labels

        apart = vectors_apart(vectorized.vectors, table, settings.apart_columns, labels_of)
        vectorizer = vectorized.vectorization.vectorizer
        assert vectorizer is not None  # counts come from one
        vectorizer.idf_ = getattr(vectorizer, "idf_", 1) * apart.factors.astype(apart.vectors.matrix.dtype)
        return replace(vectorized, vectors=apart.vectors), apart

    def cluster(self, vectorized: VectorizedDocuments, documents: SourceDocuments, copy_of: Rows | None) -> Fit:
        """Return stories of news, clusters of another program, or those of the algorithm."""
        settings, vectors, table = self.settings, vectorized.vectors, vectorized.documents
        fit = stories_of_run(settings, vectors, table, documents.corpus, self.clock.progress)
        if fit is not None and settings.topics is not None:
            fit = correct_stories(fit, vectors, table, settings.topics)
        elif fit is None and settings.labels is not None:
            fit = clusters_of_labels(vectors, table)
        if fit is not None:
            return fit if settings.other else replace(fit, is_other=None)
        vectors = self.stages.with_letters(vectorized, documents, settings)
        fit = self._fitted(vectors, table, copy_of)
        if settings.topics is None:
            return fit
        return guide_clusters(
            fit,
            vectors,
            table,
            vectorized.vectorization.vectorizer,
            settings.topics,
            without_terms=frozenset(vectorized.empty.ids),
            only_topics=settings.only_topics,
            n_threads=settings.n_threads,
            progress=self.clock.progress,
        )

    def _fit(
        self, vectors: DocumentVectors, table: DocumentTable, settings: RunSettings, rows: Rows | None = None
    ) -> Fit:
        return self.stages.cluster(vectors, table, settings, self.seed, self.clock.progress, rows=rows)

    def _fitted(self, vectors: DocumentVectors, table: DocumentTable, copy_of: Rows | None) -> Fit:
        """Return the clusters of the algorithm: no fewer than the topics that are known."""
        settings = self.settings
        rows = first_copies(copy_of) if settings.fold_copies else None
        fit = self._fit(vectors, table, settings, rows)
        n_topics = 0 if settings.topics is None else n_guides(settings.topics)
        if fit.partition.n_clusters < n_topics:
            fit = self._fit(vectors, table, replace(settings, n_clusters=n_topics, granularity=None), rows)
        return spread_to_copies(fit, copy_of) if settings.fold_copies else fit

    def label(
        self,
        fit: Fit,
        vectorized: VectorizedDocuments,
        texts: Sequence[str] | None,
        copy_of: Rows | None,
    ) -> _Labeled:
        """Return where each document sits, which fit no cluster, and what is said of the clusters."""
        placement = self.stages.place_documents(vectorized.vectors, fit)
        if self.settings.other and fit.choice is not None and fit.is_other is None:
            fit, placement = set_aside(fit, placement, vectorized.vectors, self.settings.space)
        evidence = self.stages.evidence(vectorized.vectors, fit.partition, self.clock.progress)
        around = self.levels(fit, vectorized)
        vectors, levels, descriptions = name_clusters(
            vectorized.vectorization,
            vectorized.vectors,
            evidence,
            placement,
            texts,
            vectorized.documents,
            fit.is_other,
            around,
            unwanted=unwanted_words(vectorized.vectorization, texts, copy_of),
        )
        if fit.topic_of is not None:
            levels, descriptions = with_names_of_topics(fit, self.settings.topics, levels, descriptions)
        return _Labeled(fit, placement, vectors, evidence, descriptions, levels, around.notes)

    def levels(self, fit: Fit, vectorized: VectorizedDocuments) -> LabelsOfLevels:
        """Return the levels above and below the clusters."""
        settings = self.settings
        if settings.levels == "none" or fit.interrupted:
            return LabelsOfLevels()
        if not self.stages.holds_rows(vectorized.vectors.n_documents):
            said = "Sections of the clusters are left out in blocks of this many documents."
            return LabelsOfLevels(notes=(said,) if fit.partition.n_clusters >= FEWEST else ())

        is_counted = np.ones(fit.partition.labels.size, bool) if fit.is_other is None else ~fit.is_other

        def work_on(fit: Fit) -> LevelsWork:
            rows = vectorized.vectors.documents.unit if fit.points is None else fit.points
            return LevelsWork(rows, fit.partition.labels, is_counted, fit.choice, self.seed, self.stages.n_threads)

        work = work_on(fit)
        if fit.topic_of is not None and has_groups(fit, settings.topics):
            return work.above_topics(fit.topic_of, roots(fit, settings.topics))
        if fit.n_outlets is None:
            has_finer = fit.choice is None and fit.topic_of is None and settings.labels is None
            if has_finer and work.labels.size >= LARGE * fit.partition.n_clusters:
                vectors = vectorized.vectors.with_letters(fit.letters)
                choice = self.stages.finer(vectors, vectorized.documents, settings, self.seed, self.clock.progress)
                work = replace(work, choice=choice)
            return work.around()
        if len(vectorized.documents) > MAX_DOCUMENTS:
            said = f"Topics of the stories are left out: there are more than {MAX_DOCUMENTS:,} documents."
            return LabelsOfLevels(notes=(said,))
        of_topics = replace(settings, granularity="topics")
        topics = self._fit(vectorized.vectors, vectorized.documents, of_topics)
        return work.above_stories(None if topics.partition.n_clusters < 2 else work_on(topics))

    def judge(self, documents: DocumentTable, evidence: ClusterEvidence) -> Evaluation:
        """Return the scores of the clusters, by the classes too where there are such."""
        settings = self.settings
        return evaluate(
            evidence.partition,
            truth={column: list(map(list, documents.labels[column])) for column in settings.truth_columns} or None,
            evidence=evidence,
            measures=settings.measures,
            pairwise_seconds=PAIRWISE_SECONDS if settings.measures is not None else 0.0,
            n_threads=settings.n_threads,
            progress=self.clock.progress,
        )

    def _record(
        self,
        source: object,
        documents: SourceDocuments,
        vectorized: VectorizedDocuments,
        copy_of: Rows | None,
        labeled: _Labeled,
        evaluation: Evaluation,
        command: str,
        apart: Apart | None,
    ) -> Run:
        """Return all that the stages made as one value."""
        settings, corpus, fit, placement = self.settings, documents.corpus, labeled.fit, labeled.placement
        of_apart = []
        if apart is not None:
            fit = replace(fit, rule=rule_apart(fit.rule, apart.factors))
            of_apart = apart.notes(fit.partition.labels, has_meaning=settings.has_meaning)
        parameters = settings.as_parameters(source)
        if corpus is not None and corpus.stripped_html:  # new documents are read alike, however few
            parameters["reader"] = {**(parameters["reader"] or {}), "strip_html": True}
        choices = {
            "seed": self.seed,
            **_resolved(documents, vectorized.vectorization, fit, recorded_labels(settings.labels)),
            "stories": fit.n_outlets is not None,
            "letters": None if fit.letters is None else round(fit.letters.weight, 6),
            "rows": documents.source_rows.record,
        }
        if apart is not None:
            choices["apart_from"] = {"terms": apart.strongest, "share_taken": round(apart.share_taken, 6)}
        known = (*settings.truth_columns, *settings.apart_columns)
        followed = followed_column(fit.partition.labels, fit.is_other, vectorized.documents, known)
        if followed is not None:
            choices["follows"] = asdict(followed)
        notes = (
            fit.why,
            meaning_note(vectorized.vectors, settings),
            letters_note(fit.letters, vectorized.vectors.mean_words),
            vectorized.vectorization.options_told(settings.vectorizer),
            boilerplate_note(documents.left_out),
            folding_note(copy_of) if settings.fold_copies and fit.n_outlets is None else None,
            *documents.notes,
            *of_apart,
            None if followed is None else followed.told,
            *fit.notes,
            *labeled.notes,
        )
        return Run(
            documents=vectorized.documents.without_shared_openings(fit.partition.labels.tolist()),
            empty_documents=vectorized.empty,
            vectors=labeled.vectors,
            partition=fit.partition,
            centroids=fit.centroids,
            similarity=placement.similarity,
            runner_up=placement.runner_up,
            runner_up_similarity=placement.runner_up_similarity,
            clusters=labeled.descriptions,
            evaluation=evaluation,
            skipped=(*documents.skipped, *without_terms(vectorized.empty)),
            truth=settings.truth_columns,
            parameters=parameters | {"resolved": choices},
            provenance=Provenance(
                command=command,
                versions=versions(__version__),
                seed=self.seed,
                checksum=documents.checksum,
                started=self.clock.started,
                timings=self.clock.timings,
                peak_memory=peak_memory(),
                interrupted=fit.interrupted,
            ),
            notes=tuple(filter(None, notes)),
            vectorizer=vectorized.vectorization.vectorizer,
            copy_of=copy_of,
            rule=fit.rule,
            is_other=fit.is_other,
            around=labeled.levels,
            _corpus=None if corpus is None or isinstance(corpus.texts, StoredTexts) else corpus,
            _rows=documents.source_rows,
        )


RESOLVED_OF_TERMS = ("analyzer", "min_df", "max_df", "stemming", "weighting")


def _resolved(
    documents: SourceDocuments,
    vectorization: Vectorization,
    fit: Fit,
    labels_from: str | None,
) -> dict[str, object]:
    vectorizer = vectorization.vectorizer
    return {
        "n_clusters": fit.n_asked or fit.partition.n_clusters,
        "labels_from": labels_from,
        "started_from": fit.choice.granularity if fit.choice is not None and fit.from_start else None,
        "meaning": None if vectorization.vectors.meaning is None else vectorization.vectors.meaning.told,
        "stability": None if fit.stability is None else round(fit.stability, 6),
        "languages": list(vectorization.languages),
        "analysis": vectorization.analysis_told,
        "division": "" if documents.corpus is None else documents.corpus.division,
        "text_columns": [] if documents.corpus is None else list(documents.corpus.text_columns),
        "boilerplate": [asdict(line) for line in documents.left_out[:N_KEPT]],
        **{name: jsonable(getattr(vectorizer, name)) for name in RESOLVED_OF_TERMS if vectorizer is not None},
    }
