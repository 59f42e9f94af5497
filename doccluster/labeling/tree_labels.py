"""Labels of nested clusters: a parent's is of all its parts, and its parts do not repeat it.

A word that is in one part of a cluster alone names that part, and not the whole: its score for the whole is multiplied
by one less its excess there, which is 0 for a word spread over the parts as their documents are, and 1 for a word of
one part alone. A cluster that is all of its parent is called the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doccluster.labeling.label_terms import same_family, short_labels
from doccluster.labeling.profiles import ClusterDescription, LabelTerm

Parents = npt.NDArray[np.int64]
Described = Sequence[ClusterDescription]


def label_levels(levels: Sequence[Described], parents: Sequence[Parents]) -> list[tuple[ClusterDescription, ...]]:
    """Return the clusters of nested levels, the coarsest first, with labels that fit the tree.

    `parents[i]` of shape (k,) says which cluster of level i each cluster of level i + 1 is part of. On each level
    labels are distinct. A name that a person gave stays.
    """
    labeled: list[tuple[ClusterDescription, ...]] = []
    above: list[tuple[LabelTerm, ...]] = []
    for place, clusters in enumerate(levels):
        candidates = [cluster.label_terms for cluster in clusters]
        if place + 1 < len(levels):
            candidates = _of_the_whole(clusters, levels[place + 1], parents[place])
        if place:
            words = [cluster.label.split(", ") for cluster in labeled[-1]]
            candidates = _not_repeating(candidates, words, above, parents[place - 1])
        labels, above = short_labels(candidates), candidates
        labeled.append(
            tuple(
                cluster if cluster.name or not cluster.label_terms else replace(cluster, label=label)
                for cluster, label in zip(clusters, labels, strict=True)
            )
        )
    return labeled


def _of_the_whole(clusters: Described, parts: Described, parents: Parents) -> list[tuple[LabelTerm, ...]]:
    """Return the candidates of each cluster in a new order: first those that are of all its parts."""
    candidates = []
    for cluster in clusters:
        children = [parts[number] for number in np.flatnonzero(parents == cluster.cluster).tolist()]
        terms = [
            replace(term, score=term.score * (1.0 - _excess(term, cluster, children))) for term in cluster.label_terms
        ]
        candidates.append(tuple(sorted(terms, key=lambda term: -term.score)))
    return candidates


def _excess(term: LabelTerm, cluster: ClusterDescription, children: Described) -> float:
    """Return how much more of a term's documents one part has than of all documents, 0 to 1; of one part only, 0."""
    size = sum(child.size for child in children)
    n_having = term.coverage * size
    if len(children) < 2 or n_having <= 0:
        return 0.0
    excesses = [0.0]
    for child in children:
        coverage = next((candidate.coverage for candidate in child.label_terms if candidate.term == term.term), 0.0)
        share, expected = min(coverage * child.size / n_having, 1.0), child.size / size
        excesses.append((share - expected) / (1.0 - expected) if expected < 1 else 0.0)
    return max(excesses)


def _not_repeating(
    candidates: Sequence[tuple[LabelTerm, ...]],
    words: Sequence[Sequence[str]],
    above: Sequence[tuple[LabelTerm, ...]],
    parents: Parents,
) -> list[tuple[LabelTerm, ...]]:
    """Return the candidates that repeat none of the words of the parent's label; all where none would be left.

    `above` are the candidates of the parents, which an only part takes over.
    """
    n_parts = np.bincount(parents, minlength=len(above))
    remaining = []
    for terms, parent in zip(candidates, parents.tolist(), strict=True):
        new = tuple(term for term in terms if not any(same_family(term.term, word) for word in words[parent]))
        remaining.append((new or terms) if n_parts[parent] > 1 else above[parent])
    return remaining
