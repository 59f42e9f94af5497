"""Algorithms x seeds x corpora: every measure of every run, what differs beyond chance, and which measures agree."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.arrays import CsrArray, Integers, Matrix
from doccluster.base.blocks import library_threads, map_blocks
from doccluster.base.checksums import checksum, matrix_checksum
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import finished_file, writing
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import check_matrix, check_n_clusters, compact_indices
from doccluster.clustering.algorithms import algorithm_of, get_algorithm
from doccluster.clustering.task import ClusteringTask
from doccluster.errors import Argument, InputError, SchemaError
from doccluster.geometry.partition import Partition
from doccluster.lab.clusterers import Contender, as_clusterers, fit_labels, in_spaces
from doccluster.lab.comparison_result import NO_SEED, Comparison, asked_measures, compared_value
from doccluster.measures import evaluate
from doccluster.vectors.document_vectors import DocumentVectors, as_vectors
from doccluster.vectors.letters import Letters
from doccluster.vectors.meaning import Meaning

_WARM_UP = (200, 10)  # documents and clusters of the first, unmeasured fit of an algorithm
_LONGEST = 500  # characters of the message of a failure

Row = tuple[str, str, int, str, float]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledCorpus(ShortRepr):
    """A matrix with the true class of each row, and a number of clusters.

    Attributes
    ----------
    name : str
    matrix : sparse or dense matrix of shape (n_documents, n_terms), or DocumentVectors
        Vectors bring what else is known of the documents: the counts, meaning and letters below are of a plain matrix.
    truth : labels, or None where they are not known
    n_clusters : int
    labels : mapping of name to labels of shape (n_documents,)
        Clusterings made elsewhere, judged like those that are made here.
    about : mapping
        What a reader should know of it (the column of the truth); kept with the comparison.
    counts : csr array of shape (n_documents, n_terms), optional
        How often each term occurs, for the algorithms that need counts; they get `matrix` where it is missing.
    meaning : Meaning, optional
        The documents in a second space. Measures are of `matrix`.
    letters : Letters, optional
        Short documents by the letters in them, which `smoothed` clusters by where it has no meaning to go by.
    """

    name: str
    matrix: Matrix | DocumentVectors
    truth: Sequence[object] | None
    n_clusters: int
    labels: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, object] = field(default_factory=dict)
    counts: CsrArray | None = None
    meaning: Meaning | None = None
    letters: Letters | None = None

    @cached_property
    def vectors(self) -> DocumentVectors:
        """The documents, checked, as unit rows, and what else is known of them."""
        vectors = self.matrix
        if not isinstance(vectors, DocumentVectors):
            counts = None if self.counts is None else check_matrix(self.counts, name="counts")
            known = {"counts": counts, "meaning": self.meaning, "letters": self.letters}
            vectors = as_vectors(vectors, **known)
        return replace(vectors, matrix=compact_indices(vectors.documents.unit))

    @cached_property
    def beside(self) -> Matrix:
        """Words and meaning as one row for each document."""
        assert self.vectors.meaning is not None  # who asks has looked
        return self.vectors.meaning.beside(self.vectors.matrix)

    def matrix_for(self, clusterer: Contender) -> Matrix:
        """Return the data that an algorithm is fitted to."""
        vectors = self.vectors
        if vectors.meaning is not None and clusterer.space != "words":
            return vectors.meaning.rows if clusterer.space == "meaning" else self.beside
        return vectors.counts if clusterer.needs_counts and vectors.counts is not None else vectors.matrix


@at_the_door
def compare(
    corpora: Iterable[LabelledCorpus],
    *,
    algorithms: Iterable[object] | Mapping[str, object] = ("spherical-k-means", "k-means"),
    seeds: Iterable[int] = range(10),
    measures: object = None,
    checkpoint: str | Path | None = None,
    spaces: str | Iterable[str] = "both",
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Return every measure of every algorithm on every corpus for every seed.

    Parameters
    ----------
    corpora : LabelledCorpus
        Rows are normalised; cosine measures are used throughout. One after the other is held, so they may be made on
        the way.
    algorithms : names, estimators, classes, factories, functions, or a mapping of your names to any of these
        A name of `doccluster.clustering.algorithms.ALGORITHMS`, also with parameters
        (``"spherical-k-means:refine=true,n_init=1"``); any clusterer with scikit-learn's conventions, its class, or a
        function without arguments that returns one; a function ``f(X, n_clusters, random_state)`` that returns a label
        for each row. ``"module:name"`` or ``"module:name:eps=0.5"`` names one of these, which is imported and called,
        so it is code you trust. Where an estimator (or a step of a pipeline) has `n_clusters` and `random_state`, they
        are set.
    seeds : whole numbers
        The same for all algorithms, so that runs can be paired.
    measures : as for `evaluate`
        By default all that cost no more than a pass over the matrix. Of a measure that has a value for each cluster,
        ``"coherence:largest"`` (or smallest, min, max, mean) is the value of those clusters.
    checkpoint : path, optional
        A folder for finished runs; the same call goes on from there.
    spaces : {"both", "words", "meaning"} or several of them
        What documents with a meaning are clustered by; of several, each algorithm by each.
    n_threads : int, optional
        How many runs are fitted at once, each with one thread.

    Returns
    -------
    Comparison
        A fit that fails is a row of `failures`, and the others go on.

    Raises
    ------
    InputError
        If an algorithm or its parameter is unknown, two corpora have one name, or no fit came to an end.
    """
    clusterers = in_spaces(as_clusterers(algorithms), spaces)  # refused before any work
    computed, shown = asked_measures(measures)
    numbers = [int(seed) for seed in seeds]
    checked: Iterable[LabelledCorpus] = _with_own_names(corpora)
    total = None
    if isinstance(corpora, Sized):
        checked = list(checked)
        total = len(checked) * len(clusterers) * len(numbers)
    rows: list[Row] = []
    failures: list[tuple[str, str, int, str, str]] = []
    abouts: list[dict[str, object]] = []
    jobs = [(clusterer, seed) for clusterer in clusterers for seed in numbers]
    n_done = 0
    for corpus in map(replace, checked):  # a copy each, which takes along what is made of it
        (n_documents, n_terms), meaning = corpus.vectors.shape, corpus.vectors.meaning
        about = {"n_documents": n_documents, "n_terms": n_terms, "n_clusters": corpus.n_clusters, **corpus.about}
        if meaning is not None:
            about["meaning"] = f"{meaning.model}, {meaning.n_dimensions:,} dimensions"
        abouts.append({"corpus": corpus.name, **about})
        rows += _judged_elsewhere(corpus, computed, shown, clusterers)
        with library_threads(1):
            for (clusterer, seed), result in _results(corpus, jobs, checkpoint, n_threads):
                key = (corpus.name, clusterer.name, seed)
                if "failure" in result:
                    failures.append((*key, *result["failure"]))
                else:
                    values = _judged(np.array(result["labels"], dtype=np.int64), corpus, computed, shown)
                    rows.extend((*key, measure, value) for measure, value in values.items())
                    rows.append((*key, "seconds", result["seconds"]))
                n_done += 1
                progress("compare", n_done, total)
    if not rows and failures:
        corpus_name, algorithm, seed, kind, message = failures[0]
        raise InputError(f"no fit came to an end; {algorithm} failed on {corpus_name} (seed {seed}): {kind}: {message}")
    return Comparison(
        pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]),
        pd.DataFrame(failures, columns=["corpus", "algorithm", "seed", "kind", "message"]),
        pd.DataFrame(abouts),
        shown,
    )


