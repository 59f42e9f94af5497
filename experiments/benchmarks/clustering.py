"""Spherical k-means beside its peers: whole fits, single iterations, seeds, memory, and the machine's own limit.

Peers begin at the same documents where they accept centroids. scikit-learn's KMeans minimises squared Euclidean
distances to means that are not unit, so objectives are compared as cosines to re-normalised means of the final labels.
`sparsekmeans` runs in the Python named by the environment variable DOCCLUSTER_PEERS_PYTHON (this one by default) and
draws its own seeds; where it is not installed its line says so.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

from doccluster.base.blocks import available_threads
from doccluster.clustering import SphericalKMeans
from doccluster.geometry import as_documents
from experiments.benchmarks.harness import Session, row, start_clock
from experiments.benchmarks.matrices import REAL, cosine_objective, load_matrix, matrix_path, random_rows, real_names
from experiments.benchmarks.scaling_figure import ITERATIONS

TIMED = ("doccluster/clustering/k_means", "doccluster/geometry", "doccluster/base/compiled.py")
HERE = "experiments.benchmarks.clustering"
FULL = 0.0  # go on until no document moves
FIRST_TIMED, LAST_TIMED = 2, 8  # the iterations between these are timed


def data(session: Session, name: str, quick: str = "made-20k") -> str:
    """Return the name of the matrix, a small one in a quick session."""
    return quick if session.quick else name


def count(session: Session, n_clusters: int) -> int:
    """Return the number of clusters, a fifth in a quick session."""
    return n_clusters // 5 if session.quick else n_clusters


def our_fit(name: str, n_clusters: int, **settings: object) -> SphericalKMeans:
    """Return our fit from the common start."""
    matrix = load_matrix(name)
    start = matrix[random_rows(name, n_clusters)]
    return SphericalKMeans(n_clusters, init=start, **settings).fit(matrix)  # type: ignore[arg-type]


def their_fit(name: str, n_clusters: int, **settings: object) -> object:
    """Return scikit-learn's fit from the common start."""
    from sklearn.cluster import KMeans

    matrix = load_matrix(name)
    start = matrix[random_rows(name, n_clusters)].toarray()
    return KMeans(n_clusters, init=start, n_init=1, **settings).fit(matrix)


def load_kernels() -> None:
    """Compile or load every kernel once, so that no fit is timed with it."""
    rows = load_matrix("made-20k")[:4000]
    for settings in ({"algorithm": "lloyd"}, {}):
        SphericalKMeans(40, n_init=1, max_iter=6, tol=FULL, random_state=0, **settings).fit(rows)  # type: ignore[arg-type]


def keep(into: dict[str, object], name: str, function: Callable[[], object]) -> Callable[[], object]:
    """Return a call that leaves its result in `into`."""

    def call() -> object:
        into[name] = function()
        return into[name]

    return call


@row("fit-debian-100", "whole fit, Debian descriptions, k=100, ours until nothing moves", target=25.0)
def fit_debian(session: Session) -> None:
    load_kernels()
    name, k, results = data(session, "debian"), count(session, 100), {}
    session.compare(
        {
            "doccluster": keep(results, "doccluster", lambda: our_fit(name, k, tol=FULL)),
            "scikit-learn lloyd": keep(results, "scikit-learn lloyd", lambda: their_fit(name, k)),
        },
        repeats=5,
    )
    for contender, model in results.items():
        session.record(contender, "cosine_objective", cosine_objective(load_matrix(name), model.labels_))
        session.record(contender, "iterations", float(model.n_iter_))


def fit_on_one_thread(session: Session, name: str) -> None:
    """Compare fits of a real corpus from the same documents, and what they reach."""
    load_kernels()
    k, results = REAL[name], {}
    fits: dict[str, Callable[[], object]] = {
        f"doccluster, {name}, k={k}": lambda: our_fit(name, k, tol=FULL, n_threads=1),
        f"scikit-learn lloyd, {name}, k={k}": lambda: their_fit(name, k),
    }
    for fit in fits.values():
        fit()
    session.compare_on_one_thread({who: keep(results, who, fit) for who, fit in fits.items()}, repeats=9)
    for who, model in results.items():
        session.record(who, "cosine_objective", cosine_objective(load_matrix(name), model.labels_))


