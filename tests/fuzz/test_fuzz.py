"""Whatever is in a file, reading it ends in a result or a sentence: a bounded run over every target, and old cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.campaign import Failure, campaign, judge
from tests.fuzz.targets import TARGETS
from tests.fuzz.workers import fuzz

ROUNDS = 20  # `make fuzz` goes through thousands
DEAR = {"run_names", "store", "store-rows"}  # a quarter of a second for a round
ELSEWHERE = {"sparse"}  # tests/test_hostile_matrices.py damages what every public call takes
CASES = sorted(path for path in (Path(__file__).parent / "cases").glob("*-*"))


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in ELSEWHERE])
def test_damaged_input_ends_in_a_result_or_a_sentence(name, seed):
    rounds = ROUNDS // 2 if name in DEAR else ROUNDS
    if TARGETS[name].apart:
        rounds *= 2  # all are made before any is looked at
        outcome = fuzz(name, seed=seed, rounds=rounds, seconds=600)
        failures = {kind: f"round {one.round}: {one.details}" for kind, one in outcome.failures.items()}
        assert not failures, "\n\n".join(failures.values())
        assert sum(outcome.results.values()) == rounds
        assert len(outcome.results) > 1
        return
    failures = {}
    words = set()
    for number, result in campaign(TARGETS[name], seed=seed, rounds=range(10 * rounds)):
        if number >= rounds and len(words) > 1:
            break
        if isinstance(result, Failure):
            failures.setdefault(result.kind, f"round {number}: {result.details}")
        else:
            words.add(result)
    assert not failures, "\n\n".join(failures.values())
    assert len(words) > 1  # the inputs are neither all fine nor all refused


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_an_input_that_once_failed_ends_well(path):
    result = judge(TARGETS[path.name.partition("-")[0]], path.read_bytes())
    assert not isinstance(result, Failure), result.details
