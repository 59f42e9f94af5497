"""Whole runs over a file of made documents, each in a process of its own: at which place, and what is kept of each."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from doccluster.pipeline.main_line import run_pipeline  # here, so that it is loaded before a clock starts
from experiments.benchmarks.harness import measure_process, start_clock
from experiments.benchmarks.made_text import text_file
from experiments.benchmarks.process_watch import ProcessWatch, folder_bytes

if TYPE_CHECKING:
    from doccluster.results.record import Run

STAGES = ("read", "vectorize", "cluster", "label", "judge")
WRITTEN_STAGES = (*STAGES, "write")
ONE_START = "spherical-k-means:n_init=1,init=subsample"
MAIN = "main_process"
WORKER_LIMIT = 3_000_000_000  # bytes: Dask ends a worker that holds 95% of it
DISK_LIMIT = "2G"
IDLE = 10.0  # seconds for which processes are watched before a run


def run_at(path: pathlib.Path, n_clusters: int, algorithm: str = ONE_START, **where: Any) -> Run:
    """Return a run over the lines of a file: by default one start, seeds drawn from a subsample."""
    return run_pipeline(
        path,
        n_clusters=n_clusters,
        algorithm=algorithm,
        reader={"format": "lines"},
        language="none",
        **where,
    )


def checksums(run: Run) -> dict[str, float]:
    """Return as much of the checksums of labels, and of scores.csv, as a float holds exactly."""
    from doccluster.base.checksums import checksum
    from doccluster.base.text_table import csv_text
    from doccluster.results.run_folder import labels_checksum
    from doccluster.results.run_tables import scores_columns

    scores = checksum([csv_text(scores_columns(run))])
    return {
        "checksum_of_labels": float(int(labels_checksum(run)[:12], 16)),
        "checksum_of_scores": float(int(scores[:12], 16)),
    }


class Told:
    """What a run tells of its progress: the stages it begins, and how many iterations it came to."""

    def __init__(self, begin: Callable[[str], object] | None = None) -> None:
        self.iterations, self._begin = 0, begin

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        if self._begin is not None and stage in WRITTEN_STAGES:
            self._begin(stage)
        if stage == "cluster":
            self.iterations = max(self.iterations, done)


def in_one_process(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run in this process on one thread, and write what a run writes but the report."""
    return _spent(n_documents, n_clusters)