def _with_own_names(corpora: Iterable[LabelledCorpus]) -> Iterator[LabelledCorpus]:
    """Yield the corpora; raises InputError for a name twice or too many clusters."""
    names: set[str] = set()
    for corpus in corpora:
        if corpus.name in names:
            raise InputError(f"two corpora have the same name, {corpus.name!r}", remedy="give each its own")
        names.add(corpus.name)
        try:
            check_n_clusters(corpus.n_clusters, corpus.matrix.shape[0])
        except InputError as error:
            raise InputError((f"{corpus.name}: ", *error.words)) from error
        yield corpus


def _results(
    corpus: LabelledCorpus,
    jobs: Sequence[tuple[Contender, int]],
    checkpoint: str | Path | None,
    n_threads: int | None,
) -> Iterator[tuple[tuple[Contender, int], dict[str, Any]]]:
    """Yield each job with its labels and seconds, or with the failure that ended it, in the order of the jobs."""
    vectors = corpus.vectors
    views = {} if vectors.meaning is None else vectors.meaning.told
    views |= {} if vectors.letters is None else {"letters": vectors.letters.weight}
    keys, store = [file_name(clusterer.name, seed) for clusterer, seed in jobs], None
    if checkpoint is not None:
        fingerprint = matrix_checksum(vectors.matrix, k=corpus.n_clusters, **views)
        store = Checkpoint(Path(checkpoint) / file_name(corpus.name), fingerprint=fingerprint)
    pieces = {key: piece for key in keys if store and (piece := store.load(key)) is not None}
    for clusterer in {id(job[0]): job[0] for job, key in zip(jobs, keys, strict=True) if key not in pieces}.values():
        # what an algorithm imports and compiles at first is not measured
        few = replace(corpus, matrix=vectors.take(np.arange(min(_WARM_UP[0], vectors.n_documents))))
        _fit(clusterer, few, min(_WARM_UP[1], corpus.n_clusters), 0)

    def run(number: int) -> dict[str, Any]:
        if keys[number] in pieces:
            return dict(pieces[keys[number]])
        clusterer, seed = jobs[number]
        result = _fit(clusterer, corpus, corpus.n_clusters, seed)
        if store and "failure" not in result:
            store.save(keys[number], result)
        return result

    yield from zip(jobs, map_blocks(run, range(len(jobs)), n_threads=n_threads), strict=True)


