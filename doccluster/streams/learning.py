"""The weights of the join, learned from streams whose stories are known.

A stream is replayed with weights that there are already, mistakes and their consequences included: whether each of the
stories that an article could have joined was the right one is an example. So fragments of one story are examples too.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from doccluster.errors import InputError
from doccluster.streams.article import Article
from doccluster.streams.article_meaning import kept_meaning
from doccluster.streams.clusterer import Clusterer, MeaningOf
from doccluster.streams.database import transaction
from doccluster.streams.joining import FEATURES, Floats, logit
from doccluster.streams.open_stories import Compared, OpenStories
from doccluster.streams.replay import batches_of
from doccluster.streams.settings import HOUR, StreamSettings
from doccluster.streams.store import all_articles, settings_of, weights_of, write_meta

MOST_OTHERS = 8  # wrong stories of an article that are examples
Examples = tuple[Floats, Floats]


class _Watched(OpenStories):
    """Open stories that note how every article that is placed is like them."""

    def __init__(self, clusterer: Clusterer, labels: Mapping[int, str]) -> None:
        super().__init__(clusterer.settings, clusterer.stories.coefficients)
        self._clusterer, self._labels = clusterer, labels
        self.rows: list[list[float]] = []
        self.right: list[float] = []

    def compare(self, *given: object, **named: object) -> Compared:
        compared = super().compare(*given, **named)  # type: ignore[arg-type]
        label = self._labels.get(self._clusterer.next_number, "")
        if label and named.keys() == {"time", "language"}:  # else a repair compares
            self._note(compared, label, str(named["language"]))
        return compared

    def _note(self, compared: Compared, label: str, language: str) -> None:
        is_right = np.array([self._is_of(place, label) for place in compared.places.tolist()], dtype=np.bool_)
        order = np.argsort(-compared.scores, kind="stable")
        shown = np.concatenate([order[is_right[order]], order[~is_right[order]][:MOST_OTHERS]])
        values = np.column_stack(np.broadcast_arrays(*compared.likeness.features(self.scale(language))))
        self.rows += values[shown].tolist()
        self.right += is_right[shown].astype(float).tolist()

    def _is_of(self, place: int, label: str) -> bool:
        """Return whether most articles of a story are of the label."""
        own = Counter(self._labels.get(one.number, "") for one in self.at(place).members)
        return 2 * own[label] > own.total()


def examples(
    articles: Sequence[Article],
    story_of: Mapping[str, str],
    coefficients: Floats,
    settings: StreamSettings | None = None,
    meaning_of: MeaningOf | None = None,
) -> Examples:
    """Return features of decisions on labelled articles of a stream, and whether joining was right.

    Parameters
    ----------
    articles : sequence of Article
        In the order of the stream.
    story_of : mapping of id to story
        Of the articles that are examples; others are placed too.
    coefficients : float64 array of shape (n_features,)
        With which the stream is replayed.
    meaning_of : function, optional
        As of `Clusterer`.
    """
    clusterer = Clusterer(settings, coefficients, meaning_of)
    labels: dict[int, str] = {}
    clusterer.stories = watched = _Watched(clusterer, labels)
    for now, together in batches_of(articles, HOUR):
        numbers = range(clusterer.next_number, clusterer.next_number + len(together))
        labels.update((number, story_of.get(one.id, "")) for number, one in zip(numbers, together, strict=True))
        clusterer.run_batch(together, now)
    return np.array(watched.rows).reshape(-1, len(FEATURES)), np.array(watched.right)


def fit(sets: Sequence[Examples], shares: Sequence[float], *, toward: Floats, shrink: float) -> Floats:
    """Return the weights of a logistic regression on examples; likeness never speaks against.

    Parameters
    ----------
    sets : sequence of (rows, right)
    shares : sequence of float
        How much each set counts.
    toward : float64 array of shape (n_features,)
        What the weights, but for the constant, are drawn to, by `shrink` times half the squares of the differences.
    """
    rows, right = np.vstack([one for one, _ in sets]), np.concatenate([own for _, own in sets])
    each = [np.full(own.size, share / max(1, own.size)) for (_, own), share in zip(sets, shares, strict=True)]
    weights = np.concatenate(each)

    def loss(found: Floats) -> tuple[float, Floats]:
        scores = rows @ found
        signed = np.where(right == 1, -scores, scores)
        error = 1 / (1 + np.exp(-signed))
        away = np.r_[0.0, (found - toward)[1:]]
        slope = rows.T @ (weights * error * np.where(right == 1, -1, 1)) + shrink * away
        return float(weights @ np.logaddexp(0, signed) + shrink * (away @ away) / 2), slope

    bounds = [(None, None), *[(0, None)] * (len(FEATURES) - 1)]
    return np.asarray(minimize(loss, toward, jac=True, bounds=bounds, method="L-BFGS-B").x)


LABELLED = ("id", "story")  # the columns that are read of a file of labels
SHRINK = 0.01  # how strongly weights that a store learns stay near those that it had
LEAST = 20  # documents from which weights can be learned


@dataclass(frozen=True)
class Learned:
    """What weights were learned from, and which share of the decisions is right with the old and the new ones."""

    n_documents: int
    n_stories: int
    n_examples: int
    right_before: float
    right_after: float
    is_kept: bool  # whether the store has the new ones, which are no worse


def learn_weights(connection: sqlite3.Connection, path: Path) -> Learned:
    """Learn the weights of a store from a csv file of labels, and keep them in it if they are no worse.

    Raises InputError if the file lacks a column, or says of less than 20 documents of the store to which story they
    belong.
    """
    labels = _labels_of(path)
    articles = all_articles(connection)
    story_of = {one.id: label for one in articles if (label := labels.get(one.id) or labels.get(one.key))}
    if len(story_of) < LEAST:
        raise InputError(f"{path} labels {len(story_of)} documents of the store; label {LEAST} or more.")
    before = weights_of(connection)
    settings = settings_of(connection) or StreamSettings()
    meaning = kept_meaning(connection)
    rows, right = examples(articles, story_of, before, settings, meaning)
    if not 0 < right.sum() < right.size:
        raise InputError(f"{path} has no two stories, or none of two documents; label more of them.")
    after = fit([(rows, right)], [1.0], toward=before, shrink=SHRINK)
    shares = [float(((rows @ weights >= logit(settings.join)) == right).mean()) for weights in (before, after)]
    is_kept = shares[1] >= shares[0]
    if is_kept:
        with transaction(connection):
            write_meta(connection, weights=json.dumps(after.tolist()))
    return Learned(len(story_of), len(set(story_of.values())), right.size, shares[0], shares[1], is_kept)


def _labels_of(path: Path) -> dict[str, str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as csv: {error}") from error
    if not rows or any(rows[0].get(name) is None for name in LABELLED):
        raise InputError(f"{path} has not the columns {' and '.join(LABELLED)}.")
    return {row["id"]: row["story"] for row in rows if row["story"]}
