"""Parquet tables (the extra `parquet`), read in batches of rows and only the columns that are needed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from doccluster.corpus.columns import choose_columns, row_draft
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, ReadFailure, record
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import MissingDependency

_BATCH = 4096  # rows held as Python objects at a time
_MOST_PACKED = 100  # times that columns of text may expand whatever the limit
_FEW_ROWS = 100_000  # more than these need at least a bit each in the file


def read_parquet(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the rows of a table. Raises MissingDependency if pyarrow is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependency(
            "Parquet files need pyarrow", remedy='install it with: pip install "doccluster[parquet]"'
        ) from error
    source: Any = str(file.local) if file.local is not None else io.BytesIO(file.read())
    size = file.local.stat().st_size if file.local is not None else source.getbuffer().nbytes
    try:
        # no name and no list in the footer is longer than the file that holds it
        table = pq.ParquetFile(source, thrift_string_size_limit=size, thrift_container_size_limit=size)
        columns = choose_columns(list(table.schema_arrow.names), options, table=file.name)
        _check_claims(table.metadata, size, options.expanded_size)
        batches = table.iter_batches(_BATCH, columns=columns.needed)
        for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            where = f"{file.name}:{number}"
            yield record(where, row_draft, row, columns, options, where)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadFailure("broken-parquet", str(error)) from error


def _check_claims(metadata: Any, size: int, most: int) -> None:
    """Compare what a file says of itself with what it can hold, before anything is allocated for it.

    Single columns are not asked: pyarrow ends the process where what is said of one is damaged.
    """
    if not 0 <= metadata.num_rows <= max(_FEW_ROWS, 8 * size):
        raise ReadFailure("broken-parquet", f"it claims {metadata.num_rows:,} rows in {size:,} bytes")
    expanded = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if expanded > max(most, _MOST_PACKED * size):
        raise ReadFailure("expanded-too-large", f"it expands to more than {most:,} bytes")


PARQUET = Format(
    "parquet",
    read_parquet,
    "a row",
    'the columns below; needs `pip install "doccluster[parquet]"`',
    recognises=lambda beginning: beginning.head.startswith(b"PAR1"),
    has_columns=True,
)
