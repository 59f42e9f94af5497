"""Stories drawn at random to be judged by reading, mixed and blind to what found them."""

from __future__ import annotations

import csv
import pathlib
import random
from collections import defaultdict

from experiments.streams.judging import RESULTS
from experiments.streams.labelled import LabelledStream, news_feeds_may
from experiments.streams.passes import single_pass
from experiments.streams.replaying import replay

N_DRAWN = 60  # of each way
MOST_SHOWN = 12  # articles of a story
KEY = RESULTS / "read_stories_key.csv"


def draw_stories(folder: pathlib.Path, *, keep: bool) -> None:
    """Print stories of two articles or more in a random order; with `keep` write which way found each to a key."""
    stream = news_feeds_may(folder)
    ways = {"rule": replay(stream).story_of, "pass .25": single_pass(stream, 0.25).story_of}
    rng = random.Random(0)
    drawn = [(way, story) for way, found in ways.items() for story in rng.sample(_several(found), N_DRAWN)]
    rng.shuffle(drawn)
    for number, (_, names) in enumerate(drawn, 1):
        _show(number, names, stream)
    if keep:
        RESULTS.mkdir(exist_ok=True)
        with KEY.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["number", "way", "articles"])
            writer.writerows((number, way, len(names)) for number, (way, names) in enumerate(drawn, 1))


def _several(found: dict[str, str]) -> list[tuple[str, ...]]:
    groups = defaultdict(list)
    for name, story in found.items():
        groups[story].append(name)
    return sorted(tuple(names) for names in groups.values() if len(names) > 1)


def _show(number: int, names: tuple[str, ...], stream: LabelledStream) -> None:
    chosen = set(random.Random(number).sample(names, min(MOST_SHOWN, len(names))))
    print(f"=== {number}: {len(names)} articles")
    for one in stream.articles:
        if one.id in chosen:
            print(f"  {one.date[:10]} {one.source}: {one.title[:110]}")
