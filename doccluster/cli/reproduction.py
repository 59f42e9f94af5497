"""`reproduce`: the numbers that papers and books print, beside ours.

A room of the package offers its rows as a module of `ROOMS` beside a csv file of its name, which holds the printed
values: key, place, printed, tolerance, right, note. The module has `SOURCE` and `reproduce(work) -> {key: our value}`.
Where a printed value is known to be a misprint or cut off instead of rounded, or a claim does not hold, `right` holds
what is right and `note` says why. A value that no data are there for is missing from what the module returns.
"""

from __future__ import annotations

import csv
import importlib
import importlib.metadata
import json
import math
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from doccluster.base.text_table import Column
from doccluster.cli.console import json_option, print_json, print_table, progress_shown, say, say_below
from doccluster.cli.verb import Verb
from doccluster.errors import NothingUsable

ROOMS = {
    "zaki": "doccluster.lab.reproduction.zaki_meira_17",
    "sharma": "doccluster.lab.reproduction.sharma_runs",
    "strehl": "doccluster.lab.reproduction.strehl",
    "iir": "doccluster.lab.reproduction.iir_16",
    "dhillon": "doccluster.lab.reproduction.dhillon_modha",
    "retrieval": "doccluster.retrieval.judged_models",
}
PACKAGES = ("doccluster", "numpy", "scipy", "scikit-learn", "numba", "pandas")  # whose versions numbers may depend on
NO_DATA, LEFT_OUT = "no data: name --data", "left out (quick)"
OF_SEVERAL = {"agrees": "agree", "differs": "differ", "the claim fails": "claims fail"}
UNEXPECTED = {"differs", "not computed"}


Table = Mapping[str, Sequence[str]]


def _keep_silent(table: Table) -> None:
    """Print nothing."""


@dataclass(frozen=True)
class Work:
    """How to compute the values of a source.

    `quick`: without what takes long. `data`: the folder of data that are not installed. `tables`: the folder for tables
    and figures, where they are wanted. `show` prints a table that belongs to the numbers.
    """

    quick: bool = False
    data: Path | None = None
    tables: Path | None = None
    show: Callable[[Table], object] = _keep_silent
    seed: int = 0

    def files(self, pattern: str) -> list[Path]:
        """Return the files of the data folder, and of the folders in it, whose names match, ascending."""
        return [] if self.data is None else sorted(self.data.rglob(pattern))


@dataclass(frozen=True)
class PrintedNumber:
    """One printed number: where it is printed, what is printed, what we get, and whether the two agree."""

    source: str
    place: str
    key: str
    printed: float
    ours: float | None
    tolerance: float
    verdict: str
    note: str


def printed_values(name: str) -> list[dict[str, str]]:
    """Return the printed values of a source as they stand in its file."""
    path = Path(str(importlib.import_module(ROOMS[name]).__file__)).with_suffix(".csv")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reproduce(
    name: str,
    *,
    quick: bool = False,
    data: Path | None = None,
    output: Path | None = None,
    show: Callable[[Table], object] = _keep_silent,
) -> list[PrintedNumber]:
    """Return one row per printed number of a source of `ROOMS`; those that were left out say so.

    Tables and figures go to the folder `output`; without it none is made. `show` prints the tables of sources that are
    read as a table.
    """
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    work = Work(quick, data, None if quick else output, show)
    ours: dict[str, float] = importlib.import_module(ROOMS[name]).reproduce(work)
    printed = printed_values(name)
    if unknown := set(ours) - {line["key"] for line in printed}:
        raise KeyError(f"{name} computes values that its printed values do not have: {sorted(unknown)}")
    rows = [_beside(name, line, ours.get(line["key"]), LEFT_OUT if quick else NO_DATA) for line in printed]
    if output is not None:
        _write(output, rows)
    return rows


