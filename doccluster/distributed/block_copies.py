"""Rows that may be near-copies of others: signatures are made block by block, and compared band by band."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doccluster.corpus.near_copies import N_BANDS, Hashes, band_signatures, mark_alike
from doccluster.distributed.executors import Executor
from doccluster.distributed.joined_rows import JoinedRows
from doccluster.distributed.matrix_block import MatrixBlock
from doccluster.scratch_files import open_array, write_array

Rows = npt.NDArray[np.int64]


def likely_copies(executor: Executor, blocks: Sequence[MatrixBlock], joined_rows: JoinedRows, folder: Path) -> Rows:
    """Return `alike_in_a_band` of all rows, which `joined_rows` has too; files in `folder` are removed."""
    paths = list(executor.map(write_signatures, blocks, str(folder)))
    found = list(executor.map(alike_in_stored_band, range(N_BANDS), paths, joined_rows))
    for path in paths:
        Path(path).unlink(missing_ok=True)
    return np.unique(np.concatenate(found))


def write_signatures(block: MatrixBlock, folder: str) -> str:
    """Write what near-copies of the rows of a block are looked for by, and return the name of the file."""
    path = Path(folder) / f"signatures-{block.first}.npy"
    write_array(path, band_signatures(block.matrix))
    return str(path)


def alike_in_stored_band(number: int, paths: list[str], joined_rows: JoinedRows) -> Rows:
    """Return the rows that have a band and many terms in common with another one, ascending."""
    band, next_band = _band(paths, number), _band(paths, (number + 1) % N_BANDS)
    found = np.zeros(band.size, dtype=bool)
    mark_alike(joined_rows.terms_of, band, next_band, found)
    return np.flatnonzero(found)


def _band(paths: list[str], number: int) -> Hashes:
    return np.concatenate([open_array(Path(path))[number] for path in paths])
