"""Work in blocks, lists and threads: with every limit at a tiny value what the definition, or one block, gives.

Each test asserts that what lies behind its limits was gone through; with small data and the limits as they are it
never is.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from scipy import optimize, sparse, special

from doccluster.clustering import MultinomialMixture, VonMisesFisherMixture
from doccluster.clustering.hierarchical.agglomeration import agglomerate
from doccluster.clustering.mixtures import _vmf_steps, vmf_mixture
from doccluster.clustering.smoothed.document_spaces import search_cells
from doccluster.clustering.task import LinearRule
from doccluster.corpus.named_files import Files
from doccluster.geometry import latent_semantic_space, nearest_neighbours
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import ClusterProfiles
from doccluster.measures import _distances, evaluate, list_measures
from doccluster.pipeline.block_runs import MEMORY_PER_BYTE, stages_for, text_bytes
from doccluster.pipeline.in_blocks import BlockStages
from doccluster.pipeline.run_arguments import RunWork
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.sources import Source
from doccluster.vectors.weighting import collection_weights, parse_weighting, weigh_rows
from tests.clustering.test_exact_labels import DATA, compare


def counted_rows(n=150, n_terms=60, n_topics=4, seed=0):
    """Counts of terms on topics, with a term of nearly all documents, and their topics."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(n_topics, size=n)
    counts = rng.poisson(0.1 + 1.5 * (np.arange(n_terms)[None, :] % n_topics == topics[:, None]))
    counts[:, 0] = 1
    return sparse.csr_array(counts.astype(float)), topics


def unit_rows(dtype=np.float64, **size):
    counts, topics = counted_rows(**size)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1 / lengths) @ counts).astype(dtype), topics


class Passed:
    """Notes how many blocks a function is given, or returns, at most, and what threads it is given for them."""

    def __init__(self, monkeypatch, module, name):
        self.blocks = self.threads = 0
        noted = getattr(module, name)

        def mapped(function, blocks, *, n_threads=None, **others):
            blocks = list(blocks)
            self.blocks = max(self.blocks, len(blocks))
            self.threads = max(self.threads, min(n_threads or 1, len(blocks)))
            return noted(function, blocks, n_threads=n_threads, **others)

        def divided(*asked):
            blocks = list(noted(*asked))
            self.blocks = max(self.blocks, len(blocks))
            return blocks

        monkeypatch.setattr(module, name, mapped if name in ("map_blocks", "share_blocks") else divided)


def multinomials(n_threads):
    counts, topics = counted_rows()
    fitted = MultinomialMixture(4, init=topics, n_init=1, n_threads=n_threads).fit(counts)
    return fitted.labels_, fitted.predict_proba(counts)


def linear_rule(n_threads):
    rows, _ = unit_rows()
    rule = LinearRule(sparse.csr_array(rows[:9].T), np.arange(9) / 50, np.arange(9))
    labels = rule.labels(rows, n_threads=n_threads)
    assert np.array_equal(labels, np.argmax(rows.toarray() @ rows[:9].toarray().T + np.arange(9) / 50, axis=1))
    return (labels,)


def tree(n_threads):
    return (agglomerate(unit_rows()[0], linkage="average", n_threads=n_threads),)


def neighbours(n_threads):
    found = nearest_neighbours(unit_rows(np.float32)[0], 5, n_threads=n_threads)
    return found.neighbours, found.similarity


def space(n_threads):
    rows, _ = unit_rows()
    found = latent_semantic_space(rows, 3, random_state=0, n_threads=n_threads)
    return found.singular_values, np.abs(found.project(rows, n_threads=n_threads))


def weights(n_threads):
    counts, _ = counted_rows()
    code = parse_weighting("ltc")
    factors = collection_weights(np.bincount(counts.indices, minlength=60), 150, weighting=code, dtype=np.float64)
    weigh_rows(counts, factors, weighting=code, n_threads=n_threads)
    return (counts.data,)


def means(n_threads):
    return (compare(DATA["topics"](), np.arange(12), n_threads=n_threads),)  # every iteration with the naive one


def cells(n_threads):
    rows, _ = unit_rows(np.float32)
    found = search_cells(rows, n_probes=3, random_state=np.random.default_rng(0), n_threads=n_threads)
    return found.labels, found.probes


