"""One sweep over k that shares its fits: every criterion on the data, and the same on data without clusters.

Sources: Zaki & Meira, section 17.3.1 (silhouette, CH, Delta, gap, stability); Tibshirani, Walther & Hastie 2001 (gap on
RSS); the slides of Introduction to Information Retrieval, chapter 16 (RSS + lambda K, the knee); Hartigan 1975.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from doccluster.blocks import map_blocks, resolve_threads
from doccluster.errors import InputError
from doccluster.evaluation import score
from doccluster.partition import Partition
from doccluster.progress import Progress, silent
from doccluster.selection import rules
from doccluster.selection.algorithms import Algorithm, get_algorithm
from doccluster.selection.checkpoint import Checkpoint, fingerprint
from doccluster.selection.dispersion import residual_sum_of_squares, squared_sum_norms, within_weight
from doccluster.selection.null_models import NullModel, sample_null
from doccluster.selection.stability import Resampling, Stability, stability
from doccluster.validation import RandomState, as_generator, check_matrix, squared_row_norms, unit_rows

Chain = dict[int, dict[str, float]]


@dataclass(frozen=True)
class Sweep:
    """Every criterion over k, on the data and on reference data without clusters.

    Attributes
    ----------
    table : DataFrame, one row per k
        Columns n_clusters (found), rss, within, silhouette, calinski_harabasz, delta, hartigan, gap, gap_sd, gap_rss,
        gap_rss_sd, null_silhouette, null_silhouette_sd, stability, stability_se, null_stability (those asked for).
    choices : mapping of criterion to k or None
        What each criterion chooses alone; None where no k qualifies.
    labels : mapping of k to int64 array of shape (n_documents,)
        The clustering of the data for each k.
    null_silhouettes : float64 array of shape (n_null, number of k)
        The silhouette of each reference data set for each k.
    stability : Stability or None
    seconds : float
        How long it took.
    """

    table: pd.DataFrame
    choices: Mapping[str, int | None]
    labels: Mapping[int, npt.NDArray[np.int64]] = field(repr=False)
    null_silhouettes: npt.NDArray[np.float64] = field(repr=False)
    stability: Stability | None = None
    seconds: float = 0.0

    def column(self, name: str) -> dict[int, float]:
        """Return one criterion as a mapping of k to its value."""
        return {int(k): float(value) for k, value in zip(self.table["k"], self.table[name], strict=True)}


def sweep(
    matrix: Any,
    *,
    ks: Iterable[int],
    algorithm: Any = "spherical-kmeans",
    n_init: int = 5,
    n_null: int = 10,
    null: NullModel = "permute",
    n_stability: int = 0,
    n_null_stability: int = 0,
    resampling: Resampling = "subsample",
    stability_measure: str = "adjusted_rand",
    penalty: float | None = None,
    warm_start: bool = True,
    random_state: RandomState = None,
    n_threads: int | None = None,
    checkpoint: str | None = None,
    progress: Progress = silent,
) -> Sweep:
    """Return every criterion for each k, computed from shared fits.

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms)
        Zero rows take part in nothing and should be left out by the caller.
    ks : numbers of clusters, each between 1 and n_documents
    algorithm : see `get_algorithm`
    n_init : int
        Random starts per fit; the best objective (least RSS) is kept.
    n_null, null : int, {"permute", "uniform", "sphere"}
        Reference data sets, and the null hypothesis they are drawn under.
    n_stability, resampling, stability_measure
        Resampled data sets for the stability criterion (0: left out).
    n_null_stability : int
        Of how many reference data sets the stability is found as well (their mean is in the table).
    penalty : float or None
        lambda of RSS(k) + lambda k; there is no default, and without it that criterion is left out.
    warm_start : bool
        Each k also starts from the clustering for the k before it with one more seed; data and reference data alike.
    checkpoint : path or None
        A folder for finished pieces; the same call with the same seed goes on from there.

    Raises
    ------
    InputError
        If a k is out of range.
    """
    started = time.perf_counter()
    chosen = get_algorithm(algorithm, n_init=n_init)
    data = check_matrix(matrix)
    if chosen.metric == "cosine":
        data = unit_rows(data)
    sizes = check_ks(ks, data.shape[0])
    rng = as_generator(random_state)
    seeds = [int(seed) for seed in rng.integers(2**31, size=n_null + 1)]
    store = Checkpoint(
        checkpoint,
        fingerprint=fingerprint(
            data, ks=sizes, algorithm=chosen.name, n_init=n_init, null=null, seeds=seeds, warm=warm_start
        ),
    )
    labels: dict[int, npt.NDArray[np.int64]] = {}

    def chain(number: int) -> Chain:
        saved = store.load(f"chain-{number}")
        if saved is not None:
            if number == 0:
                labels.update({int(k): np.array(found, dtype=np.int64) for k, found in saved["labels"].items()})
            return {int(k): values for k, values in saved["values"].items()}
        own = np.random.default_rng(seeds[number])
        points = data
        if number:
            points = sample_null(data, model=null, random_state=own, keep_unit_rows=chosen.metric == "cosine")
        values, found = _fit_chain(points, sizes, chosen, own, warm_start=warm_start)
        if number == 0:
            labels.update(found)
        kept = {k: each.tolist() for k, each in found.items()} if number == 0 else {}
        store.save(f"chain-{number}", {"values": values, "labels": kept})
        return values

    chains: list[Chain] = []
    for values in map_blocks(chain, range(n_null + 1), n_threads=resolve_threads(n_threads)):
        chains.append(values)
        progress("sweep over k", len(chains), n_null + 1)

    def resampled(points: Any, label: str) -> Stability:
        def tell(stage: str, done: int, total: int | None = None) -> None:
            progress(label, done, total)

        return stability(
            points,
            ks=[k for k in sizes if k > 1],
            algorithm=chosen,
            n_samples=n_stability,
            method=resampling,
            measure=stability_measure,
            random_state=rng,
            n_threads=n_threads,
            progress=tell,
        )

    unit = chosen.metric == "cosine"
    steady = resampled(data, "stability") if n_stability else None
    unsteady = [
        resampled(sample_null(data, model=null, random_state=rng, keep_unit_rows=unit), "stability without clusters")
        for _ in range(n_null_stability if n_stability else 0)
    ]
    table = _tabulate(chains, sizes, n_documents=data.shape[0], steady=steady, unsteady=unsteady)
    choices = _choices(table, n_null=n_null, penalty=penalty, steady=steady)
    nulls = np.array([[values[k]["silhouette"] for k in sizes] for values in chains[1:]]).reshape(-1, len(sizes))
    return Sweep(table, choices, labels, nulls, steady, time.perf_counter() - started)


def check_ks(ks: Iterable[int], n_documents: int) -> list[int]:
    """Return the numbers of clusters sorted and without repetition, or raise InputError if one is out of range."""
    sizes = sorted({int(k) for k in ks})
    if not sizes:
        raise InputError("no number of clusters was given; give for instance ks=range(2, 21).")
    if sizes[0] < 1 or sizes[-1] > n_documents:
        raise InputError(f"k must be between 1 and the {n_documents} documents; got {sizes[0]} to {sizes[-1]}.")
    return sizes


def estimate_seconds(
    matrix: Any, *, ks: Iterable[int], algorithm: Any = "spherical-kmeans", n_init: int = 5, n_fits: int = 11
) -> float:
    """Return roughly how long a sweep will take: one start at the middle k is timed and multiplied."""
    sizes = check_ks(ks, matrix.shape[0])
    middle = sizes[len(sizes) // 2]
    single = get_algorithm(algorithm, n_init=1)
    single.labels(matrix[: min(200, matrix.shape[0])], n_clusters=1, seed=0)  # compile before the clock starts
    started = time.perf_counter()
    single.labels(matrix, n_clusters=middle, seed=0)
    return (time.perf_counter() - started) * n_init * n_fits * len(sizes) / resolve_threads(None)


def _fit_chain(
    points: Any, sizes: list[int], algorithm: Algorithm, rng: np.random.Generator, *, warm_start: bool
) -> tuple[Chain, dict[int, npt.NDArray[np.int64]]]:
    values: Chain = {}
    labels: dict[int, npt.NDArray[np.int64]] = {}
    previous: npt.NDArray[np.int64] | None = None
    for k in sizes:
        found = algorithm.labels(points, n_clusters=k, seed=int(rng.integers(2**31)))
        if warm_start and previous is not None and _can_warm_start(algorithm):
            init = grown_centroids(points, Partition.from_labels(previous), k, unit=algorithm.metric == "cosine")
            if init is not None:
                other = algorithm.labels(points, n_clusters=k, seed=0, init=init)
                found = min((found, other), key=lambda each: _objective(points, each, algorithm))
        partition = Partition.from_labels(found)
        labels[k], previous = partition.labels, partition.labels
        values[k] = _judge(points, partition, algorithm)
    return values, labels


def _can_warm_start(algorithm: Algorithm) -> bool:
    return algorithm.name.partition(":")[0] in ("spherical-kmeans", "kmeans")


def _objective(points: Any, labels: npt.NDArray[np.int64], algorithm: Algorithm) -> float:
    """Return what the algorithm minimises: RSS, or minus the sum of the lengths of the clusters' sums."""
    partition = Partition.from_labels(labels)
    if algorithm.metric == "euclidean":
        return residual_sum_of_squares(points, partition)
    return -float(np.sqrt(squared_sum_norms(points, partition)).sum())


