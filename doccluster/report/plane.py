"""Documents in the plane: latent semantic analysis to 50 dimensions, then t-SNE; and what is lost on the way.

Sources: Deerwester et al. 1990 (latent semantic analysis); van der Maaten & Hinton 2008, JMLR 9 (t-SNE).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.errors import InputError
from doccluster.geometry.projection import latent_semantic_space, unit
from doccluster.report.tsne import places_among, tsne
from doccluster.results.record import Run

Floats = npt.NDArray[np.float64]

N_DIMENSIONS = 50
PERPLEXITY = 30.0  # fewer documents have fewer neighbours
MIN_DOCUMENTS = 4  # documents that a map is made of
N_LANDMARKS = 2_000  # up to here all documents are placed by t-SNE itself
MAX_WITH_MAP = 50_000  # up to here a report has its map without being asked for one
N_NEIGHBOURS = 10
MAX_SAMPLE = 2_000  # documents whose neighbours are looked at
BLOCK_ROWS = 256


@dataclass(frozen=True, eq=False)
class Plane:
    """The documents of a run in the plane.

    `purity`, `purity_before`: the share of the 10 nearest neighbours that belong together, in the plane and in the 50
    dimensions; nan where there are too few documents.
    """

    places: Floats  # of shape (n_documents, 2): near to each other where documents are alike; the axes mean nothing
    method: str  # what they were placed by
    judged_by: str  # the column of classes that says which neighbours belong together; empty: the clusters
    purity: float
    purity_before: float

    @property
    def kept(self) -> float:
        """The purity in the plane as a share of that in the 50 dimensions."""
        return self.purity / self.purity_before if self.purity_before else float("nan")


def plane_of(run: Run) -> Plane:
    """Return the documents of a run in the plane; the same run gives the same places.

    Raises InputError if there are fewer than four documents.
    """
    if run.n_documents < MIN_DOCUMENTS:
        raise InputError(f"{run.n_documents} documents make no map", remedy=f"give {MIN_DOCUMENTS} or more")
    n_threads: Any = run.parameters.get("n_threads")  # of the run; no place depends on it
    rows = _semantic_rows(run, n_threads)
    # sums of several threads are rounded in the order in which these end
    with threadpool_limits(1):
        places, method = _placed(rows, run.provenance.seed, n_threads)
        judged_by, sample, groups = _groups(run)
        return Plane(
            places,
            method,
            judged_by,
            neighbour_purity(places[sample], groups, n_threads=n_threads),
            neighbour_purity(rows[sample], groups, n_threads=n_threads),
        )


def neighbour_purity(rows: Floats, groups: npt.NDArray[np.int64], *, n_threads: int | None = None) -> float:
    """Return the mean share of the 10 nearest rows that are of the same group, of at most 2,000 rows spread evenly."""
    n = rows.shape[0]
    if n <= N_NEIGHBOURS:
        return float("nan")
    sample = np.unique(np.linspace(0, n - 1, min(n, MAX_SAMPLE)).round().astype(np.int64))
    lengths = np.einsum("ij,ij->i", rows, rows)

    def count_same(block: slice) -> int:
        asking = sample[block]
        squared = lengths - 2 * (rows[asking] @ rows.T)
        squared[np.arange(asking.size), asking] = np.inf
        nearest = np.argpartition(squared, N_NEIGHBOURS - 1, axis=1)[:, :N_NEIGHBOURS]
        return int((groups[nearest] == groups[asking, None]).sum())

    n_same = sum(map_blocks(count_same, row_blocks(sample.size, BLOCK_ROWS), n_threads=n_threads))
    return n_same / (sample.size * N_NEIGHBOURS)


def _semantic_rows(run: Run, n_threads: int | None) -> Floats:
    """Return unit rows of 50 dimensions, beside those of meaning where clusters are of it too.

    The seed is fixed, so that runs of the same documents can be compared.
    """
    documents = run.vectors.documents
    space = latent_semantic_space(documents, N_DIMENSIONS, random_state=0, n_threads=n_threads)
    rows: Floats = unit(space.project(documents, n_threads=n_threads))
    meaning = run.vectors.meaning
    return rows if meaning is None or run.by_meaning is None else meaning.beside(rows).astype(np.float64)


def _placed(rows: Floats, seed: int, n_threads: int | None = None) -> tuple[Floats, str]:
    """Return the places of rows: of landmarks drawn from them by t-SNE, of all others among these."""
    n = rows.shape[0]
    if n <= N_LANDMARKS:
        return _by_tsne(rows, seed, n_threads), "t-SNE"
    is_landmark = np.zeros(n, dtype=bool)
    is_landmark[np.random.default_rng(seed).choice(n, N_LANDMARKS, replace=False)] = True
    landmarks = rows[is_landmark]
    places = np.empty((n, 2))
    places[is_landmark] = _by_tsne(landmarks, seed, n_threads)
    places[~is_landmark] = places_among(rows[~is_landmark], landmarks, places[is_landmark], n_threads=n_threads)
    return places, f"t-SNE: {N_LANDMARKS:,} of them drawn at random, then each of the others among these"


def _by_tsne(rows: Floats, seed: int, n_threads: int | None) -> Floats:
    perplexity = min(PERPLEXITY, max(1.5, rows.shape[0] / 8))
    return tsne(rows, _start(rows, seed), perplexity=perplexity, n_threads=n_threads)


def _start(rows: Floats, seed: int) -> Floats:
    """Return the two directions in which rows differ most, small, with a trace of noise that tells copies apart."""
    centred = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh(np.einsum("ij,ik->jk", centred, centred))
    axes = directions[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.column_stack([axes, np.zeros((axes.shape[0], 2 - axes.shape[1]))])
    largest = np.abs(axes).argmax(axis=0)
    start = centred @ (axes * np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0))
    spread = float(start.std(axis=0).max())
    noise = np.random.default_rng(seed).standard_normal(start.shape)
    started: Floats = 1e-4 * (start / (spread or 1.0) + 0.01 * noise)
    return started


def _groups(run: Run) -> tuple[str, Any, npt.NDArray[np.int64]]:
    """Return the groups that judge neighbours (a truth, else the clusters), the rows that have one, and their names."""
    for column in run.truth:
        rows, names = run.classes(column)
        if rows.size > N_NEIGHBOURS:
            return column, rows, np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1]
    return "", slice(None), run.partition.labels.astype(np.int64)
