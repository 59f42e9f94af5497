"""A run and its folder: tables for people and other programs, run.json to repeat it, model/ to go on from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.arrays import Array, CsrArray, Matrix
from doccluster.base.checksums import checksum
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import new_folder, usable_path
from doccluster.base.plain_values import ShortRepr
from doccluster.base.sparse_structure import with_values
from doccluster.base.text_table import write_csv, write_csv_parts
from doccluster.corpus.document import Skipped
from doccluster.corpus.source_rows import SourceRows
from doccluster.errors import InputError, SchemaError
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import ClusterDescription
from doccluster.measures import Evaluation, Score, get_measure
from doccluster.measures.scores import PARTS
from doccluster.results.document_table import NAMED, DocumentTable
from doccluster.results.record import Provenance, Run
from doccluster.results.run_model import (
    MeaningRecord,
    load_meaning,
    load_model,
    model_folder,
    model_of,
    save_model,
)
from doccluster.results.run_tables import (
    assignments_parts,
    clusters_columns,
    levels_columns,
    scores_columns,
    shares_tables,
    skipped_columns,
)
from doccluster.results.storage import (
    as_damage,
    damaged,
    read_arrays,
    read_record,
    unpack_matrix,
    write_arrays,
    write_json,
)
from doccluster.results.tree import check_descriptions, load_levels, save_levels
from doccluster.vectors.document_vectors import DocumentVectors, matrix_arrays

Writer = Callable[[Run, Path], object]


MEANING_ROWS = "meaning_rows.npz"
_COSINES = ("similarity", "runner_up_similarity")


def save_run(
    run: Run, folder: str | Path, *, overwrite: bool = False, also: Mapping[str, Writer] | None = None
) -> Path:
    """Write a run as a folder, whole or not at all, and return its path.

    The name of the folder is free, or that of an empty folder; with `overwrite` also of an earlier run, in whose folder
    other files stay. `also` writes more files, by their names, before the folder takes its name (the report). Raises
    InputError if the folder is in use or cannot be written.
    """
    final = Path(folder)
    with new_folder(final, overwrite=overwrite) as partial:
        write_csv_parts(assignments_parts(run), partial / "assignments.csv")
        write_csv(clusters_columns(run), partial / "clusters.csv")
        if len(run.levels) > 1:
            write_csv(levels_columns(run), partial / "levels.csv")
        if run.parts is not None:
            write_csv_parts(shares_tables(run), partial / "shares.csv")
        write_csv(scores_columns(run), partial / "scores.csv")
        write_csv(skipped_columns(run), partial / "skipped.csv")
        save_base(run, partial)
        for name, write in (also or {}).items():
            write(run, partial / name)
    return final


def save_base(run: Run, path: Path) -> None:
    """Write run.json and model/ into a folder that is there or not."""
    folder = path / "model"
    folder.mkdir(parents=True)
    save_model(model_of(run), folder)
    if run.vectors.meaning is not None:
        write_arrays(folder / MEANING_ROWS, {"rows": run.vectors.meaning.rows.astype(np.float16)})
    write_arrays(folder / "vectors.npz", matrix_arrays(run.vectors))  # so that read_matrix can read it too
    write_arrays(
        folder / "partition.npz",
        {
            "labels": run.partition.labels,
            "similarity": run.similarity,
            "runner_up": run.runner_up,
            "runner_up_similarity": run.runner_up_similarity,
            **({} if run.copy_of is None else {"copy_of": run.copy_of}),
            **({} if run.is_other is None else {"is_other": run.is_other}),
        },
    )
    write_json(folder / "clusters.json", {"clusters": run.clusters})
    write_json(
        folder / "documents.json",
        {
            "documents": _plain_documents(run.documents),
            "empty_documents": _plain_documents(run.empty_documents),
            "skipped": run.skipped,
        },
    )
    save_levels(run.around, folder)
    save_evaluation(run.evaluation, folder)
    write_json(path / "run.json", run_record(run), schema=1 if run.parts is None else 2)


@at_the_door
def load_run(folder: str | Path | Run) -> Run:
    """Return the run in a folder that `save_run` wrote; a run itself is returned as it is.

    Raises
    ------
    InputError
        If there is no run there.
    SchemaError
        If a file is damaged, cut short, or from a newer version.
    """
    if isinstance(folder, Run):
        return folder
    place = model_folder(Path(folder))
    with as_damage(place.parent / "run.json"):
        return _load_run(place)


def is_run_folder(source: object) -> bool:
    """Return whether a source names the folder of a run."""
    return isinstance(source, str | Path) and (usable_path(source) / "run.json").is_file()


def _load_run(place: Path) -> Run:
    record = read_record(place.parent / "run.json", RunRecord)
    model = load_model(place)
    described = read_record(place / "documents.json", DocumentsRecord)
    documents = _documents(described.documents, place / "documents.json")
    empty_documents = _documents(described.empty_documents, place / "documents.json")
    clusters = read_record(place / "clusters.json", ClustersRecord).clusters
    check_descriptions(clusters, len(documents), place / "clusters.json")
    stored = read_arrays(place / "vectors.npz")
    matrix = unpack_matrix(stored, place / "vectors.npz")
    # each file may be whole and yet of another run
    if matrix.shape != (len(documents), model.n_terms) or len(clusters) != len(model.labels):
        raise damaged(place / "vectors.npz", "its files are not of the same run")
    arrays = _load_partition(place / "partition.npz", n_documents=len(documents), n_clusters=len(clusters))
    meaning = model.meaning
    if meaning is not None:  # that of the clusters says how that of the documents was made
        of_documents = MeaningRecord(**meaning.told)
        meaning = load_meaning(place / MEANING_ROWS, of_documents, len(documents), centre=meaning.centre)
    unknown = [column for column in record.truth if column not in documents.labels]
    if unknown:
        raise damaged(place.parent / "run.json", f"truth names {unknown[0]!r}, and documents.json has no such labels")
    rows = (record.parameters.get("resolved") or {}).get("rows")  # those of the source, since 1.1
    return Run(
        documents=documents,
        empty_documents=empty_documents,
        vectors=DocumentVectors(
            matrix,
            documents.ids,
            model.terms,
            model.display_terms,
            _counts(stored, matrix, place / "vectors.npz"),
            meaning,
        ),
        partition=Partition(arrays["labels"].astype(np.int64), tuple(range(len(clusters)))),
        centroids=model.centroids,
        similarity=arrays["similarity"],
        runner_up=arrays["runner_up"],
        runner_up_similarity=arrays["runner_up_similarity"],
        clusters=clusters,
        evaluation=load_evaluation(place),
        skipped=described.skipped,
        truth=record.truth,
        parameters=record.parameters,
        provenance=record.provenance,
        notes=record.notes,
        vectorizer=model.vectorizer,
        copy_of=arrays.get("copy_of"),
        rule=model.rule,
        is_other=arrays.get("is_other"),
        around=load_levels(place, arrays["labels"].astype(np.int64)),
        _record=place.parent / "run.json",
        _rows=None if rows is None else SourceRows.recorded(rows, len(documents) + len(empty_documents)),
    )


def _counts(arrays: Mapping[str, Any], matrix: Matrix, path: Path) -> CsrArray | None:
    """Return the counts in the places of the entries of the matrix, where they were written."""
    counts = arrays.get("counts")
    if counts is None:
        return None
    if isinstance(matrix, np.ndarray) or counts.shape != matrix.data.shape or counts.dtype.kind != "u":
        raise damaged(path, f"counts is an array of {counts.dtype} of shape {counts.shape}")
    return with_values(matrix, counts.astype(np.float32))


def _load_partition(path: Path, *, n_documents: int, n_clusters: int) -> Mapping[str, Any]:
    """Return the arrays of the partition; every document is in a cluster that is there, -1 means no runner-up."""
    arrays = read_arrays(path, needs=("labels", "similarity", "runner_up", "runner_up_similarity"))
    bounds = {"labels": n_clusters, "runner_up": n_clusters, "copy_of": n_documents}
    kinds = {**dict.fromkeys(bounds, "i"), **dict.fromkeys(_COSINES, "f"), "is_other": "b"}
    for name in filter(arrays.__contains__, kinds):  # an earlier version did not write the copies
        values = arrays[name]
        if values.shape != (n_documents,) or values.dtype.kind != kinds[name]:
            raise damaged(path, f"{name} is an array of {values.dtype} of shape {values.shape}")
        least = -1 if name == "runner_up" else 0
        if name in bounds and values.size and not least <= int(values.min()) <= int(values.max()) < bounds[name]:
            raise damaged(path, f"{name} names others than the {bounds[name]} there are")
    return {**arrays, **({"copy_of": arrays["copy_of"].astype(np.int64)} if "copy_of" in arrays else {})}


def run_record(run: Run) -> dict[str, object]:
    """Return the contents of run.json: how to repeat the run, and its results."""
    return {
        "command": run.provenance.command,
        "parameters": dict(run.parameters),
        "provenance": asdict(run.provenance),
        "truth": list(run.truth),
        "notes": list(run.notes),
        "counts": {
            "n_documents": run.n_documents,
            "n_empty": len(run.empty_documents),
            "n_skipped": sum(not skipped.is_renamed for skipped in run.skipped),
            "n_terms": run.vectors.n_terms,
            "n_clusters": run.n_clusters,
        },
        "labels_checksum": labels_checksum(run),
    }


def labels_checksum(run: Run) -> str:
    """Return the checksum of the ids and labels, which two runs share when they agree on every document."""
    pairs = zip(run.documents.ids, run.partition.labels.data, strict=True)
    return checksum(part for name, label in pairs for part in (name, str(label)))


def _plain_documents(documents: DocumentTable) -> dict[str, object]:
    return {
        **{name: iter(getattr(documents, name)) for name in (*NAMED, "excerpts")},
        "lengths": iter(documents.lengths.data),
        "positions": iter(documents.positions.data),
        "labels": {column: iter(values) for column, values in documents.labels.items()},
        "columns": {column: iter(values) for column, values in documents.columns.items()},
    }


def _documents(record: DocumentColumns, path: Path) -> DocumentTable:
    text = {name: getattr(record, name) for name in (*NAMED, "excerpts")}
    columns = (*text.values(), record.lengths, record.positions, *record.labels.values(), *record.columns.values())
    if len({len(column) for column in columns}) > 1:
        raise damaged(path, "its columns differ in length")
    return DocumentTable(
        **text,
        lengths=np.array(record.lengths, dtype=np.int64),
        labels=dict(record.labels),
        positions=np.array(record.positions, dtype=np.int64),
        columns=dict(record.columns),
    )


@dataclass(frozen=True)
class Counts:
    """The counts of a run."""

    n_documents: int
    n_empty: int
    n_skipped: int
    n_terms: int
    n_clusters: int


@dataclass(frozen=True, repr=False)
class RunRecord(ShortRepr):
    """What run.json holds."""

    command: str
    parameters: Mapping[str, Any]
    provenance: Provenance
    truth: tuple[str, ...]
    notes: tuple[str, ...]
    counts: Counts
    labels_checksum: str


@dataclass(frozen=True)
class DocumentColumns:
    """The columns of `DocumentTable` in documents.json."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    dates: tuple[str, ...]
    sources: tuple[str, ...]
    links: tuple[str, ...]
    excerpts: tuple[str, ...]
    lengths: tuple[int, ...]
    positions: tuple[int, ...]
    labels: Mapping[str, tuple[tuple[str, ...], ...]]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentsRecord:
    """What documents.json holds."""

    documents: DocumentColumns
    empty_documents: DocumentColumns
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class ClustersRecord:
    """What clusters.json holds."""

    clusters: tuple[ClusterDescription, ...]


