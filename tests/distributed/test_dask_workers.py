"""The same on the workers of a Dask cluster, which the tests start on the loopback address and end."""

from __future__ import annotations

import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.blocks import row_blocks, scratch_failed
from doccluster.base.validation import unit_rows
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.corpus import read_corpus
from doccluster.corpus.named_files import Files
from doccluster.corpus.parts import FilesInParts, Part
from doccluster.distributed import cluster_blocks, connect, dask_workers, write_block
from doccluster.distributed.text_vectors import count_block, weigh_block
from doccluster.errors import InputError
from doccluster.vectors import TfidfVectorizer
from doccluster.vectors.term_counts import joined_statistics

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(8)
    topics = rng.dirichlet(np.full(400, 0.05), size=6)
    counts = np.array([rng.multinomial(25, topics[row % 6]) for row in range(600)], dtype=np.float32)
    return unit_rows(sparse.csr_array(counts), warn=False)


def test_a_worker_that_dies_while_the_cluster_starts_ends_in_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(dask_workers, "__name__", "no_module_of_this_name")  # what each worker is to load first
    with pytest.raises(InputError, match=r"scheduler='local:1' .*did not start"), connect("local:1", tmp_path):
        pass


@pytest.fixture
def blocks(matrix, tmp_path):
    edges = [0, 10, 11, 170, 300, 301, 450, 600]
    return [
        write_block(tmp_path / f"block-{first}", sparse.csr_array(matrix[first:last]), first=first)
        for first, last in itertools.pairwise(edges)
    ]


def threads_as_workers(n_workers, **where):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        **{"protocol": "inproc://", **where},
    )


@pytest.mark.parametrize("n_workers", [1, 2, 3, 5])
def test_labels_do_not_depend_on_the_number_of_workers(matrix, blocks, tmp_path, n_workers):
    parameters = SphericalParameters(7, n_init=1, random_state=1)
    expected = spherical_k_means(matrix, parameters)
    with (
        threads_as_workers(n_workers) as cluster,
        distributed.Client(cluster) as client,
        connect(client, tmp_path) as place,
    ):
        assert place.n_workers == n_workers
        found = cluster_blocks(place, blocks, parameters)
        assert client.status == "running"
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.centroids.data.tobytes() == expected.centroids.data.tobytes()


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    with connect("local:2", tmp_path_factory.mktemp("scratch")) as place:
        yield place


def test_a_worker_killed_in_an_iteration_changes_no_label(matrix, blocks, tmp_path, two_processes):
    killed = []
    client = two_processes.client

    def kill_in_third(stage, done, total=None):
        if done == 3 and not killed:
            pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    parameters = SphericalParameters(7, n_init=1, random_state=1, init="random", tol=0.0, progress=kill_in_third)
    found = cluster_blocks(two_processes, blocks, parameters)
    assert killed
    assert found.n_iter > 3
    expected = spherical_k_means(matrix, SphericalParameters(7, n_init=1, random_state=1, init="random", tol=0.0))
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.centroids.data.tobytes() == expected.centroids.data.tobytes()


def test_ctrl_c_is_not_for_the_workers_of_this_machine(two_processes):
    two_processes.client.wait_for_workers(2, timeout=100)
    found = two_processes.client.run(signal.getsignal, signal.SIGINT)
    assert len(found) == 2
    assert set(found.values()) == {signal.SIG_IGN}


def end_once(item, function, shared, marker):
    """Do the work of an item, but the first time of all end the worker as kill -9 does."""
    if not os.path.exists(marker):  # noqa: PTH110
        pathlib.Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return function(item, *shared)


