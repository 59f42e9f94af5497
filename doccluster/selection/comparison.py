"""Algorithms x seeds x corpora: every measure of every run, what differs beyond chance, and which measures agree."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from doccluster.blocks import map_blocks, resolve_threads
from doccluster.digests import checksum, matrix_checksum
from doccluster.errors import InputError
from doccluster.evaluation import evaluate
from doccluster.partition import Partition
from doccluster.progress import Progress, silent
from doccluster.selection.checkpoint import Checkpoint
from doccluster.selection.clusterers import Clusterer, as_clusterers, fit_labels
from doccluster.selection.comparison_result import NO_SEED, Comparison
from doccluster.selection.fit_failure import FitFailure
from doccluster.selection.fit_workers import FitWorkers
from doccluster.short_repr import ShortRepr
from doccluster.validation import check_matrix, check_n_clusters, unit_rows

_IN_THIS_PROCESS = threading.Lock()  # one at a time, so that its seconds are its own
Row = tuple[str, str, int, str, float]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledCorpus(ShortRepr):
    """A matrix with the true class of each row, and how many clusters to ask for.

    Attributes
    ----------
    name : str
    matrix : sparse or dense matrix of shape (n_documents, n_terms)
    truth : labels, or None where they are not known
    n_clusters : int
    labels : mapping of name to labels of shape (n_documents,)
        Clusterings made elsewhere, judged like those that are made here.
    seeds : whole numbers, optional
        Instead of those of the comparison: a made corpus may be drawn again for each seed, under one name.
    about : mapping
        What a reader should know of it (the column of the truth, the knobs of a generator); kept with the comparison.
    counts : csr array of shape (n_documents, n_terms), optional
        How often each term occurs, for the algorithms of ours that need counts; they get `matrix` where it is missing.
    """

    name: str
    matrix: Any
    truth: Sequence[Any] | None
    n_clusters: int
    labels: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    counts: Any | None = None

    def matrix_for(self, clusterer: Clusterer) -> Any:
        """Return what an algorithm is fitted to."""
        return self.counts if clusterer.needs_counts and self.counts is not None else self.matrix


@dataclass(frozen=True, eq=False)
class _Job:
    """One fit of one algorithm to one corpus."""

    corpus: LabelledCorpus
    place: Path
    clusterer: Clusterer
    seed: int


def compare(
    corpora: Iterable[LabelledCorpus],
    *,
    algorithms: Iterable[Any] | Mapping[str, Any] = ("spherical-k-means", "k-means"),
    seeds: Iterable[int] = range(10),
    measures: Any = None,
    checkpoint: str | Path | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Return every measure of every algorithm on every corpus for every seed.

    Parameters
    ----------
    corpora : LabelledCorpus
        Rows are made unit; cosine measures are used throughout. One after the other is held, so they may be made on
        the way.
    algorithms : names, factories, estimators, or a mapping of your names to any of these
        A name of `doccluster.clustering.algorithms.ALGORITHMS`, with parameters if wanted
        (``"spherical-k-means:refine=true,n_init=1"``); a factory as ``"module:name"`` or ``"module:name:eps=0.5"``,
        which is imported and called, so it is code you trust; any clusterer with scikit-learn's conventions. Where an
        estimator (or a step of a pipeline) has `n_clusters` and `random_state`, they are set.
    seeds : whole numbers
        The same for all algorithms, so that runs can be paired.
    measures : as for `evaluate`
        By default all that cost no more than a pass over the matrix.
    checkpoint : path, optional
        A folder for finished runs; the same call goes on from there.
    n_threads : int, optional
        How many runs are fitted at once, each in a process of its own with one thread; the processes live as long as
        the call.

    Returns
    -------
    Comparison
        A fit that fails is a row of `failures`, and the others go on.

    Raises
    ------
    InputError
        If an algorithm or its parameter is unknown, two corpora have one name, or no fit came to an end.
    """
    clusterers, numbers = as_clusterers(algorithms), [int(seed) for seed in seeds]  # refused before any work
    checked: Iterable[LabelledCorpus] = _with_own_names(corpora, numbers)
    total = None
    if isinstance(corpora, Sized):
        checked = list(checked)
        total = sum(len(_seeds_of(each, numbers)) for each in checked) * len(clusterers)
    rows: list[Row] = []
    failures: list[tuple[str, str, int, FitFailure]] = []
    abouts: dict[str, dict[str, Any]] = {}
    done = 0
    with tempfile.TemporaryDirectory(prefix="doccluster-") as folder, FitWorkers(resolve_threads(n_threads)) as workers:
        for number, corpus in enumerate(map(_prepared, checked)):
            abouts.setdefault(corpus.name, _about(corpus))
            rows += _judged_elsewhere(corpus, measures, clusterers)
            places = _written(corpus, clusterers, Path(folder), number)
            jobs = [
                _Job(corpus, places[id(corpus.matrix_for(each))], each, seed)
                for each in clusterers
                for seed in _seeds_of(corpus, numbers)
            ]
            for job, values in _results(jobs, workers, checkpoint, measures, n_threads):
                key = (corpus.name, job.clusterer.name, job.seed)
                if isinstance(values, FitFailure):
                    failures.append((*key, values))
                else:
                    rows.extend((*key, measure, value) for measure, value in values.items())
                done += 1
                progress("compare", done, total)
            for place in places.values():
                place.unlink()
    if not rows and failures:
        corpus_name, algorithm, seed, failure = failures[0]
        reason = f"{algorithm} failed on {corpus_name} (seed {seed}): {failure}"
        raise InputError(f"no fit came to an end; {reason}")
    return Comparison(
        pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]),
        pd.DataFrame(
            [(*key, failure.kind, failure.message) for *key, failure in failures],
            columns=["corpus", "algorithm", "seed", "kind", "message"],
        ),
        pd.DataFrame([{"corpus": name, **about} for name, about in abouts.items()]),
    )