def save_evaluation(evaluation: Evaluation, folder: Path) -> None:
    """Write evaluation.json and evaluation.npz."""
    arrays: dict[str, Any] = {
        "values": np.array([score.value for score in evaluation.scores], dtype=np.float64),
        "standard_errors": np.array(
            [math.nan if score.standard_error is None else score.standard_error for score in evaluation.scores]
        ),
    }
    for index, score in enumerate(evaluation.scores):
        arrays |= {f"{index}.{part}": values for part in PARTS if (values := getattr(score, part)) is not None}
    write_arrays(folder / "evaluation.npz", arrays)
    # values stand in the arrays, bit for bit; what remains is a name, reasons and arguments
    plain = evaluation.to_dict()
    write_json(
        folder / "evaluation.json",
        {
            "scores": [
                {
                    "measure": score.name,
                    "notes": list(score.notes),
                    "is_skipped": score.is_skipped,
                    "truth": score.truth,
                    "parameters": row["parameters"],
                }
                for score, row in zip(evaluation.scores, plain["scores"], strict=True)
            ],
            **{name: plain[name] for name in ("clusters", "classes", "coverage", "provenance")},
        },
    )


FORMER_MEASURE_NAMES = {"banfeld_raftery": "banfield_raftery"}  # in runs of 1.0.0rc1


