"""Internal and intrinsic measures against values computed pair by pair, on sparse and dense, float64 and float32."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.measures import get_measure
from doccluster.measures._distances import PairwiseDistances

STRUCTURAL = {
    "k": lambda e: e.geometry.n_clusters,
    "sizes": lambda e: e.geometry.sizes,
    "bgss": lambda e: e.geometry.centres.bgss,
    "principal_dimension": lambda e: e.geometry.centres.principal_dimension,
    "n_in": lambda e: e.geometry.n_inner_pairs,
    "n_out": lambda e: e.geometry.n_outer_pairs,
    "block_weights": lambda e: e.block_weights,
    "w_in": lambda e: e.cluster_weights[0].sum() / 2,
    "w_out": lambda e: (e.cluster_weights[1].sum() - e.cluster_weights[0].sum()) / 2,
    "s_plus": lambda e: e.order_counts.s_plus,
    "s_minus": lambda e: e.order_counts.s_minus,
}
PARTS = {
    "banfeld_raftery": ("banfield_raftery", "value"),  # misspelt in the reference values
    "rss_clusters": ("rss", "per_cluster"),
    "cluster_similarity": ("cluster_similarity", "per_cluster"),
    "pairwise_similarity": ("pairwise_similarity", "per_cluster"),
    "coherence": ("coherence", "per_cluster"),
    "coherence_others": ("coherence_others", "per_cluster"),
    "adherence": ("adherence", "per_pair"),
    "density": ("density", "per_cluster"),
    "density_over_size": ("density_over_size", "per_cluster"),
    "ics": ("ics", "per_pair"),
    "ics_raw_means": ("ics_raw_means", "per_pair"),
    "silhouette_samples": ("silhouette", "per_document"),
    "silhouette_clusters": ("silhouette", "per_cluster"),
}
# s_dbw is not built: on sparse rows no document lies within one deviation of a centre, so it equals sd_scat.
NOT_BUILT = {"s_dbw"}


def numbers(value):
    """Return the value with the texts NaN and Infinity as numbers."""
    if isinstance(value, list):
        return np.array([numbers(item) for item in value], dtype=float)
    return float(value)


def value_of(key, evidence):
    """Return what we say for a key of the reference values."""
    if key in STRUCTURAL:
        return STRUCTURAL[key](evidence)
    name, part = PARTS.get(key, (key, "value"))
    record = get_measure(name)
    kind = record.evidence_for(evidence.geometry.metric)
    return getattr(record.compute(evidence if kind == "pairwise" else evidence.geometry), part)


def check(values, evidence, *, tolerance, skip=frozenset()):
    """Compare all values, relative to max(1, |value|), and list all that differ at once."""
    wrong = {}
    for key, expected in values.items():
        if key in NOT_BUILT or key in skip:
            continue
        got, want = np.asarray(value_of(key, evidence), dtype=float), numbers(expected)
        scale = np.maximum(1.0, np.where(np.isfinite(want), np.abs(want), 1.0))
        if got.shape != np.shape(want) or not np.allclose(
            got / scale, want / scale, rtol=0, atol=tolerance, equal_nan=True
        ):
            wrong[key] = (got, want)
    assert not wrong


def evidence_of(matrix, labels, metric):
    geometry = ClusterEvidence(matrix, Partition.from_labels(labels), metric=metric, n_threads=1)
    return PairwiseDistances(geometry)


FORMS = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "dense": np.asarray,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_small_cases(oracle, form, metric):
    for case in json.loads((oracle / "small_cases.json").read_text())["cases"]:
        values = {k: v for k, v in case[f"internal_{metric}"].items() if k != "determinants"}
        check(values, evidence_of(FORMS[form](np.array(case["X"])), case["labels"], metric), tolerance=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_hand_example(oracle, form):
    case = json.loads((oracle / "hand_example.json").read_text())
    evidence = evidence_of(FORMS[form](np.array(case["X"])), case["labels"], "euclidean")
    check(case["internal_euclidean"], evidence, tolerance=1e-12)
    by_hand = case["by_hand"]
    read = evidence.geometry.similarities
    assert read.coherent.tolist() == by_hand["coherent_all"]
    assert read.coherent_others.tolist() == by_hand["coherent_others"]
    np.testing.assert_allclose(evidence.geometry.cluster_sums.total, by_hand["column_sums"], rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_small_cases_in_float32(oracle, metric):
    order = {"s_plus", "s_minus", "gamma", "g_plus", "tau"}  # near-ties may swap on the coarser grid
    for case in json.loads((oracle / "small_cases.json").read_text())["cases"]:
        matrix = sparse.csr_array(np.array(case["X"], dtype=np.float32))
        values = {k: v for k, v in case[f"internal_{metric}"].items() if k != "determinants"}
        check(values, evidence_of(matrix, case["labels"], metric), tolerance=1e-5, skip=order)


def test_extra_internal_cases(oracle):
    for case in json.loads((oracle / "extra_cases.json").read_text())["internal"]:
        matrix = sparse.csr_array(np.array(case["X"]))
        evidence = evidence_of(matrix, case["labels"], "cosine")
        values = {k.removeprefix("cosine_"): v for k, v in case["values"].items()}
        geometry = evidence.geometry  # the squared cosines of all ordered pairs follow from those of the distances
        squares = evidence.sum_of_squared_weights - 2 * evidence.sum_of_weights + geometry.n_pairs
        got = {
            "gram_frobenius_squared": 2 * squares + geometry.n_documents - geometry.zero_rows.sum(),
            "sum_w": evidence.sum_of_weights,
            "sum_w_squared": evidence.sum_of_squared_weights,
        }
        for key, value in got.items():
            assert value == pytest.approx(values.pop(key), rel=1e-12)
        check(values, evidence, tolerance=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_proportional_rows_are_copies(oracle, dtype):
    duplicates = json.loads((oracle / "extra_cases.json").read_text())["duplicates"]
    counts = np.array(duplicates["counts"], dtype=dtype)
    rows = counts / np.linalg.norm(counts, axis=1, keepdims=True).astype(dtype)
    for case in duplicates["cases"]:
        evidence = evidence_of(sparse.csr_array(rows), case["labels"], "euclidean")
        values = dict(case["values"])
        at_zero = evidence.documents.map_pairs(lambda squared: np.count_nonzero(squared == 0), "all", stage="pairs")
        assert sum(at_zero) == values.pop("zero_distance_pairs")
        check(values, evidence, tolerance=1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("clustering", ["good", "bad"])
def test_iris_of_zaki_and_meira(oracle, clustering):
    iris = json.loads((oracle / "zaki_iris.json").read_text())
    values = iris["values"][clustering]
    for form in (np.asarray, sparse.csr_array):
        evidence = evidence_of(form(np.array(iris["points"])), iris[f"labels_{clustering}"], "euclidean")
        keys = ("w_in", "w_out", "n_in", "n_out", "block_weights", "beta_cv", "c_index", "modularity")
        keys += ("normalized_cut", "davies_bouldin_rms", "davies_bouldin_mean", "dunn", "silhouette", "hubert")
        keys += ("silhouette_clusters", "silhouette_samples", "hubert_normalized", "calinski_harabasz", "rss")
        check({key: values[key] for key in keys}, evidence, tolerance=1e-9)
        assert evidence.extreme_sums == pytest.approx((values["w_min"], values["w_max"]), rel=1e-9)
        table = get_measure("davies_bouldin").compute(evidence.geometry).per_pair
        np.testing.assert_allclose(table, numbers(values["db_matrix"]), rtol=1e-9)
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(evidence.block_least[off], numbers(values["block_min"])[off], rtol=1e-9)
        np.testing.assert_allclose(evidence.block_largest, numbers(values["block_max"]), rtol=1e-9)
        spread = np.sqrt(evidence.geometry.centres.rss_clusters / evidence.geometry.sizes)
        np.testing.assert_allclose(spread, values["spread"], rtol=1e-9)
