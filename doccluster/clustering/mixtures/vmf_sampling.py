"""Draws from von Mises-Fisher distributions, in blocks of rows; under the mixture and under the generated corpora.

The cosine to the mean comes from the rejection of Ulrich (1984) as corrected by Wood (1994), the direction across it
from normal numbers, and one Householder reflection per cluster takes the first axis to the mean direction: O(n d) time
and nothing of size d x d. Each block of rows has a generator of its own, whose seed depends on the number of the block
only, so the rows are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Array, Floats, Integers, Reals
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.compiled import jit
from doccluster.base.validation import RandomState, as_generator


@jit(fastmath={"reassoc", "contract"})
def rotate_tangents(rows, labels, reflectors, signs, gaps):
    """Turn rows of normal numbers, in place, into unit rows with given cosines to their mean directions.

    The last d - 1 numbers of a row give a uniform direction across the first axis; with the cosine w = 1 - gap to that
    axis this is a draw about the axis, and one Householder reflection takes the axis to the mean direction.

    `rows` of shape (n_rows, n_terms): standard normal numbers; overwritten. `labels` of shape (n_rows,): the cluster of
    each row. `reflectors` of shape (n_clusters, n_terms): the normals u of the reflections x - 2 u (u.x). `signs` of
    shape (n_clusters,): 1 or -1: the reflection takes `sign` times the first axis to the mean direction. `gaps` of
    shape (n_rows,): 1 - w of each row, in [0, 2]: close to the mean, w itself would have no digits left.
    """
    n_terms = rows.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        reflector = reflectors[labels[i]]
        square = 0.0
        dot = 0.0
        for t in range(1, n_terms):
            value = np.float64(row[t])
            square += value * value
            dot += value * np.float64(reflector[t])
        gap = gaps[i]
        scale = np.sqrt(gap * (2.0 - gap) / square) if square > 0.0 else 0.0
        along = signs[labels[i]] * (1.0 - gap)
        twice = 2.0 * (scale * dot + along * np.float64(reflector[0]))
        row[0] = along - twice * np.float64(reflector[0])
        for t in range(1, n_terms):
            row[t] = scale * np.float64(row[t]) - twice * np.float64(reflector[t])


_BLOCK_VALUES = 2**18  # numbers per block: 1 MiB of float32, so that a block is rotated while it is in the cache


def spawn_entropy(random_state: RandomState) -> tuple[int, ...]:
    """Return the numbers from which the generators of the blocks are made; the given generator moves on."""
    return tuple(map(int, as_generator(random_state).integers(0, 2**32, size=4, dtype=np.uint64)))


def block_generator(entropy: tuple[int, ...], *key: int) -> np.random.Generator:
    """Return the generator of one block: a function of the entropy and of the numbers in `key` alone."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


class VmfRows:
    """The rows of a von Mises-Fisher mixture whose clusters are known, drawn block by block.

    `means` of shape (n_clusters, n_terms): the mean directions. `kappas` of shape (n_clusters,): the concentrations.
    `labels` of shape (n_documents,): the cluster of each row. `entropy`: of `spawn_entropy`. `dtype`: the type of the
    rows.
    """

    def __init__(
        self, means: Floats, kappas: Floats, labels: Integers, *, entropy: tuple[int, ...], dtype: npt.DTypeLike
    ) -> None:
        self.labels = labels
        self.shape = (labels.size, means.shape[1])
        self.dtype = np.dtype(dtype)
        self._kappas = kappas
        self._entropy = entropy
        self._reflectors, self._signs = _reflectors(means, self.dtype)
        self._blocks = row_blocks(labels.size, max(1, _BLOCK_VALUES // means.shape[1]))

    def fill(self, out: Reals, *, n_threads: int | None = None) -> Reals:
        """Draw all rows into `out`, an array of this shape and type with contiguous rows, and return it."""

        for block, rows in zip(self._blocks, self.blocks(n_threads=n_threads), strict=True):
            out[block] = rows
        return out

    def draw(self, *, n_threads: int | None = None) -> npt.NDArray[Any]:
        """Return all rows."""
        return self.fill(np.empty(self.shape, self.dtype), n_threads=n_threads)

    def blocks(self, *, n_threads: int | None = None) -> Iterator[npt.NDArray[Any]]:
        """Yield the rows block by block; only the blocks in work are held."""

        def draw(number: int) -> Reals:
            block = self._blocks[number]
            return self._draw(number, np.empty((block.stop - block.start, self.shape[1]), self.dtype))

        return map_blocks(draw, range(len(self._blocks)), n_threads=n_threads)

    def _draw(self, number: int, rows: npt.NDArray[Any]) -> Reals:
        generator = block_generator(self._entropy, number)
        labels = self.labels[self._blocks[number]]
        gaps = draw_gaps(self._kappas[labels], self.shape[1], generator)
        generator.standard_normal(out=rows, dtype="float32" if self.dtype == np.float32 else "float64")
        rotate_tangents(rows, labels, self._reflectors, self._signs, gaps)
        return rows


def draw_gaps(kappas: Floats, n_dimensions: int, generator: np.random.Generator) -> Floats:
    """Return draws of 1 - mu.x, float64 array of the shape of `kappas`, each in [0, 2].

    Wood (1994), algorithm VM*, written in 1 - w instead of w so that no digits are lost at large concentrations.
    """
    span = n_dimensions - 1.0
    envelope = span / (2.0 * kappas + np.sqrt(4.0 * kappas**2 + span**2))
    edge = 2.0 * envelope / (1.0 + envelope)  # 1 - x0
    gaps = np.empty_like(kappas)
    pending = np.arange(kappas.size)
    while pending.size:
        b, e = envelope[pending], edge[pending]
        z = generator.beta(0.5 * span, 0.5 * span, size=pending.size)
        gap = 2.0 * b * z / (1.0 - (1.0 - b) * z)
        bound = kappas[pending] * (e - gap) + span * np.log((e + (1.0 - e) * gap) / (e * (2.0 - e)))
        accepted = bound >= -generator.standard_exponential(pending.size)
        gaps[pending[accepted]] = gap[accepted]
        pending = pending[~accepted]
    return np.clip(gaps, 0.0, 2.0)


def _reflectors(means: Floats, dtype: np.dtype[Any]) -> tuple[Array, Floats]:
    """Return the unit normals of the reflections of the first axis to plus or minus each mean, and those signs.

    The sign is the one that keeps the normal away from zero: the axis goes to the farther of the two.
    """
    signs = np.where(means[:, 0] > 0, -1.0, 1.0)
    normals = means.astype(dtype)  # a copy
    lengths = np.sqrt(2.0 * (1.0 + np.abs(means[:, 0])))  # of mean - sign e1
    normals[:, 0] = means[:, 0] - signs
    normals /= lengths[:, None].astype(dtype)
    return normals, signs
