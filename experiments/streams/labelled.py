"""Streams whose stories are known, and their earlier and later halves."""

from __future__ import annotations

import gzip
import json
import pathlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from doccluster.corpus.dates import as_moment
from doccluster.corpus.markup import strip_markup
from doccluster.streams.article import Article, article, as_text, is_believable

ROOT = pathlib.Path(__file__).resolve().parents[2]
LATEST = (
    1_500_000_000  # 2017: no article of these corpora with an earlier date is later, one with a later date is wrong
)
LANGUAGES = ("ru", "en", "zh", "pt", "fr", "id", "uk", "pl", "ar", "th")  # those with the most items


@dataclass(frozen=True)
class LabelledStream:
    """Articles in the order of the stream, and the story of those that have exactly one."""

    name: str
    articles: tuple[Article, ...]
    story_of: Mapping[str, str]

    @property
    def corpus(self) -> str:
        """What the stream is a part of: the languages of one corpus are streams of their own."""
        return self.name.split()[0].rstrip(",")

    def halves(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the stories of the first half, by their first article, and the others."""
        began: dict[str, int] = {}
        for one in self.articles:
            if one.id in self.story_of:
                began.setdefault(self.story_of[one.id], one.time)
        ordered = sorted(began, key=lambda story: (began[story], story))
        middle = len(ordered) // 2
        return frozenset(ordered[:middle]), frozenset(ordered[middle:])

    def first_half(self) -> dict[str, str]:
        """Return the stories of the articles whose stories are of the first half."""
        early, _ = self.halves()
        return {name: story for name, story in self.story_of.items() if story in early}


def in_order(articles: Iterable[Article]) -> list[Article]:
    """Return articles in the order of the stream: by time, then by key."""
    return sorted(articles, key=lambda one: (one.time, one.key))


def basil(folder: pathlib.Path, *, among_noise: bool) -> LabelledStream:
    """Return the labelled articles of BASIL, alone or among the unlabelled ones of AllSides."""
    names = ["basil_2010_2014.jsonl.gz"] + ["allsides_until_2014.jsonl.gz"] * among_noise
    found, story_of = [], {}
    for name in names:
        with gzip.open(folder / "news_stories_basil" / name, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                moment = as_moment(row["date"])
                if not is_believable(moment, LATEST):
                    continue
                told = {key: row[key] for key in ("id", "date", "title", "text", "source")}
                found.append(article(time=moment, link="", guid=row["id"], **told))
                if row["story"]:
                    story_of[row["id"]] = row["story"]
    return LabelledStream("BASIL among noise" if among_noise else "BASIL", tuple(in_order(found)), story_of)


def itn(folder: pathlib.Path, language: str) -> LabelledStream:
    """Return the blurbs of Wikipedia's "In the news" in one language.

    A blurb that stands under several items (one sentence about two people) has several labels: it is in the stream
    once, and is not scored, as with any document of several classes.
    """
    items = json.loads((folder / "itn_news_stream" / "corpus.json").read_text(encoding="utf-8"))
    labels: dict[str, set[str]] = defaultdict(set)
    found: dict[tuple[int, str], Article] = {}
    for story, blurbs in items.items():
        for stamp, blurb in blurbs.items():
            if blurb["lang"] != language:
                continue
            text, moment = strip_markup(blurb["blurb"]), int(float(stamp))
            labels[text].add(story)
            name = f"{story}-{stamp}"
            one = article(
                time=moment, id=name, date=as_text(moment), title="", text=text, source="", link="", guid=name
            )
            found.setdefault((moment, text), one)
    story_of = {one.id: min(labels[text]) for (_, text), one in found.items() if len(labels[text]) == 1}
    return LabelledStream(f"ITN {language}", tuple(in_order(found.values())), story_of)


def shortened(stream: LabelledStream, n_words: int) -> LabelledStream:
    """Return a stream as feeds have it: the titles, and the first words of the texts."""
    name = f"{stream.name}, title and {n_words} words" if n_words else f"{stream.name}, titles alone"
    cut = [replace(one, text=" ".join(one.text.split()[:n_words])) for one in stream.articles]
    return LabelledStream(name, tuple(cut), stream.story_of)


def ecb_plus(folder: pathlib.Path) -> LabelledStream:
    """Return the documents of ECB+, which have no dates: one every ten minutes; two stories of a topic are alike."""
    found, story_of = [], {}
    with gzip.open(folder / "events_ecbplus" / "ecb_plus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for place, row in enumerate(map(json.loads, lines)):
            time, name = 1_400_000_000 + 600 * place, row["id"]
            told = {"id": name, "date": as_text(time), "title": "", "text": row["text"], "source": "", "guid": name}
            found.append(article(time=time, link="", **told))
            story_of[name] = row["story"]
    return LabelledStream("ECB+", tuple(in_order(found)), story_of)


def newsroom() -> LabelledStream:
    """Return the bundled sample."""
    path = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    found, story_of = [], {}
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        told = {key: row[key] for key in ("id", "date", "title", "text", "source", "link")}
        found.append(article(time=as_moment(row["date"]) or 0, guid=row["id"], **told))
        story_of[row["id"]] = row["story"]
    return LabelledStream("newsroom sample", tuple(in_order(found)), story_of)


def _of_lines(name: str, path: pathlib.Path) -> LabelledStream:
    """Return the articles of a file of JSON lines."""
    found, story_of = [], {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for place, row in enumerate(map(json.loads, lines)):
            told = {key: row.get(key) or "" for key in ("date", "title", "text", "source", "link")}
            moment = as_moment(told["date"])
            if moment is None:
                continue
            one = article(time=moment, id=f"{place} {row['id']}", guid=f"{place} {row['id']}", **told)
            found.append(one)
            if row.get("story"):
                story_of[one.id] = str(row["story"])
    return LabelledStream(name, tuple(in_order(found)), story_of)


def vietnamese(folder: pathlib.Path) -> LabelledStream:
    """Return 628 articles of 200 stories, without outlets."""
    return _of_lines("Vietnamese", folder / "news_stories_vietnamese" / "articles.jsonl.gz")


def news_feeds_may(folder: pathlib.Path) -> LabelledStream:
    """Return two weeks of 53 English feeds, without labels."""
    return _of_lines("news_feeds_may", folder / "news_feeds_may" / "articles.jsonl.gz")
