"""How far a fit over blocks has come, as one file, so that a run that was killed goes on from there.

The file holds numbers and a line of JSON, nothing that could run: the state of the generator, the starts that are done,
and of the one under way the table and the labels. Sums that are made of the labels again are the same bytes, so the
labels at the end are those of a run that nothing disturbed.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.paths import finished_file
from doccluster.clustering.k_means.lloyd import BestStart, Iteration, Snapshot
from doccluster.errors import Argument, InputError

_DAMAGED = (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile)


@dataclass(frozen=True, eq=False)
class FitProgress:
    """The part of a fit that is kept.

    `best`, `objectives`, `labels`: of the starts that are over, as in `BestStart`.
    """

    random: dict[str, Any]  # the state of the generator, after the seeds of the start under way
    best: Snapshot | None
    objectives: tuple[float, ...]
    labels: tuple[npt.NDArray[np.int32], ...]
    # where the start under way is: its means, the labels by them, its last objective and the number of its iterations;
    # None between two starts
    current: Snapshot | None = None

    @classmethod
    def of(cls, generator: np.random.Generator, best: BestStart, iteration: Iteration | None = None) -> FitProgress:
        """Return how far a fit has come."""
        current = None
        if iteration is not None:
            current = Snapshot(iteration.steps.labels(), iteration.steps.table, iteration.objective, iteration.number)
        random = dict(generator.bit_generator.state)
        return cls(random, best.best, tuple(best.objectives), tuple(best.labels), current)


@dataclass(frozen=True)
class Checkpoints:
    """Where checkpoints of one fit are written, and how often.

    `every`: iterations from one to the next; one is written at the end of each start too. `key`: what stands for the
    documents and the options: a checkpoint of others is refused.
    """

    path: Path
    every: int
    key: str = ""

    def of(self, key: str) -> Checkpoints:
        """Return the same for documents and options with this key."""
        return replace(self, key=key)

    def save(self, state: FitProgress) -> None:
        """Write a checkpoint in place of the one before. Raises InputError if it cannot be written."""
        snapshots = {"best": state.best, "begun": state.current}
        record = {
            "key": self.key,
            "random": state.random,
            "objectives": state.objectives,
            "n_labels": len(state.labels),
            **{
                name: snapshot and [snapshot.objective, snapshot.n_iter, snapshot.converged]
                for name, snapshot in snapshots.items()
            },
        }
        arrays: dict[str, Any] = {"told": np.array(json.dumps(record))}
        arrays |= {f"labels{number}": labels for number, labels in enumerate(state.labels)}
        for name, snapshot in snapshots.items():
            if snapshot is not None:
                arrays |= _packed(name, snapshot.means, snapshot.labels)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with finished_file(self.path) as unfinished, unfinished.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
        except OSError as error:
            raise InputError(
                f"the checkpoint {self.path} cannot be written ({error.strerror or error})", remedy="make room there"
            ) from error

    def load(self) -> FitProgress | None:
        """Return the last checkpoint, None if there is none."""
        if not self.path.is_file():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                record = json.loads(str(arrays["told"]))
                if record["key"] != self.key:
                    raise InputError(
                        f"the checkpoint {self.path} is of other documents, or of a run with other options",
                        remedy=("type the command again as it was, or give ", Argument("overwrite", True)),
                    )
                best, current = (record[name] and _unpacked(name, arrays, *record[name]) for name in ("best", "begun"))
                labels = tuple(arrays[f"labels{number}"] for number in range(record["n_labels"]))
                return FitProgress(record["random"], best, tuple(map(float, record["objectives"])), labels, current)
        except _DAMAGED as error:
            raise InputError(
                f"the checkpoint {self.path} is damaged ({error})",
                remedy=("begin again with ", Argument("overwrite", True)),
            ) from error


def _packed(name: str, table: Any, labels: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    parts = {"data": table.data, "indices": table.indices, "starts": table.indptr, "shape": np.array(table.shape)}
    return {f"{name}_{part}": values for part, values in {**parts, "labels": labels}.items()}


def _unpacked(name: str, arrays: Any, objective: float, n_iter: int, converged: bool) -> Snapshot:
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "starts"))
    means = sparse.csr_array(parts, shape=tuple(arrays[f"{name}_shape"].tolist()))
    return Snapshot(arrays[f"{name}_labels"], means, float(objective), int(n_iter), bool(converged))