@row("fit-reuters-66", "whole fit, Reuters, k=66, ours until nothing moves, one thread each", target=10.0)
def fit_reuters(session: Session) -> None:
    fit_if_there(session, "reuters")


@row("fit-newsgroups-20", "whole fit, 20 Newsgroups, k=20, ours until nothing moves, one thread each", target=9.0)
def fit_newsgroups(session: Session) -> None:
    fit_if_there(session, "newsgroups")


def fit_if_there(session: Session, name: str) -> None:
    """Compare fits of a corpus that may lie beside this checkout."""
    if name not in real_names():
        session.say(f"  {session.row}: no real corpora beside this checkout")
        return
    fit_on_one_thread(session, name)


@row("fit-cluto", "whole fit, CLUTO's matrices, k = classes, ours until nothing moves, one thread each", target=2.0)
def fit_cluto(session: Session) -> None:
    names = [name for name in real_names() if name not in ("reuters", "newsgroups")]
    if not names:
        session.say(f"  {session.row}: no real corpora beside this checkout")
    for name in names[-1:] if session.quick else names:
        fit_on_one_thread(session, name)


@row("fit-debian-100-one-thread", "whole fit, Debian descriptions, k=100, one thread each", target=25.0)
def fit_debian_on_one_thread(session: Session) -> None:
    load_kernels()
    name, k, results = data(session, "debian"), count(session, 100), {}
    fits: dict[str, Callable[[], object]] = {
        "doccluster": lambda: our_fit(name, k, tol=FULL, n_threads=1),
        "scikit-learn lloyd": lambda: their_fit(name, k),
    }
    session.compare_on_one_thread({who: keep(results, who, fit) for who, fit in fits.items()}, repeats=3)
    for who, model in results.items():
        session.record(who, "cosine_objective", cosine_objective(load_matrix(name), model.labels_))
        session.record(who, "iterations", float(model.n_iter_))


@row("dense-rows", "the nearest of 6 means for 3,075 x 200 dense rows, beside numpy, one thread each", target=1.0)
def dense_rows(session: Session) -> None:
    from doccluster.clustering.k_means.lloyd_steps import LloydSteps
    from doccluster.clustering.k_means.unit_documents import unit_documents

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 200))
    rows = rng.normal(size=(3075, 200)) + 0.1 * centres[rng.integers(6, size=3075)]
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    documents = unit_documents(as_documents(rows))
    steps = LloydSteps(documents, documents.matrix[:6])
    steps.assign()
    means = np.ascontiguousarray(rows[:6].T)
    repeated = range(20 if session.quick else 200)
    session.compare_on_one_thread(
        {
            "doccluster, labels exact, with bounds": lambda: [steps.assign() for _ in repeated],
            "numpy, products and argmax": lambda: [(rows @ means).argmax(axis=1) for _ in repeated],
        },
        repeats=9,
    )


class Reached(Exception):
    """The objective aimed at has been passed."""


def seconds_to(name: str, n_clusters: int, target: float) -> float:
    """Return how long our fit takes, from the matrix in memory, until its objective passes `target`."""
    from doccluster.clustering.k_means.lloyd import Limits, run_start
    from doccluster.clustering.k_means.lloyd_steps import LloydSteps
    from doccluster.clustering.k_means.unit_documents import unit_documents

    matrix, start = load_matrix(name), load_matrix(name)[random_rows(name, n_clusters)]

    def watch(_: LloydSteps, __: int, objective: float) -> None:
        if objective >= target:
            raise Reached

    started = time.perf_counter()
    documents = unit_documents(as_documents(matrix), n_threads=available_threads())
    try:
        steps = LloydSteps(documents, start)
        run_start(steps, Limits(tol=FULL), observe=watch)
    except Reached:
        return time.perf_counter() - started
    return float("nan")


