"""The second space of documents: what they mean, as dense rows from a file, from you or from an encoder.

Words and meaning are never one matrix in storage. Labels, terms and measures read the words; clustering reads both. A
file of embeddings is a table of numbers, one row for each document, and perhaps the ids of the documents.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Array, CsrArray, Floats, Integers, Matrix, Reals, SingleFloats
from doccluster.base.blocks import row_blocks
from doccluster.base.checksums import matrix_checksum
from doccluster.base.limited_process import Allowance, Piece, TooCostly, WorkFailure, doubled, pieces_of_work
from doccluster.base.place import Place
from doccluster.base.plain_values import ShortRepr, parse_size
from doccluster.base.validation import check_matrix, unit_rows
from doccluster.corpus.column_names import ID_COLUMNS
from doccluster.corpus.formats import TIMES_EXPANDED
from doccluster.corpus.source_rows import SourceRows
from doccluster.errors import Argument, InputError, importing, shown
from doccluster.geometry.neighbours import nearest_neighbours
from doccluster.vectors.matrix_files import check_npy, damage_as_input_error, load_npz

GIVEN = "given"  # the name of embeddings from elsewhere
SPACES = ("both", "words", "meaning")
BLOCK_ROWS = 2048  # whose sum is made at a time
BALANCED_AT = 20  # known words in a document on average, up to which meaning counts as much as they do
AT_THE_CENTRE = 1e-5  # a distance that is the rounding of float32


@dataclass(frozen=True, eq=False, repr=False)
class Meaning(ShortRepr):
    """Documents as points of a space of meaning."""

    rows: Any  # unit directions from the centre; zero for a document that only its words place
    centre: SingleFloats  # of shape (n_dimensions,): the mean of the unit rows of the collection
    model: str  # what made the rows: the name of an encoder, or "given"
    digest: str  # of the encoder, or of the rows that were given
    weight: float = 1.0  # how much meaning counts beside the words; 1 for as much
    pooling: str = ""  # how the encoder made one row of those of its tokens, where that is known

    @property
    def n_dimensions(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])

    @property
    def told(self) -> dict[str, Any]:
        """The facts that run.json keeps of it."""
        facts = {name: getattr(self, name) for name in ("model", "digest", "weight", "pooling")}
        return {**facts, "dimensions": self.n_dimensions}

    def take(self, rows: Integers, place: Place | None = None) -> Meaning:
        """Return the meaning of these documents, in this order; with a place, where it keeps them."""
        return replace(self, rows=(place or Place(1)).take(self.rows, rows))

    def beside(self, words: Matrix, place: Place | None = None) -> Matrix:
        """Return unit rows of words and meaning side by side, whose cosine is the weighted mean of both."""
        if place is None:
            return beside(words, self.rows, self.weight)
        return place.rows(beside_block, row_blocks(words.shape[0], BLOCK_ROWS), words, self.rows, self.weight)


def beside(words: Matrix, meaning: SingleFloats, weight: float) -> Matrix:
    """Return unit rows that hold words and meaning side by side, as `Meaning.beside` does."""
    rows = np.float32(np.sqrt(weight)) * meaning
    if sparse.issparse(words):
        both = sparse.csr_array(sparse.hstack([words, sparse.csr_array(rows)]))
    else:
        both = np.hstack([words, rows])
    return unit_rows(both, warn=False).astype(np.float32)


def beside_block(block: slice, words: Matrix, meaning: SingleFloats, weight: float) -> Matrix:
    """Return some rows of words and meaning side by side."""
    return beside(words[block], meaning[block], weight)


def meaning_of(
    rows: Matrix,
    *,
    model: str = "given",
    digest: str | None = None,
    weight: float = 1.0,
    place: Place | None = None,
) -> Meaning:
    """Return embeddings of documents as their meaning: unit rows, centred on the collection, unit again.

    Embeddings of one model point to one side, so that all cosines are high; seen from their mean they differ. A zero
    row stays zero. Rows are made and kept where `place` says.

    >>> meaning_of([[3.0, 4.0], [4.0, 3.0], [0.0, 0.0]]).rows.round(3)
    array([[-0.707,  0.707],
           [ 0.707, -0.707],
           [ 0.   ,  0.   ]], dtype=float32)
    """
    vectors = check_matrix(rows, name="embeddings")
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    if vectors.shape[1] < 2:
        raise InputError("embeddings have one dimension", remedy="give at least two; one number tells no direction")
    digest = matrix_checksum(vectors) if digest is None else digest
    place, blocks = place or Place(), row_blocks(vectors.shape[0], BLOCK_ROWS)
    table = place.keep(vectors)
    parts = list(place.map(sum_of_directions, blocks, table))
    n_filled = sum(number for _, number in parts)
    total = np.sum([sums for sums, _ in parts], axis=0)
    centre = (total / max(n_filled, 1)).astype(np.float32)
    centred = rows_from(centre, table, place)
    if not centred.any():
        problem = "are all zero" if not n_filled else "all point the same way"
        raise InputError(f"the embeddings {problem}", remedy="they tell no documents apart; leave them out")
    return Meaning(centred, centre, model, digest, weight)


def rows_from(centre: SingleFloats, rows: Matrix, place: Place) -> Matrix:
    """Return the directions of rows from a centre, where `place` keeps them."""
    n_rows, width = rows.shape
    return place.table(block_seen_from, row_blocks(n_rows, BLOCK_ROWS), width, np.float32, place.keep(rows), centre)


def sum_of_directions(block: slice, rows: Matrix) -> tuple[Floats, int]:
    """Return the sum of some rows after normalising them, and how many of them are not zero."""
    unit = unit_rows(rows[block], warn=False).astype(np.float32)
    return unit.sum(axis=0, dtype=np.float64), int(unit.any(axis=1).sum())


def block_seen_from(block: slice, rows: Matrix, centre: SingleFloats) -> SingleFloats:
    """Return the directions of some rows from a centre."""
    return seen_from(centre, unit_rows(rows[block], warn=False))


def usual_weight(n_words: float) -> float:
    """Return how much meaning counts beside the words, from 0.5 to 1, by the mean number of known words.

    Many words say more than their meaning in one row does. More than 1 for few words helps little with one model, and
    harms with another (`experiments.quality.meaning --weights`).

    >>> usual_weight(20), usual_weight(80), usual_weight(3)
    (1.0, 0.5, 1.0)
    """
    return float(np.clip(np.sqrt(BALANCED_AT / max(n_words, 1.0)), 0.5, 1.0))


TRUST_SAMPLE = 2_000  # documents, evenly spaced
MIN_FOR_TRUST = 50  # of fewer, chance says who are neighbours
NO_TRUST, FULL_TRUST, MIN_WEIGHT = 0.2, 0.4, 0.05


def trust(words: CsrArray, meaning: SingleFloats, *, n_threads: int | None = None) -> float:
    """Return how far neighbours by words are near by meaning too: 0 as random pairs, 1 as neighbours by meaning.

    It is .5 to .9 where an encoder was made for the language of the documents, else mostly less than .4.
    """
    has_both = np.flatnonzero((np.diff(words.indptr) > 0) & np.asarray(meaning.any(axis=1)))
    sample = has_both[:: -(-has_both.size // TRUST_SAMPLE) or 1]
    if sample.size < MIN_FOR_TRUST:
        return 1.0
    rows = np.asarray(meaning[sample], dtype=np.float64)
    total = rows.sum(axis=0)
    by_chance = (total @ total - np.einsum("ij,ij->", rows, rows)) / (sample.size * (sample.size - 1))
    means = []
    for space in (words[sample], rows):
        neighbours = nearest_neighbours(space, fold=None, n_threads=n_threads).neighbours
        ends, places = np.nonzero(neighbours >= 0)
        cosines = np.einsum("ij,ij->i", rows[ends], rows[neighbours[ends, places]])
        means.append(float(cosines.mean()) - by_chance if cosines.size else 0.0)
    return round(float(np.clip(means[0] / means[1], 0, 1)), 2) if means[1] > 0 else 1.0


def trusted_weight(words: CsrArray, n_words: float, meaning: Meaning, n_threads: int | None = None) -> float:
    """Return how much meaning counts beside words, that of an encoder as far as it is trusted."""
    if meaning.model == GIVEN:
        return usual_weight(n_words)
    certainty = trust(words, meaning.rows, n_threads=n_threads)
    share = float(np.clip((certainty - NO_TRUST) / (FULL_TRUST - NO_TRUST), MIN_WEIGHT, 1))
    return usual_weight(n_words) * share


def seen_from(centre: SingleFloats, rows: Matrix) -> SingleFloats:
    """Return the unit directions of rows from a centre; zero rows, and those at the centre, are zero."""
    unit = unit_rows(np.asarray(rows, dtype=np.float32), warn=False)
    moved = np.where(unit.any(axis=1)[:, None], unit - centre, np.float32(0))
    lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved, dtype=np.float64))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > AT_THE_CENTRE)
    centred: SingleFloats = (moved * scale[:, None]).astype(np.float32)
    return centred


SUFFIXES = (".npy", ".npz", ".parquet", ".arrow", ".feather")
ROWS_AT_A_TIME = 4096  # of a table that is read
VECTOR_COLUMNS = ("embedding", "embeddings", "vector", "vectors")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The rows in a file of embeddings, and of which document each is; None where the order says it."""

    rows: Array
    ids: tuple[str, ...] | None = None


