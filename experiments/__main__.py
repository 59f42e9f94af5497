"""``python -m experiments NAME ... | all [--quick] [--json]``: printed numbers beside ours, one table per source.

Nothing is written unless ``-o DIR`` or ``--keep`` says where.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from dataclasses import asdict

from experiments.reproduction import SOURCES, Row, kept_results, reproduce


def main() -> int:
    """Print one row per printed number; the exit status is 1 if one differs."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", choices=[*SOURCES, "all"])
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("-o", "--output", type=pathlib.Path, metavar="DIR", help="tables and figures, in DIR/NAME")
    places.add_argument("--keep", action="store_true", help="write them to experiments/NAME/results, which are tracked")
    given = parser.parse_args()
    if given.keep and given.quick:
        parser.error("--keep keeps whole results; leave out --quick")
    names = list(SOURCES) if "all" in given.names else given.names
    rows: list[Row] = []
    for name in names:
        if not given.json:
            print(f"\n{name}", flush=True)
        output = kept_results(name) if given.keep else given.output and given.output / name
        found = reproduce(name, quick=given.quick, output=output, show=_keep_silent if given.json else print)
        rows += found
        if not given.json:
            print_rows(found)
    if given.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=2)
        print()
    return int(any(row.verdict == "differs" for row in rows))


def _keep_silent(table: str) -> None:
    """Print nothing: a JSON document is printed in the end."""


def print_rows(rows: list[Row]) -> None:
    """Print one source's table and how many agree."""
    width = max(len(row.key) for row in rows)
    print(f"  {'':<{width}}  {'printed':>12}  {'ours':>12}  verdict")
    for row in rows:
        ours = "" if row.ours is None else f"{row.ours:12.6g}"
        note = f"  ({row.note})" if row.note and row.verdict != "agrees" else ""
        print(f"  {row.key:<{width}}  {row.printed:12.6g}  {ours:>12}  {row.verdict}{note}")
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    print("  " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


if __name__ == "__main__":
    sys.exit(main())
