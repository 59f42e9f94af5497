"""The fourth stage: the levels above and below the clusters of a run, and what each cluster is about."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from doccluster.base.arrays import Labels
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.geometry import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.labeling import ClusterDescription, Placement
from doccluster.labeling.label_phrases import LabelPhrases
from doccluster.labeling.label_terms import label_levels
from doccluster.pipeline.fit import Fit
from doccluster.pipeline.guiding import has_groups, roots, with_names_of_topics
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.pipeline.naming import (
    describe_texts,
    in_written_forms,
    most_central,
    phrases_of,
    unwanted_words,
    without_other,
)
from doccluster.pipeline.nested_levels import FEWEST, LARGE, LabelsOfLevels, LevelsWork
from doccluster.results.overview import outlets_of
from doccluster.results.tree import Levels, TreeLevel
from doccluster.selection.recommendation import MAX_DOCUMENTS
from doccluster.vectors import DocumentVectors


class NamedClusters(NamedTuple):
    """What the clusters are about, those of the levels around them, and the vectors with terms as they are written."""

    clusters: tuple[ClusterDescription, ...]
    levels: Levels
    vectors: DocumentVectors
    notes: tuple[str, ...]  # in sentences, which levels are left out


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
    topics = stages.cluster(vectors, prepared.documents, granularity="topics")
    return work.above_stories(None if topics.partition.n_clusters < 2 else work_on(topics))


def name_clusters(
    fit: Fit,
    prepared: Prepared,
    evidence: ClusterEvidence,
    placement: Placement,
    around: LabelsOfLevels,
    stages: Stages,
) -> NamedClusters:
    """Describe each cluster, and those of the levels around them, with the names of the topics that are known.

    The vectorizer learns the commonest written forms of the terms too, so that later labels show the same words.
    Documents that are shown as Other stand for no cluster, and do not count in its size.
    """
    how, vectors, texts, partition = prepared.vectorization, prepared.vectors, prepared.texts, fit.partition
    titles, outlets = prepared.documents.titles, outlets_of(prepared.documents)
    unwanted = unwanted_words(how, texts, prepared.copy_of)
    if texts is not None:
        vectors = in_written_forms(how, vectors, PickedTexts(texts, most_central(partition, placement, texts)))
    phrases = phrases_of(how, vectors, partition, texts, titles, how.function_words.union(unwanted))

    def level(name: str, labels: Labels, phrases: LabelPhrases | None = None, **evidence: Any) -> TreeLevel:
        of_level = Partition(labels, tuple(range(int(labels.max()) + 1)))
        options: dict[str, Any] = {"unwanted": unwanted, "outlets": outlets, "phrases": phrases, **evidence}
        described = describe_texts(how, vectors, of_level, texts, titles, **options)
        return TreeLevel(name, labels, tuple(without_other(described, of_level, fit.is_other)))

    shown = level(around.shown, partition.labels, phrases, placement=placement, evidence=evidence)
    # names of the levels above are made of the same phrases, added up
    coarser = []
    for name, labels in around.coarser.items():
        groups = shown.parents_on(TreeLevel(name, labels, ()))
        coarser.append(level(name, labels, None if phrases is None else phrases.of_groups(groups)))
    finer = [level(name, labels) for name, labels in around.finer.items()]
    every, levels, clusters = [*coarser, shown, *finer], Levels(), shown.clusters
    if len(every) > 1:
        parents = [fine.parents_on(coarse) for coarse, fine in itertools.pairwise(every)]
        labeled = label_levels([tree_level.clusters for tree_level in every], parents)
        every = [replace(tree_level, clusters=named) for tree_level, named in zip(every, labeled, strict=True)]
        place = len(coarser)
        levels = Levels(shown.name, tuple(every[:place]), tuple(every[place + 1 :]))
        clusters = every[place].clusters
    if fit.topic_of is not None:
        levels, clusters = with_names_of_topics(fit, stages.settings.topics, levels, clusters)
    return NamedClusters(clusters, levels, vectors, around.notes)
