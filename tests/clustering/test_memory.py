"""The promise of memory: planned, said, refused with the smallest value that would do, and kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.plain_values import parse_size
from doccluster.clustering import SphericalKMeans
from doccluster.clustering.k_means import lloyd_steps
from doccluster.errors import MemoryLimitError

# What fits hold beyond their data, each measured in a copy of a process that has loaded the kernels.
MEASURE = """
import json, os, pathlib, sys
import numpy as np
from scipy import sparse
from doccluster.clustering import SphericalKMeans

def memory(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))

n, n_terms, length = 20_000, 20_000, 80
rng = np.random.default_rng(0)
columns = (n_terms * rng.random(n * length) ** 3).astype(np.int32)
values = np.ones(n * length, np.float32)
X = sparse.csr_array((values, columns, np.arange(0, n * length + 1, length)), shape=(n, n_terms))
X.sum_duplicates()
X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data.astype(float) ** 2, X.indptr[:-1])), np.diff(X.indptr))
small = X[:3000, :]
common = {"max_iter": 2, "random_state": 0, "n_threads": 2}
SphericalKMeans(n_clusters=40, n_init=2, **common).fit(small)
del small, columns, values, rng
for settings in json.loads(sys.argv[1]):
    if os.fork() == 0:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before = memory("VmRSS")
        model = SphericalKMeans(**common, **settings)
        plan = model.plan_memory(X)
        model.fit(X)
        held, clusters = memory("VmHWM") - before, model.centroids_.shape[0]
        print(json.dumps({"held": held, "planned": plan.total, "clusters": clusters}), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
SETTINGS = [
    {"n_clusters": 300, "max_memory": "85M", "n_init": 1},
    {"n_clusters": 300, "max_memory": "92M", "n_init": 2},
    {"n_clusters": 1000, "max_memory": "100M", "n_init": 1},
]


@pytest.fixture(scope="module")
def measured():
    command = [sys.executable, "-c", MEASURE, json.dumps(SETTINGS)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
@pytest.mark.parametrize("place", range(len(SETTINGS)))
def test_a_fit_keeps_within_max_memory(measured, place):
    found, settings = json.loads(measured[place]), SETTINGS[place]
    assert found["planned"] <= parse_size(settings["max_memory"])
    assert found["held"] <= parse_size(settings["max_memory"])
    assert found["clusters"] == settings["n_clusters"]


def unit_rows(density):
    rng = np.random.default_rng(0)
    rows = sparse.random_array((3000, 2000), density=density, random_state=rng, format="csr", dtype=np.float32)
    norms = np.sqrt(rows.multiply(rows).sum(axis=1))
    return sparse.csr_array(sparse.diags_array(1 / np.where(norms > 0, norms, 1)) @ rows).astype(np.float32)


@pytest.fixture
def documents():
    return unit_rows(0.01)


def test_too_little_is_refused_with_the_smallest_value_that_would_do(documents):
    with pytest.raises(MemoryLimitError, match="give at least") as refusal:
        SphericalKMeans(40, max_memory="1M").fit(documents)
    smallest = re.search(r"at least ([0-9.]+[MGK]iB)\.", str(refusal.value))[1]
    model = SphericalKMeans(40, n_init=1, random_state=0, max_memory=smallest).fit(documents)
    assert model.plan_memory(documents).total <= parse_size(smallest)
    with pytest.raises(MemoryLimitError):
        SphericalKMeans(40, max_memory=int(0.9 * parse_size(smallest))).plan_memory(documents)


def test_limits_change_the_plan_and_not_the_labels(monkeypatch):
    documents = unit_rows(0.002)  # terms of few documents, for which lists take less memory than lines
    generous = SphericalKMeans(40, init=documents[:40], max_memory="1G")
    tight = SphericalKMeans(40, init=documents[:40])
    smallest = min(
        size for size in range(2**20, 2**26, 2**15) if _fits(SphericalKMeans(40, max_memory=size), documents)
    )
    tight.set_params(max_memory=smallest)
    assert tight.plan_memory(documents).n_head < generous.plan_memory(documents).n_head
    assert not tight.plan_memory(documents).keeps_sums
    rare, places_of = [], lloyd_steps.TermPlaces.of

    def noted(*arguments):
        places = places_of(*arguments)
        rare.append(places.n_rare)
        return places

    monkeypatch.setattr(lloyd_steps.TermPlaces, "of", noted)
    labels = generous.fit_predict(documents)
    assert sum(rare) == 0
    assert np.array_equal(tight.fit_predict(documents), labels)
    assert sum(rare) > 100


def _fits(model, documents):
    try:
        model.plan_memory(documents)
    except MemoryLimitError:
        return False
    return True


def test_the_plan_is_printed_when_verbose(documents, capsys):
    SphericalKMeans(4, n_init=1, max_iter=1, verbose=1).fit(documents)
    said = capsys.readouterr().err
    assert "memory beyond the data: at most" in said
    assert "table and sums" in said
