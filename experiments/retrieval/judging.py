"""Measures of rankings by query, parameters by cross-validation over queries, and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from experiments.retrieval.judged_collections import Collection
from experiments.retrieval.ranking_measures import average_precision, ndcg_at, precision_at

N_FOLDS = 5
N_SIGNS = 10_000

Floats = npt.NDArray[np.float64]


def cross_validated(collection: Collection, runs: Sequence[Floats]) -> tuple[dict[str, Floats], Floats]:
    """Return the measures of each query, and its scores, by the parameters that are best on the other folds."""
    judged = [judge(collection, scores) for scores in runs]
    fold = np.arange(len(collection.queries)) % N_FOLDS
    chosen = np.empty(fold.size, dtype=np.int64)
    for number in range(N_FOLDS):
        chosen[fold == number] = int(np.argmax([one["MAP"][fold != number].mean() for one in judged]))
    rows = range(fold.size)
    values = {name: np.array([judged[chosen[row]][name][row] for row in rows]) for name in judged[0]}
    return values, np.array([runs[chosen[row]][row] for row in rows])


def judge(collection: Collection, scores: Floats) -> dict[str, Floats]:
    """Return the measures of each query for the ranking of all documents by their scores."""
    rankings = np.argsort(-scores, axis=1, kind="stable")
    pairs = list(zip(rankings, collection.grades, strict=True))
    return {
        "MAP": np.array([average_precision(ranking, grades) for ranking, grades in pairs]),
        "P@10": np.array([precision_at(ranking, grades) for ranking, grades in pairs]),
        "nDCG@10": np.array([ndcg_at(ranking, grades) for ranking, grades in pairs]),
    }


def means(values: Mapping[str, Floats]) -> dict[str, float]:
    """Return the means over queries."""
    return {name: float(each.mean()) for name, each in values.items()}


def randomisation_p(first: Floats, second: Floats) -> float:
    """Return the two-sided p of a paired randomisation test: how often random signs give as large a mean difference."""
    difference = first - second
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(N_SIGNS, difference.size))
    seen = abs(difference.mean())
    return float((1 + np.count_nonzero(np.abs(signs @ difference) / difference.size >= seen - 1e-15)) / (1 + N_SIGNS))
