"""Spherical k-means over blocks: several starts, the best kept, with what one process would return."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import silent
from doccluster.base.sizes import parse_size
from doccluster.clustering.k_means.seeding import given_centroids
from doccluster.clustering.k_means.spherical import FitInterrupted, SphericalFit, SphericalParameters
from doccluster.clustering.k_means.starts import KEPT_LABELS
from doccluster.distributed.block_steps import release_fits
from doccluster.distributed.checkpoints import Checkpoints, Progressed
from doccluster.distributed.executors import Executor
from doccluster.distributed.iterations import Begun, BlockFit, Iterations, Settings
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.distributed.seeds import SeedRows, draw_seeds
from doccluster.errors import InputError, NothingUsable
from doccluster.validation import as_generator

KEPT_BYTES = 2**30
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
    rows = SeedRows(executor, blocks, order)
    _check(parameters, rows.n_documents)
    # what one process would hold is not held here
    plan = replace(parameters, max_memory=None).plan_for(rows.frequencies, rows.n_documents)
    if parameters.max_memory is not None:
        rows.most_entries = min(rows.most_entries, parse_size(parameters.max_memory) // SEED_BYTES)
    if not rows.usable.size:
        raise NothingUsable("no document has a term", remedy="there is nothing to cluster")
    generator = as_generator(parameters.random_state)
    settings = Settings(parameters.max_iter, parameters.tol, keep_bytes)
    folder = Path(tempfile.mkdtemp(prefix="clustering-", dir=scratch))
    fits: list[BlockFit] = []
    begun, n_done, interrupted = None, 0, False
    before = None if checkpoints is None else checkpoints.load()
    if before is not None:
        generator.bit_generator.state = before.random
        fits, n_done, begun = list(before.fits), before.n_done, before.begun
    try:
        for number in range(n_done, parameters.n_starts):
            if begun is not None:
                seeds = begun.table
            elif isinstance(parameters.init, str):
                seeds = draw_seeds(rows, parameters.n_clusters, parameters.init, generator, plan, folder)
            else:
                seeds = given_centroids(parameters.init, parameters.n_clusters, rows.frequencies.size)
            progress = parameters.progress or silent
            start = Iterations(executor, blocks, seeds, folder, settings=settings, order=order, progress=progress)
            kept = Progressed(dict(generator.bit_generator.state), number, tuple(fits))
            found = start.run(begun, observe=None if checkpoints is None else _saver(checkpoints, kept))
            fits, begun = _kept(fits, found), None
            shutil.rmtree(start.folder, ignore_errors=True)
            if found.interrupted:
                interrupted = True
                break
            if checkpoints is not None:
                checkpoints.save(replace(kept, n_done=number + 1, fits=tuple(fits)))
    except KeyboardInterrupt as stopped:
        raise FitInterrupted(_fit_of(fits, parameters, rows.usable.size) if fits else None) from stopped
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        executor.everywhere(release_fits, str(folder))
    best = _fit_of(fits, parameters, rows.usable.size)
    if interrupted:
        raise FitInterrupted(best)
    return best


def _saver(checkpoints: Checkpoints, kept: Progressed) -> Callable[[Iterations, float, int], None]:
    """Return a function that writes a checkpoint after some iterations of a start."""

    def save(start: Iterations, objective: float, number: int) -> None:
        if number % checkpoints.every == 0:
            checkpoints.save(replace(kept, begun=Begun(start.done.table, start.labels(), objective, number)))

    return save


def _check(parameters: SphericalParameters, n_documents: int) -> None:
    parameters.check(n_documents)
    if parameters.refine:
        raise InputError(
            "moves single documents, which blocks do not", argument="refine", received=True, remedy="leave it out"
        )
    if callable(parameters.init):
        raise InputError("cannot be a function over blocks", argument="init", expected="a word or centroids")


def _kept(fits: list[BlockFit], found: BlockFit) -> list[BlockFit]:
    """Return the fits, the best first; of the others as many as labels may be kept of."""
    is_best = bool(fits) and found.objective > fits[0].objective
    fits = [found, *fits] if is_best else [*fits, found]
    most = max(1, KEPT_LABELS // max(1, found.labels.size))
    return fits[:most]


def _fit_of(fits: list[BlockFit], parameters: SphericalParameters, n_usable: int) -> SphericalFit:
    best = fits[0]
    n_found = best.centroids.shape[0]
    notes = []
    if n_found < parameters.n_clusters:
        notes.append(
            f"fewer distinct rows than the {parameters.n_clusters} clusters asked for; {n_found} are returned."
        )
    others = tuple(fit.labels for fit in fits[1:])
    inertia = n_usable - best.objective
    return SphericalFit(best.labels, best.centroids, best.objective, inertia, best.n_iter, others, tuple(notes))
