"""Every printed number that takes no minutes comes out: to the printed digit, or as its note says."""

from __future__ import annotations

import csv
import functools
import json
import sys

import pytest

from experiments.__main__ import main
from experiments.reproduction import HERE, ON_CORPORA, SOURCES, Row, reproduce

EXPLAINED = {"as the note says", "the claim fails"}
AGREEING = {"agrees", "left out (quick)"} | EXPLAINED


def written():
    """When each file of the experiments was written: a folder that nobody named is not written to."""
    files = (path for path in HERE.rglob("*") if "__pycache__" not in path.parts)
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


@functools.cache
def quick(name: str) -> tuple[Row, ...]:
    return tuple(reproduce(name, quick=True))


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_quick_number_agrees_or_is_as_its_note_says(name):
    before = written()
    rows = quick(name)
    assert written() == before
    assert [row for row in rows if row.verdict not in AGREEING] == []
    assert all(row.note for row in rows if row.verdict in EXPLAINED)


@pytest.mark.parametrize("name", sorted(set(SOURCES) - ON_CORPORA))
def test_most_numbers_are_quick(name):
    rows = quick(name)
    assert sum(row.verdict == "left out (quick)" for row in rows) <= len(rows) / 4


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_kept_results_hold_every_printed_number_and_none_differs(name):
    folder = HERE / SOURCES[name]
    with (folder / "results" / "numbers.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    with (folder / "expected.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    assert [row["key"] for row in kept] == [row["key"] for row in expected]
    assert {row["verdict"] for row in kept} <= {"agrees"} | EXPLAINED


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_quick_numbers_are_the_kept_ones_where_nothing_is_drawn(name):
    with (HERE / SOURCES[name] / "results" / "numbers.csv").open(encoding="utf-8", newline="") as file:
        kept = {row["key"]: row for row in csv.DictReader(file)}
    for row in quick(name):
        if row.ours is not None and "Monte Carlo" not in row.note and row.tolerance > 0:
            assert row.ours == pytest.approx(float(kept[row.key]["ours"]), abs=row.tolerance, rel=1e-9)


def test_the_command_prints_one_row_for_each_printed_number_and_writes_where_it_is_asked_to(
    tmp_path, monkeypatch, capsys
):
    typed = ["experiments", "iir-16", "--quick", "--json", "-o", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", typed)
    assert main() == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"source", "place", "printed", "ours", "tolerance", "verdict"} <= set(rows[0])
    assert {row["verdict"] for row in rows} <= {"agrees"} | EXPLAINED
    assert "table 16.2,purity" in (tmp_path / "out" / "iir-16" / "numbers.csv").read_text(encoding="utf-8")