def grown_centroids(points: Any, partition: Partition, n_clusters: int, *, unit: bool) -> Any | None:
    """Return the centroids of a clustering with fewer clusters plus, as new seeds, the documents farthest from theirs.

    Dense arrays stay dense and sparse ones sparse; None where the clustering has not fewer clusters.
    """
    missing = n_clusters - partition.n_clusters
    if missing <= 0:
        return None
    means = partition.membership.T @ points.astype(np.float64, copy=False)
    if sparse.issparse(means):
        means = sparse.csr_array(means)
        means.data /= np.repeat(partition.sizes, np.diff(means.indptr))
    else:
        means = np.asarray(means) / partition.sizes[:, None]
    if unit:
        means = unit_rows(means, warn=False)
    seeds = points[np.argsort(-_distances_to_own(points, means, partition), kind="stable")[:missing]]
    return sparse.csr_array(sparse.vstack([means, seeds])) if sparse.issparse(means) else np.vstack([means, seeds])


def _distances_to_own(points: Any, means: Any, partition: Partition) -> npt.NDArray[np.float64]:
    distances = squared_row_norms(points)
    for cluster in range(partition.n_clusters):
        rows = partition.members(cluster)
        mean = means[[cluster]].toarray().ravel() if sparse.issparse(means) else means[cluster]
        distances[rows] += mean @ mean - 2 * (points[rows] @ mean)
    return distances


