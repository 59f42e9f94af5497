"""The assignments of a run as Parquet parts, for engines that read such folders in parallel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from doccluster.artifacts.new_folder import PARQUET_PARTS
from doccluster.artifacts.tables import assignments_parts
from doccluster.errors import MissingDependency

if TYPE_CHECKING:
    from doccluster.record import Run

ROWS_OF_A_PART = 500_000
_NUMBERS = ("cluster", "runner_up", "family", "moves_to")
_COSINES = ("similarity", "margin", "stability")
_FLAGS = ("first", "other")


def check_parquet() -> None:
    """Raise MissingDependency, before any work, if Parquet cannot be written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            "Parquet files need pyarrow", remedy='install it with: pip install "doccluster[parquet]"'
        ) from error


def parquet_writer(wanted: bool) -> dict[str, Any]:
    """Return a further output of `save_run`."""
    return {PARQUET_PARTS: write_parquet_parts} if wanted else {}


def write_parquet_parts(run: Run, folder: Path, *, n_rows: int = ROWS_OF_A_PART) -> None:
    """Write the rows of assignments.csv to part-00000.parquet and so on, texts as they are, in reading order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = (
        {name: pa.int64() for name in _NUMBERS}
        | {name: pa.float64() for name in _COSINES}
        | dict.fromkeys(_FLAGS, pa.bool_())
    )
    folder.mkdir()
    for number, columns in enumerate(assignments_parts(run, n_rows=n_rows)):
        arrays = {name: pa.array(values, kinds.get(name, pa.string())) for name, values in columns.items()}
        pq.write_table(pa.table(arrays), folder / f"part-{number:05d}.parquet")
