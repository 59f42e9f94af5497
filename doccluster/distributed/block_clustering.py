"""Spherical k-means over blocks: several starts, the best kept, with what one process would return."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from doccluster.base.executors import Executor
from doccluster.base.plain_values import parse_size
from doccluster.base.progress import silent
from doccluster.base.validation import as_generator
from doccluster.clustering.k_means.lloyd import BestStart, Iteration, Limits
from doccluster.clustering.k_means.seeds import draw_starts
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalFit, SphericalParameters, fit_of
from doccluster.distributed.block_means import BlockMeans
from doccluster.distributed.block_rows import BlockRows
from doccluster.distributed.block_steps import release_fits
from doccluster.distributed.checkpoints import Checkpoints, FitProgress
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.errors import InputError, NothingUsable

KEPT_BYTES = 2**30
SEED_ENTRIES = 2**27  # of more (a gigabyte of rows) seeds are drawn from a random sample
SEED_BYTES = 32  # of memory for each entry of the rows that seeds are drawn from: rows, their index, and copies


def cluster_blocks(
    executor: Executor,
    blocks: Sequence[MatrixBlock],
    parameters: SphericalParameters,
    *,
    scratch: str | Path,
    order: npt.NDArray[np.int64] | None = None,
    keep_bytes: int = KEPT_BYTES,
    checkpoints: Checkpoints | None = None,
) -> SphericalFit:
    """Return the best of the starts of spherical k-means for documents in blocks.

    The labels are those of `spherical_k_means` for the same rows, seeds and parameters, for any blocks and executor.
    (Where sums of the rows are exact in float64, as they are unless weights are very small, that holds to the byte;
    else a mean may differ in its last place.)

    Parameters
    ----------
    executor : Executor
        `Sequential` or what `connect` yields.
    blocks : sequence of MatrixBlock
        All documents, each once, in their order.
    parameters : SphericalParameters
        `refine`, `algorithm` and threads are those of one process and not used.
    scratch : path
        A folder that all workers see; what is written there is removed at the end.
    order : int64 array of shape (n_documents,), optional
        The documents in the order in which seeds are drawn and ties are decided; their own by default.
    keep_bytes : int
        How much memory each worker may use to keep rows and bounds between iterations.
    checkpoints : Checkpoints, optional
        Where to write how far the fit has come, and to go on from if something is there.

    Raises
    ------
    InputError
        If a parameter cannot be used, or a checkpoint is of another fit.
    NothingUsable
        If no document has a term.
    FitInterrupted
        On Ctrl-C, with the best so far.
    """
    rows = BlockRows(executor, blocks, order)
    _check(parameters, rows.n_documents)
    if not rows.usable.size:
        raise NothingUsable("no document has a term", remedy="there is nothing to cluster")
    generator = as_generator(parameters.random_state)
    best, current, n_done = BestStart(Limits(parameters.max_iter, parameters.tol)), None, 0
    before = checkpoints and checkpoints.load()
    if before:
        generator.bit_generator.state = before.random
        best.best, best.objectives, best.labels = before.best, list(before.objectives), list(before.labels)
        n_done, current = len(before.objectives), before.current
    folder = Path(tempfile.mkdtemp(prefix="clustering-", dir=scratch))

    def starts() -> Iterator[BlockMeans]:
        seeds = draw_starts(
            rows,
            parameters.n_clusters,
            parameters.init,
            parameters.n_starts,
            generator,
            seed_documents=_seed_documents(rows, parameters),
        )
        for number in range(n_done, parameters.n_starts):
            if current is not None and number == n_done:
                start = BlockMeans(rows, current.means, folder, keep_bytes=keep_bytes, labels=current.labels)
            else:
                start = BlockMeans(rows, next(seeds), folder, keep_bytes=keep_bytes)
            yield start
            shutil.rmtree(start.folder, ignore_errors=True)
            if checkpoints is not None:
                checkpoints.save(FitProgress.of(generator, best))

    def save(iteration: Iteration) -> None:
        if checkpoints is not None and iteration.number and iteration.number % checkpoints.every == 0:
            checkpoints.save(FitProgress.of(generator, best, iteration))

    try:
        with threadpool_limits(1, user_api="blas"):  # blocks are what is done side by side
            snapshot = best.run(
                starts(),
                begun=None if current is None else (current.n_iter, current.objective),
                progress=parameters.progress or silent,
                observe=save,
            )
        return fit_of(snapshot, snapshot.means, rows.usable.size, best, parameters.n_clusters, notes=[])
    except KeyboardInterrupt as stopped:
        last = best.so_far()
        fit = None
        if last is not None:
            fit = fit_of(last, last.means, rows.usable.size, best, parameters.n_clusters, notes=[])
        raise FitInterrupted(fit) from stopped
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        executor.everywhere(release_fits, str(folder))


def _check(parameters: SphericalParameters, n_documents: int) -> None:
    parameters.check(n_documents)
    if parameters.refine:
        raise InputError(
            "moves single documents, which blocks do not", argument="refine", received=True, remedy="leave it out"
        )
    if callable(parameters.init):
        raise InputError("cannot be a function over blocks", argument="init", expected="a word or centroids")


def _seed_documents(rows: BlockRows, parameters: SphericalParameters) -> int:
    """Return from how many documents k-means++ draws: those of one process, or as many as memory allows."""
    # what one process would hold is not held here
    plan = replace(parameters, max_memory=None).plan_for(rows.frequencies, rows.n_documents)
    max_entries = SEED_ENTRIES
    if parameters.max_memory is not None:
        max_entries = min(max_entries, parse_size(parameters.max_memory) // SEED_BYTES)
    affordable = max(1, int(rows.n_documents * min(1.0, max_entries / max(1, rows.n_entries))))
    return min(plan.seed_documents, affordable)
