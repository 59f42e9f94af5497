"""Text files of any length, one document a line, for the run from text to labels: generated words, or dated news."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import pathlib
import random
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from doccluster.base.paths import finished_file
from experiments.benchmarks.matrices import CACHE, CORPORA

N_WORDS = 200_000
N_TOPICS = 100
WORDS_A_DOCUMENT = 60
BLOCK = 20_000
FIRST_DAY, DAYS = dt.datetime(2020, 1, 1, tzinfo=dt.UTC), 152  # of made news: five months
STARTS = 0.22  # the share of articles that begin a story; 10 to 12 of 100 become one of several articles
REPLACED = 0.2  # of the words of a story, by its own


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


def news_file(n_documents: int) -> pathlib.Path | None:
    """Return a file of dated news over five months, one article a line as JSON; None where the feeds of May are not
    there.

    A made article is of one outlet and day of the feeds: two sentences of its story, and one of another article of its
    outlet. It begins a story or joins one of the last two days; each story has some words of its own in place of
    others, as it would have names.
    """
    feeds = CORPORA / "news_feeds_may" / "articles.jsonl.gz"
    if not feeds.is_file():
        return None
    path = CACHE / f"news-{n_documents}.jsonl"
    if not path.exists():
        with gzip.open(feeds, "rt", encoding="utf-8") as lines:
            articles = [json.loads(line) for line in lines]
        CACHE.mkdir(exist_ok=True)
        with finished_file(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
            for article in made_news(articles, n_documents):
                file.write(json.dumps(article) + "\n")
    return path


def made_news(articles: Sequence[Mapping[str, str]], n_documents: int) -> Iterator[dict[str, str]]:
    """Yield articles made of real ones, in the order of time."""
    by_day: dict[str, list[Mapping[str, str]]] = {}
    by_outlet: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for article in articles:
        by_day.setdefault(article["date"][:10], []).append(article)
        by_outlet.setdefault((article["date"][:10], article["source"]), []).append(article)
    days = list(by_day)
    words = sorted({word for article in articles for word in article["text"].split()})
    chance = random.Random(0)
    recent: deque[tuple[str, list[str], dict[str, str]]] = deque(maxlen=max(2, 2 * n_documents // DAYS))
    for number in range(n_documents):
        moment = FIRST_DAY + dt.timedelta(days=DAYS * number / n_documents)
        day = days[(moment - FIRST_DAY).days % len(days)]
        drawn = chance.choice(by_day[day])
        own = by_outlet[day, drawn["source"]]
        if not recent or chance.random() < STARTS:
            said = [sentence for one in (drawn, chance.choice(own)) for sentence in sentences_of(one["text"])]
            different = sorted({word for sentence in said for word in sentence.split()})
            named = {word: chance.choice(words) for word in different if chance.random() < REPLACED}
            recent.append((drawn["title"].rpartition(" - ")[0] or drawn["title"], said, named))
        else:
            recent.append(chance.choice(recent))
        title, said, named = recent[-1]
        of_story = [_renamed(sentence, named) for sentence in chance.sample(said, min(2, len(said)))]
        of_another = chance.choice(sentences_of(chance.choice(own)["text"]) or [""])
        yield {
            "id": f"made-{number}",
            "title": f"{_renamed(title, named)} - {drawn['source']}",
            "text": " ".join([*of_story, of_another]),
            "date": moment.isoformat(timespec="seconds"),
            "source": drawn["source"],
        }


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, none twice.

    >>> sentences_of("It rained.\\nIt rained. The sun shone")
    ['It rained.', 'The sun shone']
    """
    return list(dict.fromkeys(filter(None, re.split(r"(?<=[.!?…])\s+|\s*\n\s*", text.strip()))))


def _renamed(text: str, named: Mapping[str, str]) -> str:
    return " ".join(named.get(word, word) for word in text.split())
