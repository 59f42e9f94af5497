"""An `Evaluation` written and read: every value to the last bit, in arrays; the words in json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.errors import InputError, SchemaError
from doccluster.measures import Evaluation, Score, get_measure
from doccluster.measures.scores import PARTS
from doccluster.results.storage import damaged, read_arrays, read_record, write_arrays, write_json


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
    return Evaluation(
        scores=tuple(_score(index, row, arrays, path) for index, row in enumerate(record.scores)),
        clusters=record.clusters,
        classes=record.classes,
        coverage=record.coverage,
        provenance=record.provenance,
    )


def _check_lengths(record: EvaluationRecord, arrays: Mapping[str, Any], path: Path) -> None:
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
        record = get_measure(row.measure)
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
