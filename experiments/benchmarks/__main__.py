"""Run benchmarks: `python -m experiments.benchmarks [MODULE ...] [--only ROW] [--quick] [--again] [--list] [--page]`

`--against` is the commit that the modules `engine` and `run` compare with; of `run` also the program of a checkout.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib

from experiments.benchmarks.harness import ROWS, run_rows
from experiments.benchmarks.page import write_page


def modules() -> list[str]:
    """Return the benchmark modules of this folder: those that declare rows."""
    folder = pathlib.Path(__file__).parent
    return sorted(
        path.stem
        for path in folder.glob("*.py")
        if path.stem not in {"__init__", "__main__", "harness", "page"} and "@row(" in path.read_text(encoding="utf-8")
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the rows asked for, all modules by default."""
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmarks", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"any of {', '.join(modules())}; default: all")
    parser.add_argument("--only", action="append", default=[], metavar="ROW", help="only this row (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="small data, one round: to see that it works")
    parser.add_argument("--list", action="store_true", help="list the rows and stop")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    parser.add_argument("--against", metavar="COMMIT", default="HEAD~1", help="what `engine` and `run` compare with")
    parser.add_argument("--page", action="store_true", help="write the page from what was measured, and stop")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.modules) - set(modules()))
    if unknown:
        parser.error(f"no benchmark module {', '.join(unknown)}; there are {', '.join(modules())}")
    chosen = asked.modules or modules()
    for module in chosen:
        importlib.import_module(f"experiments.benchmarks.{module}")
    rows = [row for module in chosen for row in ROWS.get(f"experiments.benchmarks.{module}", [])]
    missing = sorted(set(asked.only) - {row.name for row in rows})
    if missing:
        parser.error(f"no row {', '.join(missing)}; there are {', '.join(row.name for row in rows)}")
    for module in () if asked.page else chosen:
        if asked.list:
            for row in ROWS.get(f"experiments.benchmarks.{module}", []):
                print(f"{module}\t{row.name}\t{row.title}")
        else:
            run_rows(module, only=tuple(asked.only), quick=asked.quick, again=asked.again, against=asked.against)
    if not (asked.list or asked.quick):
        print(f"written: {write_page(modules())}")


if __name__ == "__main__":
    main()
