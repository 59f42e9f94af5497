"""A made news stream: dated articles of outlets, whose stories are born, merge, split and end at known moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.corpus.document import Corpus
from doccluster.errors import Argument, InputError
from doccluster.lab.synthetic.synthetic_vectors import check_share, seed_record
from doccluster.lab.synthetic.zipf import MAX_WORDS
from experiments.news_stream.threads import HOUR, Pace, Thread, Timetable, plan_threads
from experiments.news_stream.words import MIN_ALIKE, MIN_VOCABULARY, NewsWords, edited, likeness, written

MIN_LENGTH = 80  # words; near-copies of shorter texts are told by other rules
_EPOCH = np.datetime64("2024-01-01T00:00:00", "s")
_SPREAD = 0.4  # standard deviation of the logarithm of the lengths
_LONGEST = 2000
_REPRINTED_AFTER = 6 * HOUR  # on average


@dataclass(frozen=True)
class NewsArticle:
    """One made article.

    Attributes
    ----------
    id, title, text, date, source, link : str
        The date is ISO 8601 text; `source` is the outlet.
    topic : str
    story : str
        Its story after all merges and splits.
    first_story : str
        Its story when it appeared; another one if that story was merged later.
    copy_of : str
        The id of the article that this one reprints with edits, or empty.
    """

    id: str
    title: str
    text: str
    date: str
    source: str
    link: str
    topic: str
    story: str
    first_story: str
    copy_of: str


@dataclass(frozen=True)
class NewsEvent:
    """One line of the true lineage, in the form of `doccluster stream export`.

    Attributes
    ----------
    when : str
        born: the first article. closed: the last one. merged and split: the first article after the turn.
    event, story, other : str
        `other` is the story that became part of `story` (merged), or that left it (split).
    documents : int
        For merged and split all that appeared in `other`, for born 1, for closed all that are in `story` in the end.
    """

    when: str
    event: str
    story: str
    other: str
    documents: int


@dataclass(frozen=True, eq=False, repr=False)
class NewsStream(ShortRepr):
    """Articles in order of time, what truly became of their stories, and the parameters they were made from."""

    articles: tuple[NewsArticle, ...]
    lineage: tuple[NewsEvent, ...]
    parameters: dict[str, Any]

    def to_corpus(self) -> Corpus:
        """Return the articles as a corpus with the label columns topic, story, first_story and copy_of."""
        columns = {name: [getattr(one, name) for one in self.articles] for name in ("title", "date", "source", "link")}
        labels = {
            name: tuple((value,) if (value := getattr(one, name)) else () for one in self.articles)
            for name in ("topic", "story", "first_story", "copy_of")
        }
        return Corpus(
            ids=tuple(one.id for one in self.articles),
            texts=tuple(one.text for one in self.articles),
            labels=labels,
            metadata=columns,
        )


@dataclass(frozen=True)
class _Draft:
    """An article before all are put in order of time; `original` is the place of the draft it reprints."""

    time: int
    thread: Thread
    outlet: int
    title: str
    text: str
    original: int | None


def make_news_stream(
    n_stories: int = 100,
    *,
    n_topics: int = 10,
    n_outlets: int = 12,
    n_terms: int = 50_000,
    days: float = 30.0,
    articles: float = 10.0,
    half_life: float = 36.0,
    reprints: float = 0.25,
    edits: float = 0.05,
    merges: int | None = None,
    splits: int | None = None,
    boilerplate: int = 12,
    background: float = 0.4,
    story_share: float = 0.35,
    median_length: int = 180,
    random_state: RandomState = None,
) -> NewsStream:
    """Return a made news stream with its true lineage.

    Parameters
    ----------
    n_stories : int
        Stories that are born, those that merge or split later among them.
    n_topics, n_outlets : int
    n_terms : int
        The size of the vocabulary, at most a million words.
    days : float
        From the first of January 2024 on; stories are born at any time within it.
    articles : float
        Articles of a story on average, reprints left out; one that merges or splits has at least 13.
    half_life : float
        Hours in which the flow of a story's articles halves, on average over the stories.
    reprints : float in [0, 1)
        The share of all articles that reprint an earlier one of another outlet.
    edits : float in [0, 1]
        The most words of a reprint that are replaced or cut, as a share; fewer where the Jaccard index of the five-word
        shingles would fall below 0.85.
    merges, splits : int, optional
        How many pairs of stories become one, and how many stories become two, each by default for a tenth of the
        stories. There are at least 5 articles before and 8 after.
    boilerplate : int
        Words that an outlet puts under every article, at most 30.
    background, story_share : float in [0, 1]
        Shares of words of the whole vocabulary and of the story; the rest is of the topic.
    median_length : int
        Words of an article, at least 80.
    random_state : None, int or numpy Generator

    Raises
    ------
    InputError
        If an argument is outside its range, or there are more merges and splits than stories.

    Examples
    --------
    >>> made = make_news_stream(20, random_state=0)
    >>> sorted({event.event for event in made.lineage})
    ['born', 'closed', 'merged', 'split']
    """
    counts = _counts(n_stories, n_topics, n_outlets, n_terms, merges, splits)
    settings = {
        "days": check_share(days, "days", lowest=1.0, highest=10_000.0),
        "articles": check_share(articles, "articles", lowest=1.0, highest=10_000.0),
        "half_life": check_share(half_life, "half_life", lowest=1.0, highest=1000.0),
        "reprints": check_share(reprints, "reprints", highest=0.9),
        "edits": check_share(edits, "edits"),
        "boilerplate": int(check_share(boilerplate, "boilerplate", highest=30)),
        "background": check_share(background, "background"),
        "story_share": check_share(story_share, "story_share", highest=1.0 - check_share(background, "background")),
        "median_length": int(check_share(median_length, "median_length", lowest=MIN_LENGTH, highest=_LONGEST)),
    }
    generator = as_generator(random_state)
    pace = Pace(settings["days"], settings["articles"], settings["half_life"])
    timetable = plan_threads(counts["n_stories"], counts["merges"], counts["splits"], pace, generator)
    words = NewsWords.draw(n_terms, counts["n_topics"], timetable.n_stories, generator)
    drafts = _Newsroom(words, counts["n_outlets"], settings, generator).write(timetable)
    made = _in_order(drafts, words)
    kind = {"kind": "newsstream", "n_documents": len(made)}
    parameters = {**kind, **counts, **settings, "random_state": seed_record(random_state)}
    return NewsStream(made, _lineage(made, timetable), parameters)


def _counts(
    n_stories: int, n_topics: int, n_outlets: int, n_terms: int, merges: int | None, splits: int | None
) -> dict[str, int]:
    """Return the whole numbers of a stream, checked."""
    stories = check_positive_int(n_stories, "n_stories")
    n_merges = stories // 20 if merges is None else int(check_share(merges, "merges", highest=stories))
    n_splits = stories // 10 if splits is None else int(check_share(splits, "splits", highest=stories))
    if 2 * n_merges + n_splits > stories:
        raise InputError(
            f"needs {2 * n_merges} stories to merge and {n_splits} to split",
            argument="n_stories",
            received=stories,
            remedy=("choose fewer ", Argument("merges"), " or ", Argument("splits"), ", or more stories"),
        )
    if not MIN_VOCABULARY <= check_positive_int(n_terms, "n_terms") <= MAX_WORDS:
        raise InputError(
            "is out of range",
            argument="n_terms",
            received=n_terms,
            expected=f"a number of words from {MIN_VOCABULARY} to {MAX_WORDS:,}",
        )
    return {
        "n_stories": stories,
        "n_topics": check_positive_int(n_topics, "n_topics"),
        "n_outlets": check_positive_int(n_outlets, "n_outlets"),
        "n_terms": int(n_terms),
        "merges": n_merges,
        "splits": n_splits,
    }


class _Newsroom:
    """Writes the articles of threads."""

    def __init__(
        self, words: NewsWords, n_outlets: int, settings: dict[str, Any], generator: np.random.Generator
    ) -> None:
        self._words = words
        self._settings = settings
        self._generator = generator
        self._phrases = [words.draw_phrase(settings["boilerplate"], generator) for _ in range(n_outlets)]

    def write(self, timetable: Timetable) -> list[_Draft]:
        """Return the articles of all threads, and their reprints, thread by thread."""
        drafts: list[_Draft] = []
        share = self._settings["reprints"]
        for thread in timetable.threads:
            for time in thread.times.tolist():
                original, body = self._article(thread, time)
                drafts.append(original)
                place = len(drafts) - 1
                if share and len(self._phrases) > 1:
                    for _ in range(int(self._generator.geometric(1 - share)) - 1):
                        drafts.append(self._reprint(original, body, place))
        return drafts

    def _article(self, thread: Thread, time: int) -> tuple[_Draft, list[str]]:
        generator, settings = self._generator, self._settings
        drawn = settings["median_length"] * np.exp(_SPREAD * generator.standard_normal())
        length = int(np.clip(drawn, MIN_LENGTH, _LONGEST))
        body = self._text(thread, length)
        outlet = int(generator.integers(len(self._phrases)))
        title = self._words.draw_title(thread.subjects, generator)
        return _Draft(time, thread, outlet, title, self._signed(body, outlet), None), body

    def _reprint(self, original: _Draft, body: list[str], place: int) -> _Draft:
        """Return a reprint by another outlet, under its phrase: near enough to be a copy by the rule of the stream."""
        generator = self._generator
        outlet = (original.outlet + 1 + int(generator.integers(len(self._phrases) - 1))) % len(self._phrases)
        n_changed = int(generator.integers(int(self._settings["edits"] * len(body)) + 1))
        lead = self._text(original.thread, len(body))
        title = original.title.split()
        before = [*title, *body, *self._phrases[original.outlet]]
        phrase = self._phrases[outlet]
        while n_changed and likeness(before, [*title, *edited(body, n_changed, lead), *phrase]) < MIN_ALIKE:
            n_changed //= 2
        words = edited(body, n_changed, lead)
        if likeness(before, [*title, *words, *phrase]) < MIN_ALIKE:  # a short text under two long phrases
            phrase = self._phrases[original.outlet]
        time = original.time + int(generator.exponential(_REPRINTED_AFTER)) + 1
        text = f"{written(words, generator)} {_sentence(phrase)}".strip()
        return _Draft(time, original.thread, outlet, original.title, text, place)

    def _text(self, thread: Thread, length: int) -> list[str]:
        shares = {"background": self._settings["background"], "subject_share": self._settings["story_share"]}
        return self._words.draw_text(thread.subjects, length, generator=self._generator, **shares)

    def _signed(self, body: list[str], outlet: int) -> str:
        return f"{written(body, self._generator)} {_sentence(self._phrases[outlet])}".strip()


def _sentence(words: Sequence[str]) -> str:
    return f"{' '.join(words).capitalize()}." if words else ""


def _in_order(drafts: Sequence[_Draft], words: NewsWords) -> tuple[NewsArticle, ...]:
    """Return the articles in order of time, with ids in that order."""
    order = sorted(range(len(drafts)), key=lambda place: (drafts[place].time, place))
    number = {place: str(rank + 1) for rank, place in enumerate(order)}
    made = []
    for place in order:
        one = drafts[place]
        made.append(
            NewsArticle(
                id=number[place],
                title=one.title,
                text=one.text,
                date=_date(one.time),
                source=f"Outlet {one.outlet + 1}",
                link=f"https://outlet-{one.outlet + 1}.example/{number[place]}",
                topic=f"topic-{words.topic_of[one.thread.subjects[0]] + 1}",
                story=_name(one.thread.in_the_end),
                first_story=_name(one.thread.story),
                copy_of="" if one.original is None else number[one.original],
            )
        )
    return tuple(made)


def _lineage(articles: Sequence[NewsArticle], timetable: Timetable) -> tuple[NewsEvent, ...]:
    """Return the events in order of time: a part that leaves a story is not born, one that is merged not closed."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for one in articles:
        first.setdefault(one.first_story, one.date)
        last[one.story] = one.date
    ever = Counter(one.first_story for one in articles)
    in_the_end = Counter(one.story for one in articles)
    parts = {_name(turn.other) for turn in timetable.turns if turn.kind == "split"}
    events = [NewsEvent(when, "born", story, "", 1) for story, when in first.items() if story not in parts]
    for turn in timetable.turns:
        other = _name(turn.other)
        events.append(NewsEvent(_date(turn.time), turn.kind, _name(turn.story), other, ever[other]))
    events += [NewsEvent(when, "closed", story, "", in_the_end[story]) for story, when in last.items()]
    return tuple(sorted(events, key=lambda one: (one.when, one.event, one.story)))


def _name(story: int) -> str:
    return f"story-{story + 1}"


def _date(time: int) -> str:
    return f"{_EPOCH + np.timedelta64(time, 's')}Z"
