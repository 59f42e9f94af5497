"""A stream through the clustering without a store, and what the stories it found are worth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from doccluster.measures import evaluate
from doccluster.streams.article import Article, batches_of
from doccluster.streams.settings import HOUR
from doccluster.streams.store.clusterer import Clusterer
from experiments.streams.labelled import LabelledStream

MEASURES = ("pair_precision", "pair_recall", "pair_f", "bcubed_precision", "bcubed_recall", "bcubed_f")
N_PARTS = 5


@dataclass
class Outcome:
    """What a replay has found.

    Attributes
    ----------
    story_of, early_story_of : dict of article to story
        In the end, and when the batch was over in which the article came in.
    changed : set of article
        Those that were ever put to another story after that batch.
    events : Counter
    seconds : list of float
        Processor seconds for 1,000 articles, by fifths of the stream.
    """

    story_of: dict[str, str] = field(default_factory=dict)
    early_story_of: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    events: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


def replay(stream: LabelledStream, *, batch: int = HOUR, parts: Sequence[Sequence[Article]] | None = None) -> Outcome:
    """Return the stories that clustering makes of a labelled stream, or of parts of it that come one after another."""
    clusterer, outcome = Clusterer(), Outcome()
    id_of: dict[int, str] = {}
    n_articles = sum(map(len, parts or [stream.articles]))
    n_done, n_before, begun = 0, 0, time.process_time()
    for now, articles in (one for part in parts or [stream.articles] for one in batches_of(part, batch)):
        result = clusterer.run_batch(articles, now)
        id_of |= {one.placed.number: one.article.id for one in result.placements}
        for event in result.events:
            for number in event.numbers:
                outcome.story_of[id_of[number]] = event.target
                if id_of[number] in outcome.early_story_of:
                    outcome.changed.add(id_of[number])
        outcome.early_story_of |= {one.id: outcome.story_of[one.id] for one in articles}
        outcome.events.update(event.event for event in result.events)
        n_done += len(articles)
        if n_done >= n_articles * (len(outcome.seconds) + 1) / N_PARTS:
            now_spent = time.process_time()
            outcome.seconds.append(1000 * (now_spent - begun) / (n_done - n_before))
            n_before, begun = n_done, now_spent
    return outcome


def judge(found: Mapping[str, str], stream: LabelledStream, stories: frozenset[str] | None = None) -> dict[str, float]:
    """Judge the found stories on the articles of some true stories; of all if left out."""
    names = [
        one.id
        for one in stream.articles
        if one.id in stream.story_of and (stories is None or stream.story_of[one.id] in stories)
    ]
    labels = np.unique([found[name] for name in names], return_inverse=True)[1]
    scores = evaluate(labels, truth=[stream.story_of[name] for name in names], measures=list(MEASURES))
    return {name: scores[name].value for name in MEASURES}
