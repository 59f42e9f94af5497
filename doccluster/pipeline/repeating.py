"""A run repeated from its run.json: the same labels, or what differs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from doccluster.artifacts import damage_told, damaged, labels_checksum, read_json
from doccluster.errors import InputError
from doccluster.pipeline.main_line import run_pipeline
from doccluster.progress import Progress, silent
from doccluster.record import Run

COUNTS = ("n_documents", "n_terms", "n_clusters")


@dataclass(frozen=True, eq=False)
class Repetition:
    """A run made again: whether every document has the same label, and in sentences what is not as it was."""

    run: Run
    same_labels: bool
    differences: tuple[str, ...]


def repeat_run(
    record: str | Path,
    *,
    output: str | Path | None = None,
    overwrite: bool = False,
    n_threads: int | None = None,
    command: str | None = None,
    progress: Progress = silent,
) -> Repetition:
    """Return the run that a run.json (or the folder it lies in) describes, made again and compared.

    Raises
    ------
    InputError
        If the source was not a file (texts in memory, standard input) or is no longer there.
    SchemaError
        If run.json is damaged or from a newer version.
    """
    path = Path(record) / "run.json" if Path(record).is_dir() else Path(record)
    told = read_json(path, needs=("parameters", "provenance", "counts", "labels_checksum"))
    _check_record(told, path)
    arguments = {
        name: value for name, value in told["parameters"].items() if name not in ("source", "directory", "resolved")
    }
    arguments["random_state"] = told["provenance"]["seed"]
    arguments["n_threads"] = n_threads
    source = _sources(told["parameters"], path)
    run = run_pipeline(source, **arguments, output=output, overwrite=overwrite, command=command, progress=progress)
    same = labels_checksum(run) == told["labels_checksum"]
    return Repetition(run, same, tuple(_differences(told, run, same, path.parent)))


def _check_record(told: Mapping[str, Any], path: Path) -> None:
    """Raise SchemaError, before the work, if what a repetition is compared with is not all there."""
    with damage_told(path):
        known = {*inspect.signature(run_pipeline).parameters, "directory", "resolved"}
        unknown = sorted(set(told["parameters"]) - known)
        if unknown:
            raise damaged(path, f"it has parameters that are not known: {', '.join(unknown)}")
        for part, names in (("provenance", ("seed", "checksum", "interrupted", "versions")), ("counts", COUNTS)):
            missing = [name for name in names if name not in told[part]]
            if missing:
                raise damaged(path, f"its {part} lack {', '.join(missing)}")


def _sources(parameters: Mapping[str, Any], record: Path) -> list[Path]:
    named = parameters.get("source")
    if not named:
        raise InputError(f"{record} is of a run on texts in memory, which cannot be read again; call run_pipeline.")
    if "-" in named:
        raise InputError(f"{record} is of a run on standard input, which cannot be read again; save it to a file.")
    return [_found(Path(name), Path(parameters.get("directory") or ".")) for name in named]


def _found(path: Path, directory: Path) -> Path:
    """Return a path as it was given, seen from here or else from where the run was made."""
    return path if path.exists() or path.is_absolute() else Path(os.path.normpath(directory / path))


def _differences(told: Mapping[str, Any], run: Run, same: bool, folder: Path) -> Iterator[str]:
    provenance, counts = told["provenance"], told["counts"]
    if provenance["checksum"] != run.provenance.checksum:
        yield "the data are not the same: their checksums differ"
    if provenance["interrupted"]:
        yield "the first run was interrupted"
    for name, version in provenance["versions"].items():
        if (now := run.provenance.versions.get(name)) != version:
            yield f"{name} was {version}, is {now}"
    found = (run.n_documents, run.vectors.n_terms, run.n_clusters)
    for name, value in zip(COUNTS, found, strict=True):
        if counts[name] != value:
            yield f"{name.removeprefix('n_')}: {counts[name]:,} then, {value:,} now"
    if not same:
        yield _label_difference(run, folder)


def _label_difference(run: Run, folder: Path) -> str:
    path = folder / "assignments.csv"
    if not path.is_file():
        return "the labels differ"
    then = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")["cluster"]
    # an id may stand there with the mark that keeps a spreadsheet from running it
    then.index = then.index.map(lambda name: name[1:] if name[:2] in ("'=", "'+", "'-", "'@") else name)
    now = pd.Series(run.partition.labels.astype(str), index=list(run.documents.ids))
    both = then[then != ""].to_frame("then").join(now.rename("now"), how="inner")
    changed = int((both["then"] != both["now"]).sum())
    return f"{changed:,} of {len(both):,} documents have another label"
