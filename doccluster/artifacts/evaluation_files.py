"""An `Evaluation` written and read: every value to the last bit, in arrays; the words in json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.artifacts.storage import damaged, read_arrays, read_json, write_arrays, write_json
from doccluster.errors import InputError, SchemaError
from doccluster.evaluation import Evaluation, Score
from doccluster.measures import get_measure

PARTS = ("per_cluster", "per_class", "per_document", "per_pair")


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
    plain = evaluation.to_dict()
    write_json(
        folder / "evaluation.json",
        {
            "scores": [
                {"measure": score.name, "note": score.note, "truth": score.truth, "parameters": row["parameters"]}
                for score, row in zip(evaluation.scores, plain["scores"], strict=True)
            ],
            **{name: plain[name] for name in ("clusters", "classes", "coverage", "timings", "provenance")},
        },
    )


def load_evaluation(folder: Path) -> Evaluation:
    """Return the evaluation that `save_evaluation` wrote."""
    path = folder / "evaluation.json"
    record = read_json(path, needs=("scores", "clusters", "classes", "coverage", "timings", "provenance"))
    arrays = read_arrays(folder / "evaluation.npz", needs=("values", "standard_errors"))
    _check_lengths(record, arrays, folder / "evaluation.npz")
    return Evaluation(
        scores=tuple(_score(index, row, arrays, path) for index, row in enumerate(record["scores"])),
        clusters=tuple(record["clusters"]),
        classes={column: tuple(names) for column, names in record["classes"].items()},
        coverage=record["coverage"],
        timings=record["timings"],
        provenance=record["provenance"],
    )


def _check_lengths(record: dict[str, Any], arrays: Mapping[str, Any], path: Path) -> None:
    """Raise SchemaError where an array has not one value for each score, document or cluster."""
    expected = {"per_document": record["provenance"]["n_documents"], "per_cluster": len(record["clusters"])}
    for name, values in arrays.items():
        length = expected.get(name.partition(".")[2], len(record["scores"]) if "." not in name else len(values))
        if len(values) != length:
            raise damaged(path, f"{name} has {len(values)} values, expected {length}")


def _score(index: int, row: dict[str, Any], arrays: dict[str, Any], path: Path) -> Score:
    try:
        record = get_measure(row["measure"])
    except InputError as error:
        raise SchemaError(f"{path} has a measure this version of doccluster does not know: {error}") from error
    error_bar = float(arrays["standard_errors"][index])
    return Score(
        measure=record,
        value=float(arrays["values"][index]),
        note=row.get("note"),
        truth=row.get("truth"),
        parameters=row.get("parameters") or {},
        standard_error=None if math.isnan(error_bar) else error_bar,
        **{part: arrays.get(f"{index}.{part}") for part in PARTS},
    )