@row("time-to-objective-debian-100", "time to scikit-learn's final cosine objective, same seeds", target=150.0)
def time_to_objective(session: Session) -> None:
    load_kernels()
    name, k = data(session, "debian"), count(session, 100)
    theirs, ours = [], []
    for _ in range(1 if session.quick else 5):
        started = time.perf_counter()
        model = their_fit(name, k)
        theirs.append(time.perf_counter() - started)
        target = cosine_objective(load_matrix(name), model.labels_)
        ours.append(seconds_to(name, k, target))
    session.record("doccluster", "seconds", statistics.median(ours), ours)
    session.record("scikit-learn lloyd", "seconds", statistics.median(theirs), theirs)
    ratio = statistics.median(theirs) / statistics.median(ours)
    session.record("scikit-learn lloyd", "seconds_times_ours", ratio)


def our_iteration(name: str, n_clusters: int, **settings: object) -> float:
    """Return the seconds of one of our iterations, the third to the eighth, by the clock of a single fit."""
    times: list[float] = []

    def tell(stage: str, done: int, total: int | None = None) -> None:
        times.append(time.perf_counter())

    our_fit(name, n_clusters, tol=FULL, max_iter=LAST_TIMED, progress=tell, **settings)
    return (times[LAST_TIMED - 1] - times[FIRST_TIMED - 1]) / (LAST_TIMED - FIRST_TIMED)


def their_iteration(name: str, n_clusters: int) -> float:
    """Return the seconds of one iteration of scikit-learn: half the difference of fits of one and of three."""
    seconds = []
    for iterations in (1, 3):
        started = time.perf_counter()
        their_fit(name, n_clusters, tol=0.0, max_iter=iterations)
        seconds.append(time.perf_counter() - started)
    return (seconds[1] - seconds[0]) / 2


def per_iteration(session: Session, n_clusters: int) -> None:
    """Compare one iteration, as it is by default and with every row swept, with one of scikit-learn's."""
    load_kernels()
    name = data(session, "made-100k")
    contenders: dict[str, Callable[[], float]] = {
        "doccluster": lambda: our_iteration(name, n_clusters),
        "doccluster, plain": lambda: our_iteration(name, n_clusters, algorithm="lloyd"),
        "scikit-learn lloyd": lambda: their_iteration(name, n_clusters),
    }
    taken: dict[str, list[float]] = {contender: [] for contender in contenders}
    for turn in range(1 if session.quick else 3):
        for contender, seconds in contenders.items():
            taken[contender].append(seconds())
            session.say(f"  {session.row}: {contender}, round {turn + 1}: {taken[contender][-1]:.3f} s an iteration")
    for contender, values in taken.items():
        session.record(contender, "seconds", statistics.median(values), values)
    default, plain, theirs = (session.figures[contender, "seconds"] for contender in contenders)
    session.record("doccluster, plain", "seconds_times_ours", plain / default)
    session.record("scikit-learn lloyd", "seconds_times_ours", theirs / default)
    session.record("scikit-learn lloyd", "seconds_over_our_plain", theirs / plain)


@row("iteration-100k-100", "one iteration, the third to eighth, 100 thousand long documents, k=100", target=15.0)
def iteration_100(session: Session) -> None:
    per_iteration(session, count(session, 100))


@row("iteration-100k-500", "one iteration, the third to eighth, 100 thousand long documents, k=500", target=30.0)
def iteration_500(session: Session) -> None:
    per_iteration(session, count(session, 500))