def _judge(points: Any, partition: Partition, algorithm: Algorithm) -> dict[str, float]:
    n, k = partition.n_documents, partition.n_clusters
    rss = residual_sum_of_squares(points, partition)
    between = residual_sum_of_squares(points, Partition.from_labels(np.zeros(n, dtype=np.int64))) - rss
    ch = math.nan
    if 1 < k < n:
        ch = math.inf if rss == 0 else (n - k) / (k - 1) * between / rss
    silhouette = math.nan
    if k > 1:
        silhouette = score("silhouette", partition.labels, vectors=points, metric=algorithm.metric).value
    within = within_weight(points, partition, metric=algorithm.metric)
    return {"n_clusters": k, "rss": rss, "within": within, "silhouette": silhouette, "calinski_harabasz": ch}


def gap_statistic(
    observed: Mapping[int, float], reference: Iterable[Mapping[int, float]], *, base: float = 2.0
) -> tuple[dict[int, float], dict[int, float]]:
    """Return gap(k) = mean log W(R_i) - log W(D) and the (population) standard deviation of the log W(R_i).

    A dispersion of zero has no logarithm: the gap is nan for that k (Zaki & Meira, section 17.3.1).
    """
    samples = list(reference)
    gap: dict[int, float] = {}
    sd: dict[int, float] = {}
    for k, value in observed.items():
        drawn = np.array([sample[k] for sample in samples])
        if value <= 0 or drawn.size == 0 or np.any(drawn <= 0):
            gap[k] = sd[k] = math.nan
            continue
        logs = np.log(drawn) / math.log(base)
        gap[k], sd[k] = float(logs.mean() - math.log(value, base)), float(logs.std())
    return gap, sd


