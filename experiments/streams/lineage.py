"""How well the told lineage of a stream is the true one, on made streams: born, merged, split and closed events.

A told event is right if it is of the same kind as a true one, not too far from it in time, and about the same
documents: the stories of both have a Jaccard index of one half or more. What is compared are the documents that say
what happened: for born those of the first day, for merged those from before the turn, for split those from after it (of
both stories, whichever keeps the name), for closed all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from doccluster.corpus.dates import as_moment
from doccluster.streams.article import Article, article, batches_of
from doccluster.streams.settings import DAY, HOUR
from doccluster.streams.store.clusterer import BatchResult, Clusterer
from experiments.news_stream import NewsStream
from experiments.streams.labelled import LabelledStream

KINDS = ("born", "merged", "split", "closed")
TOLERANCES = {"born": DAY, "merged": 3 * DAY, "split": 3 * DAY, "closed": 14 * DAY}  # closing waits for up to 14 days
MIN_SHARED = 0.5
NEVER = 1 << 60

Documents = frozenset[str]


@dataclass(frozen=True)
class StoryEvent:
    """One event and the documents of its one or two stories."""

    kind: str
    when: int
    stories: tuple[Documents, ...]


@dataclass(frozen=True)
class Told:
    """What a stream has told: its events, where each document is in the end and was first, and the families."""

    events: tuple[StoryEvent, ...]
    story_of: Mapping[str, str]
    first_story_of: Mapping[str, str]
    family_of: Mapping[str, int]


def as_labelled(made: NewsStream, name: str) -> LabelledStream:
    """Return a made stream as articles with their stories."""
    found = [
        article(
            time=as_moment(one.date) or 0,
            id=one.id,
            date=one.date,
            title=one.title,
            text=one.text,
            source=one.source,
            link=one.link,
            guid=one.id,
        )
        for one in made.articles
    ]
    return LabelledStream(name, tuple(found), {one.id: one.story for one in made.articles})


def true_events(made: NewsStream) -> list[StoryEvent]:
    """Return the true lineage with the documents of each story."""
    appeared, ended_in = defaultdict(set), defaultdict(set)
    time_of = {}
    for one in made.articles:
        appeared[one.first_story].add(one.id)
        ended_in[one.story].add(one.id)
        time_of[one.id] = as_moment(one.date) or 0
    found = []
    for event in made.lineage:
        when = as_moment(event.when) or 0
        names = [event.story, event.other] if event.other else [event.story]
        source = appeared if event.event in ("born", "merged") else ended_in
        sets = tuple(telling(event.event, when, source[name], time_of) for name in names)
        found.append(StoryEvent(event.event, when, sets))
    return found


def telling(kind: str, when: int, documents: Iterable[str], time_of: Mapping[str, int]) -> Documents:
    """Return the documents that say what happened at a moment."""
    begin, end = {"born": (when, when + DAY), "merged": (0, when), "split": (when, NEVER)}.get(kind, (0, NEVER))
    return frozenset(one for one in documents if begin <= time_of[one] < end)


def tell(stream: LabelledStream, clusterer: Clusterer | None = None) -> Told:
    """Return the lineage of articles in the stream's clustering, up to the end of the last story."""
    clusterer = clusterer or Clusterer()
    members: dict[str, set[str]] = defaultdict(set)
    family_of: dict[str, int] = {}
    id_of: dict[int, str] = {}
    first: dict[str, str] = {}
    drafts: list[tuple[str, int, tuple[str, ...], tuple[Documents, ...]]] = []
    for now, articles in _batches(stream.articles):
        result = clusterer.run_batch(articles, now, is_sure=True)
        first_of = {event.numbers[0]: event.story for event in result.events if event.event in ("born", "grew")}
        for one in result.placements:
            name = id_of[one.placed.number] = one.article.id
            family_of[name], first[name] = one.placed.family, first_of[one.placed.number]
            members[first[name]].add(name)
        turned = _follow(result, members, id_of)
        for event in result.events:
            if event.event in KINDS:
                names = (event.story, event.other) if event.other else (event.story,)
                drafts.append((event.event, event.when, names, turned.get((event.event, *names), ())))
    appeared: dict[str, set[str]] = defaultdict(set)
    for name, story in first.items():
        appeared[story].add(name)
    events = []
    for kind, when, names, sets in drafts:
        source = appeared if kind == "born" else members
        events.append(StoryEvent(kind, when, sets or tuple(frozenset(source[name]) for name in names)))
    story_of = {name: story for story, own in members.items() for name in own}
    return Told(tuple(events), story_of, first, family_of)


def _batches(articles: Sequence[Article]) -> Iterator[tuple[int, list[Article]]]:
    """Yield what comes in at the end of each hour, and at last a moment at which every story has ended."""
    yield from batches_of(articles, HOUR)
    yield articles[-1].time + 15 * DAY, []


