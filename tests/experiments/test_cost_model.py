"""The model of larger clusters: it finds the costs it was made from, and divides what workers do."""

from __future__ import annotations

import dataclasses
import math

import pytest

from experiments.benchmarks import cost_model, harness, scale_out
from experiments.benchmarks.cost_model import ASSUMPTIONS, STAGES, Costs, Line, Measured
from experiments.benchmarks.harness import Session, read_results

MAIN = {stage: Line(1.0 + place, (1 + place) * 1e-6) for place, stage in enumerate(STAGES)}
WORKERS = {stage: Line(0.5, (7 + place) * 1e-6) for place, stage in enumerate(STAGES)} | {"cluster": Line(1e-4, 3e-8)}
KNOWN = Costs(MAIN, WORKERS, slower_from_disk=1.5)
ITERATIONS = {1_000: 4, 2_000: 6, 4_000: 9}


def made_run(n_documents, n_clusters=100):
    n_iterations = ITERATIONS[n_documents]

    main, worker = ({stage: lines[stage].at(n_documents) for stage in STAGES} for lines in (KNOWN.main, KNOWN.workers))
    worker["cluster"] *= n_iterations * n_clusters
    return Measured(n_documents, n_clusters, n_iterations, main, worker)


def test_the_costs_that_runs_were_made_from_are_found_again():
    found = cost_model.fit([made_run(n) for n in ITERATIONS])
    for lines, expected in ((found.main, KNOWN.main), (found.workers, KNOWN.workers)):
        for stage in STAGES:
            assert lines[stage].of_a_document == pytest.approx(expected[stage].of_a_document, rel=1e-6)
            assert lines[stage].of_a_run == pytest.approx(expected[stage].of_a_run, rel=1e-6)


def test_costs_that_fall_with_documents_are_taken_as_growing_with_them():
    runs = [dataclasses.replace(made_run(n), main=dict.fromkeys(STAGES, 1e4 / n)) for n in ITERATIONS]
    found = cost_model.fit(runs)
    assert all(found.main[stage].of_a_run == 0 < found.main[stage].of_a_document for stage in STAGES)


def test_only_what_workers_do_is_divided_among_them():
    few, main_of_few = cost_model.modelled(KNOWN, 1e8, 10)
    many, main_of_many = cost_model.modelled(KNOWN, 1e8, 20)
    assert main_of_few == main_of_many
    for stage in (*STAGES, "disk"):
        assert few[stage] == pytest.approx(2 * many[stage])
    assert few["vectorize"] == pytest.approx(8e-6 * 1e8 / 10)
    assert few["cluster"] == pytest.approx(20 * 100 * 1.5 * 3e-8 * 1e8 / 10)  # too many rows to keep
    assert (main_of_few["cluster"], main_of_few["write"]) == pytest.approx((3e-6 * 1e8, 6e-6 * 1e8))
    assert many["table"] / few["table"] == pytest.approx(math.log2(20) / math.log2(10))
    assert few["table"] == pytest.approx(20 * 2 * 100 * 200_000 * 8 / 1.25e9 * math.log2(10))


def test_rows_that_workers_keep_are_read_once_and_iterations_go_on_from_the_one_before():
    assert cost_model.keeps_rows(1e8, 1_000)
    assert not cost_model.keeps_rows(1e8, 100)
    kept, _ = cost_model.modelled(KNOWN, 1e8, 1_000)
    read, _ = cost_model.modelled(KNOWN, 1e8, 100)
    assert kept["cluster"] == pytest.approx(read["cluster"] / 10 / 1.5)
    assert kept["disk"] < read["disk"] / 10


def test_beyond_the_limit_the_table_takes_longer_than_the_computing_and_fewer_terms_move_it():
    limit = cost_model.table_limit(KNOWN, 1e8)

    def table_over_computing(n_workers):
        return cost_model.table_seconds(n_workers) / cost_model.iteration_seconds(KNOWN, 1e8, n_workers)

    assert table_over_computing(limit) >= 1 > table_over_computing(limit // 2)
    assert cost_model.table_limit(KNOWN, 1e8, cost_model.with_fewer_terms(10)) > limit


def test_more_workers_than_the_limit_wait_for_the_main_machine():
    limit = cost_model.main_limit(KNOWN, 1e8)

    def main_over_workers(n_workers):
        workers, main = cost_model.modelled(KNOWN, 1e8, n_workers)
        return sum(main.values()) / sum(workers.values())

    assert main_over_workers(limit) >= 1 > main_over_workers(limit // 2)


def test_the_row_says_what_is_assumed_and_how_far_it_was_off_at_the_size_left_out(tmp_path, monkeypatch):
    def measured(function, arguments):
        run = made_run(arguments["n_documents"])
        slower = 1.5 if arguments.get("max_memory") else 1.0
        worker = {**run.worker, "cluster": slower * run.worker["cluster"]}
        figures = {f"main_process_computed_in_{stage}_seconds": run.main[stage] for stage in STAGES}
        figures |= {f"worker_1_computed_in_{stage}_seconds": worker[stage] for stage in STAGES}
        return {**figures, "seconds": 1.0, "iterations": run.n_iterations}

    monkeypatch.setattr(harness, "measure_process", measured)
    session = Session("model", tmp_path / "some.csv", quick=True, say=lambda _: None)
    scale_out.model.run(session)
    found = {(line["contender"], line["figure"]): float(line["value"]) for line in read_results(session.path)}
    off = [value for (who, _), value in found.items() if who.startswith("predicted over measured")]
    assert len(off) == len(STAGES) + 1
    assert off == pytest.approx([1.0] * len(off))
    assert {name for who, name in found if who == "assumed"} == {
        name.replace("bytes", "B") for name in dataclasses.asdict(ASSUMPTIONS)
    }
    hours = found["modelled: 1e+09 documents, 100 workers", "hours_of_cluster"]
    assert hours == pytest.approx(20 * 100 * 1.5 * 3e-8 * 1e9 / 100 / 3600, rel=1e-5)