def sparsekmeans_fit(name: str, n_clusters: int, mode: str) -> tuple[float, np.ndarray]:
    """Return the seconds and the labels of one fit of sparsekmeans in its own process."""
    python = os.environ.get("DOCCLUSTER_PEERS_PYTHON", sys.executable)
    script = pathlib.Path(__file__).parent / "peer_sparsekmeans.py"
    with tempfile.TemporaryDirectory() as folder:
        labels = pathlib.Path(folder) / "labels.npy"
        arguments = [matrix_path(name), n_clusters, mode, available_threads(), 300, labels]
        command = [python, script, *arguments]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
        return float(json.loads(done.stdout.splitlines()[-1])["seconds"]), np.load(labels)


def against_sparsekmeans(session: Session, name: str, n_clusters: int) -> None:
    """Compare whole fits, seeds included, from the own k-means++ of each."""
    load_kernels()
    matrix = load_matrix(name)
    ours, theirs = [], {"sparsekmeans lloyd": [], "sparsekmeans elkan": []}
    for _ in range(1 if session.quick else 3):
        started = time.perf_counter()
        model = SphericalKMeans(n_clusters, n_init=1, tol=FULL, random_state=0).fit(matrix)
        ours.append(time.perf_counter() - started)
        for contender in theirs:
            try:
                seconds, labels = sparsekmeans_fit(name, n_clusters, contender.split()[-1])
            except RuntimeError as error:
                session.say(f"  {session.row}: {contender} did not run: {error}")
                session.record(contender, f"failed: {str(error)[-120:]}", float("nan"))
                return
            theirs[contender].append(seconds)
            session.record(contender, "cosine_objective", cosine_objective(matrix, labels))
    session.record("doccluster", "seconds", statistics.median(ours), ours)
    session.record("doccluster", "cosine_objective", model.objective_)
    for contender, values in theirs.items():
        median = session.record(contender, "seconds", statistics.median(values), values)
        session.record(contender, "seconds_times_ours", median / statistics.median(ours))


@row("sparsekmeans-100", "whole fit with seeds, Debian descriptions, k=100, against sparsekmeans", target=8.0)
def sparsekmeans_100(session: Session) -> None:
    against_sparsekmeans(session, data(session, "debian"), count(session, 100))


@row("sparsekmeans-500", "whole fit with seeds, Debian descriptions, k=500, against sparsekmeans", target=8.0)
def sparsekmeans_500(session: Session) -> None:
    against_sparsekmeans(session, data(session, "debian"), count(session, 500))


def seeds(session: Session, name: str, n_clusters: int) -> None:
    """Compare greedy k-means++ with the same number of candidates, checks and index included."""
    from sklearn.cluster import kmeans_plusplus

    from doccluster.clustering.k_means.seeds import default_trials, kmeans_plus_plus
    from doccluster.clustering.k_means.unit_documents import unit_documents

    load_kernels()
    matrix = load_matrix(name)
    trials = default_trials(n_clusters)

    def ours() -> object:
        documents = unit_documents(as_documents(matrix), n_threads=available_threads())
        return kmeans_plus_plus(documents, n_clusters, np.random.default_rng(0))

    session.compare(
        {
            "doccluster": ours,
            "scikit-learn": lambda: kmeans_plusplus(matrix, n_clusters, random_state=0, n_local_trials=trials),
        },
        repeats=5,
    )


@row("seeds-debian-100", "greedy k-means++, Debian descriptions, k=100, same number of candidates", target=40.0)
def seeds_debian(session: Session) -> None:
    seeds(session, data(session, "debian"), count(session, 100))


@row("seeds-100k-100", "greedy k-means++, 100 thousand long documents, k=100", target=40.0)
def seeds_made(session: Session) -> None:
    seeds(session, data(session, "made-100k"), count(session, 100))


def our_memory(name: str, n_clusters: int) -> dict[str, float]:
    """Fit for the harness to measure."""
    load_kernels()
    matrix, start = load_matrix(name), random_rows(name, n_clusters)
    init = matrix[start]
    start_clock()
    model = SphericalKMeans(n_clusters, init=init, max_iter=2, tol=FULL).fit(matrix)
    return {"cosine_objective": cosine_objective(matrix, model.labels_)}


