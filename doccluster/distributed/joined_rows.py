"""The rows of all blocks as one matrix in files, for what reads rows of several blocks together.

So do near-copies: signatures are made block by block, and compared band by band.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import open_array, write_array, write_in_pieces
from doccluster.base.executors import CsrFiles, Executor, join_rows
from doccluster.corpus.duplicates import N_BANDS, Hashes, band_signatures, mark_alike
from doccluster.distributed.matrix_block import MatrixBlock

Rows = npt.NDArray[np.int64]


def joined_rows(blocks: Sequence[MatrixBlock], folder: Path) -> tuple[Any, Any | None]:
    """Return the rows of all blocks as one matrix, and their counts, mapped from files that are written to `folder`.

    Raises InputError if there is no room.
    """
    rows = join_rows(folder, lambda: (block.matrix for block in blocks)).open()
    if any(block.counts is None for block in blocks):
        return rows, None
    write_in_pieces(folder / "counts.npy", (block.counts.data for block in blocks), np.float32, rows.nnz)  # type: ignore[union-attr]
    return rows, CsrFiles(str(folder), rows.shape[1], values="counts").open()


def likely_copies(executor: Executor, blocks: Sequence[MatrixBlock], joined: CsrFiles, folder: Path) -> Rows:
    """Return `alike_in_a_band` of all rows, which `joined` has too; files in `folder` are removed."""
    paths = list(executor.map(write_signatures, blocks, str(folder)))
    bands = list(executor.map(alike_in_stored_band, range(N_BANDS), paths, joined))
    for path in paths:
        Path(path).unlink(missing_ok=True)
    return np.unique(np.concatenate(bands))


def write_signatures(block: MatrixBlock, folder: str) -> str:
    """Write what near-copies of the rows of a block are looked for by, and return the name of the file."""
    path = Path(folder) / f"signatures-{block.first}.npy"
    write_array(path, band_signatures(block.matrix))
    return str(path)


def alike_in_stored_band(number: int, paths: list[str], joined: CsrFiles) -> Rows:
    """Return the rows that have a band and many terms in common with another one, ascending."""
    band, next_band = _band(paths, number), _band(paths, (number + 1) % N_BANDS)
    is_alike = np.zeros(band.size, dtype=bool)
    whole = joined.open()

    def terms_of(rows: Rows) -> Any:
        pair_rows = whole[rows]
        pair_rows.data = np.ones(pair_rows.nnz, np.int8)
        return pair_rows

    mark_alike(terms_of, band, next_band, is_alike)
    return np.flatnonzero(is_alike)


def _band(paths: list[str], number: int) -> Hashes:
    return np.concatenate([open_array(Path(path))[number] for path in paths])