@dataclass(frozen=True)
class ScoreRecord:
    """What evaluation.json says of one score."""

    measure: str
    notes: tuple[str, ...]
    is_skipped: bool
    truth: str | None
    parameters: Mapping[str, Any] | None


@dataclass(frozen=True)
class EvaluationRecord:
    """What evaluation.json holds."""

    scores: tuple[ScoreRecord, ...]
    clusters: tuple[str | int, ...]
    classes: Mapping[str, tuple[str, ...]]
    coverage: Mapping[str, Mapping[str, int]]
    provenance: Mapping[str, Any]


def load_evaluation(folder: Path) -> Evaluation:
    """Return the evaluation that `save_evaluation` wrote."""
    path = folder / "evaluation.json"
    record = read_record(path, EvaluationRecord)
    arrays = read_arrays(folder / "evaluation.npz", needs=("values", "standard_errors"))
    _check_lengths(record, arrays, folder / "evaluation.npz")
    scores = tuple(_score(index, row, arrays, path) for index, row in enumerate(record.scores))
    return Evaluation(**{**vars(record), "scores": scores})


def _check_lengths(record: EvaluationRecord, arrays: Mapping[str, Array], path: Path) -> None:
    """Raise SchemaError where an array has not one value for each score, document, cluster or pair of clusters.

    A measure that takes documents with several classes may know more classes than those with one class do.
    """
    k = len(record.clusters)
    n_classes = {len(names) for names in record.classes.values()}
    n_documents = record.provenance.get("n_documents")
    for name, values in arrays.items():
        part = name.partition(".")[2]
        expected: dict[str, set[Any]] = {
            "": {(len(record.scores),)},
            "per_document": {(n_documents,)},
            "per_cluster": {(k,)},
            "per_pair": {(k, k), *((k, n) for n in n_classes)},
        }
        fits = values.shape in expected.get(part, ())
        if part == "per_class" and values.ndim == 1 and n_classes:
            fits = values.size >= min(n_classes)
        if not fits or values.dtype.kind not in "fiub":
            raise damaged(path, f"{name} is an array of {values.dtype} of shape {values.shape}, which does not fit")


def _score(index: int, row: ScoreRecord, arrays: dict[str, Any], path: Path) -> Score:
    try:
        record = get_measure(FORMER_MEASURE_NAMES.get(row.measure, row.measure))
    except InputError as error:
        raise SchemaError(f"{path} has a measure this version of doccluster does not know: {error}") from error
    error_bar = float(arrays["standard_errors"][index])
    return Score(
        measure=record,
        value=float(arrays["values"][index]),
        notes=row.notes,
        is_skipped=row.is_skipped,
        truth=row.truth,
        parameters=row.parameters or {},
        standard_error=None if math.isnan(error_bar) else error_bar,
        **{part: arrays.get(f"{index}.{part}") for part in PARTS},
    )