def test_a_worker_killed_in_reading_or_vectorizing_changes_nothing(tmp_path, two_processes):
    rows = [f"document {number} of oil and wheat, {'rain' if number % 3 else 'sun'}" for number in range(40)]
    paths = []
    for number in range(4):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text("\n".join(rows[number::4]) + "\n", encoding="utf-8")
    (tmp_path / "texts").mkdir()

    def read_all(function, parts, *shared):
        alone = [Part(number, (file,)) for number, file in enumerate(file for part in parts for file in part.items)]
        return two_processes.map(end_once, alone, function, shared, str(tmp_path / "read"))

    corpus = read_corpus(FilesInParts(Files(paths), tmp_path / "texts", read_all), format="lines")
    expected = read_corpus(paths, format="lines")
    assert list(corpus.texts) == list(expected.texts)
    assert corpus.ids == expected.ids
    vectorizer = TfidfVectorizer(n_threads=1)
    whole = TfidfVectorizer(n_threads=1).fit_transform(expected.texts)
    blocks, counts = corpus.texts.blocks, str(tmp_path / "counts")
    shared = (vectorizer, counts)
    once = count_block, shared, str(tmp_path / "counted")
    vectorizer.fit_statistics(two_processes.reduce(end_once, joined_statistics, blocks, *once))
    shared = (vectorizer, counts, str(tmp_path / "rows"), None)
    parts = list(two_processes.map(end_once, blocks, weigh_block, shared, str(tmp_path / "weighed")))
    assert {path.name for path in tmp_path.iterdir()} >= {"read", "counted", "weighed"}
    stacked = sparse.vstack([rows.open() for rows, _ in parts], format="csr")
    assert stacked.data.tobytes() == whole.data.tobytes()
    np.testing.assert_array_equal(stacked.indices, whole.indices)


def squares(block, table, marker):
    """Return the squares of some rows, but the first time of all end the worker."""
    return end_once(block, lambda block, table: table[block] ** 2, (table,), marker)


def test_a_worker_killed_while_it_fills_a_table_changes_nothing(tmp_path, two_processes):
    place, table = two_processes, np.arange(600.0).reshape(200, 3)
    blocks = row_blocks(200, 9)
    with place.for_a_while() as inner:
        found = place.table(squares, blocks, 3, np.float64, inner.keep(table), str(tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(found, table**2)
    assert len(list(place.folder.glob("table-*"))) == 1


def find_no_room(item):
    """Fail as a full scratch disk does."""
    raise scratch_failed(pathlib.Path("/scratch/rows-0"), OSError(28, "No space left on device"))


def test_a_full_scratch_disk_of_a_worker_is_told_in_the_same_sentence(tmp_path):
    with threads_as_workers(2) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        with pytest.raises(InputError, match=r"No space left on device.*more room") as told:
            list(place.map(find_no_room, [1, 2, 3]))
        assert str(told.value).count("\n") == 0
        with pytest.raises(InputError, match="No space left on device"):
            place.reduce(find_no_room, list, [1, 2, 3])
        assert list(place.map(pow, [2, 3], 2)) == [4, 9]


def slowly(item, *shared):
    """Take longer than the place waits before it looks whether there are workers."""
    time.sleep(0.05)
    return item


def test_work_that_takes_long_is_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr(dask_workers, "LOOK_EVERY", 0.004)
    monkeypatch.setattr(dask_workers, "WORKERLESS", 0.01)
    with threads_as_workers(2) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        assert list(place.map(slowly, range(6))) == list(range(6))
        assert place.reduce(slowly, sum_up, [1, 2, 3]) == 6
        with pytest.raises(TimeoutError, match="of the task"):
            list(place.map(time_out, [1]))


def sum_up(parts):
    """Return the sum, as a function that travels by name."""
    return sum(parts)


def time_out(item):
    """Raise what waiting for a task raises too."""
    raise TimeoutError("of the task")


def test_a_cluster_without_workers_ends_the_run_in_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(dask_workers, "WORKERLESS", 0.3)
    with threads_as_workers(1) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        assert list(place.map(pow, [2], 2)) == [4]
        cluster.scale(0)
        with pytest.raises(InputError, match="has had no worker for"):
            list(place.map(pow, [2, 3], 2))


def test_a_scheduler_that_ends_in_an_iteration_is_told_in_a_sentence(blocks, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_workers, "LOOK_EVERY", 0.2)

    def end(stage, done, total=None):
        if done == 2:
            cluster.sync(cluster.scheduler.close)

    parameters = SphericalParameters(7, n_init=1, random_state=1, init="random", tol=0.0, progress=end)
    told = pytest.raises(InputError, match="scheduler of the cluster has ended")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}),
        threads_as_workers(1) as cluster,
        distributed.Client(cluster) as client,
        told,
        connect(client, tmp_path) as place,
    ):
        cluster_blocks(place, blocks, parameters)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("clustering")] == []


