"""Every internal reference value through `doccluster.score`, by the names in tests/golden/oracle_names.json."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
from scipy import sparse

import doccluster
from tests.measures.test_internal_against_oracle import NOT_BUILT, STRUCTURAL, numbers

NAMES = json.loads((pathlib.Path(__file__).parent.parent / "golden" / "oracle_names.json").read_text("utf-8"))
# values of evidence objects, tested there
INSIDE = {*STRUCTURAL, *NOT_BUILT, "determinants", "cosine_sum_w", "cosine_sum_w_squared", "gram_frobenius_squared"}


def cases(oracle):
    """All inputs with internal reference values: name, rows, labels, metric, values, tolerance."""
    for case in json.loads((oracle / "small_cases.json").read_text("utf-8"))["cases"]:
        for metric in ("euclidean", "cosine"):
            yield case["name"], case["X"], case["labels"], metric, case[f"internal_{metric}"], 1e-9
    hand = json.loads((oracle / "hand_example.json").read_text("utf-8"))
    yield "hand", hand["X"], hand["labels"], "euclidean", hand["internal_euclidean"], 1e-12
    for case in json.loads((oracle / "extra_cases.json").read_text("utf-8"))["internal"]:
        yield case["name"], case["X"], case["labels"], "euclidean", case["values"], 1e-12


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")
def test_every_reference_value_is_reproduced_through_score(oracle):
    compared, wrong = 0, []
    for case, rows, labels, metric, values, tolerance in cases(oracle):
        for key, expected in values.items():
            if key in INSIDE:
                continue
            entry = NAMES[key]
            options = {"metric": metric, **entry["parameters"]}
            ours = doccluster.score(entry["measure"], labels, vectors=sparse.csr_array(np.array(rows)), **options)
            got, want = np.asarray(getattr(ours, entry["part"]), float), numbers(expected)
            compared += 1
            scale = np.maximum(1.0, np.where(np.isfinite(want), np.abs(want), 1.0))
            if got.shape != np.shape(want) or not np.allclose(
                got / scale, want / scale, rtol=0, atol=tolerance, equal_nan=True
            ):
                wrong.append((case, metric, key, expected, got.tolist()))
    assert not wrong
    assert compared > 800


def test_topic_values_are_reproduced_through_score(oracle):
    case = json.loads((oracle / "extra_cases.json").read_text("utf-8"))["topics"]
    rows = np.array(case["counts"], dtype=float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for top, values in case["values"].items():
        for key, expected in values.items():
            if key == "top_terms":
                continue
            entry = NAMES[f"{top}/{key}"]
            ours = doccluster.score(entry["measure"], case["labels"], vectors=rows, **entry["parameters"])
            np.testing.assert_allclose(getattr(ours, entry["part"]), numbers(expected), atol=1e-12)
