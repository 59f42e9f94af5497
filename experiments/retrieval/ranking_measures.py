"""How good a ranking is by relevance judgements: precision, average precision, discounted cumulative gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError

Ranking = Sequence[int] | npt.NDArray[np.integer]


def precision_at(ranking: Ranking, grades: Mapping[int, float], k: int = 10) -> float:
    """Return the share of relevant documents among the first k, in [0, 1]; a shorter ranking counts as if filled up.

    Parameters
    ----------
    ranking : sequence of int
        Documents, best first.
    grades : mapping of document to grade
        Documents with a grade above 0 are relevant; absent ones are not.
    k : int

    Examples
    --------
    >>> precision_at([3, 1, 2], {1: 1, 5: 1}, 2)
    0.5
    """
    _check_k(k)
    return float(_gains(ranking[:k], grades).astype(bool).sum() / k)


def average_precision(ranking: Ranking, grades: Mapping[int, float]) -> float:
    """Return the mean of the precision at the rank of each relevant document, 0 for those not ranked, in [0, 1].

    Manning, Raghavan, Schuetze (2008), equation 8.8 for one query; nan if no document is relevant.

    Examples
    --------
    >>> average_precision([3, 1, 2], {1: 1, 5: 1})
    0.25
    """
    n_relevant = sum(grade > 0 for grade in grades.values())
    if n_relevant == 0:
        return float("nan")
    is_relevant = _gains(ranking, grades) > 0
    precision = np.cumsum(is_relevant) / np.arange(1, is_relevant.size + 1)
    return float(precision[is_relevant].sum() / n_relevant)


def ndcg_at(ranking: Ranking, grades: Mapping[int, float], k: int = 10) -> float:
    """Return the discounted cumulative gain of the first k over that of the best ranking, in [0, 1].

    The gain of a document is its grade, discounted by log2(rank + 1) (Jarvelin and Kekalainen 2002,
    doi:10.1145/582415.582418, in the form trec_eval uses); nan if no document is relevant.

    Examples
    --------
    >>> round(ndcg_at([3, 1, 2], {1: 1, 5: 1}), 4)
    0.3869
    """
    _check_k(k)
    best = np.sort([grade for grade in grades.values() if grade > 0])[::-1][:k]
    if best.size == 0:
        return float("nan")
    gains = _gains(ranking[:k], grades)
    return float(_discounted(gains) / _discounted(best))


def _gains(ranking: Ranking, grades: Mapping[int, float]) -> npt.NDArray[np.float64]:
    known = np.fromiter(grades.keys(), dtype=np.int64, count=len(grades))
    values = np.fromiter(grades.values(), dtype=np.float64, count=len(grades))
    documents, order = np.asarray(ranking, dtype=np.int64), np.argsort(known)
    if known.size == 0:
        return np.zeros(documents.size)
    found = order[np.searchsorted(known[order], documents).clip(max=known.size - 1)]
    return np.where(known[found] == documents, np.maximum(values[found], 0.0), 0.0)


def _discounted(gains: npt.NDArray[np.float64]) -> float:
    return float((gains / np.log2(np.arange(2, gains.size + 2))).sum())


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k={k!r} is not a number of documents; give 1 or more.")
