"""Calls in a process of their own that may take the processor only so long."""

from __future__ import annotations

import time

from experiments.quality.bounded import BoundedCalls


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds


def test_a_call_that_takes_the_processor_too_long_is_ended_and_the_next_one_answered():
    calls = BoundedCalls(work, seconds=1)
    assert calls(seconds=0.0) == 0.0
    assert calls(seconds=60.0) is None
    assert calls(seconds=0.25) == 0.25
    calls.close()