def test_workers_that_do_not_see_the_scratch_folder_are_named(tmp_path):
    with threads_as_workers(1) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        assert place.folder == tmp_path
        blind = pytest.raises(InputError, match="does not see the folder")
        with blind, connect(client, tmp_path / "elsewhere"):
            pass


def trace(folder, dask_worker):
    """Leave a file for a worker; the first fails after that."""
    pathlib.Path(folder, str(dask_worker.name)).touch()
    if dask_worker.name == 0:
        raise OSError("this worker ends")


def test_everywhere_is_in_each_worker_and_one_that_fails_stops_nothing(tmp_path):
    with threads_as_workers(3) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        place.everywhere(trace, str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]


def mark(item, folder):
    pathlib.Path(folder, str(item)).touch()
    return item


def test_items_wait_until_the_results_before_them_are_taken(tmp_path):
    begun = 1 + dask_workers.AHEAD
    with threads_as_workers(1) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        results = place.map(mark, range(100), str(tmp_path))
        assert next(results) == 0
        wait_until(lambda: len(list(tmp_path.iterdir())) >= begun)
        time.sleep(0.1)
        assert sorted(int(path.name) for path in tmp_path.iterdir()) == list(range(begun))
        assert list(results) == list(range(1, 100))


@pytest.fixture
def ctrl_c_is_heard():
    """A suite that is run in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_is_heard")
@pytest.mark.parametrize("when", ["waiting", "handing in"])
@pytest.mark.parametrize("how", ["map", "reduce"])
def test_ctrl_c_leaves_nothing_under_way_on_the_cluster(how, when, monkeypatch, tmp_path):
    with threads_as_workers(1) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        asked = range(200), np.zeros(dask_workers.SMALL)
        ways = {
            "map": lambda: list(place.map(held, *asked)),
            "reduce": lambda: place.reduce(held, sum_up, *asked),
        }
        begun = BEGUN, WAITING
        for event in (*begun, LET_GO):
            event.clear()
        wait, submit, calls = type(place)._result_of, client.submit, itertools.count(1)

        def submit_and_stay(*given, **named):
            task = submit(*given, **named)
            if next(calls) == 5:
                WAITING.set()
                threading.Event().wait()
            return task

        if when == "waiting":
            monkeypatch.setattr(type(place), "_result_of", lambda *given: (WAITING.set(), wait(*given))[1])
        else:
            monkeypatch.setattr(client, "submit", submit_and_stay)
        threading.Thread(target=interrupt_after, args=begun).start()
        with pytest.raises(KeyboardInterrupt) as stopped:
            ways[how]()
        LET_GO.set()
        wait_until(lambda: n_tasks(client) == 0)
        assert stopped.traceback  # it holds what the calls under way hold


BEGUN, WAITING, LET_GO = threading.Event(), threading.Event(), threading.Event()


def held(item, *shared):
    """Say that work is under way, and end when the test lets it; workers are threads of this process."""
    BEGUN.set()
    LET_GO.wait()
    return item


def interrupt_after(*events):
    for event in events:
        event.wait()
    os.kill(os.getpid(), signal.SIGINT)


def wait_until(is_true, seconds=100):
    """Ask until the answer is yes; only what never comes true takes the seconds, which a busy machine may need."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.05)


