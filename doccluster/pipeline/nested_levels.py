"""The levels above and below the clusters that a run shows; these stay as they are, to the label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from doccluster.base.arrays import Flags, Labels
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.clustering.nesting import (
    coarser_groups,
    majority_groups,
    merge_order,
    nested_labels,
    number_of_groups,
    products_of_groups,
    products_of_sums,
)
from doccluster.geometry import Documents
from doccluster.pipeline.fit import Fit, largest_first
from doccluster.pipeline.guiding import has_groups, roots
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.selection import Recommendation
from doccluster.selection.levels import APART, DRAWN, agreement_of_parts, draw_rows
from doccluster.selection.recommendation import MAX_DOCUMENTS

FEWEST = 12  # clusters that are worth sections
LARGE = 50  # documents on average of clusters, of a number that was given, that are worth subtopics
MOST = 4_000  # clusters, of which a table of all pairs is held
MAX_FINER = 1_000  # clusters of a level that is only looked into
RETURNS = 0.3  # the adjusted Rand index of refits below which a level is hidden
N_REFITS = 5
MAX_REFITTED = 4_000  # documents of which they are drawn
SINGULAR = {"sections": "section", "topics": "topic", "subtopics": "subtopic"}


@dataclass(frozen=True, eq=False)
class LabelsOfLevels:
    """The labels of the levels around the clusters that are shown, by their names, the coarsest first."""

    shown: str = "cluster"  # the name of the level of the clusters themselves
    coarser: Mapping[str, Labels] = field(default_factory=dict)
    finer: Mapping[str, Labels] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # in sentences, what is left out, and why


@dataclass(frozen=True, eq=False)
class LevelsWork:
    """What levels are made of."""

    rows: Any  # what the clusters were found in, dense or csr
    labels: Labels
    is_counted: Flags  # which documents are not Other
    choice: Recommendation | None  # the levels found when the clusters were counted, or beside a given number
    seed: int
    n_threads: int | None = None

    def around(self) -> LabelsOfLevels:
        """Return the levels above and below clusters of an algorithm, or of another program."""
        shown = "topic" if self.choice is None else SINGULAR[self.choice.granularity]
        n_topics = self._number("topics") if shown == "subtopic" else 0
        k = int(self.labels.max()) + 1
        coarser: Mapping[str, Labels] = {}
        notes: tuple[str, ...] = ()
        if shown != "section":  # of which there are no sections
            coarser, notes = self.above(n_topics if n_topics >= FEWEST and k >= APART * n_topics else None)
        finer, left_out = self.below(shown)
        return LabelsOfLevels(shown, coarser, finer, (*notes, *left_out))

    def above_stories(self, topics: LevelsWork | None) -> LabelsOfLevels:
        """Return the topics that stories lie in, each whole in the one that has most of its documents, and sections."""
        if topics is None:
            return LabelsOfLevels("story")
        k = int(self.labels.max()) + 1
        own = np.where(self.is_counted, topics.labels, -1)
        of_stories = self._largest_first(majority_groups(self.labels, own, k)[self.labels])
        in_topics = LevelsWork(
            topics.rows, of_stories, self.is_counted, topics.choice, self.seed, n_threads=self.n_threads
        )
        coarser, notes = in_topics.above(None)
        return LabelsOfLevels("story", {**coarser, "topic": of_stories}, notes=notes)

    def above_topics(self, topic_of: Labels, root_of: Labels) -> LabelsOfLevels:
        """Return the topics that clusters are parts of, and above them the parents of these; both -1 for none.

        Free clusters are merged into topics of their own where there are enough of them, and else stand alone.
        """
        k = int(self.labels.max()) + 1
        first = np.unique(self.labels, return_index=True)[1]
        groups = topic_of[first].copy()
        free = np.flatnonzero(groups < 0)
        of_free = np.arange(free.size)
        if FEWEST <= free.size <= MOST:
            rows = np.flatnonzero(np.isin(self.labels, free) & self.is_counted)
            numbers = np.searchsorted(free, self.labels[rows])
            of_free = coarser_groups(products_of_sums(self.rows[rows], numbers, free.size))
        groups[free] = k + of_free
        coarser = {"topic": self._largest_first(np.unique(groups, return_inverse=True)[1][self.labels])}
        if (root_of != topic_of).any():
            roots = np.where(root_of[first] >= 0, root_of[first], groups + k)
            coarser = {"section": self._largest_first(np.unique(roots, return_inverse=True)[1][self.labels]), **coarser}
        return LabelsOfLevels("subtopic", coarser)

    def above(self, n_topics: int | None) -> tuple[dict[str, Labels], tuple[str, ...]]:
        """Return sections of the clusters, between them topics where a number of them is given; and what to say."""
        k = int(self.labels.max()) + 1
        if k < FEWEST:
            return {}, ()
        if k > MOST:
            return {}, (f"Sections are left out: there are more than {MOST:,} clusters.",)
        products = products_of_sums(self.rows, np.where(self.is_counted, self.labels, k), k + 1)[:k, :k]
        groups: dict[str, Labels] = {}
        if n_topics is not None:
            groups["topic"] = coarser_groups(products, n_topics)
        numbers = [] if n_topics is None else [n_topics]
        of_topics = groups.get("topic", np.arange(k))
        products = products_of_groups(products, of_topics)
        numbers.append(number_of_groups(merge_order(products)))
        groups = {"section": coarser_groups(products, numbers[-1])[of_topics], **groups}
        returns = dict(zip(reversed(groups), self._returns(k, numbers), strict=True))
        notes = tuple(_left_out(f"{name}s", value) for name, value in returns.items() if value < RETURNS)
        kept = {name: numbers_of for name, numbers_of in groups.items() if returns[name] >= RETURNS}
        return {name: self._largest_first(numbers_of[self.labels]) for name, numbers_of in kept.items()}, notes

    def below(self, shown: str) -> tuple[dict[str, Labels], tuple[str, ...]]:
        """Return the finer levels of `choice`, made to nest; and what to say.

        Thousands of clusters would take longer to name than the documents to cluster.
        """
        finer: dict[str, Labels] = {}
        labels = self.labels
        names = list(SINGULAR)
        for name in names[names.index(f"{shown}s") + 1 :] if self.choice is not None else ():
            number = self._number(name)
            if number < APART * (int(labels.max()) + 1):
                continue
            if number > MAX_FINER:
                why = f"there are {number:,} of them; --granularity {name} shows them."
                return finer, (f"{name.capitalize()} are left out: {why}",)
            assert self.choice is not None
            columns = self.choice.columns
            agreement = float(columns["agreement"][columns["chosen"] == name][0])
            if agreement < RETURNS:
                return finer, (_left_out(name, agreement),)
            fine = self.choice.levels[name]  # type: ignore[index]
            labels = self._largest_first(nested_labels(self.rows, labels, fine, self.is_counted))
            finer[SINGULAR[name]] = labels
        return finer, ()

    def _number(self, name: str) -> int:
        """Return how many clusters there are on a level that was found; 0 where it was not."""
        levels: Mapping[Any, Labels] = {} if self.choice is None else self.choice.levels
        return int(levels[name].max()) + 1 if name in levels else 0

    def _largest_first(self, labels: Labels) -> Labels:
        """Return labels numbered by how many documents are counted, most first."""
        sizes = np.bincount(labels[self.is_counted], minlength=int(labels.max()) + 1)
        numbers = np.empty_like(sizes)
        numbers[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
        return numbers[labels]

    def _returns(self, k: int, numbers: list[int]) -> list[float]:
        """Return how well refits of parts of the documents agree on levels of these numbers, the finest first."""
        rng = np.random.default_rng(self.seed)
        counted = np.flatnonzero(self.is_counted)
        drawn = counted[draw_rows(counted.size, MAX_REFITTED, rng)]
        size = max(1, round(DRAWN * drawn.size))
        parts = [np.sort(rng.choice(drawn.size, size, replace=False)) for _ in range(N_REFITS)]
        labels_of: list[list[Labels]] = [[] for _ in numbers]
        for part in parts:
            rows = self.rows[drawn[part]]
            parameters = SphericalParameters(min(k, size), n_init=1, random_state=rng, n_threads=self.n_threads)
            labels = largest_first(spherical_k_means(Documents(rows), parameters).labels)[0].labels
            products = products_of_sums(rows, labels, int(labels.max()) + 1)
            for place, number in enumerate(numbers):
                groups = coarser_groups(products, min(number, products.shape[0]))
                labels, products = groups[labels], products_of_groups(products, groups)
                labels_of[place].append(labels)
        return [agreement_of_parts(parts, labels, drawn.size) for labels in labels_of]


def levels_around(fit: Fit, prepared: Prepared, stages: Stages) -> LabelsOfLevels:
    """Return the levels above and below the clusters."""
    settings, vectors = stages.settings, prepared.vectors
    if settings.levels == "none" or fit.interrupted:
        return LabelsOfLevels()
    if not stages.holds_rows(vectors.n_documents):
        said = "Sections of the clusters are left out in blocks of this many documents."
        return LabelsOfLevels(notes=(said,) if fit.partition.n_clusters >= FEWEST else ())
    is_counted = np.ones(fit.partition.labels.size, bool) if fit.is_other is None else ~fit.is_other

    def work_on(fit: Fit) -> LevelsWork:
        rows = vectors.documents.unit if fit.points is None else fit.points
        return LevelsWork(rows, fit.partition.labels, is_counted, fit.choice, stages.seed, stages.n_threads)

    work = work_on(fit)
    if fit.topic_of is not None and has_groups(fit, settings.topics):
        return work.above_topics(fit.topic_of, roots(fit, settings.topics))
    if fit.n_outlets is None:
        has_finer = fit.choice is None and fit.topic_of is None and settings.labels is None
        if has_finer and work.labels.size >= LARGE * fit.partition.n_clusters:
            choice = stages.finer(vectors.with_letters(fit.letters), prepared.documents)
            work = replace(work, choice=choice)
        return work.around()
    if vectors.n_documents > MAX_DOCUMENTS:
        said = f"Topics of the stories are left out: there are more than {MAX_DOCUMENTS:,} documents."
        return LabelsOfLevels(notes=(said,))
    topics = stages.cluster(vectors, prepared.documents, granularity="topics", levels="none")
    return work.above_stories(None if topics.partition.n_clusters < 2 else work_on(topics))


def _left_out(plural: str, agreement: float) -> str:
    return (
        f"{plural.capitalize()} are left out: random parts of the documents do not bring them back (adjusted Rand "
        f"index {agreement:.2f})."
    )
