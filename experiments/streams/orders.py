"""What the order of import does to stories: halves in either order, shuffled days, one article dated far ahead.

And what they are worth where a feed has the title first, and the text an hour later.
"""

from __future__ import annotations

import pathlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from doccluster.streams import StoryStream
from doccluster.streams.article import Article
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.intake import take_in
from experiments.streams.labelled import LabelledStream, basil, itn, newsroom
from experiments.streams.replaying import judge, replay

AHEAD = 90 * DAY


def orders(articles: Sequence[Article]) -> Iterator[tuple[str, list[Sequence[Article]]]]:
    """Yield ways to import the articles of a stream: their names, and the parts one after the other."""
    middle = len(articles) // 2
    days = [list(own) for _, own in groupby(articles, key=lambda one: one.time // DAY)]
    shuffled = random.Random(0).sample(days, len(days))
    last = articles[-1]
    ahead = replace(last, key="ahead", id="ahead", guid="ahead", time=last.time + AHEAD, title="", text="Zymurgy")
    yield "in order", [articles]
    yield "the later half first", [articles[middle:], articles[:middle]]
    yield "days shuffled", shuffled
    yield "one article dated ahead first", [[ahead], articles]


def scores(stream: LabelledStream) -> Iterator[tuple[str, float, float]]:
    """Yield pair F and BCubed F of all stories for each order of import."""
    for name, parts in orders(stream.articles):
        outcome = replay(stream, parts=parts)
        found = judge(outcome.story_of, stream)
        yield name, found["pair_f"], found["bcubed_f"]


def edited(stream: LabelledStream) -> dict[str, str]:
    """Return the stories of articles whose titles come in first, and their texts an hour later."""
    states = [(article.time, "", article) for article in stream.articles]
    states += [(article.time + HOUR, article.text, article) for article in stream.articles]
    states.sort(key=lambda state: (state[0], state[2].key, len(state[1])))
    with StoryStream() as stories:
        for hour, together in groupby(states, key=lambda state: state[0] // HOUR):
            now = (hour + 1) * HOUR
            for _, text, article in together:
                take_in(stories._connection, replace(article, text=text), now)
            stories.cluster(now, "replay")
        documents = stories.tables().documents
    return dict(zip(documents["id"], documents["story"], strict=True))


def measure_orders(folder: pathlib.Path) -> None:
    """Print what stories are worth when the same articles come in another order."""
    for stream in (newsroom(), basil(folder, among_noise=False)):
        found = edited(stream)
        for name, half in zip(("first", "second"), stream.halves(), strict=True):
            scores_of = judge(found, stream, half)
            print(
                f"  {stream.name:18} texts an hour after titles, {name} half: pair F {scores_of['pair_f']:.3f}",
                flush=True,
            )
    for stream in (newsroom(), basil(folder, among_noise=False), itn(folder, "en"), basil(folder, among_noise=True)):
        for name, pair_f, bcubed_f in scores(stream):
            print(f"  {stream.name:18} {name:30} pair F {pair_f:.3f}, BCubed F {bcubed_f:.3f}", flush=True)
