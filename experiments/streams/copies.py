"""More news must be more stories: several copies of news_feeds_may, each 15 days later with a fifth of its words new.

``python -m experiments.streams.copies FOLDER N WAY`` is the process that is measured.
"""

from __future__ import annotations

import pathlib
import random
import resource
import subprocess
import sys
import time

import numpy as np

from doccluster.stories import NewsArticles, find_stories
from doccluster.streams.settings import DAY
from experiments.streams.labelled import ROOT, news_feeds_may

LATER = 15 * DAY
REPLACED = 0.2  # of the words of a copy
WAYS = ("alike everywhere", "at random", "by made-up words")


class Replacing:
    """Replaces words of a copy: each alike wherever it stands, now and then, or by a word that stands nowhere else."""

    def __init__(self, copy: int, way: str) -> None:
        self._rng, self._copy, self._way = random.Random(copy), copy, way
        self._word_of: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return a text with a fifth of its words replaced; that of the first copy as it is."""
        return " ".join(map(self._word, text.split())) if self._copy else text

    def _word(self, word: str) -> str:
        if self._way == "alike everywhere" and word in self._word_of:
            return self._word_of[word]
        if self._rng.random() < REPLACED:
            number = self._rng.getrandbits(40) if self._way == "by made-up words" else self._copy
            self._word_of[word] = f"{word}q{number:x}"
        else:
            self._word_of[word] = word
        return self._word_of[word]


def count_stories(folder: pathlib.Path, n_copies: int, way: str) -> None:
    """Print how many stories several copies have, and what finding them takes."""
    articles = news_feeds_may(folder).articles
    titles, texts = [], []
    for copy in range(n_copies):
        replacing = Replacing(copy, way)
        titles += [replacing.text(article.title) for article in articles]
        texts += [replacing.text(article.text) for article in articles]
    times = np.array([article.time for article in articles], dtype=np.int64)
    times = np.concatenate([times + copy * LATER for copy in range(n_copies)])
    begun = time.process_time()
    labels = find_stories(NewsArticles(titles, texts, [article.source for article in articles] * n_copies, times))
    seconds, sizes = time.process_time() - begun, np.bincount(labels)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"| {n_copies} | {way} | {labels.size:,} | {sizes.size:,} | {(sizes > 1).sum():,} | {sizes.max()} "
        f"| {1000 * seconds / labels.size:.2f} | {memory:,.0f} |",
        flush=True,
    )


def measure_copies(folder: pathlib.Path) -> None:
    """Print a table of the stories of one, five and fourteen copies."""
    columns = ("copies", "words replaced", "articles", "stories", "of several", "largest", "s for 1,000", "MiB")
    print(f"| {' | '.join(columns)} |\n" + "|---" * len(columns) + "|")
    for n_copies, ways in ((1, WAYS[:1]), (5, WAYS), (14, WAYS)):
        for way in ways:
            command = [sys.executable, "-m", "experiments.streams.copies", str(folder), str(n_copies), way]
            subprocess.run(command, check=True, cwd=ROOT)


if __name__ == "__main__":
    count_stories(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
