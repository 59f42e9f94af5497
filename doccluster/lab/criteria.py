"""Choosing k as the textbooks do: a criterion for each k from shared fits, and the rule that picks one k.

Sources: Zaki & Meira, Data Mining and Analysis, section 17.3.1 (silhouette, CH, Delta, gap, stability); Tibshirani,
Walther & Hastie 2001 (gap on RSS); the slides of Manning, Raghavan & Schuetze, Introduction to Information Retrieval,
chapter 16 (RSS + lambda K, the knee); Hartigan 1975; Krzanowski & Lai 1988.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import pandas as pd

from doccluster.base.arrays import Floats, Labels
from doccluster.base.blocks import map_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import RandomState, as_generator, check_choice, compact_indices
from doccluster.errors import DocclusterWarning, InputError
from doccluster.geometry import ClusterEvidence, Documents, as_documents
from doccluster.geometry.partition import Partition
from doccluster.lab._null_models import NullModel, sample_null
from doccluster.lab.clusterers import Contender, as_contender, fit_labels
from doccluster.lab.resampling import stability
from doccluster.lab.tendency_tests import Metric, pair_distances
from doccluster.measures import evaluate, get_measure
from doccluster.selection.recommendation import check_ks, checked_criteria

Curve = dict[int, float]
NORMALISED = (
    'rows that are not of unit length are normalised, as the cosine needs; give metric="euclidean" to cluster and judge'
    " them as they are."
)


@dataclass(frozen=True, repr=False)
class CriteriaOverK(ShortRepr):
    """Criteria for each k, and the k that each of them chooses alone.

    Attributes
    ----------
    table : DataFrame, one row per k
        k, rss, and what the criteria need: within (the sum of distances within clusters), silhouette,
        calinski_harabasz, delta, hartigan, krzanowski_lai, gap, gap_sd, gap_rss, gap_rss_sd, stability, stability_se.
    choices : mapping of criterion to k or None
        None where no k qualifies. A criterion always names a k if it can, even where there are no clusters.
    labels : mapping of k to int64 array of shape (n_documents,)
    """

    table: pd.DataFrame
    choices: Mapping[str, int | None]
    labels: Mapping[int, Labels] = field(repr=False)

    def curve(self, column: str) -> Curve:
        """Return one column as a mapping of k to its value, without nan."""
        pairs = zip(self.table["k"], self.table[column], strict=True)
        return {int(k): float(value) for k, value in pairs if not math.isnan(value)}

    def scaled_curve(self, criterion: str) -> Floats:
        """Return the values a criterion chooses by, one for each k, from 0 (the least) to 1; nan if undefined."""
        column = "rss" if criterion in ("knee", "penalised-rss") else criterion.replace("-", "_")
        values = self.table[column].to_numpy(dtype=np.float64)
        finite = values[np.isfinite(values)]
        spread = float(np.ptp(finite)) if finite.size else 0.0
        return np.where(np.isfinite(values), (values - (finite.min() if finite.size else 0)) / (spread or 1.0), np.nan)


@at_the_door
def criteria_over_k(
    vectors: object,
    *,
    ks: Iterable[int],
    criteria: Iterable[str] | str = "all",
    algorithm: object = "spherical-k-means",
    metric: Metric | None = None,
    n_init: int = 5,
    n_null: int = 10,
    null: NullModel = "deal",
    n_resamples: int = 20,
    stability_measure: str = "adjusted_rand",
    penalty: float | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> CriteriaOverK:
    """Return criteria for each k from shared fits, and what each chooses.

    Parameters
    ----------
    vectors : DocumentVectors, csr or dense array of shape (n_documents, n_terms)
    ks : numbers of clusters, each between 1 and n_documents
    criteria : names of `CRITERIA`, or "all"
        "penalised-rss" needs a `penalty` and is left out of "all" without one.
    algorithm : str or estimator
        As for `compare`; by its name alone it starts `n_init` times in each fit.
    metric : {"cosine", "euclidean"}
        How rows are clustered and judged: at unit length, or as they are. By default that of the algorithm's name; for
        an estimator it is the cosine, and rows that are not unit are normalised, with a warning.
    n_null, null : int, {"deal", "permute", "uniform"}
        Reference data sets of the gap statistic, and the null hypothesis they are drawn under.
    n_resamples : int
        Bootstrap samples of the stability.
    stability_measure : str
        The external measure that says how well two of them agree; a distance chooses its least value.
    penalty : float
        lambda of RSS(k) + lambda k. There is no default: it scales with the number of documents, and the AIC form
        (2 x terms) chooses k = 1 on text.

    Raises
    ------
    InputError
        If a k is out of range, a name is not known, the penalty is missing, or the gap has no reference data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> topics = np.repeat(np.eye(3), 20, axis=0).repeat(10, axis=1)
    >>> rows = topics * (rng.random((60, 30)) < 0.5)
    >>> criteria_over_k(rows, ks=range(2, 6), criteria=["silhouette", "gap", "stability"], random_state=0).choices
    {'silhouette': 3, 'gap': 3, 'stability': 3}
    """
    names = checked_criteria(criteria, penalty)
    clusterer = as_contender(algorithm, n_init=n_init)
    if metric is not None:
        check_choice(metric, get_args(Metric), "metric")
        clusterer = replace(clusterer, metric=metric)
    documents = as_documents(getattr(vectors, "matrix", vectors))
    if metric is None and not isinstance(algorithm, str) and not documents.has_unit_rows:
        warnings.warn(NORMALISED, DocclusterWarning, stacklevel=3)
    is_cosine = clusterer.metric == "cosine"
    matrix = documents.unit if is_cosine else documents.matrix
    sizes = check_ks(ks, matrix.shape[0])
    rng = as_generator(random_state)
    has_gap = bool({"gap", "gap-rss"} & set(names))
    if has_gap and n_null < 1:
        raise InputError(argument="n_null", received=n_null, expected="at least 1 for the gap")
    n_null = n_null if has_gap else 0
    seeds = [int(seed) for seed in rng.integers(2**31, size=n_null + 1)]

    def fit_all(number: int) -> tuple[dict[int, Labels], dict[int, dict[str, float]]]:
        """Return labels and values for each k of the data (number 0) or of a reference data set."""
        own_rng = np.random.default_rng(seeds[number])
        rows = matrix
        if number:
            rows = sample_null(matrix, model=null, random_state=own_rng, keep_unit_rows=is_cosine)
        return _fit_sizes(as_documents(rows), sizes, clusterer, own_rng, judge_all=number == 0)

    fits = []
    for fit in map_blocks(fit_all, range(n_null + 1), n_threads=n_threads):
        fits.append(fit)
        progress("criteria", len(fits), n_null + 1)
    labels, values = fits[0]
    columns = {name: {k: values[k][name] for k in sizes} for name in values[sizes[0]]}
    columns["delta"] = delta_ch({k: ch for k, ch in columns["calinski_harabasz"].items() if not math.isnan(ch)})
    columns["hartigan"] = hartigan(columns["rss"], n_documents=matrix.shape[0])
    columns["krzanowski_lai"] = krzanowski_lai(columns["rss"], n_terms=matrix.shape[1])
    # the gap compares each curve with that of reference data without clusters
    for column, value in {"gap": "within", "gap_rss": "rss"}.items() if n_null else ():
        reference = [{k: of_k[value] for k, of_k in null_values.items()} for _, null_values in fits[1:]]
        columns[column], columns[f"{column}_sd"] = gap_statistic(columns[value], reference)
    if "stability" in names:
        several = [k for k in sizes if k > 1]
        columns["stability"], columns["stability_se"] = stability(
            matrix,
            ks=several,
            algorithm=clusterer,
            n_samples=n_resamples,
            measure=stability_measure,
            random_state=rng,
            n_threads=n_threads,
        )
    table = pd.DataFrame(
        {"k": sizes, **{name: [curve.get(k, math.nan) for k in sizes] for name, curve in columns.items()}}
    )
    result = CriteriaOverK(table, {}, labels)
    least_is_best = {"delta"} | ({"stability"} if get_measure(stability_measure).direction == "lower" else set())
    return replace(result, choices={name: _choice(name, result, n_null, penalty, least_is_best) for name in names})


def _fit_sizes(
    documents: Documents, sizes: Sequence[int], clusterer: Contender, rng: np.random.Generator, *, judge_all: bool
) -> tuple[dict[int, Labels], dict[int, dict[str, float]]]:
    rows = compact_indices(documents.matrix)
    labels: dict[int, Labels] = {}
    values: dict[int, dict[str, float]] = {}
    for k in sizes:
        n_clusters = min(k, documents.n_distinct)
        labels[k] = fit_labels(clusterer.estimator, rows, n_clusters=n_clusters, seed=int(rng.integers(2**31)))
        evidence = ClusterEvidence(documents, Partition.from_labels(labels[k]), metric=clusterer.metric, n_threads=1)
        values[k] = {"rss": evidence.centres.rss, "within": within_weight(evidence)}
        if judge_all:
            names = ("silhouette", "calinski_harabasz")
            values[k] |= dict.fromkeys(names, math.nan)
            if evidence.n_clusters > 1:
                scores = evaluate(labels[k], vectors=documents, measures=names, metric=clusterer.metric, n_threads=1)
                values[k] |= {name: scores[name].value for name in names if name in scores}
    return labels, values


def within_weight(evidence: ClusterEvidence) -> float:
    """Return W_in, the sum of the distances of all pairs of documents of one cluster (eq. 17.23).

    Cosine: from the sums, in O(nnz). Euclidean: all pairs within clusters, a block of rows at a time.
    """
    if evidence.metric != "euclidean":
        return float(evidence.pairs.cluster_weights[0].sum()) / 2
    matrix, partition = evidence.documents.matrix, evidence.partition
    clusters = (matrix[partition.members(cluster)] for cluster in range(partition.n_clusters))
    return float(sum(block.sum() for rows in clusters for block in pair_distances(rows, metric="euclidean")))


def _choice(
    name: str, result: CriteriaOverK, n_null: int, penalty: float | None, least_is_best: set[str]
) -> int | None:
    """Return the k that one criterion chooses from its curve."""
    curve = result.curve
    if name == "gap":
        return gap_k(curve("gap"), curve("gap_sd"))
    if name == "gap-rss":
        return gap_k(curve("gap_rss"), curve("gap_rss_sd"), n_sd=math.sqrt(1 + 1 / n_null))
    if name == "knee":
        return knee_k(curve("rss"))
    if name == "penalised-rss":
        return penalised_k(curve("rss"), penalty=math.nan if penalty is None else penalty)
    if name == "hartigan":
        return hartigan_k(curve("hartigan"))
    return best_k(curve(name.replace("-", "_")), largest=name not in least_is_best)


def best_k(values: Mapping[int, float], *, largest: bool = True) -> int | None:
    """Return the k whose value is the largest (or the smallest), the smaller k on ties, ignoring nan.

    >>> best_k({2: 0.3, 3: 0.5, 4: 0.5, 5: float("nan")})
    3
    """
    finite = {k: value for k, value in sorted(values.items()) if not math.isnan(value)}
    if not finite:
        return None
    return (max if largest else min)(finite, key=finite.__getitem__)


def delta_ch(calinski_harabasz: Mapping[int, float]) -> Curve:
    """Return Delta(k) = (CH(k+1) - CH(k)) - (CH(k) - CH(k-1)) where k-1, k and k+1 are known and k-1 >= 2.

    The chosen k is the arg min. Zaki & Meira, section 17.3.1, write k > 3 and choose k = 3: k >= 3 is meant.

    >>> delta_ch({2: 1.0, 3: 5.0, 4: 6.0})
    {3: -3.0}
    """
    ch = calinski_harabasz
    inner = [k for k in sorted(ch) if k - 1 >= 2 and k - 1 in ch and k + 1 in ch]
    return {k: (ch[k + 1] - ch[k]) - (ch[k] - ch[k - 1]) for k in inner}


def gap_statistic(observed: Mapping[int, float], reference: Iterable[Mapping[int, float]]) -> tuple[Curve, Curve]:
    """Return gap(k) = mean log W(R_i) - log W(D) and the (population) standard deviation of the log W(R_i), in bits.

    A dispersion of zero has no logarithm: the gap is nan for that k (Zaki & Meira, section 17.3.1).
    """
    samples = list(reference)
    gap: Curve = {}
    sd: Curve = {}
    for k, value in observed.items():
        sampled = np.array([sample[k] for sample in samples])
        if value <= 0 or sampled.size == 0 or np.any(sampled <= 0):
            gap[k] = sd[k] = math.nan
            continue
        logs = np.log(sampled) / math.log(2.0)
        gap[k], sd[k] = float(logs.mean() - math.log(value, 2.0)), float(logs.std())
    return gap, sd


def gap_k(gap: Mapping[int, float], sd: Mapping[int, float], *, n_sd: float = 1.0) -> int | None:
    """Return the least k with gap(k) >= gap(k+1) - n_sd sd(k+1), or None where no k qualifies.

    `sd` are the standard deviations of the reference dispersions. Of these Zaki & Meira, section 17.3.1, take 1 or 2,
    and Tibshirani, Walther & Hastie 2001 sqrt(1 + 1/t) for t reference sets. Where k + 1 is not among the gaps, the
    next k that is takes its place.
    """
    pairs = itertools.pairwise(sorted(gap))
    return next((k for k, after in pairs if gap[k] >= gap[after] - n_sd * sd[after]), None)


def penalised_k(rss: Mapping[int, float], *, penalty: float) -> int | None:
    """Return the k that minimises RSS(k) + penalty * k, the smallest on ties.

    Source: the slides of Manning, Raghavan & Schuetze, Introduction to Information Retrieval, chapter 16.
    """
    if not penalty >= 0:
        raise InputError(argument="penalty", received=penalty, expected="a number >= 0")
    return best_k({k: value + penalty * k for k, value in rss.items()}, largest=False)


def knee_k(rss: Mapping[int, float]) -> int | None:
    """Return the k farthest below the chord from the first to the last point of the curve, both axes scaled to [0, 1].

    A heuristic in place of the eye (the slides choose a knee of "4 or 9" by looking). None for fewer than three points
    or a curve that does not fall.
    """
    ks = [k for k in sorted(rss) if not math.isnan(rss[k])]
    if len(ks) < 3 or not rss[ks[0]] > rss[ks[-1]]:
        return None
    width, height = ks[-1] - ks[0], rss[ks[0]] - rss[ks[-1]]
    depth = {k: 1 - (k - ks[0]) / width - (rss[k] - rss[ks[-1]]) / height for k in ks}
    best = best_k(depth)
    return best if best is not None and depth[best] > 0 else None


def hartigan(rss: Mapping[int, float], *, n_documents: int) -> Curve:
    """Return (RSS(k) / RSS(k+1) - 1)(n - k - 1) for each k with a successor; infinite where RSS(k+1) = 0.

    Source: Hartigan 1975, Clustering Algorithms.
    """
    pairs = [(k, rss[k], rss[k + 1]) for k in sorted(rss) if k + 1 in rss]
    return {k: (here / after - 1) * (n_documents - k - 1) if after > 0 else math.inf for k, here, after in pairs}


def hartigan_k(values: Mapping[int, float]) -> int | None:
    """Return the least k whose Hartigan value is at most 10, or None."""
    return next((k for k in sorted(values) if values[k] <= 10.0), None)


def krzanowski_lai(rss: Mapping[int, float], *, n_terms: int) -> Curve:
    """Return |DIFF(k) / DIFF(k+1)| with DIFF(k) = (k-1)^(2/d) RSS(k-1) - k^(2/d) RSS(k); the largest is chosen.

    With as many dimensions d as a vocabulary has, the exponent vanishes and only plain differences of RSS are left.
    Source: Krzanowski & Lai 1988, Biometrics 44.
    """
    power = 2 / n_terms
    falls = {k: (k - 1) ** power * rss[k - 1] - k**power * rss[k] for k in sorted(rss) if k - 1 in rss}
    pairs = [(k, fall, falls[k + 1]) for k, fall in falls.items() if k + 1 in falls]
    return {k: abs(fall / after) if after else math.inf for k, fall, after in pairs}