def read_embeddings(path: Path, *, max_expanded_size: int | str = "4G") -> Embeddings:
    """Return the embeddings in a file: .npy, .npz (perhaps with ids), Parquet or Arrow with a list column."""
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
    source_rows: SourceRows,
    *,
    name: str = "embeddings",
    index: Any = None,
    remedy: str = "give a row for each id, of zeros where there is none, or leave out the ids",
) -> Array:
    """Return the row of each document: by its id, else as `SourceRows.in_order` does."""
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
                remedy=remedy,
            )
        return np.asarray(rows[[place[document_id] for document_id in ids]])
    return np.asarray(source_rows.in_order(rows, name, ids, index=index))


def rows_of_column(cells: Sequence[str], name: str) -> SingleFloats:
    """Return the rows in a column of a table whose cells are lists of numbers, as text; an empty cell is a zero row.

    >>> rows_of_column(["[0.5, 1]", "", "2 4"], "embedding")
    array([[0.5, 1. ],
           [0. , 0. ],
           [2. , 4. ]], dtype=float32)
    """
    rows: SingleFloats | None = None
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
            f"{shown(name)} is neither a file nor a column of the source with lists of numbers",
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
    parts: list[SingleFloats] = []
    ids: list[str] = []
    size = path.stat().st_size
    bytes_left = allowance.memory + TIMES_EXPANDED * size
    allowed = replace(allowance, memory=allowance.memory + size)
    for batch, values in pieces_of_work(f"{__name__}:table_pieces", str(path.absolute()), allowance=allowed):
        parts.append(np.frombuffer(values, dtype=np.float32).reshape(batch["shape"]))
        ids.extend(batch["ids"])
        bytes_left -= len(values) + 64 * len(parts[-1]) + sum(map(sys.getsizeof, batch["ids"]))  # a row takes 64
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


def _checked(rows: Reals, ids: tuple[str, ...] | None, path: Path) -> Embeddings:
    if ids is not None and len(ids) != len(rows):
        raise InputError(f"{path} has {len(ids):,} ids for {len(rows):,} rows", remedy="give one for each")
    return Embeddings(rows, ids)