def their_memory(name: str, n_clusters: int) -> dict[str, float]:
    """Fit scikit-learn for the harness to measure; its start counts, as it must be dense."""
    from sklearn.cluster import KMeans

    matrix, start = load_matrix(name), random_rows(name, n_clusters)
    start_clock()
    model = KMeans(n_clusters, init=matrix[start].toarray(), n_init=1, max_iter=2, tol=0.0).fit(matrix)
    return {"cosine_objective": cosine_objective(matrix, model.labels_)}


@row(
    "memory-2000",
    "peak memory beyond the matrix, k=2,000, 200 thousand terms, two iterations",
    target=20.0,
    figure="peak_bytes_beyond_data",
)
def memory(session: Session) -> None:
    name, k = data(session, "made-25k-wide"), 200 if session.quick else 2000
    matrix_path(name)
    contenders = {"doccluster": f"{HERE}:our_memory", "scikit-learn lloyd": f"{HERE}:their_memory"}
    session.compare_memory(contenders, name=name, n_clusters=k)


@row("pruned-100k-500", "whole fit, 100 thousand long documents, k=500, against our plain exact Lloyd", target=2.5)
def pruned(session: Session) -> None:
    load_kernels()
    name, k, results = data(session, "made-100k"), count(session, 500), {}
    session.compare(
        {
            "doccluster": keep(results, "auto", lambda: our_fit(name, k, tol=FULL)),
            "doccluster, plain": keep(results, "plain", lambda: our_fit(name, k, tol=FULL, algorithm="lloyd")),
        },
        repeats=3,
    )
    differing = np.count_nonzero(results["auto"].labels_ != results["plain"].labels_)
    session.record("doccluster", "labels_that_differ_from_plain", float(differing))


@row("peers-debian-100", "whole fit, Debian descriptions, k=100, against the other estimators of scikit-learn")
def peers(session: Session) -> None:
    from sklearn.cluster import BisectingKMeans, MiniBatchKMeans

    load_kernels()
    name, k, results = data(session, "debian"), count(session, 100), {}
    matrix = load_matrix(name)
    fits: dict[str, Callable[[], object]] = {
        "doccluster": lambda: our_fit(name, k, tol=FULL),
        "scikit-learn elkan": lambda: their_fit(name, k, algorithm="elkan"),
        "scikit-learn MiniBatchKMeans": lambda: MiniBatchKMeans(k, n_init=1, random_state=0).fit(matrix),
        "scikit-learn BisectingKMeans": lambda: BisectingKMeans(k, random_state=0).fit(matrix),
    }
    session.compare({contender: keep(results, contender, fit) for contender, fit in fits.items()}, repeats=3)
    for contender, model in results.items():
        session.record(contender, "cosine_objective", cosine_objective(matrix, model.labels_))


FIRST_USE = {  # a package and the least that shows whether it runs
    "spherecluster": "from spherecluster import SphericalKMeans as K; K(2).fit(X)",
    "soyclustering": "from soyclustering import SphericalKMeans as K; K(n_clusters=2, max_iter=2).fit(X)",
}


@row("packages-that-do-not-run", "peers named in the literature that do not run today, with the error of a first use")
def broken_peers(session: Session) -> None:
    python = os.environ.get("DOCCLUSTER_PEERS_PYTHON", sys.executable)
    made = "import scipy.sparse as s; X = s.random(40, 20, 0.3, format='csr', random_state=0); "
    for package, use in FIRST_USE.items():
        done = subprocess.run([python, "-c", made + use], capture_output=True, text=True)
        errors = [line for line in done.stderr.splitlines() if re.match(r"\w+(Error|Exception)\b", line)]
        session.record(package, f"failed: {errors[-1][:120]}" if errors else "runs", float(done.returncode == 0))