def _tabulate(
    chains: list[Chain],
    sizes: list[int],
    *,
    n_documents: int,
    steady: Stability | None,
    unsteady: list[Stability],
) -> pd.DataFrame:
    data, nulls = chains[0], chains[1:]
    table = pd.DataFrame([{"k": k, **data[k]} for k in sizes])
    ch = {k: data[k]["calinski_harabasz"] for k in sizes if not math.isnan(data[k]["calinski_harabasz"])}
    rss = {k: data[k]["rss"] for k in sizes}
    table["delta"] = table["k"].map(rules.delta_ch(ch)).astype(float)
    table["hartigan"] = table["k"].map(rules.hartigan(rss, n_documents=n_documents)).astype(float)
    if nulls:
        for name, form in (("gap", "within"), ("gap_rss", "rss")):
            gap, sd = gap_statistic(
                {k: data[k][form] for k in sizes}, [{k: null[k][form] for k in sizes} for null in nulls]
            )
            table[name], table[f"{name}_sd"] = table["k"].map(gap), table["k"].map(sd)
        silhouettes = np.array([[null[k]["silhouette"] for k in sizes] for null in nulls])
        table["null_silhouette"] = silhouettes.mean(axis=0)
        table["null_silhouette_sd"] = silhouettes.std(axis=0)
    if steady is not None:
        table["stability"] = table["k"].map(dict(steady.values)).astype(float)
        table["stability_se"] = table["k"].map(dict(steady.standard_errors)).astype(float)
    if unsteady:
        mean = {k: float(np.mean([each.values[k] for each in unsteady])) for k in unsteady[0].values}
        table["null_stability"] = table["k"].map(mean).astype(float)
    return table


def _choices(
    table: pd.DataFrame, *, n_null: int, penalty: float | None, steady: Stability | None
) -> dict[str, int | None]:
    def curve(name: str) -> dict[int, float]:
        return {int(k): float(v) for k, v in zip(table["k"], table[name], strict=True)}

    rss = curve("rss")
    choices = {
        "silhouette": rules.best_k(curve("silhouette")),
        "calinski_harabasz": rules.best_k(curve("calinski_harabasz")),
        "delta": rules.best_k(curve("delta"), largest=False),
        "hartigan": rules.hartigan_k({k: v for k, v in curve("hartigan").items() if not math.isnan(v)}),
        "knee": rules.knee_k(rss),
    }
    if penalty is not None:
        choices["penalised_rss"] = rules.penalised_k(rss, penalty=penalty)
    if n_null:
        for name in ("gap", "gap_rss"):
            gap = {k: v for k, v in curve(name).items() if not math.isnan(v)}
            sd = curve(f"{name}_sd")
            choices[f"{name}_zaki"] = rules.gap_k(gap, sd, rule="zaki")
            choices[f"{name}_zaki_2sd"] = rules.gap_k(gap, sd, rule="zaki_2sd")
            choices[f"{name}_tibshirani"] = rules.gap_k(gap, sd, rule="tibshirani", n_samples=n_null)
            choices[f"{name}_max"] = rules.gap_k(gap, sd, rule="max")
    if steady is not None:
        choices["stability"] = steady.chosen
    return choices
