"""The whole line, readable as one page: read, vectorize, cluster, label, judge, write."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from doccluster.base.parameter_fields import called_with, described_by
from doccluster.base.progress import StageClock
from doccluster.base.worker_processes import threads_beside, worker_processes
from doccluster.pipeline.block_runs import begin_checkpoints, stages_for
from doccluster.pipeline.cluster_stage import cluster_documents, place_documents, weigh_authors_down
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.pipeline.model_names import RunInterrupted, answers_writer, read_answers
from doccluster.pipeline.naming import name_clusters
from doccluster.pipeline.nested_levels import levels_around
from doccluster.pipeline.recording import MapPlaces, check_work, map_begun, record_run, write_run
from doccluster.pipeline.run_arguments import RunArguments, RunWork
from doccluster.pipeline.run_settings import RunSettings, checked_seed
from doccluster.pipeline.source_meaning import EncodedRows
from doccluster.pipeline.sources import Source
from doccluster.results.record import Run
from doccluster.results.run_folder import Writer


@described_by(RunSettings)
@called_with(RunArguments)
def run_pipeline(source: object, arguments: RunArguments) -> Run:
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
    parts : {"auto", "paragraphs", "sentences", "pages", "turns"} or int, optional
        Cluster long documents in parts, of about this many words, or 100: rows of the run are then parts, with ids such
        as "report#12", and `Run.shares` says what share of each document is in which cluster.
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
    return make_run(source, arguments.settings(), arguments)


def make_run(
    source: object,
    settings: RunSettings,
    work: RunWork = RunWork(),  # noqa: B008  it is never changed
    *,
    encoded_in: Path | None = None,
    may_write: Callable[[Run], bool] | None = None,
) -> Run:
    """Return the run that settings ask for; `run_pipeline` says what the arguments mean and what is raised.

    `encoded_in` is a folder that may keep what the encoder makes, and what models answered; the output by default.
    `may_write` says of the run that was made whether it is written.
    """
    settings.check()
    check_work(work, settings)
    checkpoints = begin_checkpoints(work.output, work.checkpoint, overwrite=work.overwrite)
    opened, kept_in = Source(source, settings.reader), encoded_in or work.output
    seed = secrets.randbits(31) if settings.random_state is None else checked_seed(settings.random_state)
    with (
        stages_for(opened, settings, work, seed=seed, checkpoints=checkpoints) as stages,
        worker_processes(1 if stages.place.is_on_disk else settings.n_threads),  # blocks have workers of their own
    ):
        clock = StageClock(work.progress, began=work.began, tell=stages.tell_stage)
        encoded = EncodedRows.read(kept_in) if settings.encoder is not None else EncodedRows()
        run, prepared, placed = run_stages(opened, stages, clock, encoded, work)
        answers, is_stopped = read_answers(kept_in), run.provenance.interrupted
        writers: dict[str, Writer] = {}
        if work.namer is not None and not is_stopped:
            from doccluster.pipeline.editing import name_new_run

            run, naming, writers = name_new_run(run, work.namer, answers, work.progress)
            is_stopped = naming.n_left > 0
        if work.output is not None and (may_write is None or may_write(run)):
            files = {**writers, **answers_writer(answers)}
            write_run(run, work, encoded=encoded, texts=prepared.texts, placed=placed, also=files)
    if is_stopped:
        raise RunInterrupted(run)
    return run


def run_stages(
    source: Source, stages: Stages, clock: StageClock, encoded: EncodedRows, work: RunWork
) -> tuple[Run, Prepared, MapPlaces | None]:
    """Return the run that the stages make of a source, each of what those before it return, its documents and map."""
    wants_texts = work.report and work.with_texts
    prepared = stages.prepare(source, clock=clock, encoded=encoded, wants_texts=wants_texts, finds_copies=True)
    with clock.stage("cluster"):
        prepared = weigh_authors_down(prepared, stages)
        fit = cluster_documents(prepared, stages)
    with threads_beside(prepared.vectors.n_documents) as begin:
        with clock.stage("label"):
            placed = map_begun(work, stages, prepared.vectors, begin)
            fit, placement = place_documents(fit, prepared, stages)
            evidence = stages.evidence(prepared.vectors, fit.partition)
            around = begin(levels_around, fit, prepared, stages)
            named = name_clusters(fit, prepared, evidence, placement, around, stages)
        with clock.stage("judge"):
            evaluation = stages.judge(evidence, prepared.documents)
    facts = source.given, work.command or "", clock
    return record_run(stages, prepared, fit, placement, named, evaluation, *facts), prepared, placed
