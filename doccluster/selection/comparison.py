"""Algorithms x seeds x corpora: every measure of every run, what differs beyond chance, and which measures agree.

Each run is fitted in a process of its own, so that its time and its peak memory are its own.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse, stats

from doccluster.blocks import map_blocks
from doccluster.errors import InputError
from doccluster.evaluation import evaluate
from doccluster.measures import get_measure
from doccluster.partition import Partition
from doccluster.progress import Progress, silent
from doccluster.selection.algorithms import parse_algorithm
from doccluster.selection.checkpoint import Checkpoint, fingerprint
from doccluster.selection.significance import friedman_nemenyi, mean_with_interval, paired_tests
from doccluster.validation import check_matrix, unit_rows


@dataclass(frozen=True, eq=False)
class LabelledCorpus:
    """A matrix with the true class of each row (None: not known), and how many clusters to ask for."""

    name: str
    matrix: Any
    truth: Sequence[Any] | None
    n_clusters: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """What the runs gave.

    Attributes
    ----------
    runs : DataFrame
        One row per corpus, algorithm, seed and measure: value; the measures "seconds" and "peak_memory" (bytes the fit
        added to what the process held with the data) among them.
    """

    runs: pd.DataFrame

    def summary(self, *, confidence: float = 0.95) -> pd.DataFrame:
        """Return mean and t interval over seeds for each corpus, algorithm and measure."""
        rows = []
        for keys, group in self.runs.groupby(["corpus", "algorithm", "measure"], sort=False):
            mean, low, high = mean_with_interval(group["value"], confidence=confidence)
            rows.append((*keys, mean, low, high, int(group["value"].notna().sum())))
        return pd.DataFrame(rows, columns=["corpus", "algorithm", "measure", "mean", "low", "high", "n"])

    def tests(self, measures: Iterable[str]) -> pd.DataFrame:
        """Return paired tests over seeds, one row per corpus, measure and pair of algorithms."""
        frames = []
        for measure in measures:
            for corpus, group in self.runs[self.runs["measure"] == measure].groupby("corpus", sort=False):
                wide = group.pivot(index="seed", columns="algorithm", values="value")
                values = {name: wide[name].to_numpy() for name in group["algorithm"].unique()}
                found = paired_tests(values, higher_is_better=higher_is_better(measure))
                frames.append(found.assign(corpus=corpus, measure=measure))
        columns = ["corpus", "measure", "first", "second", "mean_difference", "effect", "p", "p_holm"]
        return pd.concat(frames)[columns].reset_index(drop=True) if frames else pd.DataFrame(columns=columns)

    def ranks(self, measure: str) -> tuple[float, pd.Series, float]:
        """Return Friedman's p, mean ranks and Nemenyi's critical difference over the corpora for one measure."""
        own = self.runs[self.runs["measure"] == measure]
        table = own.pivot_table(index="corpus", columns="algorithm", values="value", aggfunc="mean", sort=False)
        return friedman_nemenyi(table, higher_is_better=higher_is_better(measure))

    def agreement(self, *, reference: str = "adjusted_rand") -> pd.DataFrame:
        """Return how each measure without truth ranks the runs of a corpus beside an external one.

        One row per corpus and measure: Spearman's correlation over all runs of the corpus, turned so that positive
        means that what the measure calls better the reference calls better; n runs; p value.
        """
        rows = []
        for corpus, group in self.runs.groupby("corpus", sort=False):
            wide = group.pivot(index=["algorithm", "seed"], columns="measure", values="value")
            if reference not in wide:
                continue
            for name in wide:
                record = None if name in ("seconds", "peak_memory") else get_measure(str(name))
                if record is None or record.family == "external" or record.direction == "none":
                    continue
                rows.append((corpus, name, *_correlation(wide[name], wide[reference], record.direction == "higher")))
        return pd.DataFrame(rows, columns=["corpus", "measure", "correlation", "p", "n"])


def higher_is_better(measure: str) -> bool:
    """Return whether a larger value of the measure (or of seconds, peak_memory) is better."""
    return measure not in ("seconds", "peak_memory") and get_measure(measure).direction == "higher"


def _correlation(values: pd.Series, reference: pd.Series, higher: bool) -> tuple[float, float, int]:
    known = np.isfinite(values.to_numpy()) & np.isfinite(reference.to_numpy())
    one, two = values.to_numpy()[known], reference.to_numpy()[known]
    if known.sum() < 3 or np.all(one == one[0]) or np.all(two == two[0]):
        return math.nan, math.nan, int(known.sum())
    found = stats.spearmanr(one if higher else -one, two)
    return float(found.statistic), float(found.pvalue), int(known.sum())


def compare(
    corpora: Iterable[LabelledCorpus],
    *,
    algorithms: Iterable[str] = ("spherical-kmeans", "kmeans"),
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
        Rows are made unit; cosine measures are used throughout.
    algorithms : names, with parameters if wanted: ``"spherical-kmeans:refine=true,n_init=1"``
        Of `doccluster.selection.algorithms.ALGORITHMS`.
    seeds : whole numbers
        The same for all algorithms, so that runs can be paired.
    measures : as for `evaluate`
        By default all that cost no more than a pass over the matrix.
    checkpoint : path, optional
        A folder for finished runs; the same call goes on from there.
    n_threads : int, optional
        How many runs are fitted at once, one thread each.

    Raises
    ------
    InputError
        If an algorithm or its parameter is unknown, or two corpora have one name.
    """
    wanted, numbers = list(dict.fromkeys(algorithms)), [int(seed) for seed in seeds]
    for text in wanted:
        parse_algorithm(text)  # refused before any work
    prepared = [_prepared(corpus) for corpus in corpora]
    if len({corpus.name for corpus in prepared}) < len(prepared):
        raise InputError("two corpora have the same name; give each its own.")
    with tempfile.TemporaryDirectory(prefix="doccluster-") as folder:
        stores = {}
        for corpus in prepared:
            _write(corpus, Path(folder))
            own = None if checkpoint is None else Path(checkpoint) / corpus.name
            stores[corpus.name] = Checkpoint(own, fingerprint=fingerprint(corpus.matrix, k=corpus.n_clusters))
        jobs = [(corpus, name, seed) for corpus in prepared for name in wanted for seed in numbers]

        def run(job: tuple[LabelledCorpus, str, int]) -> dict[str, float]:
            corpus, name, seed = job
            key = f"{_safe(name)}-{seed}"
            saved = stores[corpus.name].load(key)
            if saved is None:
                saved = _fit_in_process(Path(folder), corpus, name, seed)
                stores[corpus.name].save(key, saved)
            return _judged(saved, corpus, measures)

        rows: list[tuple[str, str, int, str, float]] = []
        done = zip(jobs, map_blocks(run, jobs, n_threads=n_threads), strict=True)
        for number, ((corpus, name, seed), values) in enumerate(done, start=1):
            rows.extend((corpus.name, name, seed, measure, value) for measure, value in values.items())
            progress("compare", number, len(jobs))
    return Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]))


