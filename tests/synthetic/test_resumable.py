"""Long experiments go on from their csv file."""

from __future__ import annotations

import pytest

from experiments.resumable import read_lines, run_cases

CASES = [{"corpus": "a", "seed": 0}, {"corpus": "a", "seed": 1}, {"corpus": "b, c", "seed": 0}]


def test_an_interrupted_experiment_goes_on_with_what_is_missing(tmp_path):
    path = tmp_path / "results" / "x.csv"
    calls = []

    def measure(corpus, seed):
        calls.append((corpus, seed))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return [{"value": seed}, {"value": seed + 10}]

    with pytest.raises(KeyboardInterrupt):
        run_cases(path, CASES, measure, columns=["value"], say=lambda line: None)
    assert [line["value"] for line in read_lines(path)] == ["0", "10"]
    told = []
    lines = run_cases(path, CASES, measure, columns=["value"], say=told.append)
    assert calls == [("a", 0), ("a", 1), ("a", 1), ("b, c", 0)]
    assert [(line["corpus"], line["seed"], line["value"]) for line in lines] == [
        ("a", "0", "0"),
        ("a", "0", "10"),
        ("a", "1", "1"),
        ("a", "1", "11"),
        ("b, c", "0", "0"),
        ("b, c", "0", "10"),
    ]
    assert len(told) == 2
    assert run_cases(path, CASES[:1], measure, columns=["value"]) == lines[:2]
    assert len(calls) == 4
