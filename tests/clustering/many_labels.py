"""Labels of many random fits beside the naive definition: `python -m tests.clustering.many_labels [SECONDS] [SEED]`.

Each fit draws a kind of rows with many ties, a number of clusters, weights (none, a few sizes, or over twelve decades),
threads, blocks, rare terms, groups and an order of the documents, and compares every assignment.
"""

from __future__ import annotations

import sys
import time
from unittest.mock import patch

import numpy as np
from scipy import sparse

from doccluster.clustering.k_means import unit_documents
from doccluster.clustering.k_means.lloyd import Limits, run_start
from doccluster.clustering.k_means.lloyd_steps import LloydSteps
from doccluster.geometry import as_documents
from tests.clustering.naive import naive_lloyd
from tests.clustering.test_exact_labels import DATA

MAX_ITERATIONS = 40


def drawn_weights(rng, n):
    """Return no weights, multiples of a fraction (with zeros), or weights over twelve decades."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    return rng.choice([0.0, 0.5, 1.0, 3.0], n) if kind == 1 else 10.0 ** rng.uniform(-6, 6, n)


def compare_a_fit(rng, data):
    """Return how many labels were compared and how many differ."""
    matrix = DATA[data]()
    matrix = sparse.csr_array(matrix[rng.permutation(matrix.shape[0])])
    n = matrix.shape[0]
    k, weights, n_threads = int(rng.integers(1, min(n, 200 if rng.random() < 0.2 else 40))), drawn_weights(rng, n), 1
    limits = {"n_groups": int(rng.choice([0, 16, 64])), "keeps_sums": bool(rng.random() < 0.8)}
    if rng.random() < 0.4:
        limits["n_head"] = int(rng.integers(matrix.shape[1] + 1))
    if rng.random() < 0.3:
        n_threads = int(rng.integers(2, 4))
    start, labels = sparse.csr_array(matrix[rng.permutation(n)[:k]]), []
    with (
        patch.object(unit_documents, "SERIAL_WORK", 0),
        patch.object(unit_documents, "BLOCK_ROWS", int(rng.integers(5, n + 1))),
    ):
        documents = unit_documents.unit_documents(as_documents(matrix), weights=weights, n_threads=n_threads)
        steps = LloydSteps(documents, start, **limits)
        run_start(steps, Limits(MAX_ITERATIONS, 0.0), observe=lambda *_: labels.append(steps.labels.copy()))
    expected = naive_lloyd(matrix, start.toarray(), weights=weights, max_iter=MAX_ITERATIONS)
    pairs = list(zip(labels, (assigned for _, assigned in expected), strict=False))
    return n * len(pairs), sum(int(np.count_nonzero(ours != theirs)) for ours, theirs in pairs)


def main(seconds=60.0, seed=0):
    """Compare fits for some seconds and print the counts; the exit status is 1 if a label differs."""
    n_fits = n_labels = n_differ = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rng = np.random.default_rng([seed, n_fits])
        data = list(DATA)[int(rng.integers(len(DATA)))]
        compared, differ = compare_a_fit(rng, data)
        if differ:
            sys.stdout.write(f"seed {seed}, fit {n_fits} ({data}): {differ} of {compared} labels differ\n")
        n_fits, n_labels, n_differ = n_fits + 1, n_labels + compared, n_differ + differ
    sys.stdout.write(f"{n_fits:,} fits, {n_labels:,} labels, {n_differ:,} differ\n")
    return int(n_differ > 0)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2]), *map(int, sys.argv[2:3])))
