"""Printed numbers beside ours: what every folder that reproduces a source shares.

A folder holds `expected.csv` (the printed values: key, place, printed, tolerance, right, note) and `run.py` with
`SOURCE` and `reproduce(work) -> {key: our value}`, which uses public names of doccluster only. Where a printed value is
known to be a misprint or cut off instead of rounded, or a claim does not hold, `right` holds what is right and `note`
says why.
"""

from __future__ import annotations

import csv
import importlib
import importlib.metadata
import json
import math
import pathlib
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = {
    "iir-16": "iir_16",
    "strehl": "strehl",
    "zaki-meira-17": "zaki_meira_17",
    "sharma": "sharma",
    "dhillon-modha": "dhillon_modha",
}


@dataclass(frozen=True)
class Work:
    """How to run: quick ones leave out what takes long; figures and tables go to the folder's results."""

    quick: bool
    folder: pathlib.Path
    seed: int = 0

    @property
    def results(self) -> pathlib.Path:
        """The folder for figures and tables."""
        path = self.folder / "results"
        path.mkdir(exist_ok=True)
        return path


@dataclass(frozen=True)
class Row:
    """One printed number: where it is printed, what is printed, what we get, and whether the two agree."""

    source: str
    place: str
    key: str
    printed: float
    ours: float | None
    tolerance: float
    verdict: str
    note: str


def reproduce(name: str, *, quick: bool = False) -> list[Row]:
    """Return one row per printed number of a source; in a quick run those that were left out say so."""
    folder = HERE / SOURCES[name]
    module = importlib.import_module(f"experiments.{SOURCES[name]}.run")
    ours = module.reproduce(Work(quick, folder))
    with (folder / "expected.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    unknown = set(ours) - {line["key"] for line in expected}
    if unknown:
        raise KeyError(f"{name} computes values that expected.csv does not have: {sorted(unknown)}")
    rows = [_compare(name, line, ours.get(line["key"])) for line in expected]
    if not quick:
        _write(folder / "results" / "numbers.csv", rows)
        packages = ("doccluster", "numpy", "scipy", "scikit-learn", "numba", "pandas")
        versions = {name: importlib.metadata.version(name) for name in packages}
        stamp = {"seed": Work.seed, "python": platform.python_version(), **versions}
        (folder / "results" / "versions.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    return rows


def _compare(name: str, line: dict[str, str], ours: float | None) -> Row:
    printed, tolerance = float(line["printed"]), float(line["tolerance"])
    right = float(line["right"]) if line["right"] else printed
    if ours is None:
        verdict = "left out (quick)"
    elif math.isnan(ours):
        verdict = "not computed"
    elif abs(ours - printed) <= tolerance:
        verdict = "agrees"
    elif abs(ours - right) <= tolerance:
        verdict = "as the note says"
    else:
        verdict = "differs"
    return Row(name, line["place"], line["key"], printed, ours, tolerance, verdict, line["note"])


def _write(path: pathlib.Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Row.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            record = asdict(row)
            record["ours"] = "" if row.ours is None else f"{row.ours:.10g}"
            writer.writerow(record)
