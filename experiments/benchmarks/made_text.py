"""Text files of any length, one document a line, for the run from text to labels: generated words, or short news."""

from __future__ import annotations

import gzip
import json
import pathlib
import random

import numpy as np

from doccluster.base.paths import finished_file
from experiments.benchmarks.matrices import CACHE, CORPORA

N_WORDS = 200_000
N_TOPICS = 100
WORDS_A_DOCUMENT = 60
BLOCK = 20_000
REPLACED = 0.2  # of the words of a short text that comes again


def text_file(n_documents: int) -> pathlib.Path:
    """Return the file, made now if it is not there yet."""
    path = CACHE / f"made-{n_documents}.txt"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        with finished_file(path) as unfinished, unfinished.open("w", encoding="ascii") as lines:
            for first in range(0, n_documents, BLOCK):
                lines.writelines(_block(min(BLOCK, n_documents - first), seed=first))
    return path


def _words() -> np.ndarray:
    """Return pronounceable words, shorter ones first, none twice."""
    syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
    words = [a + b for a in syllables for b in syllables]
    words += [word + third for word in words for third in syllables]
    return np.array(words[:N_WORDS], dtype=object)


def _block(n_documents: int, *, seed: int) -> list[str]:
    rng = np.random.default_rng((1, seed))
    words = _words()
    lengths = np.maximum(8, rng.lognormal(np.log(WORDS_A_DOCUMENT), 0.5, n_documents).astype(np.int64))
    n = int(lengths.sum())
    background = np.cumsum(np.arange(1, N_WORDS + 1) ** -1.05)
    ranks = np.searchsorted(background / background[-1], rng.random(n)).clip(0, N_WORDS - 1)
    topic = np.repeat(rng.integers(N_TOPICS, size=n_documents), lengths)
    own = np.searchsorted(np.cumsum(np.arange(1, 401) ** -0.8) / np.sum(np.arange(1, 401) ** -0.8), rng.random(n))
    ranks = np.where(rng.random(n) < 0.35, (200 + 997 * topic + 31 * own.clip(0, 399)) % N_WORDS, ranks)
    drawn, ends = words[ranks], np.cumsum(lengths)
    return [" ".join(drawn[end - length : end]) + "\n" for end, length in zip(ends, lengths, strict=True)]


def short_texts_file(n_documents: int) -> pathlib.Path | None:
    """Return a file of short news texts, one a line, without dates; None where the feeds of May are not there.

    The articles come again and again, each time with one word in five replaced by any word of the collection.
    """
    feeds = CORPORA / "news_feeds_may" / "articles.jsonl.gz"
    if not feeds.is_file():
        return None
    path = CACHE / f"short-{n_documents}.txt"
    if path.exists():
        return path
    with gzip.open(feeds, "rt", encoding="utf-8") as lines:
        articles = [json.loads(line) for line in lines]
    texts = [f"{article['title']} {article['text']}".split() for article in articles]
    words = sorted({word for text in texts for word in text})
    chance = random.Random(0)
    CACHE.mkdir(exist_ok=True)
    with finished_file(path) as unfinished, unfinished.open("w", encoding="utf-8") as lines:
        for number in range(n_documents):
            text = texts[number % len(texts)]
            if number >= len(texts):
                text = [chance.choice(words) if chance.random() < REPLACED else word for word in text]
            lines.write(" ".join(text) + "\n")
    return path
