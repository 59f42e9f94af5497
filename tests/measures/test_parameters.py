"""Bad values, and not only bad names, of every parameter of every measure; and what a parameter's value changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from doccluster import score
from doccluster.errors import InputError
from doccluster.measures import list_measures

NOT_A_NUMBER = (math.nan, "many", [1.0])
NO_COUNT = (0, -1, 2.5, "many", math.nan)
NO_CHOICE = ("zzz", None, 7)
BAD = {
    "average": NO_CHOICE,
    "base": (1, 0, -2.0, math.inf, *NOT_A_NUMBER),
    "beta": (-1.0, *NOT_A_NUMBER),
    "between": ("zzz", None, 7, 0),
    "mapping": NO_CHOICE,
    "measure": ("zzz", "silhouette", "divergence_from_random_baseline"),
    "n_classes": NO_COUNT,
    "n_samples": NO_COUNT,
    "n_top_terms": NO_COUNT,
    "normalized": NO_CHOICE,
    "over": NO_CHOICE,
    "over_size": NO_CHOICE,
    "parameters": ({"zzz": 1}, 7),
    "per_document_mean": NO_CHOICE,
    "q": (0, -1.0, *NOT_A_NUMBER),
    "random_state": (-1, "many", 0.5),
    "sample": NO_COUNT,
    "simplified": NO_CHOICE,
    "statistic": NO_CHOICE,
    "summary": NO_CHOICE,
    "within": ("zzz", None, 7, 0),
}
FOUND, TRUTH = [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1, 2, 2, 0, 0, 1, 2]
VECTORS = np.random.default_rng(5).random((12, 6))


def test_every_bad_value_of_every_parameter_is_refused_by_name():
    wrong = []
    for record in list_measures():
        evidence = {"truth": TRUTH} if record.family == "external" else {"vectors": VECTORS}
        for name in record.options:
            for bad in BAD[name]:
                try:
                    outcome = repr(score(record.name, FOUND, **evidence, **{name: bad}).value)
                except InputError as error:
                    outcome = (
                        None
                        if any(word in str(error) for word in (name, repr(bad), "'zzz'", "no parameter zzz"))
                        else str(error)
                    )
                except Exception as error:  # noqa: BLE001  all are told together
                    outcome = repr(error)
                if outcome is not None:
                    wrong.append(f"{record.name}({name}={bad!r}): {outcome}")
    assert not wrong, "\n".join(wrong)


def test_a_summary_of_separations_is_the_one_that_was_asked_for():
    rows = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    sums = np.array([rows[np.equal(FOUND, cluster)].sum(axis=0) for cluster in range(3)])
    means = sums / np.bincount(FOUND)[:, None]
    centroids = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    pairs = [(p, q) for p in range(3) for q in range(3) if p != q]
    for normalized, points in ((True, centroids), (False, means)):
        separations = [points[p] @ points[p] - points[p] @ points[q] for p, q in pairs]
        for summary, expected in (("min", min), ("max", max), ("mean", np.mean)):
            found = score("ics", FOUND, vectors=rows, summary=summary, normalized=normalized).value
            assert found == pytest.approx(expected(separations), abs=1e-12)


def test_the_c_index_of_one_pair_within_is_its_place_between_the_nearest_and_the_farthest():
    rows = VECTORS[:5] / np.linalg.norm(VECTORS[:5], axis=1, keepdims=True)
    distances = 1 - rows @ rows.T
    every = distances[np.triu_indices(5, 1)]
    for first, second in ((0, 1), (1, 3), (2, 4)):
        found = np.arange(5)
        found[second] = found[first]
        expected = (distances[first, second] - every.min()) / (every.max() - every.min())
        assert score("c_index", found, vectors=rows).value == pytest.approx(expected, abs=1e-12)