def _prepared(corpus: LabelledCorpus) -> LabelledCorpus:
    matrix = unit_rows(check_matrix(corpus.matrix), warn=False)
    return LabelledCorpus(corpus.name, matrix, corpus.truth, corpus.n_clusters)


def _safe(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_.=" else "_" for letter in text)


def _write(corpus: LabelledCorpus, folder: Path) -> None:
    path = folder / f"{_safe(corpus.name)}.npz"
    if sparse.issparse(corpus.matrix):
        sparse.save_npz(path, corpus.matrix, compressed=False)
    else:
        np.savez(path, dense=corpus.matrix)


def _fit_in_process(folder: Path, corpus: LabelledCorpus, algorithm: str, seed: int) -> dict[str, Any]:
    job = {
        "path": str(folder / f"{_safe(corpus.name)}.npz"),
        "algorithm": algorithm,
        "seed": seed,
        "n_clusters": corpus.n_clusters,
    }
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "doccluster.selection.one_fit", json.dumps(job)],
        capture_output=True,
        text=True,
        env={**os.environ, **one_thread},  # so that runs side by side, and algorithms, are timed alike
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit status {done.returncode}"
        reason = reason.removeprefix(f"{InputError.__module__}.{InputError.__name__}: ")  # ours is a sentence
        raise InputError(f"{algorithm} failed on {corpus.name} (seed {seed}): {reason}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _judged(saved: Mapping[str, Any], corpus: LabelledCorpus, measures: Any) -> dict[str, float]:
    labels: npt.NDArray[np.int64] = np.array(saved["labels"], dtype=np.int64)
    judged = evaluate(
        Partition.from_labels(labels), truth=corpus.truth, vectors=corpus.matrix, measures=measures, n_threads=1
    )
    values = {score.name: score.value for score in judged if np.ndim(score.value) == 0}
    return {**values, "seconds": saved["seconds"], "peak_memory": saved["peak_memory"]}
