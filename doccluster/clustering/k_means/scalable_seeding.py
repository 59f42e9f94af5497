"""k-means||: rounds that draw some documents each, then k-means++ among these, by how many are nearest to each.

The documents may lie in one process or in blocks: what a round asks of them is handed in, and its random numbers depend
on the place of a document alone, so that the seeds do too.

Source: Bahmani, Moseley, Vattani, Kumar & Vassilvitskii 2012, Scalable k-means++, PVLDB 5(7), algorithm 2; distances
are 1 - cosine, half the squared distance of unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.assign import assign_to_centroids
from doccluster.clustering.k_means.document_matrix import DocumentMatrix, as_given
from doccluster.clustering.k_means.seeding import kmeans_plus_plus

Integers = npt.NDArray[np.int64]

ROUNDS = 5  # as many as its authors found enough
MOST_ROUNDS = 20  # where fewer documents than clusters were drawn: for two clusters that happens
OVERSAMPLING = 2  # candidates of a round, in numbers of clusters
STEPS = 2.0**32  # distances are added as whole numbers of 1 / STEPS: in any order the same sum


def draw_candidates(
    usable: Integers,
    n_clusters: int,
    generator: np.random.Generator,
    join: Callable[[Integers, int], float],
    draw: Callable[[int, float, int], Integers],
) -> Integers:
    """Return the documents among which the seeds are chosen, ascending.

    Parameters
    ----------
    usable : int64 array
        The documents with terms.
    join : callable
        Takes new candidates and the number of the round; returns the sum, in steps, of the distances of all documents
        to the nearest candidate so far.
    draw : callable
        Takes a key, the chance of a document for each step of its distance, and the number of the round; returns the
        documents drawn.
    """
    key = int(generator.integers(2**62))
    chosen = fresh = usable[[int(generator.integers(usable.size))]]
    for number in range(MOST_ROUNDS):
        if number >= ROUNDS and chosen.size >= n_clusters:
            break
        total = join(fresh if fresh.size else chosen, number)
        if not total > 0:
            break
        fresh = np.setdiff1d(draw(key, OVERSAMPLING * n_clusters / total, number), chosen)
        chosen = np.concatenate([chosen, fresh])
    return np.sort(chosen)


def choose_seeds(
    candidates: Any, weights: npt.NDArray[Any], n_clusters: int, generator: np.random.Generator
) -> tuple[DocumentMatrix, Integers]:
    """Return the candidates and which of them are the seeds, by how many documents are nearest to each."""
    documents = replace(as_given(candidates)[0], weights=weights.astype(np.float64))
    return documents, kmeans_plus_plus(documents, n_clusters, generator)


def scalable_rows(
    matrix: Any, documents: DocumentMatrix, n_clusters: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the rows that are the seeds of documents in one process; `documents` are the rows of `matrix`."""
    usable, weights, n_threads = documents.is_usable, documents.weights, documents.n_threads
    is_weighted = bool((weights[usable] != 1.0).any())
    nearest = np.full(usable.size, np.iinfo(np.int64).max)

    def join(fresh: Integers, number: int) -> float:
        np.minimum(nearest, steps_to_nearest(matrix, matrix[fresh], usable, n_threads=n_threads), out=nearest)
        return float((nearest * weights).sum()) if is_weighted else int(nearest.sum())

    def draw(key: int, per_step: float, number: int) -> Integers:
        return np.flatnonzero(uniform(np.arange(usable.size), key, number) < nearest * per_step * weights)

    chosen = draw_candidates(np.flatnonzero(usable), n_clusters, generator, join, draw)
    found = assign_to_centroids(matrix, matrix[chosen], n_threads=n_threads).labels
    counts = np.bincount(found[usable], weights=weights[usable], minlength=chosen.size)
    return chosen[choose_seeds(matrix[chosen], counts, n_clusters, generator)[1]]


def steps_to_nearest(documents: Any, table: Any, usable: npt.NDArray[np.bool_], *, n_threads: int = 1) -> Integers:
    """Return the distance of each document to the nearest row of a table, in steps; 0 for one without terms."""
    cosines = assign_to_centroids(documents, table, n_threads=n_threads).similarity
    steps = np.maximum(np.rint((1.0 - cosines) * STEPS), 0.0).astype(np.int64)
    steps[~usable] = 0
    return steps


def uniform(places: Integers, key: int, number: int) -> npt.NDArray[np.float64]:
    """Return a random number in [0, 1) for each place, the same for any division of the places.

    A counter put through the finaliser of splitmix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195).
    """
    step, first, second = (np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
    mixed = (places.astype(np.uint64) + np.uint64(1)) * step + np.uint64((key + number * 0x632BE59BD9B4E019) % 2**64)
    for shift, factor in ((30, first), (27, second)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
