"""A stream through the clustering without a store, and what the stories it found are worth."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from doccluster.evaluation import evaluate
from doccluster.streams.article import Article
from doccluster.streams.article_terms import ArticleTerms, TermReader
from doccluster.streams.clusterer import Clusterer, MeaningOf
from doccluster.streams.joining import Floats
from doccluster.streams.replay import batches_of
from doccluster.streams.settings import HOUR, StreamSettings
from experiments.streams.labelled import LabelledStream

MEASURES = (
    *("pair_precision", "pair_recall", "pair_f", "bcubed_precision", "bcubed_recall", "bcubed_f", "adjusted_rand"),
)


class RememberingReader(TermReader):
    """Reads each article once, however often it is replayed."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[tuple[str, str], ArticleTerms] = {}

    def read(self, title: str, text: str) -> ArticleTerms:
        """Return the terms of an article."""
        if (title, text) not in self._known:
            self._known[title, text] = super().read(title, text)
        return self._known[title, text]


@dataclass
class Outcome:
    """What a replay has found.

    Attributes
    ----------
    story_of, early_story_of : dict of article to story
        In the end, and when the batch was over in which the article came in.
    second, together : dict of true story to moment
        When its second article came in, and when two of its articles were in one found story for the first time.
    events : Counter
    n_open : int
        The most stories that were open at once.
    """

    story_of: dict[str, str] = field(default_factory=dict)
    early_story_of: dict[str, str] = field(default_factory=dict)
    second: dict[str, int] = field(default_factory=dict)
    together: dict[str, int] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    n_open: int = 0


def replay(
    stream: LabelledStream,
    *,
    coefficients: Floats | None = None,
    settings: StreamSettings | None = None,
    reader: TermReader | None = None,
    parts: Sequence[Sequence[Article]] | None = None,
    meaning_of: MeaningOf | None = None,
) -> Outcome:
    """Return the stories that clustering makes of a labelled stream, or of parts of it that come one after another."""
    clusterer = Clusterer(settings, coefficients, meaning_of)
    if reader is not None:
        clusterer.reader = reader
    outcome = Outcome()
    family_of: dict[str, int] = {}
    arrived: dict[str, list[str]] = defaultdict(list)
    for now, articles in (batch for part in parts or [stream.articles] for batch in batches_of(part, HOUR)):
        result = clusterer.run_batch(articles, now)
        for one in result.placements:
            outcome.story_of[one.article.id] = one.story
            family_of[one.article.id] = one.family
            if one.article.id in stream.story_of:
                arrived[stream.story_of[one.article.id]].append(one.article.id)
        for old, new, families in result.moves:
            moved = set(families)
            for name, story in outcome.story_of.items():
                if story == old and (family_of[name] in moved or old in result.ended):
                    outcome.story_of[name] = new
        outcome.early_story_of.update({one.id: outcome.story_of[one.id] for one in articles})
        touched = {stream.story_of.get(one.id, "") for one in articles} if not result.moves else arrived
        for story in touched:
            own = arrived.get(story, [])
            if len(own) > 1:
                outcome.second.setdefault(story, now)
                if len({outcome.story_of[name] for name in own}) < len(own):
                    outcome.together.setdefault(story, now)
        outcome.events.update(event.event for event in result.events)
        outcome.n_open = max(outcome.n_open, len(clusterer.stories.open))
    return outcome


def judge(found: Mapping[str, str], stream: LabelledStream, stories: frozenset[str]) -> dict[str, float]:
    """Judge the found stories on the articles of some true stories."""
    names = [one.id for one in stream.articles if stream.story_of.get(one.id) in stories]
    truth = [stream.story_of[name] for name in names]
    labels = np.unique([found[name] for name in names], return_inverse=True)[1]
    scores = evaluate(labels, truth=truth, measures=list(MEASURES))
    fragments = len({(found[name], stream.story_of[name]) for name in names}) / len(set(truth))
    return {**{name: scores[name].value for name in MEASURES}, "fragments": fragments, "n_scored": len(names)}


def second_at_once(outcome: Outcome, stories: frozenset[str]) -> float:
    """Return the share of true stories with two articles whose second one is with the first within an hour."""
    asked = [story for story in stories if story in outcome.second]
    lags = [outcome.together.get(story, np.inf) - outcome.second[story] for story in asked]
    return float(np.mean([lag <= HOUR for lag in lags]))


def interval(
    found: Mapping[str, str], stream: LabelledStream, stories: frozenset[str], name: str, *, n_draws: int = 1000
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of pair F or BCubed F over the true stories, drawn with replacement."""
    rng = np.random.default_rng(0)
    statistics = _by_story(found, stream, stories)
    make: Callable[[Floats], float] = _pair_f if name == "pair_f" else _bcubed_f
    draws = [make(statistics[rng.integers(len(statistics), size=len(statistics))]) for _ in range(n_draws)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _by_story(found: Mapping[str, str], stream: LabelledStream, stories: frozenset[str]) -> Floats:
    """Return, for each true story, what sums to the scores: pairs right, found, true; BCubed precision, recall, n."""
    names = [one.id for one in stream.articles if stream.story_of.get(one.id) in stories]
    sizes = Counter(found[name] for name in names)
    cells = Counter((stream.story_of[name], found[name]) for name in names)
    rows: dict[str, list[float]] = {story: [0.0] * 6 for story in sorted({story for story, _ in cells})}
    totals = Counter(stream.story_of[name] for name in names)
    for (story, cluster), count in cells.items():
        row = rows[story]
        row[0] += count * (count - 1) / 2
        row[1] += count * (sizes[cluster] - 1) / 2  # a pair across two stories counts half in each
        row[3] += count * count / sizes[cluster]
        row[4] += count * count / totals[story]
        row[5] += count
    for story, row in rows.items():
        row[2] = totals[story] * (totals[story] - 1) / 2
    return np.array(list(rows.values()))


def _pair_f(rows: Floats) -> float:
    right, found, true = rows[:, :3].sum(axis=0)
    return float(2 * right / max(found + true, 1e-12))


def _bcubed_f(rows: Floats) -> float:
    precision, recall = rows[:, 3:5].sum(axis=0) / rows[:, 5].sum()
    return float(2 * precision * recall / (precision + recall))