def _follow(
    result: BatchResult, members: dict[str, set[str]], id_of: Mapping[int, str]
) -> dict[tuple[str, ...], tuple[Documents, ...]]:
    """Move documents as a batch says; return the documents of both stories before each merge."""
    found = {}
    for turn in (event for event in result.events if event.event in ("merged", "split", "moved")):
        moved = {id_of[number] for number in turn.numbers}
        if moved == members[turn.source]:
            found["merged", turn.target, turn.source] = (frozenset(members[turn.target]), frozenset(moved))
        members[turn.source] -= moved
        members[turn.target] |= moved
    return found


@dataclass(frozen=True)
class EventScore:
    """How many events of a kind are true, told, and both; and by how many hours the told ones come later."""

    kind: str
    n_true: int
    n_told: int
    n_right: int
    delay: float

    @property
    def precision(self) -> float:
        """The share of told events that are right; nan if none is told."""
        return self.n_right / self.n_told if self.n_told else float("nan")

    @property
    def recall(self) -> float:
        """The share of true events that are told; nan if there are none."""
        return self.n_right / self.n_true if self.n_true else float("nan")

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.n_told + self.n_true
        return 2 * self.n_right / total if total else float("nan")


def score_events(
    true: Sequence[StoryEvent], told: Sequence[StoryEvent], time_of: Mapping[str, int]
) -> list[EventScore]:
    """Return the score of each kind of event, and of all together."""
    scores = []
    delays: list[float] = []
    for kind in KINDS:
        own, theirs = ([one for one in events if one.kind == kind] for events in (true, told))
        late = _match(own, theirs, time_of)
        delays += late
        scores.append(EventScore(kind, len(own), len(theirs), len(late), _median_hours(late)))
    sums = [sum(getattr(one, name) for one in scores) for name in ("n_true", "n_told", "n_right")]
    return [*scores, EventScore("all", *sums, _median_hours(delays))]


def _match(true: Sequence[StoryEvent], told: Sequence[StoryEvent], time_of: Mapping[str, int]) -> list[float]:
    """Match events one to one, the most alike first; return by how many seconds the told ones are later."""
    pairs = [
        (_likeness(one, other, time_of), -abs(one.when - other.when), first, second)
        for first, one in enumerate(true)
        for second, other in enumerate(told)
        if abs(other.when - one.when) <= TOLERANCES[one.kind]
    ]
    taken: tuple[set[int], set[int]] = (set(), set())
    delays = []
    for alike, _, first, second in sorted(pairs, reverse=True):
        if alike >= MIN_SHARED and first not in taken[0] and second not in taken[1]:
            taken[0].add(first)
            taken[1].add(second)
            delays.append(float(told[second].when - true[first].when))
    return delays


def _likeness(true: StoryEvent, told: StoryEvent, time_of: Mapping[str, int]) -> float:
    """Return the lesser Jaccard index of the stories of two events; either of two stories may be named first."""
    sets = tuple(telling(true.kind, true.when, own, time_of) for own in told.stories)
    orders = [sets] if len(sets) == 1 else [sets, sets[::-1]]
    return max(min(map(jaccard, true.stories, order)) for order in orders)


def jaccard(one: Documents, other: Documents) -> float:
    """Return the share of documents that two sets have in common; 0 for two empty ones."""
    return len(one & other) / max(1, len(one | other))


def score_copies(made: NewsStream, family_of: Mapping[str, int]) -> tuple[float, float]:
    """Return precision and recall of the pairs of copies of the families."""
    truth: dict[str, str] = {one.id: one.copy_of or one.id for one in made.articles}
    found, true = _pairs(family_of), _pairs(truth)
    right = len(found & true)
    return right / max(1, len(found)), right / max(1, len(true))


def _pairs(family_of: Mapping[str, object]) -> set[tuple[str, str]]:
    by_family: dict[object, list[str]] = defaultdict(list)
    for name, family in family_of.items():
        by_family[family].append(name)
    return {(a, b) for own in by_family.values() for i, a in enumerate(sorted(own)) for b in sorted(own)[i + 1 :]}


def _median_hours(seconds: Sequence[float]) -> float:
    return float(np.median(seconds)) / 3600 if seconds else float("nan")


def measure_lineage() -> None:
    """Print how well the lineage of two made streams of 200 stories is told."""
    from experiments.news_stream import make_news_stream

    for seed in (2, 3):
        made = make_news_stream(200, random_state=seed)
        stream = as_labelled(made, f"made {seed}")
        told = tell(stream)
        moved = sum(told.story_of[name] != told.first_story_of[name] for name in told.story_of) / len(told.story_of)
        precision, recall = score_copies(made, told.family_of)
        print(f"  made stream {seed}: copies P {precision:.4f} R {recall:.4f}, moved {moved:.3f}", flush=True)
        for score in score_events(true_events(made), told.events, {one.id: one.time for one in stream.articles}):
            counts = f"true {score.n_true:4}, told {score.n_told:4}, right {score.n_right:4}"
            print(f"    {score.kind:8} {counts}, F {score.f:.3f}")
