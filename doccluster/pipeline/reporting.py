"""The report of a run as part of the line: what goes into it, and the texts that a run folder does not keep."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doccluster.artifacts.new_folder import BEFORE_EDITS
from doccluster.artifacts.records import RunRecord
from doccluster.artifacts.storage import read_record
from doccluster.corpus import Corpus
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import InputError
from doccluster.pipeline.run_settings import recorded_run, recorded_sources
from doccluster.pipeline.sources import read_source
from doccluster.record import Run

if TYPE_CHECKING:
    from doccluster.report import ReportOptions


def wants_texts(wanted: bool | ReportOptions) -> bool:
    """Return whether a report is to hold the texts of the documents."""
    return not isinstance(wanted, bool) and wanted.with_texts


def check_texts(corpus: Corpus | None) -> None:
    """Raise InputError if there are no texts to put into a report."""
    if corpus is None:
        raise InputError("a matrix has no texts to put into the report", remedy="leave out --with-texts")


def report_writer(wanted: bool | ReportOptions, texts: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the report as a further output of `save_run`, with the parts that are wanted."""
    if not wanted:
        return None
    # brings in matplotlib, which a run without output does not need
    from doccluster.report import ReportOptions, write_report

    options = ReportOptions() if isinstance(wanted, bool) else wanted
    return {
        "report.html": partial(write_report, with_map=options.with_map, texts=texts if options.with_texts else None)
    }


def texts_of_run(folder: str | Path, run: Run) -> Sequence[str]:
    """Return the text of each document of a run, in its order, from the files that run.json names.

    Raises InputError if the run was not made of files, if these are gone or have changed, or if they hold no texts.
    """
    path = Path(folder) / "run.json"
    if (path.parent / BEFORE_EDITS / "run.json").is_file():
        path = path.parent / BEFORE_EDITS / "run.json"
    asked = recorded_run(read_record(path, RunRecord).parameters, path)
    settings = asked.settings
    read = read_source(
        recorded_sources(asked, path),
        reader=settings.reader or {},
        weighting=(settings.vectorizer or {}).get("weighting"),
        truth=settings.truth_columns,
    )
    check_texts(read.corpus)
    assert read.corpus is not None
    if read.checksum != run.provenance.checksum:
        raise InputError(
            "the documents have changed since the run: their checksums differ", remedy="make the run again"
        )
    return PickedTexts(read.corpus.texts, run.documents.positions)
