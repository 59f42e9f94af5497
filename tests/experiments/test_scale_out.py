"""The rows beyond one process: what is measured of each process, and that runs at two places are compared."""

from __future__ import annotations

import functools
import os
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from doccluster.base.progress import peak_memory
from experiments.benchmarks import harness, made_text, scale_out, whole_runs
from experiments.benchmarks.harness import Session, read_results
from experiments.benchmarks.process_watch import ProcessWatch, folder_bytes

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of processes is read from /proc")
MANY = 60 * 2**20


@pytest.fixture
def session(tmp_path):
    return Session("ten-million-disk", tmp_path / "results" / "scale_out.quick.csv", quick=True, say=lambda _: None)


@pytest.fixture
def few_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(made_text, "CACHE", tmp_path / "texts")


@on_linux
def test_memory_is_kept_by_stage_and_pages_of_mapped_files_are_not_a_process_s_own(tmp_path):
    np.save(tmp_path / "mapped.npy", np.ones(MANY, dtype=np.uint8))
    with ProcessWatch(lambda: {"this": os.getpid()}, tmp_path) as watch:
        watch.begin("mapping")
        mapped = np.load(tmp_path / "mapped.npy", mmap_mode="r")
        assert mapped.sum(dtype=np.int64) == MANY
        watch.begin("holding")
        held = np.ones(2 * MANY, dtype=np.uint8)
        for _ in range(1_000):  # it looks on from a thread
            if watch.own["this", "holding"] >= watch.own["this", "mapping"] + 1.8 * MANY:
                break
            time.sleep(0.01)
        del held
        watch.begin("done")
    more = watch.own["this", "holding"] - watch.own["this", "mapping"]
    assert 1.8 * MANY < more < 2.5 * MANY
    assert watch.resident["this"] >= watch.peak_of("this") + 0.9 * MANY
    assert watch.folder_bytes >= MANY
    assert watch.seconds["holding"] > 0


@on_linux
def test_a_process_that_takes_the_place_of_another_is_counted(tmp_path):
    started = []
    with ProcessWatch(lambda: {"worker": started[-1].pid} if started else {}, tmp_path) as watch:
        for _ in range(2):
            started.append(subprocess.Popen(["sleep", "30"]))
            time.sleep(0.5)
            started[-1].kill()
            started[-1].wait()
    assert watch.numbers["worker"] == {process.pid for process in started}


@on_linux
def test_what_a_process_computes_is_counted_for_the_stage_it_does_it_in(tmp_path):
    with ProcessWatch(lambda: {"this": os.getpid()}, tmp_path) as watch:
        watch.begin("waiting")
        time.sleep(0.4)
        watch.begin("computing")
        began = time.process_time()
        while time.process_time() - began < 0.4:
            pass
        watch.begin("done")
    assert watch.computed["this", "waiting"] < 0.2
    assert 0.3 < watch.computed["this", "computing"] < 0.6


def test_what_a_process_computes_while_it_waits_is_taken_off(tmp_path):
    watch = ProcessWatch(dict, tmp_path)
    watch.seconds = {"before": 10.0, "read": 100.0, "write": 50.0}
    watch.computed |= {("main", "before"): 0.3, ("main", "read"): 8.0, ("main", "write"): 1.0}
    assert watch.beyond_idle("main", "read") == pytest.approx(8.0 - 3.0)
    assert watch.beyond_idle("main", "write") == 0.0


def test_the_size_of_a_folder_is_what_its_files_take_on_the_disk(tmp_path):
    (tmp_path / "below").mkdir()
    for place in (tmp_path / "one", tmp_path / "below" / "two"):
        place.write_bytes(os.urandom(2**20))
    assert 2 * 2**20 <= folder_bytes(tmp_path) < 3 * 2**20


@pytest.mark.parametrize(("labels", "scores"), [(7.0, 9.0), (7.0, 8.0), (6.0, 9.0)])
def test_labels_and_scores_are_compared_with_those_another_row_has_kept(
    session, few_texts, monkeypatch, labels, scores
):
    kept = Session("ten-million-workers", session.path, quick=True, say=lambda _: None)
    kept.record("local:2", "checksum_of_labels", 7.0)
    kept.record("local:2", "checksum_of_scores", 9.0)
    monkeypatch.setattr(scale_out, "FEW", 30)
    found = {"seconds": 1.0, "checksum_of_labels": labels, "checksum_of_scores": scores}
    monkeypatch.setattr(harness, "measure_process", lambda *_: found)
    scale_out.ten_million_from_disk.run(session)
    same = {line["figure"]: float(line["value"]) for line in read_results(session.path) if "same" in line["figure"]}
    assert same == {"same_labels_as_local:2": float(labels == 7), "same_scores_as_local:2": float(scores == 9)}


def test_the_first_of_two_rows_has_nothing_to_compare_with(session, few_texts, monkeypatch):
    monkeypatch.setattr(scale_out, "FEW", 30)
    found = {"seconds": 1.0, "checksum_of_labels": 7.0, "checksum_of_scores": 9.0}
    monkeypatch.setattr(harness, "measure_process", lambda *_: found)
    scale_out.ten_million_from_disk.run(session)
    assert not any("same" in line["figure"] for line in read_results(session.path))


@on_linux
def test_a_run_on_a_limited_worker_and_one_from_disk_agree_and_each_process_is_measured(few_texts, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(whole_runs, "IDLE", 0.5)
    monkeypatch.setattr(whole_runs, "run_at", functools.partial(whole_runs.run_at, report=False, levels="none"))
    on_worker = whole_runs.on_limited_workers(400, 5, 1)
    from_disk = whole_runs.from_disk(400, 5)
    for what in ("checksum_of_labels", "checksum_of_scores", "text_bytes"):
        assert on_worker[what] == from_disk[what]
    assert on_worker["limit_bytes_of_a_worker"] == 3e9
    assert 5e7 < on_worker["worker_1_peak_bytes_without_mapped_files"] < on_worker["worker_1_peak_bytes"]
    assert on_worker["most_peak_bytes_of_a_worker"] == on_worker["worker_1_peak_bytes"]
    assert on_worker["worker_1_computed_in_cluster_seconds"] > 0
    assert on_worker["workers_replaced"] == 0
    for figures in (on_worker, from_disk):
        assert figures["scratch_bytes"] > figures["text_bytes"]
        assert figures["output_bytes"] > 0
        stages = [figures[f"{stage}_seconds"] for stage in (*whole_runs.STAGES, "write")]
        assert figures["run_seconds"] == pytest.approx(sum(stages))


def test_two_at_once_take_as_long_as_the_slower_one_and_say_what_failed(few_texts, monkeypatch):
    seconds = iter([2.0, 3.0])
    monkeypatch.setattr(whole_runs, "measure_process", lambda *_: {"run_seconds": next(seconds)})
    assert whole_runs.two_at_once(20, 2) == {"run_seconds": 3.0}
    monkeypatch.setattr(whole_runs, "measure_process", lambda *_: {"error": "no memory"})
    with pytest.raises(RuntimeError, match="no memory"):
        whole_runs.two_at_once(20, 2)


@on_linux
def test_the_peak_of_workers_is_that_of_the_largest_child_that_ended():
    subprocess.run([sys.executable, "-c", "held = b'x' * 400_000_000"], check=True)
    assert whole_runs.peak_bytes(resource.RUSAGE_CHILDREN) > 4e8
    assert whole_runs.peak_bytes(resource.RUSAGE_SELF) == peak_memory()
