"""The order of the input decides nothing: the same documents in another order are the same clusters."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from doccluster.pipeline.in_process import canonical_order
from doccluster.pipeline.main_line import run_pipeline

SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
SETTINGS = {"measures": ["skm_objective"], "clustering": {"n_init": 2}, "levels": "none"}


@pytest.fixture(scope="module")
def articles():
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()[:80]
    return pd.DataFrame([json.loads(line) for line in lines])[["id", "title", "text", "date"]]


def clusters_of(frame, n_clusters):
    run = run_pipeline(frame, n_clusters=n_clusters, **SETTINGS)
    return dict(zip(run.documents.ids, run.partition.labels.tolist(), strict=True))


@pytest.mark.parametrize("n_clusters", [14, "auto"])
def test_shuffled_articles_are_in_the_same_clusters_of_the_same_numbers(articles, n_clusters):
    as_given = clusters_of(articles, n_clusters)
    for seed in range(3 if n_clusters == 14 else 1):
        assert clusters_of(articles.sample(frac=1, random_state=seed), n_clusters) == as_given


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_are_ordered_by_their_content_wherever_they_stand(form):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (40, 5)).astype(float)
    found = rows[canonical_order(form(rows))]
    shuffled = rows[rng.permutation(40)]
    np.testing.assert_array_equal(shuffled[canonical_order(form(shuffled))], found)
    assert not np.array_equal(rows, found)
