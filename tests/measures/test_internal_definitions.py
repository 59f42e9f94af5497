"""Every internal, intrinsic and topic measure against its definition, and the laws that it must obey."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse

from doccluster.geometry import products
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.measures import _distances, get_measure, list_measures
from doccluster.measures._distances import PairwiseDistances
from doccluster.measures.topics import TopicWords
from tests.conftest import examples
from tests.oracles.internal import ORACLES, Case

NAMES = [record.name for record in list_measures() if record.family != "external"]
PAIRED = [name for name in NAMES if "pairwise" in {get_measure(name).evidence_for(m) for m in ("cosine", "euclidean")}]
EXAMPLES = settings(max_examples=examples(120))
FEW = settings(max_examples=12)


class Judge:
    """All evidence on one input, each built when first asked for."""

    def __init__(self, matrix, labels, metric, *, n_threads=1, max_memory=None):
        self.metric = metric
        partition = Partition.from_labels(labels)
        geometry = ClusterEvidence(matrix, partition, metric=metric, n_threads=n_threads)
        pairs = PairwiseDistances(geometry, max_memory=max_memory)
        self.evidence = {"geometry": geometry, "pairwise": pairs, "topics": TopicWords(geometry)}

    def values(self, name):
        record = get_measure(name)
        return record.compute(self.evidence[record.evidence_for(self.metric)])

    def value(self, name):
        return self.values(name).value


# Counts on a coarse scale, so that copies, empty documents, proportional rows and ties of distance occur.
@st.composite
def inputs(draw, max_documents=7, max_terms=4, max_clusters=4, least=0):
    n = draw(st.integers(1, max_documents))
    d = draw(st.integers(1, max_terms))
    counts = draw(npst.arrays(np.int64, (n, d), elements=st.integers(least, 3)))
    labels = draw(st.lists(st.integers(0, max_clusters - 1), min_size=n, max_size=n))
    return counts.astype(float), labels


def same(a, b, tolerance=1e-9):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def differences(one, other, names=NAMES, tolerance=1e-9):
    """The measures on which two judges differ, with both values."""
    pairs = {name: (one.value(name), other.value(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if not same(*pair, tolerance)}


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_every_measure_equals_its_definition(metric):
    @EXAMPLES
    @given(inputs())
    def check(case):
        rows, labels = case
        judge, told = Judge(sparse.csr_array(rows), labels, metric), Case(rows.tolist(), labels, metric)
        for name in NAMES:
            got, expected = judge.values(name), ORACLES[name](told)
            assert same(got.value, expected), (name, got, expected)
            if math.isnan(got.value):
                assert got.note, f"{name} is undefined without a reason"

    check()


@EXAMPLES
@given(inputs(max_documents=9), st.sampled_from(["cosine", "euclidean"]))
def test_every_measure_keeps_its_bounds_and_its_parts_have_their_shapes(case, metric):
    rows, labels = case
    judge = Judge(sparse.csr_array(rows), labels, metric)
    k, n = len(set(labels)), len(labels)
    shapes = {"per_cluster": (k,), "per_document": (n,), "per_pair": (k, k)}
    for name in NAMES:
        record, values = get_measure(name), judge.values(name)
        low, high = record.bounds
        if metric == "cosine" and not math.isnan(values.value):
            assert low is None or low - 1e-12 <= values.value, name
            assert high is None or values.value <= high + 1e-12, name
        for part, shape in shapes.items():
            got = getattr(values, part)
            assert got is None or (part in record.parts and got.shape == shape), name


@FEW
@given(inputs(max_documents=9), st.sampled_from(["cosine", "euclidean", "sqeuclidean"]))
def test_forms_of_the_matrix_do_not_matter(case, metric):
    rows, labels = case
    plain = Judge(rows, labels, metric)
    stored = sparse.csr_array(np.ones_like(rows))  # every zero is stored
    stored.data = rows.ravel().copy()
    backwards = sparse.csr_array(rows)
    for row in range(len(labels)):  # indices of a row in descending order
        part = slice(backwards.indptr[row], backwards.indptr[row + 1])
        backwards.indices[part] = backwards.indices[part][::-1].copy()
        backwards.data[part] = backwards.data[part][::-1].copy()
    backwards.has_sorted_indices = False
    for form in (sparse.csr_array(rows), sparse.csc_array(rows), sparse.coo_matrix(rows), stored, backwards):
        assert not differences(plain, Judge(form, labels, metric))


@FEW
@given(inputs(max_documents=9, least=1), st.sampled_from(["cosine", "euclidean"]))
def test_float32_agrees_with_float64(case, metric):
    rows, labels = case
    jitter = np.random.default_rng(0).random(rows.shape)  # no ties or copies, which the two grids may see differently
    order = {"gamma", "tau", "g_plus", "coherence", "coherence_others"}
    names = [name for name in NAMES if name not in order]
    single = Judge(sparse.csr_array((rows + jitter).astype(np.float32)), labels, metric)
    double = Judge(sparse.csr_array((rows + jitter).astype(np.float32).astype(np.float64)), labels, metric)
    assert not differences(single, double, names, tolerance=1e-4)


@pytest.mark.usefixtures("starts_threads")
@FEW
@given(inputs(max_documents=12), st.sampled_from(["cosine", "euclidean"]), st.integers(1, 5))
def test_block_size_threads_and_memory_do_not_matter(case, metric, block_size):
    rows, labels = case
    matrix = sparse.csr_array(rows)
    plain = Judge(matrix, labels, metric)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("MIN_ROWS", "MAX_ROWS"):
            patched.setattr(products, name, block_size)
        patched.setattr(_distances, "BLOCK_CELLS", block_size * len(labels))
        in_blocks = Judge(matrix, labels, metric, n_threads=3)
        assert not differences(plain, in_blocks)
        one_thread = Judge(matrix, labels, metric, n_threads=1)
        assert not differences(in_blocks, one_thread, tolerance=0.0)
    k = len(set(labels))
    tight = Judge(matrix, labels, metric, max_memory=max(2 * 32 * k * k, 1) + 1)  # tables k x k fit, n x k may not
    assert not differences(plain, tight)


@FEW
@given(inputs(max_documents=9), st.sampled_from(["cosine", "euclidean"]), st.randoms(use_true_random=False))
def test_names_of_clusters_and_orders_of_documents_and_terms_do_not_matter(case, metric, random):
    rows, labels = case
    plain = Judge(sparse.csr_array(rows), labels, metric)
    order = list(range(len(labels)))
    random.shuffle(order)
    named = [f"cluster {9 - label}" for label in labels]
    shuffled = Judge(sparse.csr_array(rows[order]), [named[i] for i in order], metric)
    topics = {name for name in NAMES if get_measure(name).family == "topic"}  # ties of weight go to the lowest column
    densities = {"density", "density_over_size"}  # so do ties for the principal dimension
    assert not differences(plain, shuffled)
    columns = list(range(rows.shape[1]))
    random.shuffle(columns)
    names = [name for name in NAMES if name not in topics | densities]
    assert not differences(plain, Judge(sparse.csr_array(rows[:, columns]), labels, metric), names)
    wider = np.hstack([rows, np.zeros((len(labels), 1))])
    assert not differences(plain, Judge(sparse.csr_array(wider), labels, metric))


@FEW
@given(inputs(max_documents=8))
def test_cosine_measures_ignore_the_length_of_rows(case):
    rows, labels = case
    lengths = np.random.default_rng(1).uniform(0.5, 3.0, len(labels))
    plain, scaled = (Judge(sparse.csr_array(m), labels, "cosine") for m in (rows, rows * lengths[:, None]))
    order = {"gamma", "tau", "g_plus"}  # rounding may move a distance over an edge of the grid
    assert not differences(plain, scaled, [name for name in NAMES if name not in order])


@FEW
@given(inputs(max_documents=8, max_terms=4))
def test_euclidean_measures_do_not_change_under_rotation(case):
    rows, labels = case
    jitter = np.random.default_rng(2).random(rows.shape)
    rotation, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(rows.shape[1],) * 2))
    names = [*PAIRED, "rss", "calinski_harabasz", "davies_bouldin", "davies_bouldin_mean", "ball_hall", "ray_turi"]
    names += ["sd_dis", "pbm", "simplified_silhouette", "wemmert_gancarski", "r_squared", "log_ss_ratio"]
    plain, turned = (Judge(m, labels, "euclidean") for m in (rows + jitter, (rows + jitter) @ rotation))
    assert not differences(plain, turned, names, tolerance=1e-7)


@FEW
@given(inputs(max_documents=7, least=1))  # copies of a document without terms are not at cosine distance 0
def test_duplicating_every_document_leaves_what_depends_on_shares_alone(case):
    rows, labels = case
    names = ["cluster_similarity", "coherence", "adherence", "ics", "ball_hall", "ray_turi", "davies_bouldin", "pbm"]
    names += ["ratkowsky_lance", "sd_scat", "sd_dis", "r_squared", "density_over_size", "topic_diversity"]
    names += ["normalized_cut", "modularity", "wemmert_gancarski", "log_ss_ratio", "exclusivity", "adherence_min"]
    once = Judge(sparse.csr_array(rows), labels, "cosine")
    twice = Judge(sparse.csr_array(np.vstack([rows, rows])), labels + labels, "cosine")
    assert not differences(once, twice, names)


@FEW
@given(inputs(max_documents=9, least=1))
def test_order_is_the_same_under_cosine_and_euclidean_distance_of_unit_rows(case):
    rows, labels = case
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    euclidean, cosine = (Judge(sparse.csr_array(unit), labels, metric) for metric in ("euclidean", "cosine"))
    assert not differences(euclidean, cosine, ["gamma", "tau", "g_plus"])


def test_squared_distances_of_unit_rows_are_twice_the_cosine_distances():
    rows = np.random.default_rng(4).random((40, 9))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.arange(40) % 4
    cosine, square = (Judge(sparse.csr_array(rows), labels, metric) for metric in ("cosine", "sqeuclidean"))
    weights = [judge.evidence["pairwise"].block_weights for judge in (cosine, square)]
    np.testing.assert_allclose(2 * weights[0], weights[1], rtol=1e-12)
    names = ["silhouette", "beta_cv", "c_index", "dunn", "normalized_cut", "modularity", "point_biserial", "gamma"]
    assert not differences(cosine, square, names)


def test_a_sampled_silhouette_keeps_the_widths_of_the_whole_and_misses_it_by_its_standard_error():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=200)
    rows = sparse.csr_array(np.abs(rng.normal(size=(200, 6))) + np.eye(3, 6)[labels])
    judge = Judge(rows, labels, "euclidean")
    record, pairs = get_measure("silhouette"), judge.evidence["pairwise"]
    whole = record.compute(pairs)
    drawn = [record.compute(pairs, sample=40, random_state=seed) for seed in range(300)]
    for one in drawn:
        is_drawn = ~np.isnan(one.per_document)
        assert np.count_nonzero(is_drawn) == 40
        np.testing.assert_allclose(one.per_document[is_drawn], whole.per_document[is_drawn], rtol=0, atol=1e-12)
    misses = [one.value - whole.value for one in drawn]
    assert np.std(misses) == pytest.approx(np.mean([one.standard_error for one in drawn]), rel=0.15)
    assert record.compute(pairs, sample=200, random_state=0).standard_error == 0