def in_blocks(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run in blocks, of which nothing is kept in memory between iterations."""
    with tempfile.TemporaryDirectory() as folder:
        return _spent(n_documents, n_clusters, scratch=folder, clustering={"max_memory": "64M"})


def default_in_one_process(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run the default quality in this process on one thread."""
    return _default(n_documents, n_clusters)


def default_in_blocks(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run the default quality in blocks, in as little memory as lets seeds be drawn from all 100,000 documents."""
    with tempfile.TemporaryDirectory() as folder:
        return _default(n_documents, n_clusters, scratch=folder, clustering={"max_memory": "320M"})


def _default(n_documents: int, n_clusters: int, **where: Any) -> dict[str, float]:
    """Watch a run: what it holds of its own, pages of mapped files left out, and its scratch folder at most."""
    scratch = pathlib.Path(where.get("scratch", os.devnull))
    with ProcessWatch(lambda: {MAIN: os.getpid()}, scratch) as watch:
        watch.begin("run")
        found = _spent(n_documents, n_clusters, algorithm="smoothed", **where)
    return {**found, "own_bytes": float(watch.peak_of(MAIN)), "scratch_bytes": float(watch.folder_bytes)}


def _spent(n_documents: int, n_clusters: int, **where: Any) -> dict[str, float]:
    path = text_file(n_documents)
    start_clock()
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "run"
        run = run_at(path, n_clusters, n_threads=1, report=False, output=output, **where)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"processor_seconds": used.ru_utime + used.ru_stime, **checksums(run)}


def on_threads(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run in this process, on two threads."""
    return _by_stage(n_documents, n_clusters, n_threads=2)


def on_one_thread(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run in this process, on one thread."""
    return _by_stage(n_documents, n_clusters, n_threads=1)


def two_at_once(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run in two processes at the same time, on one thread each; the seconds are those of the slower one."""
    arguments: dict[str, object] = {"n_documents": n_documents, "n_clusters": n_clusters}
    text_file(n_documents)
    start_clock()
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: measure_process(f"{__name__}:on_one_thread", one), [arguments] * 2))
    failed = [str(one["error"]) for one in found if "error" in one]
    if failed:
        raise RuntimeError(failed[0])
    return {"run_seconds": max(float(str(one["run_seconds"])) for one in found)}


def on_one_worker(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run on one worker process."""
    return _by_stage(n_documents, n_clusters, scheduler="local:1", n_threads=1)


def on_two_workers(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run on two worker processes."""
    return _by_stage(n_documents, n_clusters, scheduler="local:2", n_threads=1)


def _by_stage(n_documents: int, n_clusters: int, **where: Any) -> dict[str, float]:
    path, told = text_file(n_documents), Told()
    start_clock()
    run = run_at(path, n_clusters, progress=told, **where)
    stages = {f"{stage}_seconds": float(run.provenance.timings[stage]) for stage in STAGES}
    held = {f"{MAIN}_peak_bytes": peak_bytes(resource.RUSAGE_SELF)}
    if "scheduler" in where:  # its workers have ended by now
        held["most_peak_bytes_of_a_worker"] = peak_bytes(resource.RUSAGE_CHILDREN)
    told_of = {"run_seconds": sum(stages.values()), "iterations": float(told.iterations)}
    return {**stages, **told_of, **held, **checksums(run)}


def peak_bytes(whose: int) -> float:
    """Return the most that this process, or the largest of its children that ended, held; mapped pages included."""
    return resource.getrusage(whose).ru_maxrss * 1024.0


def on_two_limited_workers(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run on two worker processes, which Dask ends when they hold more than the limit."""
    return on_limited_workers(n_documents, n_clusters, 2)


def computed_on_one_worker(n_documents: int, n_clusters: int, max_memory: str | None = None) -> dict[str, float]:
    """Run on one worker process, and say what each process computed; `max_memory` bounds what is kept of the rows."""
    clustering = None if max_memory is None else {"max_memory": max_memory}
    figures = on_limited_workers(n_documents, n_clusters, 1, clustering=clustering)
    return {name: value for name, value in figures.items() if "_computed_in_" in name or name == "iterations"}


def on_limited_workers(n_documents: int, n_clusters: int, n_workers: int, **options: Any) -> dict[str, float]:
    """Run on worker processes that Dask ends when they hold more than the limit."""
    from doccluster.distributed.dask_workers import connect

    with _folder() as folder, connect(f"local:{n_workers}", folder, memory_limit=WORKER_LIMIT) as place:
        nannies = place.client.cluster.workers

        def processes() -> dict[str, int]:
            started = {f"worker_{name + 1}": nanny.pid for name, nanny in nannies.items()}
            return {MAIN: os.getpid(), **{name: number for name, number in started.items() if number}}

        watch = ProcessWatch(processes, folder)
        figures = _watched(watch, folder, n_documents, n_clusters, scheduler=place.client, n_threads=1, **options)
    workers = sorted(set(watch.numbers) - {MAIN})
    return {
        **figures,
        "most_peak_bytes_of_a_worker": float(max(watch.resident[name] for name in workers)),
        "limit_bytes_of_a_worker": float(WORKER_LIMIT),
        "workers_replaced": float(sum(len(watch.numbers[name]) - 1 for name in workers)),
    }


def from_disk(n_documents: int, n_clusters: int) -> dict[str, float]:
    """Run out of core in this process, on all its processors."""
    with _folder() as folder:
        watch = ProcessWatch(lambda: {MAIN: os.getpid()}, folder)
        clustering = {"max_memory": DISK_LIMIT}
        return _watched(watch, folder, n_documents, n_clusters, clustering=clustering)


def _watched(
    watch: ProcessWatch, folder: pathlib.Path, n_documents: int, n_clusters: int, **where: Any
) -> dict[str, float]:
    """Return the figures of a run that writes all that a run writes, with blocks in `folder`."""
    path, output = text_file(n_documents), folder.parent / "run"
    told = Told(watch.begin)
    with watch:
        time.sleep(IDLE)
        watch.begin("start")
        start_clock()
        run = run_at(path, n_clusters, scratch=folder, output=output, progress=told, **where)
    figures = {f"{stage}_seconds": watch.seconds[stage] for stage in WRITTEN_STAGES}
    figures["run_seconds"] = sum(figures.values())
    for name in sorted(watch.resident):
        figures[f"{name}_peak_bytes"] = float(watch.resident[name])
        figures[f"{name}_peak_bytes_without_mapped_files"] = float(watch.peak_of(name))
    for name, stage in itertools.product(sorted(watch.resident), WRITTEN_STAGES):
        figures[f"{name}_bytes_without_mapped_files_in_{stage}"] = float(watch.own[name, stage])
        figures[f"{name}_computed_in_{stage}_seconds"] = watch.beyond_idle(name, stage)
    figures["iterations"] = float(told.iterations)
    figures["scratch_bytes"] = float(watch.folder_bytes)
    figures["output_bytes"] = float(folder_bytes(output))
    figures["text_bytes"] = float(path.stat().st_size)
    return {**figures, **checksums(run)}


@contextlib.contextmanager
def _folder() -> Iterator[pathlib.Path]:
    """Yield a folder for blocks, with an empty place beside it for the run; set TMPDIR for another disk."""
    with tempfile.TemporaryDirectory(prefix="whole-run-") as above:
        folder = pathlib.Path(above) / "scratch"
        folder.mkdir()
        yield folder
