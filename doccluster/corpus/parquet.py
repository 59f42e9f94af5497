"""Parquet tables (the extra `parquet`), read in batches of rows and only the columns that are needed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from doccluster.corpus.columns import choose_columns, row_draft
from doccluster.corpus.draft import Draft, ReadFailure
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.options import ReadOptions
from doccluster.errors import MissingDependency

_BATCH = 4096  # rows held as Python objects at a time


def read_parquet(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the rows of a table.

    Raises
    ------
    MissingDependency
        If pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependency(
            'Parquet files need pyarrow; install it with: pip install "doccluster[parquet]"'
        ) from error
    source: Any = str(file.local) if file.local is not None else io.BytesIO(file.read())
    try:
        table = pq.ParquetFile(source)
        columns = choose_columns(list(table.schema_arrow.names), options, table=file.name)
        number = 0
        for batch in table.iter_batches(_BATCH, columns=columns.needed):
            for row in batch.to_pylist():
                number += 1
                yield row_draft(row, columns, options, f"{file.name}:{number}")
    except (pa.ArrowException, OSError) as error:
        raise ReadFailure("broken-parquet", str(error)) from error