def information(n_threads):
    rows, topics = unit_rows()
    return (ClusterProfiles.from_partition(rows, Partition.from_labels(topics)).mutual_information().toarray(),)


WORK = {
    "multinomials": (multinomials, "clustering.mixtures.multinomial", "share_blocks", "BLOCK_ROWS", 7),
    "linear rule": (linear_rule, "clustering.task", "map_blocks", "BLOCK_ROWS", 7),
    "tree": (tree, "clustering.hierarchical.agglomeration", "map_blocks", "BLOCK_ROWS", 7),
    "neighbours": (neighbours, "geometry.neighbours", "base.place.map_blocks", "BLOCK_ROWS", 7),
    "semantic space": (space, "geometry.projection", "base.place.map_blocks", "BLOCK_ROWS", 7),
    "weights": (weights, "vectors.weighting", "map_blocks", "_ROWS_PER_BLOCK", 7),
    "means": (means, "clustering.k_means.unit_documents", "row_blocks", "BLOCK_ROWS", 16),
    "cells": (cells, "clustering.smoothed.document_spaces", "row_blocks", "BLOCK_SIMILARITIES", 60),
    "information": (information, "labeling.profiles", "entry_blocks", "ENTRIES_AT_ONCE", 60),
}


@pytest.mark.parametrize("work", WORK)
def test_blocks_of_seven_rows_in_three_threads_give_what_one_block_gives(work, monkeypatch):
    act, name, mapping, limit, tiny = WORK[work]
    module = importlib.import_module(f"doccluster.{name}")
    expected = act(1)
    elsewhere, _, mapping = mapping.rpartition(".")
    passed = Passed(monkeypatch, importlib.import_module(f"doccluster.{elsewhere}") if elsewhere else module, mapping)
    monkeypatch.setattr(module, limit, tiny)
    for found, wanted in zip(act(3), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert passed.blocks > 2
    assert passed.threads == 3 * (mapping in ("map_blocks", "share_blocks"))


def naive_mixture(rows, labels, k, *, is_hard, concentration, n_iter):
    """Expectation maximisation as Banerjee et al. (2005) write it: means, weights, kappas, likelihood and labels."""
    n, n_terms = rows.shape
    shares = np.eye(k)[labels]
    for _ in range(n_iter + 1):
        sums, masses = shares.T @ rows, shares.sum(axis=0)
        lengths = np.linalg.norm(sums, axis=1)
        ratios = np.full(k, lengths.sum() / n) if concentration == "shared" else lengths / masses
        kappas = np.array([optimize.brentq(lambda kappa, r=r: ratio(n_terms, kappa) - r, 1e-6, 1e6) for r in ratios])
        order = n_terms / 2 - 1
        logs = order * np.log(kappas) - n_terms / 2 * np.log(2 * np.pi) - np.log(special.ive(order, kappas)) - kappas
        joint = rows @ (sums / lengths[:, None]).T * kappas + logs + np.log(masses / n)
        found = joint.argmax(axis=1)
        shares = np.eye(k)[found] if is_hard else special.softmax(joint, axis=1)
        likelihood = joint.max(axis=1).sum() if is_hard else special.logsumexp(joint, axis=1).sum()
    return sums / lengths[:, None], masses / n, kappas, likelihood, found


def ratio(n_terms, kappa):
    return special.ive(n_terms / 2, kappa) / special.ive(n_terms / 2 - 1, kappa)


@pytest.mark.parametrize("tiny", [False, True])
@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("concentration", ["shared", "free"])
def test_a_mixture_is_that_of_the_definition_whatever_its_blocks(monkeypatch, tiny, assignment, concentration):
    rows, topics = unit_rows()
    start = np.where(np.arange(150) % 5 == 0, (topics + 1) % 4, topics)
    passed, unit_blocks, times_table = {"blocks": 1, "threads": 1}, _vmf_steps.unit_blocks, _vmf_steps.times_table
    if tiny:
        monkeypatch.setattr(_vmf_steps, "BLOCK_SHARES", 40)
        monkeypatch.setattr(_vmf_steps, "SERIAL_WORK", 0)

    def divided(rows, n_clusters):
        blocks = unit_blocks(rows, n_clusters)
        passed["blocks"] = max(passed["blocks"], len(blocks))
        return blocks

    def shared(rows, table, n_threads):
        passed["threads"] = max(passed["threads"], n_threads)
        return times_table(rows, table, n_threads)

    monkeypatch.setattr(vmf_mixture, "unit_blocks", divided)
    monkeypatch.setattr(_vmf_steps, "times_table", shared)
    model = VonMisesFisherMixture(
        4, assignment=assignment, concentration=concentration, init=start, n_init=1, max_iter=4, tol=0.0, n_threads=3
    )
    model.fit(rows)
    means, weights, kappas, likelihood, labels = naive_mixture(
        rows.toarray(), start, 4, is_hard=assignment == "hard", concentration=concentration, n_iter=model.n_iter_
    )
    np.testing.assert_allclose(model.means_.toarray(), means, atol=1e-9)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(model.concentrations_, kappas, rtol=1e-7)
    assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-9)
    assert np.array_equal(model.labels_, labels)
    if not tiny:
        assert passed == {"blocks": 1, "threads": 1}
        return
    assert passed["blocks"] > 7
    assert passed["threads"] == 3


