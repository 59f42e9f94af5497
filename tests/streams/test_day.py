"""A simulated day of `stream poll --follow` among feeds that misbehave, killed at random."""

from __future__ import annotations

from experiments.streams.day import N_KILLS, live_through

REASONS = {
    *("asked-to-wait", "bad-address", "bad-answer", "bad-encoding", "bad-port", "bad-scheme", "forbidden"),
    *("gone", "missing", "no-entries", "not-a-feed", "redirect-loop", "redirect-nowhere", "refused-address"),
    *("server-error", "too-large", "too-slow", "truncated", "unexpected-answer", "unknown-encoding", "unknown-host"),
    "unreachable",
}


def test_a_day_among_misbehaving_feeds_that_is_killed_at_random_ends_like_the_undisturbed_one(tmp_path):
    day = live_through(tmp_path, hours=5, n_stories=10)
    assert (day.findings, day.differing) == ([], [])
    assert day.n_killed == N_KILLS
    assert day.n_documents > day.n_stories > 20
    assert day.reasons == REASONS
