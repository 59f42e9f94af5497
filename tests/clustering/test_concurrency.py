"""Calls from several threads, from forked workers, and Ctrl-C in the middle of a fit."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.clustering.k_means import unit_documents


@pytest.fixture
def documents(monkeypatch):
    monkeypatch.setattr(unit_documents, "SERIAL_WORK", 0)  # threads even for data of this size
    monkeypatch.setattr(unit_documents, "BLOCK_ROWS", 50)
    rng = np.random.default_rng(0)
    rows = rng.poisson(0.3, size=(400, 60)).astype(np.float32)
    rows[rows.sum(axis=1) == 0, 0] = 1
    return sparse.csr_array(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def labels_of(documents, seed):
    return SphericalKMeans(20, n_init=2, random_state=seed, n_threads=2).fit_predict(documents)


def in_child(documents, seed, queue):
    queue.put((seed, labels_of(documents, seed)))


def test_fits_in_several_threads_at_once_do_not_disturb_each_other(documents):
    alone = [labels_of(documents, seed) for seed in range(4)]
    barrier = threading.Barrier(4)

    def together(seed):
        barrier.wait()
        return labels_of(documents, seed)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(together, range(4)))
    assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python warns of forking where threads have been
def test_fits_in_forked_workers_after_a_fit_in_the_parent(documents):
    alone = [labels_of(documents, seed) for seed in range(3)]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    workers = [context.Process(target=in_child, args=(documents, seed, queue)) for seed in range(3)]
    for worker in workers:
        worker.start()
    found = dict(queue.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    assert all(np.array_equal(alone[seed], found[seed]) for seed in range(3))


class StopAfter:
    """A progress callable that interrupts at a call, as Ctrl-C does; seeds are not counted unless they are meant."""

    def __init__(self, calls, *, seeding=False):
        self.left = calls
        self.seeding = seeding

    def __call__(self, stage, done, total=None):
        self.left -= (stage == "seed") == self.seeding
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("calls", [1, 2, 9, 30])
@pytest.mark.parametrize("refine", [False, True])
def test_an_interrupted_fit_keeps_the_best_so_far(documents, calls, refine):
    model = SphericalKMeans(20, random_state=0, tol=0, refine=refine, progress=StopAfter(calls))
    with pytest.raises(KeyboardInterrupt):
        model.fit(documents)
    assert model.interrupted_ is True
    assert model.labels_.shape == (400,)
    assert model.centroids_.shape == (20, 60)
    own = np.take_along_axis(1 - model.transform(documents), model.labels_[:, None].astype(int), 1).sum()
    assert model.objective_ == pytest.approx(own, rel=1e-6)
    assert model.predict(documents).shape == (400,)


def test_an_interruption_while_later_seeds_are_drawn_keeps_the_starts_before(documents):
    model = SphericalKMeans(20, n_init=3, random_state=0, progress=StopAfter(30, seeding=True))
    with pytest.raises(KeyboardInterrupt):
        model.fit(documents)
    first = SphericalKMeans(20, n_init=1, random_state=0).fit(documents)
    assert model.interrupted_ is True
    assert np.array_equal(model.labels_, first.labels_)


def test_a_fit_after_an_interrupted_one_is_whole(documents):
    model = SphericalKMeans(20, n_init=2, random_state=0, progress=StopAfter(3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(documents)
    model.set_params(progress=None).fit(documents)
    assert model.interrupted_ is False
    assert np.array_equal(model.labels_, labels_of(documents, 0))


def test_an_interruption_before_the_first_iteration_leaves_nothing_fitted(documents):
    def interrupted(X, n_clusters, random_state):
        raise KeyboardInterrupt

    model = SphericalKMeans(20, init=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(documents)
    assert not hasattr(model, "labels_")


def test_progress_tells_every_iteration(documents):
    calls = []
    model = SphericalKMeans(5, n_init=1, random_state=0, progress=lambda *call: calls.append(call)).fit(documents)
    seeds, iterations = (
        [("seed", n, 5) for n in range(1, 6)],
        [("cluster", n, 300) for n in range(1, model.n_iter_ + 1)],
    )
    assert calls == seeds + iterations