TINY_FOR_PAIRS = {
    "geometry.sums": {"ENTRIES_AT_ONCE": 64, "DENSE_FROM": 3, "TABLE_BYTES": 4 * 8 * 10},
    "geometry.evidence": {"TABLES_UP_TO": 2},
    "geometry.products": {"DENSE_ROWS": 8},
    "measures._distances": {"BLOCK_CELLS": 15 * 150, "COMMON_BYTES": 8 * 150 * 3, "N_BINS": 3},
}


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_every_internal_measure_is_the_same_with_tiny_limits_and_three_threads(kind, monkeypatch):
    rows, topics = unit_rows()
    vectors = rows if kind == "sparse" else rows.toarray()
    names = [one.name for one in list_measures() if one.cost in ("geometry", "pairwise")]
    asked = {"vectors": vectors, "measures": names, "pairwise_seconds": 1e9}
    expected = evaluate(topics, n_threads=1, **asked)
    for name, limits in TINY_FOR_PAIRS.items():
        for limit, tiny in limits.items():
            monkeypatch.setattr(f"doccluster.{name}.{limit}", tiny)
    passed = Passed(monkeypatch, _distances, "map_blocks")
    shapes, split = [], _distances.split_terms

    def noted(met, n):
        common, rare = split(met, n)
        shapes.append((common.size, rare.size))
        return common, rare

    monkeypatch.setattr(_distances, "split_terms", noted)
    found = evaluate(topics, n_threads=3, **asked)
    assert len(found.scores) == len(names) > 40
    for one, other in zip(found.scores, expected.scores, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9, abs=1e-12, nan_ok=True), one.name
    assert (passed.blocks, passed.threads) == (10, 3)
    assert kind == "dense" or (shapes[0][0] == 3 and shapes[0][1] > 50), "some terms are columns, others lists"


@pytest.mark.parametrize(
    ("smaller", "scarcer", "is_divided"), [(1, 1, True), (0, 1, False), (1, 0, False), (10**6, 10**6, True)]
)
def test_files_are_divided_above_the_small_size_if_they_surely_need_more_memory(
    tmp_path, monkeypatch, smaller, scarcer, is_divided
):
    source = tmp_path / "articles.jsonl"
    source.write_text('{"id": "a", "text": "ferry aground"}\n' * 50_000, encoding="utf-8")
    n_bytes = source.stat().st_size
    assert text_bytes(Files([source])) == n_bytes > 10**6
    monkeypatch.setattr("doccluster.pipeline.block_runs.SMALL_SOURCE", n_bytes - smaller)
    limit = n_bytes * MEMORY_PER_BYTE - scarcer
    settings = RunSettings(n_clusters=3, algorithm="settled", clustering={"max_memory": limit})
    with stages_for(Source(source), settings, RunWork()) as work:
        assert isinstance(work, BlockStages) == is_divided
        assert isinstance(work, BlockStages) == is_divided