def _beside(name: str, line: dict[str, str], ours: float | None, missing: str) -> PrintedNumber:
    """Return a printed value beside ours."""
    printed, tolerance = float(line["printed"]), float(line["tolerance"])
    right = float(line["right"]) if line["right"] else printed
    if ours is None:
        verdict = missing
    elif math.isnan(ours):
        verdict = "not computed"
    elif abs(ours - printed) <= tolerance:
        verdict = "agrees"
    elif abs(ours - right) <= tolerance:
        is_claim = line["note"].startswith("claimed")
        verdict = "the claim fails" if is_claim else "as the note says"
    else:
        verdict = "differs"
    return PrintedNumber(name, line["place"], line["key"], printed, ours, tolerance, verdict, line["note"])


def _write(folder: Path, rows: Iterable[PrintedNumber]) -> None:
    """Write the numbers, and what they were computed with."""
    with (folder / "numbers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(PrintedNumber.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({**asdict(row), "ours": "" if row.ours is None else f"{row.ours:.10g}"})
    versions = {package: importlib.metadata.version(package) for package in PACKAGES}
    stamp = {"seed": Work.seed, "python": platform.python_version(), **versions}
    (folder / "versions.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")


def print_columns(table: Table) -> None:
    """Print a table that belongs to the numbers; its first two columns are words."""
    first, second, *others = (Column(name, cells, fit="wrap") for name, cells in table.items())
    print_table([replace(first, align="left"), replace(second, align="left"), *others], has_rule=False, indent=2)
    say()


def print_numbers(rows: Sequence[PrintedNumber]) -> None:
    """Print the numbers of a source, and how many agree."""
    verdicts = [
        f"{row.verdict} ({row.note})" if row.note and row.verdict not in ("agrees", NO_DATA, LEFT_OUT) else row.verdict
        for row in rows
    ]
    columns = [
        Column("what", [row.key.replace("_", " ") for row in rows], "left", fit="wrap"),
        Column("printed", [f"{row.printed:.6g}" for row in rows]),
        Column("ours", ["" if row.ours is None else f"{row.ours:.6g}" for row in rows]),
        Column("verdict", verdicts, "left", fit="wrap"),
    ]
    print_table(columns, has_rule=False, indent=2)
    counts = Counter(row.verdict for row in rows)
    parts = (f"{n} {verdict if n == 1 else OF_SEVERAL.get(verdict, verdict)}" for verdict, n in counts.items())
    say(f"  {', '.join(parts)}")


@click.command("reproduce", cls=Verb)
@click.argument("names", nargs=-1, type=click.Choice(["all", *ROOMS]), metavar="[SOURCE]...")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder with data that are not installed: Cranfield and CISI, CLUTO's matrices, Reuters-21578.",
)
@click.option("--quick", is_flag=True, help="Leave out what takes minutes.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Tables and figures go here.")
@json_option
def reproduce_command(names: Sequence[str], data: Path | None, quick: bool, output: Path | None, as_json: bool) -> None:
    """Print the numbers of papers and books beside ours: all, zaki, sharma, strehl, iir, dhillon or retrieval.

    Nothing is downloaded: what needs data that are not there says so. The exit code is 0 if every number that was
    computed is as expected (equal in the printed digits, or what the note says), 1 if one differs, 3 if none could be
    computed.
    """
    chosen = list(ROOMS) if not names or "all" in names else list(dict.fromkeys(names))
    rows: list[PrintedNumber] = []
    with progress_shown(quiet=as_json) as progress:
        for number, name in enumerate(chosen):
            progress("reproduce", number, len(chosen))
            folder, show = None if output is None else output / name, _keep_silent if as_json else print_columns
            if not as_json:
                say_below(f"{name}: {importlib.import_module(ROOMS[name]).SOURCE}", 0)
            numbers = reproduce(name, quick=quick, data=data, output=folder, show=show)
            if not as_json:
                print_numbers(numbers)
                say()
            rows += numbers
    if as_json:
        print_json([asdict(row) for row in rows])
    if all(row.ours is None for row in rows):
        remedy = f"name the folder of the data with --data{', and leave out --quick' if quick else ''}"
        raise NothingUsable("no number could be computed", remedy=remedy)
    if any(row.verdict in UNEXPECTED for row in rows):
        sys.exit(1)  # as `rerun` does
