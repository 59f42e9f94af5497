"""A run gone back to by its run.json: repeated, with the same labels or what differs, and the texts it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from doccluster.base.paths import BEFORE_EDITS, usable_path
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.text_table import safe_cell
from doccluster.corpus import Corpus
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import InputError
from doccluster.pipeline.main_line import make_run, read_documents
from doccluster.pipeline.run_settings import encoder_from, recorded_run, recorded_sources
from doccluster.pipeline.source_meaning import column_named
from doccluster.results.record import Run
from doccluster.results.run_folder import RunRecord, labels_checksum
from doccluster.results.storage import read_record

COUNTS = ("n_documents", "n_terms", "n_clusters")


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(ShortRepr):
    """A run made again: whether every document has the same label, and in sentences what is not as it was."""

    run: Run
    same_labels: bool
    differences: tuple[str, ...]


def repeat_run(
    record: str | Path,
    *,
    source: object = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    n_threads: int | None = None,
    command: str | None = None,
    progress: Progress = silent,
) -> Repetition:
    """Return the run that a run.json (or the folder it lies in) describes, made again and compared.

    Parameters
    ----------
    record : path of a run folder or its run.json
    source : path, paths, Corpus, DataFrame or texts, optional
        Where the documents are now. By default where the run found them, else beside the record.
    output, overwrite, n_threads, command, progress
        As for `run`.

    Raises
    ------
    InputError
        If the source was not a file (texts in memory, standard input) or is no longer there.
    SchemaError
        If run.json is damaged or from a newer version.
    """
    if isinstance(record, Run):
        raise InputError("a run in memory has no record", remedy="write it with output=, and give that folder")
    path = usable_path(record)
    folder = path if path.is_dir() else path.parent
    path = _as_made(path / "run.json" if path.is_dir() else path)
    then = read_record(path, RunRecord)
    recorded = recorded_run(then.parameters, path)
    settings = replace(recorded.settings, random_state=then.provenance.seed, n_threads=n_threads)
    # files may have moved together with the record
    if settings.embeddings is not None:
        place = str(recorded.found(settings.embeddings))
        settings = settings if column_named(place) else replace(settings, embeddings=place)
    elif settings.encoder is not None:
        settings = replace(settings, encoder=encoder_from(recorded.directory, settings.encoder))
    if settings.labels is not None:
        settings = replace(settings, labels=str(recorded.found(settings.labels)))
    resolved = then.parameters.get("resolved") or {}
    for what, is_lost in (
        ("embeddings", settings.embeddings is settings.encoder is None and resolved.get("meaning")),
        ("labels", settings.labels is None and resolved.get("labels_from")),
    ):
        if is_lost:
            raise InputError(
                f"{path} is of a run on {what} in memory, which cannot be read again",
                remedy="call doccluster.run again",
            )
    run = make_run(
        recorded_sources(recorded, path) if source is None else source,
        settings,
        output=output,
        overwrite=overwrite,
        command=command,
        encoded_in=folder,
        progress=progress,
    )
    same = labels_checksum(run) == then.labels_checksum
    return Repetition(run, same, tuple(_differences(then, run, same, path.parent)))


def _as_made(record: Path) -> Path:
    """Return the run.json of a run before an editor merged its clusters."""
    before = record.parent / BEFORE_EDITS / "run.json"
    return before if before.is_file() else record


def _differences(then: RunRecord, run: Run, same: bool, folder: Path) -> Iterator[str]:
    provenance = then.provenance
    if provenance.checksum != run.provenance.checksum:
        yield "the data are not the same: their checksums differ"
    before, now = (
        (parameters.get("resolved") or {}).get("meaning") for parameters in (then.parameters, run.parameters)
    )
    if before != now:
        yield "the embeddings are not the same"
    if provenance.interrupted:
        yield "the first run was interrupted"
    for name, version in provenance.versions.items():
        if (now := run.provenance.versions.get(name)) != version:
            yield f"{name} was {version}, is {now}"
    sizes = (run.n_documents, run.vectors.n_terms, run.n_clusters)
    for name, value in zip(COUNTS, sizes, strict=True):
        if (before := getattr(then.counts, name)) != value:
            yield f"{name.removeprefix('n_')}: {before:,} then, {value:,} now"
    if not same:
        yield _label_difference(run, folder)


def _label_difference(run: Run, folder: Path) -> str:
    path = folder / "assignments.csv"
    if not path.is_file():
        return "the labels differ"
    then = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")["cluster"]
    now = pd.Series(run.partition.labels.astype(str), index=[safe_cell(name) for name in run.documents.ids])
    both = then[then != ""].to_frame("then").join(now.rename("now"), how="inner")
    changed = int((both["then"] != both["now"]).sum())
    return f"{changed:,} of {len(both):,} documents have another label"


def texts_of_run(folder: str | Path, run: Run) -> Sequence[str]:
    """Return the text of each document of a run, in its order, from the files that run.json names.

    Raises InputError as `corpus_of_run` does.
    """
    return PickedTexts(corpus_of_run(run, folder).texts, run.documents.positions)


def corpus_of_run(run: Run, folder: str | Path = ".") -> Corpus:
    """Return the documents of a run, read again from where it found them, else from beside its folder.

    Raises InputError if the run was not made of files, if these are gone or have changed, or if they hold no texts.
    """
    path = _as_made(Path(folder) / "run.json")
    recorded = recorded_run(run.parameters, path)
    documents_read = read_documents(recorded_sources(recorded, path), recorded.settings, silent, wants_texts=True)
    assert documents_read.corpus is not None  # it was looked for
    if documents_read.checksum != run.provenance.checksum:
        raise InputError(
            "the documents have changed since the run: their checksums differ", remedy="make the run again"
        )
    return documents_read.corpus
