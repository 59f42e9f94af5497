"""Whether articles that were put together among thousands belong together, by their titles and dates alone.

Of the found stories of BASIL among the noise, whose articles have no labels for the most part, pairs of articles are
drawn: a story first, by its number of pairs, then two of its articles. A pair counts as right if both are dated within
three days of one another and their titles share two words, or one that less than one in a thousand titles has; function
words do not count. Beside it stands how often two articles of one labelled story agree in that way, which is the most
that can be expected, and how often two of the same three days do so by chance.
"""

from __future__ import annotations

import itertools
import pathlib
from collections import Counter, defaultdict

import numpy as np

from doccluster.streams.article import Article
from doccluster.streams.article_terms import TermReader
from doccluster.streams.settings import DAY
from experiments.streams.judging import share_in_long_stories
from experiments.streams.labelled import basil
from experiments.streams.replaying import replay

N_PAIRS = 4000
APART = 3 * DAY
RARE = 0.001  # of the titles


def measure_noise(folder: pathlib.Path) -> None:
    """Print the share of right pairs, by chance too, and of articles in stories that last long."""
    stream = basil(folder, among_noise=True)
    outcome, reader = replay(stream), TermReader()
    words = {one.id: frozenset(reader.read(one.title, "").terms) for one in stream.articles}
    counts = Counter(word for own in words.values() for word in own)
    rare = {word for word, count in counts.items() if count < RARE * len(stream.articles)}

    def agree(one: Article, other: Article) -> bool:
        both = words[one.id] & words[other.id]
        return abs(one.time - other.time) <= APART and (len(both) > 1 or bool(both & rare))

    rng = np.random.default_rng(0)
    members: dict[str, list[Article]] = defaultdict(list)
    for article in stream.articles:
        members[outcome.story_of[article.id]].append(article)
    stories = [own for own in members.values() if len(own) > 1]
    pairs = np.array([len(own) * (len(own) - 1) / 2 for own in stories])
    drawn = [stories[place] for place in rng.choice(len(stories), size=N_PAIRS, p=pairs / pairs.sum())]
    found = [tuple(own[place] for place in rng.choice(len(own), size=2, replace=False)) for own in drawn]
    times = np.array([one.time for one in stream.articles])
    chance = []
    for place in rng.choice(len(stream.articles), size=N_PAIRS).tolist():
        near = np.flatnonzero(abs(times - times[place]) <= APART)
        other = int(rng.choice(near))
        if other != place:
            chance.append(agree(stream.articles[place], stream.articles[other]))
    labelled: dict[str, list[Article]] = defaultdict(list)
    for article in stream.articles:
        if article.id in stream.story_of:
            labelled[stream.story_of[article.id]].append(article)
    true = [pair for own in labelled.values() for pair in itertools.combinations(own, 2)]
    one_of_each = [tuple(own[:2]) for own in stories]
    moved = sum(outcome.story_of[name] != early for name, early in outcome.early_story_of.items())
    print(f"  {len(stories):,} stories of two articles or more, the largest of {max(map(len, stories)):,}")
    print(f"  right of {N_PAIRS:,} pairs drawn: {np.mean([agree(*pair) for pair in found]):.3f}")
    print(f"  right of the first two articles of each story: {np.mean([agree(*pair) for pair in one_of_each]):.3f}")
    print(f"  right of the pairs of one labelled story: {np.mean([agree(*pair) for pair in true]):.3f}")
    print(f"  right of pairs of three days by chance: {np.mean(chance):.3f}")
    print(f"  dated within three days: {np.mean([abs(a.time - b.time) <= APART for a, b in found]):.3f}")
    print(f"  articles in stories of more than 30 days: {share_in_long_stories(outcome.story_of, stream):.3f}")
    print(f"  moved after their first hour: {moved / len(stream.articles):.3f}")