def _prepared(corpus: LabelledCorpus) -> LabelledCorpus:
    counts = None if corpus.counts is None else check_matrix(corpus.counts, name="counts")
    return replace(corpus, matrix=unit_rows(check_matrix(corpus.matrix), warn=False), counts=counts)


def _seeds_of(corpus: LabelledCorpus, seeds: list[int]) -> list[int]:
    return seeds if corpus.seeds is None else [int(seed) for seed in corpus.seeds]


def _with_own_names(corpora: Iterable[LabelledCorpus], seeds: list[int]) -> Iterator[LabelledCorpus]:
    """Yield the corpora; raises InputError for a name twice or too many clusters.

    Draws of one made corpus for other seeds share its name.
    """
    seen: set[tuple[str, int]] = set()
    for corpus in corpora:
        own = {(corpus.name, seed) for seed in _seeds_of(corpus, seeds)}
        if own & seen:
            raise InputError(f"two corpora have the same name, {corpus.name!r}", remedy="give each its own")
        seen |= own
        try:
            check_n_clusters(corpus.n_clusters, corpus.matrix.shape[0])
        except InputError as error:
            raise InputError((f"{corpus.name}: ", *error.words)) from error
        yield corpus


def _about(corpus: LabelledCorpus) -> dict[str, Any]:
    n_documents, n_terms = corpus.matrix.shape
    sizes = {"n_documents": n_documents, "n_terms": n_terms, "n_clusters": corpus.n_clusters}
    return {**sizes, **corpus.about}


def _written(corpus: LabelledCorpus, clusterers: Sequence[Clusterer], folder: Path, number: int) -> dict[int, Path]:
    """Write the matrices that the algorithms are fitted to; return the file of each by its identity."""
    places: dict[int, Path] = {}
    for clusterer in clusterers:
        matrix = corpus.matrix_for(clusterer)
        if id(matrix) in places:
            continue
        place = places[id(matrix)] = folder / f"{number}-{len(places)}.npz"
        if sparse.issparse(matrix):
            sparse.save_npz(place, matrix, compressed=False)
        else:
            np.savez(place, dense=matrix)
    return places


