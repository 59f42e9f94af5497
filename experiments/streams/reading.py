"""Stories drawn at random to be judged by reading, mixed and blind to what found them."""

from __future__ import annotations

import csv
import json
import pathlib
import random
from collections import Counter, defaultdict
from collections.abc import Mapping

from experiments.streams.judging import RESULTS
from experiments.streams.labelled import LabelledStream, news_feeds_may
from experiments.streams.passes import single_pass
from experiments.streams.replaying import replay

N_DRAWN = 60  # of each way
MAX_SHOWN = 12  # articles of a story
WORDS_SHOWN = 25
JUDGEMENTS = RESULTS / "read_stories.csv"
KEY = RESULTS / "read_stories_key.csv"


def draw_stories(folder: pathlib.Path, beside: pathlib.Path | None, *, keep: bool) -> None:
    """Print stories of two articles or more in a random order; with `keep` write which way found each to a key.

    beside : a JSON file of article to story, as another version of the program found them.
    """
    stream = news_feeds_may(folder)
    ways: dict[str, Mapping[str, str]] = {
        "rule": replay(stream).story_of,
        "pass .25": single_pass(stream, 0.25).story_of,
    }
    if beside is not None:
        ways[beside.stem] = json.loads(beside.read_text(encoding="utf-8"))
    rng = random.Random(1)
    drawn = [(way, names) for way, story_of in ways.items() for names in rng.sample(_several(story_of), N_DRAWN)]
    rng.shuffle(drawn)
    for number, (_, names) in enumerate(drawn, 1):
        _show(number, names, stream)
    if keep:
        RESULTS.mkdir(exist_ok=True)
        with KEY.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["number", "way", "articles"])
            writer.writerows((number, way, len(names)) for number, (way, names) in enumerate(drawn, 1))


def count_judgements() -> None:
    """Print how many of the drawn stories of each way were judged to be what."""
    with KEY.open(encoding="utf-8") as file:
        way_of = {row["number"]: row["way"] for row in csv.DictReader(file)}
    with JUDGEMENTS.open(encoding="utf-8") as file:
        counts = Counter((way_of[row["number"]], row["judgement"]) for row in csv.DictReader(file))
    judgements = ("one story", "mostly one", "mixture")
    print("| | " + " | ".join(judgements) + " |\n|---|---|---|---|")
    for way in sorted(set(way_of.values())):
        print(f"| {way} | " + " | ".join(str(counts[way, judgement]) for judgement in judgements) + " |")


def _several(story_of: Mapping[str, str]) -> list[tuple[str, ...]]:
    groups = defaultdict(list)
    for name, story in story_of.items():
        groups[story].append(name)
    return sorted(tuple(names) for names in groups.values() if len(names) > 1)


def _show(number: int, names: tuple[str, ...], stream: LabelledStream) -> None:
    chosen = set(random.Random(number).sample(names, min(MAX_SHOWN, len(names))))
    print(f"=== {number}: {len(names)} articles")
    for article in stream.articles:
        if article.id in chosen:
            text = " ".join(article.text.split()[:WORDS_SHOWN])
            print(f"  {article.date[5:10]} {article.source}: {article.title[:110]} || {text}")