@row("scaling", "seconds of ten iterations against documents, clusters and entries")
def scaling(session: Session) -> None:
    load_kernels()
    names = ("made-20k",) if session.quick else ("made-20k", "debian", "made-100k", "made-500k", "made-1m")
    for name in names:
        matrix = load_matrix(name)
        for k in (20, 100, 500):
            started = time.perf_counter()
            our_fit(name, k, tol=FULL, max_iter=ITERATIONS)
            session.record(f"{name}, k={k}", "seconds", time.perf_counter() - started)
            session.record(f"{name}, k={k}", "documents", float(matrix.shape[0]))
            session.record(f"{name}, k={k}", "entries", float(matrix.nnz))


@row("machine-limit", "one plain sweep beside the memory it must read at the bandwidth measured in the same run")
def machine_limit(session: Session) -> None:
    from doccluster.clustering.k_means.lloyd_steps import LloydSteps
    from doccluster.clustering.k_means.unit_documents import unit_documents
    from experiments.benchmarks.bandwidth import gather_bandwidth, stream_bandwidth

    load_kernels()
    threads = available_threads()
    session.record("machine", "stream_bytes_per_second", stream_bandwidth(threads))
    for name in ("made-20k",) if session.quick else ("debian", "made-100k"):
        for k in (100, 500):
            documents = unit_documents(as_documents(load_matrix(name)), n_threads=threads)
            start = LloydSteps(documents, documents.matrix[random_rows(name, k)])
            start.assign()
            start.update()
            seconds = []
            for _ in range(5):
                started = time.perf_counter()
                start.nearest.search(start.centroids)
                seconds.append(time.perf_counter() - started)
            width = 2 * start.places.n_lanes
            n_bytes = documents.n_entries * (width + 8)
            rate = gather_bandwidth(documents, start.places, width, threads)
            session.record(f"{name}, k={k}", "seconds", statistics.median(seconds), seconds)
            session.record(f"{name}, k={k}", "gather_bytes_per_second", rate)
            session.record(f"{name}, k={k}", "times_the_limit", statistics.median(seconds) / (n_bytes / rate))


@row("big-k", "10,000 clusters on 500 thousand documents: it fits in memory and finishes")
def big_k(session: Session) -> None:
    name, k = data(session, "made-500k"), 500 if session.quick else 10_000
    matrix_path(name)
    session.compare_memory({"doccluster": f"{HERE}:fit_big_k"}, name=name, n_clusters=k)


def fit_big_k(name: str, n_clusters: int) -> dict[str, float]:
    """Fit many clusters, from k-means++, to the default tolerance."""
    load_kernels()
    matrix = load_matrix(name)
    start_clock()
    model = SphericalKMeans(n_clusters, n_init=1, random_state=0, max_iter=20).fit(matrix)
    return {"cosine_objective": model.objective_, "iterations": model.n_iter_, "clusters": model.centroids_.shape[0]}


@row("million", "1,000,000 generated documents, text file to labels, k=100: seconds and peak memory (under 6 GB)")
def million(session: Session) -> None:
    from experiments.benchmarks.made_text import text_file

    path = text_file(20_000 if session.quick else 1_000_000)
    session.compare_memory({"doccluster": f"{HERE}:text_to_labels"}, path=str(path))


def text_to_labels(path: str) -> dict[str, float]:
    """Read a text file, one document a line, vectorize and cluster."""
    from doccluster.vectors import TfidfVectorizer

    started = time.perf_counter()
    with pathlib.Path(path).open(encoding="utf-8") as lines:
        matrix = TfidfVectorizer(min_df=2).fit_transform(lines)
    vectorized = time.perf_counter()
    model = SphericalKMeans(100, n_init=1, random_state=0).fit(matrix)
    return {
        "documents": float(model.labels_.size),
        "vectorize_seconds": vectorized - started,
        "cluster_seconds": time.perf_counter() - vectorized,
        "terms": float(matrix.shape[1]),
        "entries": float(matrix.nnz),
    }
