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
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = {
    "iir-16": "iir_16",
    "strehl": "strehl",
    "zaki-meira-17": "zaki_meira_17",
    "sharma": "sharma",
    "dhillon-modha": "dhillon_modha",
    "retrieval": "retrieval",
}
ON_CORPORA = frozenset({"retrieval"})  # their corpora do not come with the checkout: nothing of them is quick


def _keep_silent(table: str) -> None:
    """Print nothing."""


@dataclass(frozen=True)
class Work:
    """How to run (quick: without what takes long), the folder of the printed values, and the one for what is made.

    `show` prints a table that belongs to the numbers.
    """

    quick: bool
    folder: pathlib.Path
    results: pathlib.Path
    show: Callable[[str], object] = _keep_silent
    seed: int = 0


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


def kept_results(name: str) -> pathlib.Path:
    """Return the folder of the checkout that keeps a source's tables and figures."""
    return HERE / SOURCES[name] / "results"


def reproduce(
    name: str,
    *,
    quick: bool = False,
    output: pathlib.Path | None = None,
    show: Callable[[str], object] = _keep_silent,
) -> list[Row]:
    """Return one row per printed number of a source; those that were left out say so.

    Tables and figures go to the folder `output`; without it none is kept. `show` prints the tables of sources that are
    read as a table.
    """
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        return _reproduced(name, quick, output, show)
    with tempfile.TemporaryDirectory(prefix="doccluster-") as temporary:
        return _reproduced(name, quick, pathlib.Path(temporary), show)


def _reproduced(name: str, quick: bool, results: pathlib.Path, show: Callable[[str], object]) -> list[Row]:
    folder = HERE / SOURCES[name]
    module = importlib.import_module(f"experiments.{SOURCES[name]}.run")
    ours = module.reproduce(Work(quick, folder, results, show))
    with (folder / "expected.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    unknown = set(ours) - {line["key"] for line in expected}
    if unknown:
        raise KeyError(f"{name} computes values that expected.csv does not have: {sorted(unknown)}")
    left_out = "left out (quick)" if quick else "left out (its corpus is not there)"
    rows = [_compare(name, line, ours.get(line["key"]), left_out) for line in expected]
    _write(results / "numbers.csv", rows)
    packages = ("doccluster", "numpy", "scipy", "scikit-learn", "numba", "pandas")
    versions = {name: importlib.metadata.version(name) for name in packages}
    stamp = {"seed": Work.seed, "python": platform.python_version(), **versions}
    (results / "versions.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
    return rows


def _compare(name: str, line: dict[str, str], ours: float | None, left_out: str) -> Row:
    printed, tolerance = float(line["printed"]), float(line["tolerance"])
    right = float(line["right"]) if line["right"] else printed
    if ours is None:
        verdict = left_out
    elif math.isnan(ours):
        verdict = "not computed"
    elif abs(ours - printed) <= tolerance:
        verdict = "agrees"
    elif abs(ours - right) <= tolerance:
        is_claim = line["note"].startswith("claimed")
        verdict = "the claim fails" if is_claim else "as the note says"
    else:
        verdict = "differs"
    return Row(name, line["place"], line["key"], printed, ours, tolerance, verdict, line["note"])


def _write(path: pathlib.Path, rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Row.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            record = asdict(row)
            record["ours"] = "" if row.ours is None else f"{row.ours:.10g}"
            writer.writerow(record)
