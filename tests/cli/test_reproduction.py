"""Every printed number that takes no minutes comes out: to the printed digit, or as its note says."""

from __future__ import annotations

import csv
import functools
import json
import sys

import pytest

import doccluster.cli.reproduction
from doccluster.cli.main import main as doccluster_main
from doccluster.cli.reproduction import LEFT_OUT, NO_DATA, ROOMS, PrintedNumber, printed_values, reproduce
from experiments.__main__ import HERE, ON_CORPORA, SOURCES, main

EXPLAINED = {"as the note says", "the claim fails"}
AGREEING = {"agrees", LEFT_OUT} | EXPLAINED


def written():
    """When each file of the experiments was written: a folder that nobody named is not written to."""
    files = (path for path in HERE.rglob("*") if "__pycache__" not in path.parts)
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


@functools.cache
def quick(name: str) -> tuple[PrintedNumber, ...]:
    return tuple(reproduce(SOURCES[name][0], quick=True))


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
    source, folder = SOURCES[name]
    with (HERE / folder / "results" / "numbers.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    assert [row["key"] for row in kept] == [row["key"] for row in printed_values(source)]
    assert {row["verdict"] for row in kept} <= {"agrees"} | EXPLAINED


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_quick_numbers_are_the_kept_ones_where_nothing_is_drawn(name):
    with (HERE / SOURCES[name][1] / "results" / "numbers.csv").open(encoding="utf-8", newline="") as file:
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


def reproduced(capsys, *typed):
    with pytest.raises(SystemExit) as ended:
        doccluster_main(["reproduce", *typed])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def test_the_verb_knows_a_source_for_each_room_and_prints_what_it_computed(capsys):
    assert set(ROOMS) == {source for source, _ in SOURCES.values()}
    code, text, _ = reproduced(capsys, "iir")
    assert code == 0
    assert "19 agree, 1 as the note says" in text
    assert max(map(len, text.splitlines())) <= 120


def test_what_needs_data_says_so_and_the_exit_code_is_3_where_nothing_is_left(capsys, tmp_path):
    code, text, error = reproduced(capsys, "retrieval", "--data", str(tmp_path))
    assert code == 3
    assert text.count(NO_DATA) == 8 + 1
    assert "name the folder of the data with --data" in error
    code, text, _ = reproduced(capsys, "retrieval", "iir", "--json")
    assert code == 0
    rows = json.loads(text)
    assert [row["ours"] for row in rows if row["source"] == "retrieval"] == [None] * 8
    assert all(row["ours"] is not None for row in rows if row["source"] == "iir")


def test_the_exit_code_is_1_where_a_number_differs(capsys, monkeypatch):
    def alter(name):
        first, *others = printed_values(name)
        return [{**first, "printed": "99"}, *others]

    monkeypatch.setattr(doccluster.cli.reproduction, "printed_values", alter)
    code, text, _ = reproduced(capsys, "iir")
    assert code == 1
    assert "1 differs" in text


def test_a_value_that_is_not_printed_anywhere_is_an_error_of_the_program(monkeypatch):
    monkeypatch.setattr(doccluster.cli.reproduction, "printed_values", lambda name: [])
    with pytest.raises(KeyError, match="printed values"):
        reproduce("iir")
