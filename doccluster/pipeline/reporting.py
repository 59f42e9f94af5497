"""The texts that a report may hold and a run folder does not keep, from the files that the run was made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from doccluster.artifacts.new_folder import BEFORE_EDITS
from doccluster.artifacts.records import RunRecord
from doccluster.artifacts.storage import read_record
from doccluster.corpus import Corpus
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import InputError
from doccluster.pipeline.run_settings import recorded_run, recorded_sources
from doccluster.pipeline.sources import read_source
from doccluster.record import Run


def check_texts(corpus: Corpus | None) -> None:
    """Raise InputError if there are no texts to put into a report."""
    if corpus is None:
        raise InputError("a matrix has no texts to put into the report", remedy="leave out --with-texts")


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
