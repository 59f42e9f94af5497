"""A run and its folder: tables for people and other programs, run.json to repeat it, model/ to go on from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.artifacts.csv_files import write_csv
from doccluster.artifacts.evaluation_files import load_evaluation, save_evaluation
from doccluster.artifacts.model import Model, load_model, model_folder, save_model
from doccluster.artifacts.new_folder import new_folder
from doccluster.artifacts.storage import (
    damage_told,
    damaged,
    read_arrays,
    read_json,
    unpack_matrix,
    write_arrays,
    write_json,
)
from doccluster.artifacts.tables import assignments_columns, clusters_columns, scores_columns, skipped_columns
from doccluster.corpus.document import Skipped
from doccluster.labeling.description import Borderline, ClusterDescription, Representative, Term
from doccluster.partition import Partition
from doccluster.record import Documents, Provenance, Run
from doccluster.vectors.document_vectors import DocumentVectors
from doccluster.vectors.read_matrix import matrix_arrays

if TYPE_CHECKING:
    pass

Writer = Callable[[Run, Path], object]


def save_run(
    run: Run, folder: str | Path, *, overwrite: bool = False, also: Mapping[str, Writer] | None = None
) -> Path:
    """Write a run as a folder, whole or not at all, and return its path.

    Parameters
    ----------
    run : Run
    folder : path
        A name that is free, an empty folder, or (with `overwrite`) the folder of an earlier run.
    overwrite : bool
        Replace the earlier run; other files in its folder stay.
    also : mapping of file name to a function (run, path), optional
        What else to write before the folder takes its name (the report).

    Raises
    ------
    InputError
        If the folder is in use or cannot be written.
    """
    final = Path(folder)
    with new_folder(final, overwrite=overwrite) as partial:
        write_csv(assignments_columns(run), partial / "assignments.csv")
        write_csv(clusters_columns(run), partial / "clusters.csv")
        write_csv(scores_columns(run), partial / "scores.csv")
        write_csv(skipped_columns(run), partial / "skipped.csv")
        (partial / "model").mkdir()
        _save_record(run, partial / "model")
        for name, write in (also or {}).items():
            write(run, partial / name)
        write_json(partial / "run.json", run_record(run))
    return final


def load_run(folder: str | Path) -> Run:
    """Return the run in a folder that `save_run` wrote.

    Raises
    ------
    InputError
        If there is no run there.
    SchemaError
        If a file is damaged, cut short, or from a newer version.
    """
    place = model_folder(Path(folder))
    with damage_told(place.parent / "run.json"):
        return _load_run(place)


def _load_run(place: Path) -> Run:
    record = read_json(place.parent / "run.json", needs=("parameters", "provenance", "notes", "truth"))
    model = load_model(place)
    documents, empty_documents, skipped = _load_documents(place / "documents.json")
    arrays = read_arrays(place / "partition.npz", needs=("labels", "similarity", "runner_up", "runner_up_similarity"))
    matrix = unpack_matrix(read_arrays(place / "vectors.npz"), place / "vectors.npz")
    n = len(documents)
    if matrix.shape != (n, model.n_terms) or any(values.shape != (n,) for values in arrays.values()):
        raise damaged(place / "partition.npz", "its files are not of the same run")
    clusters = _load_clusters(place / "clusters.json", n_documents=n)
    _check_numbers(arrays, len(clusters), place / "partition.npz")
    return Run(
        documents=documents,
        empty_documents=empty_documents,
        vectors=DocumentVectors(matrix, documents.ids, model.terms, model.display_terms),
        partition=Partition(arrays["labels"].astype(np.int64), tuple(range(len(clusters)))),
        centroids=model.centroids,
        similarity=arrays["similarity"],
        runner_up=arrays["runner_up"],
        runner_up_similarity=arrays["runner_up_similarity"],
        clusters=clusters,
        evaluation=load_evaluation(place),
        skipped=skipped,
        truth=tuple(record["truth"]),
        parameters=record["parameters"],
        provenance=_provenance(record["provenance"], place.parent / "run.json"),
        notes=tuple(record["notes"]),
        vectorizer=model.vectorizer,
        copy_of=_checked_copies(arrays.get("copy_of"), n, place / "partition.npz"),
    )


def _checked_copies(copy_of: Any, n_documents: int, path: Path) -> Any:
    """Return the families of near-copies, None in a run that was made before they were kept."""
    if copy_of is None:
        return None
    rows = copy_of.astype(np.int64)
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < n_documents:
        raise damaged(path, "copy_of names documents that are not there")
    return rows


def _check_numbers(arrays: Mapping[str, Any], n_clusters: int, path: Path) -> None:
    """Raise SchemaError if a document is in a cluster that is not there; -1 is no runner-up."""
    for name, least in (("labels", 0), ("runner_up", -1)):
        values = arrays[name]
        if values.size and not least <= int(values.min()) <= int(values.max()) < n_clusters:
            raise damaged(path, f"{name} names clusters other than the {n_clusters} there are")


def run_record(run: Run) -> dict[str, Any]:
    """Return what run.json holds: how to repeat the run, and what it came to."""
    return {
        "command": run.provenance.command,
        "parameters": dict(run.parameters),
        "provenance": asdict(run.provenance),
        "truth": list(run.truth),
        "notes": list(run.notes),
        "counts": {
            "n_documents": run.n_documents,
            "n_empty": len(run.empty_documents),
            "n_skipped": sum(not one.is_renamed for one in run.skipped),
            "n_terms": run.vectors.n_terms,
            "n_clusters": run.n_clusters,
        },
        "labels_checksum": labels_checksum(run),
    }


def labels_checksum(run: Run) -> str:
    """Return the SHA-256 of the ids and labels, which two runs share when they agree on every document."""
    digest = hashlib.sha256()
    for name, label in zip(run.documents.ids, run.partition.labels, strict=True):
        digest.update(f"{name}\0{label}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _save_record(run: Run, folder: Path) -> None:
    labels = tuple(cluster.label for cluster in run.clusters)
    terms, display = run.vectors.terms, run.vectors.display_terms
    save_model(Model(run.centroids, labels, run.vectorizer, terms, display, dict(run.parameters)), folder)
    write_arrays(folder / "vectors.npz", matrix_arrays(run.vectors))  # so that read_matrix can read it too
    write_arrays(
        folder / "partition.npz",
        {
            "labels": run.partition.labels,
            "similarity": run.similarity,
            "runner_up": run.runner_up,
            "runner_up_similarity": run.runner_up_similarity,
            **({} if run.copy_of is None else {"copy_of": run.copy_of}),
        },
    )
    write_json(folder / "clusters.json", {"clusters": [asdict(cluster) for cluster in run.clusters]})
    write_json(
        folder / "documents.json",
        {
            "documents": _plain_documents(run.documents),
            "empty_documents": _plain_documents(run.empty_documents),
            "skipped": [asdict(one) for one in run.skipped],
        },
    )
    save_evaluation(run.evaluation, folder)


def _plain_documents(documents: Documents) -> dict[str, Any]:
    return {
        **{name: list(getattr(documents, name)) for name in ("ids", "titles", "dates", "sources", "links", "excerpts")},
        "lengths": documents.lengths.tolist(),
        "positions": documents.positions.tolist(),
        "labels": {column: [list(own) for own in values] for column, values in documents.labels.items()},
    }


def _provenance(record: Any, path: Path) -> Provenance:
    try:
        return Provenance(**record)
    except TypeError as error:
        raise damaged(path, str(error)) from error


def _load_documents(path: Path) -> tuple[Documents, Documents, tuple[Skipped, ...]]:
    record = read_json(path, needs=("documents", "empty_documents", "skipped"))
    try:
        skipped = tuple(Skipped(**one) for one in record["skipped"])
        return _documents(record["documents"]), _documents(record["empty_documents"]), skipped
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, str(error)) from error


def _documents(record: dict[str, Any]) -> Documents:
    text = {name: tuple(record[name]) for name in ("ids", "titles", "dates", "sources", "links", "excerpts")}
    columns = (*text.values(), record["lengths"], record["positions"], *record["labels"].values())
    if len({len(column) for column in columns}) > 1:
        raise ValueError("its columns differ in length")
    return Documents(
        **text,
        lengths=np.array(record["lengths"], dtype=np.int64),
        labels={column: tuple(map(tuple, values)) for column, values in record["labels"].items()},
        positions=np.array(record["positions"], dtype=np.int64),
    )


def _load_clusters(path: Path, *, n_documents: int) -> tuple[ClusterDescription, ...]:
    record = read_json(path, needs=("clusters",))
    try:
        clusters = tuple(_cluster(one) for one in record["clusters"])
    except (KeyError, TypeError) as error:
        raise damaged(path, str(error)) from error
    for place, one in enumerate(clusters):
        rows = [shown.row for shown in one.representatives] + [near.row for near in one.borderline]
        numbers = [near.runner_up for near in one.borderline]
        if one.cluster != place or not all(0 <= number < len(clusters) for number in numbers):
            raise damaged(path, "it names clusters that are not there")
        if not all(0 <= row < n_documents for row in rows):
            raise damaged(path, "it names documents that are not there")
    return clusters


def _cluster(record: dict[str, Any]) -> ClusterDescription:
    return ClusterDescription(
        cluster=record["cluster"],
        size=record["size"],
        label=record["label"],
        descriptive=tuple(Term(**term) for term in record["descriptive"]),
        discriminating=tuple(Term(**term) for term in record["discriminating"]),
        representatives=tuple(Representative(**document) for document in record["representatives"]),
        borderline=tuple(Borderline(**document) for document in record["borderline"]),
    )
