"""What another probability of joining does: to the bundled sample, whose stories break into several, and elsewhere."""

from __future__ import annotations

import pathlib

from doccluster.streams.settings import StreamSettings
from experiments.streams.labelled import LANGUAGES, basil, itn, newsroom
from experiments.streams.replaying import RememberingReader, judge, replay

PROBABILITIES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)


def measure_thresholds(folder: pathlib.Path) -> None:
    """Print pair F and BCubed F of both halves in time for each probability from which an article joins a story."""
    reader = RememberingReader()
    print("  stream             join  pair F, BCubed F of the first half    of the second half")
    for stream in (newsroom(), basil(folder, among_noise=False), *(itn(folder, one) for one in LANGUAGES)):
        for join in PROBABILITIES:
            settings = StreamSettings(join=join, merge=max(join, StreamSettings.merge))
            outcome = replay(stream, settings=settings, reader=reader)
            first, second = (judge(outcome.story_of, stream, half) for half in stream.halves())
            print(
                f"  {stream.name:18} {join:4.1f}  {first['pair_f']:.3f}, {first['bcubed_f']:.3f}"
                f"                         {second['pair_f']:.3f}, {second['bcubed_f']:.3f}",
                flush=True,
            )