def _fit(clusterer: Contender, corpus: LabelledCorpus, n_clusters: int, seed: int) -> dict[str, object]:
    """Return labels and seconds of a fit, or the kind and the message of its failure."""
    with library_threads(1, "openmp"):  # OpenMP asks this of each thread that fits
        started = time.perf_counter()
        try:
            if clusterer.takes_two_views:  # as a run does
                name, options = algorithm_of(clusterer.estimator)
                vectors, k = corpus.vectors.in_space(clusterer.space), min(n_clusters, corpus.vectors.n_documents)
                task = ClusteringTask(vectors, k, seed, options, n_threads=1)
                labels = get_algorithm(name).find_clusters(task).labels
            else:
                matrix = corpus.matrix_for(clusterer)
                labels = fit_labels(clusterer.estimator, matrix, n_clusters=n_clusters, seed=seed)
        except Exception as error:  # noqa: BLE001  any estimator may raise anything; it is reported, and others go on
            return {"failure": (type(error).__name__, " ".join(str(error).split())[:_LONGEST])}
        return {"labels": labels.tolist(), "seconds": time.perf_counter() - started}


def file_name(*parts: object) -> str:
    """Return a name for a file from texts of any kind: readable, and different for different texts."""
    text = "-".join(map(str, parts))
    readable = "".join(letter if letter.isalnum() or letter in "-_.=" else "_" for letter in text)[:80]
    return readable if readable == text else f"{readable}-{checksum([text])[:8]}"


def _judged(labels: Integers, corpus: LabelledCorpus, measures: Any, shown: Sequence[str]) -> dict[str, float]:
    partition = Partition.from_labels(labels)
    judged = evaluate(partition, truth=corpus.truth, vectors=corpus.vectors.documents, measures=measures, n_threads=1)
    names = shown or [score.name for score in judged if np.ndim(score.value) == 0]
    return {name: compared_value(judged, name, np.bincount(partition.labels)) for name in names}


def _judged_elsewhere(
    corpus: LabelledCorpus, measures: object, shown: Sequence[str], clusterers: Sequence[Contender]
) -> list[Row]:
    """Return the measures of clusterings made elsewhere, which have neither seed nor seconds."""
    rows: list[Row] = []
    for name, labels in corpus.labels.items():
        if any(name == each.name for each in clusterers):
            raise InputError(f"labels and an algorithm are both called {name!r}", remedy="rename the labels")
        partition = Partition.from_labels(labels, name=f"labels of {name}")
        if partition.n_documents != corpus.vectors.n_documents:
            raise InputError(
                f"has {partition.n_documents} labels, {corpus.name} has {corpus.vectors.n_documents} documents",
                argument=name,
                expected="one label per document",
            )
        values = _judged(partition.labels, corpus, measures, shown)
        rows.extend((corpus.name, name, NO_SEED, measure, value) for measure, value in values.items())
    return rows


class Checkpoint:
    """A folder of finished pieces of one piece of work, each a small json file."""

    def __init__(self, folder: Path, *, fingerprint: str) -> None:
        self._folder, stamp = folder, folder / "fingerprint"
        then = "choose another folder for ", Argument("checkpoint")
        self._writing = partial(writing, folder, problem="finished pieces cannot be kept in {}: {}", then=then)
        with self._writing():
            self._folder.mkdir(parents=True, exist_ok=True)
        if stamp.exists() and stamp.read_text(encoding="utf-8") != fingerprint:
            raise InputError(
                f"{self._folder} holds the pieces of other work (other data or parameters)",
                remedy="choose another folder or delete this one",
            )
        with self._writing():
            stamp.write_text(fingerprint, encoding="utf-8")

    def load(self, name: str) -> Any | None:
        """Return the finished piece of that name, or None if it is still to be done."""
        path = self._folder / f"{name}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except json.JSONDecodeError as error:
            raise SchemaError(f"{path} is damaged ({error})", remedy="delete it to do that piece again") from error

    def save(self, name: str, piece: object) -> None:
        """Keep a finished piece; it appears whole or not at all."""
        with self._writing(), finished_file(self._folder / f"{name}.json") as unfinished:
            unfinished.write_text(json.dumps(piece), encoding="utf-8")
