"""How far a store of news_feeds_may and a run of it agree on what a story is."""

from __future__ import annotations

import pathlib
from dataclasses import replace

from doccluster.streams.settings import DAY, HOUR
from experiments.streams.judging import dump
from experiments.streams.labelled import news_feeds_may
from experiments.streams.replaying import judge, replay


def measure_agreement(folder: pathlib.Path) -> None:
    """Print BCubed F and pair F of the stories of a stream, by those of all articles at once."""
    stream = news_feeds_may(folder)
    stream = replace(stream, story_of=dump(stream).story_of)
    for name, batch in (("hourly batches", HOUR), ("batches of a day", DAY)):
        scores = judge(replay(stream, batch=batch).story_of, stream)
        print(f"  {name:16} BCubed F {scores['bcubed_f']:.3f}, pair F {scores['pair_f']:.3f}", flush=True)
