"""A simulated day of `stream poll --follow` among feeds that misbehave, killed at random."""

from __future__ import annotations

from doccluster.streams.polling.addresses import REASONS
from experiments.streams.day import live_through


def test_a_day_among_feeds_that_misbehave_in_every_listed_way_and_killed_at_random_ends_like_the_undisturbed_one(
    tmp_path,
):
    day = live_through(tmp_path, hours=3, n_stories=10, n_kills=6)
    assert (day.findings, day.differing) == ([], [])
    assert day.n_killed == 6
    assert day.n_documents > day.n_stories > 20
    assert day.reasons == REASONS
