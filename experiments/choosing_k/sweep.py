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

from doccluster.base.short_repr import ShortRepr
from doccluster.blocks import map_blocks
from doccluster.errors import InputError
from doccluster.geometry import as_documents
from doccluster.selection.clusterers import Contender
from doccluster.selection.recommendation import check_ks
from doccluster.validation import RandomState, as_generator, unit_rows
from experiments.choosing_k.chains import Chain, fit_chain
from experiments.choosing_k.contenders import get_contender
from experiments.choosing_k.criteria_table import choices_alone, criteria_table
from experiments.choosing_k.stability import Resampling, Stability, stability
from experiments.tendency.distance_blocks import Metric
from experiments.tendency.null_models import NullModel, sample_null


@dataclass(frozen=True, repr=False)
class Sweep(ShortRepr):
    """Every criterion over k, on the data and on reference data without clusters.

    Attributes
    ----------
    table : DataFrame, one row per k
        Columns k, n_clusters (found, fewer than k where not all could be filled), rss, within, silhouette,
        calinski_harabasz, delta, hartigan, krzanowski_lai, sd, gap, gap_sd, gap_rss, gap_rss_sd, null_silhouette,
        null_silhouette_sd, stability, stability_se (those asked for).
    choices : mapping of criterion to k or None
        What each criterion chooses alone; None where no k qualifies.
    labels : mapping of k to int64 array of shape (n_documents,)
        The clustering of the data for each k.
    null_silhouettes : float64 array of shape (n_null, number of k)
        The silhouette of each reference data set for each k.
    stability : Stability or None
    metric : {"cosine", "euclidean"}
        What clusters were judged in.
    null : str
        The null model of the reference data.
    seconds : float
        How long it took.
    """

    table: pd.DataFrame
    choices: Mapping[str, int | None]
    labels: Mapping[int, npt.NDArray[np.int64]] = field(repr=False)
    null_silhouettes: npt.NDArray[np.float64] = field(repr=False)
    stability: Stability | None = None
    metric: Metric = "cosine"
    null: NullModel = "deal"
    seconds: float = 0.0

    def column(self, name: str) -> dict[int, float]:
        """Return one criterion as a mapping of k to its value."""
        return {int(k): float(value) for k, value in zip(self.table["k"], self.table[name], strict=True)}


def sweep(
    matrix: Any,
    *,
    ks: Iterable[int],
    algorithm: Any = "spherical-k-means",
    n_init: int = 5,
    n_null: int = 10,
    null: NullModel = "deal",
    n_stability: int = 0,
    resampling: Resampling = "subsample",
    stability_measure: str = "adjusted_rand",
    penalty: float | None = None,
    warm_start: bool = True,
    random_state: RandomState = None,
    n_threads: int | None = None,
) -> Sweep:
    """Return every criterion for each k, computed from shared fits.

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms)
        Zero rows take part in nothing and should be left out by the caller.
    ks : numbers of clusters, each between 1 and n_documents
    algorithm : see `get_contender`
    n_init : int
        Random starts per fit; the best objective (least RSS) is kept.
    n_null, null : int, {"deal", "permute", "uniform"}
        Reference data sets, and the null hypothesis they are drawn under.
    n_stability, resampling, stability_measure
        Resampled data sets for the stability criterion (0: left out).
    penalty : float or None
        lambda of RSS(k) + lambda k; there is no default, and without it that criterion is left out.
    warm_start : bool
        Each k also starts from the clustering for the k before it with one more seed; data and reference data alike.

    Raises
    ------
    InputError
        If a k is out of range.
    """
    started = time.perf_counter()
    chosen = get_contender(algorithm, n_init=n_init)
    data = as_documents(matrix).matrix
    if chosen.metric == "cosine":
        data = unit_rows(data)
    sizes = check_ks(ks, data.shape[0])
    rng = as_generator(random_state)
    work = _SweepWork(
        data, sizes, chosen, null, warm_start, [int(seed) for seed in rng.integers(2**31, size=n_null + 1)]
    )
    fitted = list(map_blocks(work.chain, range(n_null + 1), n_threads=n_threads))
    chains, labels = [values for values, _ in fitted], fitted[0][1]
    steady = None
    if n_stability:
        steady = stability(
            data,
            ks=[k for k in sizes if k > 1],
            algorithm=chosen,
            n_samples=n_stability,
            method=resampling,
            measure=stability_measure,
            random_state=rng,
            n_threads=n_threads,
        )
    table = criteria_table(chains, n_documents=data.shape[0], n_terms=data.shape[1], steady=steady)
    choices = choices_alone(table, n_null=n_null, penalty=penalty, steady=steady)
    nulls = np.array([[values[k]["silhouette"] for k in sizes] for values in chains[1:]]).reshape(-1, len(sizes))
    seconds = time.perf_counter() - started
    return Sweep(table, choices, labels, nulls, steady, chosen.metric, null, seconds)


@dataclass(frozen=True, eq=False)
class _SweepWork:
    """What the fits of a sweep share."""

    data: Any
    sizes: list[int]
    algorithm: Contender
    null: NullModel
    warm_start: bool
    seeds: list[int]

    def reference(self, rng: np.random.Generator) -> Any:
        unit = self.algorithm.metric == "cosine"
        return sample_null(self.data, model=self.null, random_state=rng, keep_unit_rows=unit)

    def chain(self, number: int) -> tuple[Chain, dict[int, npt.NDArray[np.int64]]]:
        """Return the chain of the data (number 0) or of a reference data set, each with a seed of its own."""
        own = np.random.default_rng(self.seeds[number])
        points = self.reference(own) if number else self.data
        return fit_chain(points, self.sizes, self.algorithm, own, warm_start=self.warm_start, scatter=number == 0)


def default_ks(n_documents: int) -> list[int]:
    """Return about 25 numbers of clusters between 2 and three times the square root of n, spread geometrically.

    Examples
    --------
    >>> default_ks(49)
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21]
    """
    if n_documents < 3:
        raise InputError(
            f"{n_documents} document(s) leave no number of clusters to try", remedy="give at least 4 documents"
        )
    largest = min(n_documents - 1, max(10, 3 * math.isqrt(n_documents)))
    return sorted({round(k) for k in np.geomspace(2, largest, 25)} | set(range(2, min(largest, 10) + 1)))
