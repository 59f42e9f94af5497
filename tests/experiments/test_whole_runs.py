"""Whole runs as processes: what they cost, by stage, of this checkout and of another program."""

from __future__ import annotations

import sys

import pytest

from experiments.benchmarks import run
from experiments.benchmarks.harness import Session, read_results

WRITES = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
folder.mkdir()
record = {"provenance": {"timings": {"read": 1.5, "label": 2.0}}, "counts": {"n_clusters": 7}}
(folder / "run.json").write_text(json.dumps(record))
(folder / "report.html").write_text("a report")
"""


def of_code(code):
    return (sys.executable, "-c", code), {}


def test_a_run_tells_its_stages_and_what_it_cost(tmp_path):
    figures = run.measured_run(of_code(WRITES), tmp_path)
    assert (figures["read_seconds"], figures["label_seconds"], figures["clusters"]) == (1.5, 2.0, 7.0)
    assert 0 < figures["processor_seconds"] < 60
    assert figures["peak_bytes"] > 1_000_000


def test_a_run_that_fails_or_writes_no_report_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="ended with code 3: no such source"):
        run.measured_run(of_code("import sys; print('no such source', file=sys.stderr); sys.exit(3)"), tmp_path)
    with pytest.raises(RuntimeError, match="wrote no report"):
        run.measured_run(of_code(WRITES.replace("report.html", "page.html")), tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="the other program is a script of a shell")
def test_another_program_is_run_in_turn_and_its_share_recorded(tmp_path, monkeypatch):
    programs = []

    def measured(program, source, *options):
        programs.append(program)
        return {"processor_seconds": 4.0 if program[0][0].endswith("other") else 3.0, "peak_bytes": 8.0}

    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho made 0.9\n")
    other.chmod(0o755)
    monkeypatch.setattr(run, "measured_run", measured)
    monkeypatch.setattr(run, "sources", lambda session: {"feeds": tmp_path})
    session = Session("run-against", tmp_path / "run.csv", say=lambda text: None, against=str(other))
    run.run_against.run(session)
    assert [name == (str(other),) for name, _ in programs] == [False, True] * (run.ROUNDS + 1)
    shares = {line["figure"]: float(line["value"]) for line in read_results(session.path) if "share" in line["figure"]}
    assert shares == {"processor_seconds_as_share_of_made 0.9": 0.75, "peak_bytes_as_share_of_made 0.9": 1.0}


def test_scikit_learn_does_what_it_can(tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(["ferry harbour tide crew", "bank rates loans money"] * 20))
    found = run.plain_scikit_learn(str(tmp_path / "texts.txt"), 2, cache=tmp_path)
    assert found["clusters"] == 2.0
    assert found["processor_seconds"] > 0
