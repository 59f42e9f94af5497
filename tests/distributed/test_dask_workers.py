"""The same on the workers of a Dask cluster, which the tests start on the loopback address and end."""

from __future__ import annotations

import itertools
import os
import signal

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.distributed import cluster_blocks, connect, dask_workers, write_block
from doccluster.errors import InputError
from doccluster.validation import unit_rows

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(8)
    topics = rng.dirichlet(np.full(400, 0.05), size=6)
    counts = np.array([rng.multinomial(25, topics[row % 6]) for row in range(600)], dtype=np.float32)
    return unit_rows(sparse.csr_array(counts), warn=False)


@pytest.fixture
def blocks(matrix, tmp_path):
    edges = [0, 10, 11, 170, 300, 301, 450, 600]
    return [
        write_block(tmp_path / f"block-{first}", sparse.csr_array(matrix[first:last]), first=first)
        for first, last in itertools.pairwise(edges)
    ]


def threads_as_workers(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        protocol="inproc://",
    )


@pytest.mark.parametrize("n_workers", [1, 2, 3, 5])
def test_labels_do_not_depend_on_the_number_of_workers(matrix, blocks, tmp_path, n_workers):
    parameters = SphericalParameters(7, n_init=1, random_state=1)
    expected = spherical_k_means(matrix, parameters)
    with threads_as_workers(n_workers) as cluster, distributed.Client(cluster) as client, connect(client) as executor:
        assert executor.n_workers == n_workers
        found = cluster_blocks(executor, blocks, parameters, scratch=tmp_path)
        scalable = cluster_blocks(
            executor, blocks, SphericalParameters(7, init="k-means||", n_init=1, random_state=1), scratch=tmp_path
        )
        assert client.status == "running"
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.centroids.data.tobytes() == expected.centroids.data.tobytes()
    assert scalable.objective == pytest.approx(expected.objective, rel=0.1)


@pytest.fixture(scope="module")
def two_processes():
    with connect("local:2") as executor:
        yield executor


def test_a_worker_killed_in_an_iteration_changes_no_label(matrix, blocks, tmp_path, two_processes):
    killed = []
    client = two_processes.client

    def kill_in_third(stage, done, total=None):
        if done == 3 and not killed:
            pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    parameters = SphericalParameters(7, n_init=1, random_state=1, init="random", tol=0.0, progress=kill_in_third)
    found = cluster_blocks(two_processes, blocks, parameters, scratch=tmp_path)
    assert killed
    assert found.n_iter > 3
    expected = spherical_k_means(matrix, SphericalParameters(7, n_init=1, random_state=1, init="random", tol=0.0))
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.centroids.data.tobytes() == expected.centroids.data.tobytes()


def test_a_worker_that_joins_later_takes_part(matrix, blocks, tmp_path):
    with threads_as_workers(1) as cluster, distributed.Client(cluster) as client, connect(client) as executor:

        def join(stage, done, total=None):
            if done == 1:
                cluster.scale(3)
                client.wait_for_workers(3, timeout=10)

        parameters = SphericalParameters(7, n_init=1, random_state=1, progress=join, tol=0.0)
        found = cluster_blocks(executor, blocks, parameters, scratch=tmp_path)
        assert executor.n_workers == 3
    expected = spherical_k_means(matrix, SphericalParameters(7, n_init=1, random_state=1, tol=0.0))
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize(
    ("address", "said"), [("nowhere", "is not a scheduler"), ("tcp://127.0.0.1:9", "no scheduler")]
)
def test_an_address_where_nothing_answers_is_told_in_a_sentence(address, said, monkeypatch):
    monkeypatch.setattr(dask_workers, "PATIENCE", 1)
    with pytest.raises(InputError, match=said), connect(address):
        pass