def _results(
    jobs: Sequence[_Job], workers: FitWorkers, checkpoint: str | Path | None, measures: Any, n_threads: int | None
) -> Iterator[tuple[_Job, dict[str, float] | FitFailure]]:
    """Yield each job of one corpus with its measures, or with the failure that ended it, in the order of the jobs."""
    corpus = jobs[0].corpus if jobs else None
    if corpus is None:
        return
    own = None if checkpoint is None else Path(checkpoint) / file_name(corpus.name, *(corpus.seeds or ()))
    store = Checkpoint(own, fingerprint=matrix_checksum(corpus.matrix, k=corpus.n_clusters))

    def run(job: _Job) -> dict[str, float] | FitFailure:
        key = file_name(job.clusterer.name, job.seed)
        saved = store.load(key)
        if saved is None:
            saved = _fit(job, workers)
            if "failure" in saved:
                return FitFailure(**saved["failure"])
            store.save(key, saved)
        labels: npt.NDArray[np.int64] = np.array(saved["labels"], dtype=np.int64)
        found = _judged(labels, job.corpus, measures)
        return {**found, "seconds": saved["seconds"], "peak_memory": saved["peak_memory"]}

    yield from zip(jobs, map_blocks(run, jobs, n_threads=n_threads), strict=True)


def file_name(*parts: Any) -> str:
    """Return a name for a file from texts of any kind: readable, and different for different texts."""
    text = "-".join(map(str, parts))
    readable = "".join(letter if letter.isalnum() or letter in "-_.=" else "_" for letter in text)[:80]
    return readable if readable == text else f"{readable}-{checksum([text])[:8]}"


def _fit(job: _Job, workers: FitWorkers) -> dict[str, Any]:
    if job.clusterer.record is None:
        return _fit_here(job)
    return workers.fit(
        {
            "path": str(job.place),
            "record": job.clusterer.record,
            "n_clusters": job.corpus.n_clusters,
            "seed": job.seed,
        }
    )


def _fit_here(job: _Job) -> dict[str, Any]:
    """Fit what cannot travel to a worker; what it adds to the memory of a process that does other work is not known."""
    with _IN_THIS_PROCESS:
        started = time.perf_counter()
        try:
            labels = fit_labels(
                job.clusterer.estimator,
                job.corpus.matrix_for(job.clusterer),
                n_clusters=job.corpus.n_clusters,
                seed=job.seed,
            )
        except Exception as error:  # noqa: BLE001  any estimator may raise anything; it is reported, and others go on
            return {"failure": asdict(FitFailure.of(error))}
        seconds = time.perf_counter() - started
    return {"labels": labels.tolist(), "seconds": seconds, "peak_memory": float("nan")}


def _judged(labels: npt.NDArray[np.int64], corpus: LabelledCorpus, measures: Any) -> dict[str, float]:
    found = Partition.from_labels(labels)
    judged = evaluate(found, truth=corpus.truth, vectors=corpus.matrix, measures=measures, n_threads=1)
    return {score.name: score.value for score in judged if np.ndim(score.value) == 0}


def _judged_elsewhere(corpus: LabelledCorpus, measures: Any, clusterers: Sequence[Clusterer]) -> list[Row]:
    """Return the measures of clusterings made elsewhere, which have neither seed, seconds nor memory."""
    rows: list[Row] = []
    for name, labels in corpus.labels.items():
        if any(name == each.name for each in clusterers):
            raise InputError(f"labels and an algorithm are both called {name!r}", remedy="rename the labels")
        partition = Partition.from_labels(labels, name=f"labels of {name}")
        if partition.n_documents != corpus.matrix.shape[0]:
            raise InputError(
                f"has {partition.n_documents} labels, {corpus.name} has {corpus.matrix.shape[0]} documents",
                argument=name,
                expected="one label per document",
            )
        values = _judged(partition.labels, corpus, measures)
        rows.extend((corpus.name, name, NO_SEED, measure, value) for measure, value in values.items())
    return rows
