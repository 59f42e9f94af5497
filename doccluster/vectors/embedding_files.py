"""Embeddings in files: a table of numbers, one row for each document, and perhaps the ids of the documents."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.limited_process import Allowance, Piece, TooCostly, WorkFailure, doubled, pieces_of_work
from doccluster.base.sizes import parse_size
from doccluster.corpus.columns import ID_COLUMNS
from doccluster.corpus.document import Skipped
from doccluster.corpus.limited_reading import TIMES_EXPANDED
from doccluster.errors import Argument, InputError, importing
from doccluster.vectors.array_headers import check_npy, damage_as_input_error, load_npz

SUFFIXES = (".npy", ".npz", ".parquet", ".arrow", ".feather")
ROWS_AT_A_TIME = 4096  # of a table that is read
VECTOR_COLUMNS = ("embedding", "embeddings", "vector", "vectors")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """What a file of embeddings holds.

    Attributes
    ----------
    rows : array of shape (n_rows, n_dimensions)
    ids : tuple of str, of length n_rows, or None
        Of which document each row is; None where the order says it.
    """

    rows: npt.NDArray[Any]
    ids: tuple[str, ...] | None = None


def read_embeddings(path: Path, *, max_expanded_size: int | str = "4G") -> Embeddings:
    """Return the embeddings in a file: .npy, .npz (perhaps with an array ids), Parquet or Arrow with a list column.

    `max_expanded_size`: as of `read_corpus`, for what unpacks to far more than the file takes.

    Raises InputError if the file is missing, damaged or of no known kind, or holds no column of lists, or several.
    Raises MissingDependency if the file is a table and pyarrow is not installed.
    """
    suffix, expanded_size = path.suffix.lower(), parse_size(max_expanded_size)
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path} is not a file of embeddings", remedy=f"give one whose name ends in {', '.join(SUFFIXES)}"
        )
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    with damage_as_input_error(path):
        if suffix == ".npy":
            with path.open("rb") as stream:
                check_npy(stream, path.stat().st_size, str(path))
            return Embeddings(np.asarray(np.load(path, mmap_mode="c", allow_pickle=False)))
        try:
            return (_npz if suffix == ".npz" else _table)(path, Allowance.within(expanded_size))
        except TooCostly as error:
            remedy = "allow twice as much with ", Argument("max_expanded_size", doubled(expanded_size))
            raise InputError(f"{path} {error}", remedy=remedy) from error
        except WorkFailure as error:
            raise InputError(f"{path} {error}", remedy="it is truncated or damaged") from error


def rows_of_documents(
    embeddings: Embeddings,
    ids: Sequence[str],
    skipped: Sequence[Skipped] = (),
    skipped_after: Sequence[int] = (),
    *,
    name: str = "embeddings",
) -> npt.NDArray[Any]:
    """Return the row of each document: by its id where there are ids, else by its place.

    Where there is also a row for each document that could not be used, those rows are dropped: `skipped_after` says how
    many documents came before each.

    Raises InputError if a document has no row, an id has two, or there are more or fewer rows than documents.
    """
    rows = np.asarray(embeddings.rows)
    if rows.ndim != 2:
        raise InputError(f"{name} has shape {rows.shape}", remedy="give a table: a row for each document")
    if embeddings.ids is not None:
        place = {document_id: row for row, document_id in enumerate(embeddings.ids)}
        if len(place) < len(embeddings.ids):
            raise InputError(f"ids occur twice in {name}", remedy="give one row for each document")
        missing = [document_id for document_id in ids if document_id not in place]
        if missing:
            raise InputError(
                f"{len(missing):,} of the {len(ids):,} documents have no row in {name}, the first is {missing[0]!r}",
                remedy="give a row for each id, of zeros where there is none, or leave out the ids",
            )
        return np.asarray(rows[[place[document_id] for document_id in ids]])
    if len(rows) == len(ids):
        return rows
    lost = [item for item in skipped if not item.is_renamed]
    if len(rows) == len(ids) + len(lost) and len(skipped_after) == len(skipped):
        before = [after for item, after in zip(skipped, skipped_after, strict=True) if not item.is_renamed]
        return np.asarray(np.delete(rows, np.array(before) + np.arange(len(before)), axis=0))
    also = f" ({len(lost):,} more were skipped)" if lost else ""
    raise InputError(
        f"{name} has {len(rows):,} rows for {len(ids):,} documents{also}",
        remedy="give a row for each in their order, or the ids beside the rows",
    )


def rows_of_column(cells: Sequence[str], name: str) -> npt.NDArray[np.float32]:
    """Return the rows in a column of a table whose cells are lists of numbers, as text; an empty cell is a zero row.

    Raises InputError if a cell holds something else, or no list, or lists differ in length.

    Examples
    --------
    >>> rows_of_column(["[0.5, 1]", "", "2 4"], "embedding")
    array([[0.5, 1. ],
           [0. , 0. ],
           [2. , 4. ]], dtype=float32)
    """
    rows: npt.NDArray[np.float32] | None = None
    for row, cell in enumerate(cells):
        try:
            row_of_cell = np.array(cell.strip("[] ").replace(",", " ").split(), dtype=np.float32)
        except ValueError as error:
            raise InputError(
                f"the column {name} holds {cell[:60]!r}, expected a list of numbers", remedy="name another column"
            ) from error
        if row_of_cell.size:
            rows = np.zeros((len(cells), row_of_cell.size), dtype=np.float32) if rows is None else rows
            if row_of_cell.size != rows.shape[1]:
                raise InputError(f"the lists in the column {name} differ in length", remedy="give one length for all")
            rows[row] = row_of_cell
    if rows is None:
        raise InputError(
            f"{name} is neither a file nor a column of the source with lists of numbers",
            remedy=f"name a column, or a file that ends in {', '.join(SUFFIXES)}",
        )
    return rows


def _npz(path: Path, allowance: Allowance) -> Embeddings:
    size = path.stat().st_size
    with path.open("rb") as stream:
        with zipfile.ZipFile(stream) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > allowance.memory + TIMES_EXPANDED * size:
                raise TooCostly(f"unpacks to far more than its {size:,} bytes")
        arrays = load_npz(stream, str(path))
        tables = [name for name in arrays.files if arrays[name].ndim == 2 and arrays[name].dtype.kind in "fiu"]
        ids = [name for name in arrays.files if name in ID_COLUMNS or name == "ids"]
        if len(tables) != 1:
            raise InputError(
                f"{path} holds {len(tables)} tables of numbers, expected one", remedy="save that one alone"
            )
        ids_of_rows = tuple(str(document_id) for document_id in arrays[ids[0]]) if ids else None
        return _checked(arrays[tables[0]], ids_of_rows, path)


def _table(path: Path, allowance: Allowance) -> Embeddings:
    """Return the embeddings in a table, whose batches are read in a process that they may harm."""
    parts: list[npt.NDArray[np.float32]] = []
    ids: list[str] = []
    size = path.stat().st_size
    bytes_left = allowance.memory + TIMES_EXPANDED * size
    allowed = replace(allowance, memory=allowance.memory + size)
    for batch, values in pieces_of_work(f"{__name__}:table_pieces", str(path.absolute()), allowance=allowed):
        parts.append(np.frombuffer(values, dtype=np.float32).reshape(batch["shape"]))
        ids.extend(batch["ids"])
        bytes_left -= len(values) + 64 * len(parts[-1])  # a row and its id take that at least
        if bytes_left < 0:
            raise TooCostly(f"unpacks to far more than its {size:,} bytes")
    widths = {part.shape[1] for part in parts} - {0}
    if len(widths) != 1:
        raise InputError(f"the embeddings in {path} have {len(widths)} different lengths", remedy="give one for all")
    width = widths.pop()
    rows = [part if part.shape[1] else np.zeros((len(part), width), dtype=np.float32) for part in parts]
    return _checked(np.concatenate(rows), tuple(ids) or None, path)


def table_pieces(place: str, _: bytes) -> Iterator[Piece]:
    """Yield the embeddings in each batch of a table and their ids, in the process that reads it."""
    path = Path(place)
    with importing(f"{path.suffix} files need", "pyarrow", install="doccluster[parquet]"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    with pa.memory_map(place) as source:
        is_parquet = path.suffix.lower() == ".parquet"
        table = pq.ParquetFile(source) if is_parquet else pa.ipc.open_file(source)
        schema = table.schema_arrow if is_parquet else table.schema
        kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        lists = [name for name in schema.names if any(is_kind(schema.field(name).type) for is_kind in kinds)]
        usual = [name for name in lists if name.lower() in VECTOR_COLUMNS]
        if len(lists) != 1 and len(usual) != 1:
            raise InputError(
                f"{path} has {len(lists)} columns of lists ({', '.join(lists) or 'none'}), expected one",
                remedy="call the one with the embeddings embedding",
            )
        id_columns = [name for name in schema.names if name.lower() in ID_COLUMNS][:1]
        needed = [(usual or lists)[0], *id_columns]
        for batch in table.iter_batches(ROWS_AT_A_TIME, columns=needed) if is_parquet else _slices(table):
            ids = [str(value) for name in id_columns for value in batch.column(name).to_pylist()]
            column = batch.column(needed[0])
            lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            has_row = lengths > 0  # a document without a list goes by its words
            widths = np.unique(lengths[has_row])
            if widths.size > 1:
                raise InputError(f"the embeddings in {path} have different lengths", remedy="give one for all")
            rows = np.zeros((len(column), int(widths.max(initial=0))), dtype=np.float32)
            rows[has_row] = column.flatten().to_numpy(zero_copy_only=False).reshape(int(has_row.sum()), -1)
            yield {"shape": rows.shape, "ids": ids}, rows.tobytes()


def _slices(table: Any) -> Iterator[Any]:
    for number in range(table.num_record_batches):
        batch = table.get_batch(number)
        yield from (batch.slice(start, ROWS_AT_A_TIME) for start in range(0, len(batch), ROWS_AT_A_TIME))


def _checked(rows: npt.NDArray[Any], ids: tuple[str, ...] | None, path: Path) -> Embeddings:
    if ids is not None and len(ids) != len(rows):
        raise InputError(f"{path} has {len(ids):,} ids for {len(rows):,} rows", remedy="give one for each")
    return Embeddings(rows, ids)