def n_tasks(client):
    """Return how many tasks a scheduler knows."""
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def signed_by_itself(folder, name):
    """Return a certificate and its key, as the page on TLS says to make them."""
    key, certificate = folder / f"{name}-key.pem", folder / f"{name}.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    made = ["openssl", "req", "-x509", *kind, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    return {"cert": str(certificate), "key": str(key)}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_connections_are_encrypted_by_the_settings_of_dask(matrix, blocks, tmp_path):
    ours, stranger = (signed_by_itself(tmp_path, name) for name in ("cluster", "stranger"))
    roles = [f"distributed.comm.tls.{role}" for role in ("client", "scheduler", "worker")]
    tls = {f"{role}.{part}": path for role in roles for part, path in ours.items()}
    tls |= {"distributed.comm.require-encryption": True, "distributed.comm.tls.ca-file": ours["cert"]}
    parameters = SphericalParameters(7, n_init=1, random_state=1)
    with dask.config.set(tls), threads_as_workers(2, protocol="tls://", host="127.0.0.1") as cluster:
        with connect(cluster.scheduler_address, tmp_path) as place:
            assert place.client.scheduler.address.startswith("tls://")
            found = cluster_blocks(place, blocks, parameters)
        with handed_in(cluster, ours) as client, connect(client, tmp_path) as place:
            again = cluster_blocks(place, blocks, parameters)
        other = dask.config.set({f"{roles[0]}.{part}": path for part, path in stranger.items()})
        refused = pytest.raises(InputError, match="no scheduler answers")
        with other, refused, connect(cluster.scheduler_address, tmp_path):
            pass
    np.testing.assert_array_equal(found.labels, spherical_k_means(matrix, parameters).labels)
    np.testing.assert_array_equal(again.labels, found.labels)


def handed_in(cluster, ours):
    """Return a client that has its certificates from its own object, not from the settings."""
    own = {"tls_ca_file": ours["cert"], "tls_client_cert": ours["cert"], "tls_client_key": ours["key"]}
    with dask.config.set({f"distributed.comm.tls.client.{part}": None for part in ours}):
        security = distributed.Security(**own, require_encryption=True)
        return distributed.Client(cluster.scheduler_address, security=security, timeout="10s")


def test_a_worker_that_joins_later_takes_part(matrix, blocks, tmp_path):
    with threads_as_workers(1) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:

        def join(stage, done, total=None):
            if done == 1:
                cluster.scale(3)
                client.wait_for_workers(3, timeout=10)

        parameters = SphericalParameters(7, n_init=1, random_state=1, progress=join, tol=0.0)
        found = cluster_blocks(place, blocks, parameters)
        assert place.n_workers == 3
    expected = spherical_k_means(matrix, SphericalParameters(7, n_init=1, random_state=1, tol=0.0))
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nowhere", "is not a scheduler"),
        ("tcp://127.0.0.1:9", "no scheduler"),
        ("tls://127.0.0.1:9", "encrypted connections are not complete"),
    ],
)
def test_an_address_where_nothing_answers_is_told_in_a_sentence(address, said, monkeypatch, tmp_path):
    monkeypatch.setattr(dask_workers, "PATIENCE", 1)
    with pytest.raises(InputError, match=said), connect(address, tmp_path):
        pass


def with_arrays(item, shared):
    return [{"kept": sparse.csr_array(np.ones((1, item))), "also": shared.sum()}]


def test_bytes_are_those_of_the_arrays_in_the_messages(tmp_path):
    shared, items = np.ones(250_000), [100_000, 200_000]
    with threads_as_workers(2) as cluster, distributed.Client(cluster) as client, connect(client, tmp_path) as place:
        assert len(list(place.map(with_arrays, items, shared))) == 2
        sent, received = place.traffic.sent, place.traffic.received
    assert sent == pytest.approx(2 * shared.nbytes, rel=0.01)  # to each of two workers
    assert received == pytest.approx((8 + 4) * sum(items), rel=0.01)  # values and columns
