"""``python -m experiments NAME ... | all [--quick] [--json]``: printed numbers beside ours, one table per source.

`doccluster reproduce` with the corpora beside the checkout. Nothing is written unless ``-o DIR`` or ``--keep`` says
where.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from dataclasses import asdict

from doccluster.cli.reproduction import UNEXPECTED, print_columns, print_numbers, reproduce

HERE = pathlib.Path(__file__).resolve().parent
CORPORA = HERE.parents[1] / "shared" / "corpora"
# the names of the sources here, those of `doccluster reproduce`, and the folders that keep their tables and figures
SOURCES = {
    "iir-16": ("iir", "iir_16"),
    "strehl": ("strehl", "strehl"),
    "zaki-meira-17": ("zaki", "zaki_meira_17"),
    "sharma": ("sharma", "sharma"),
    "dhillon-modha": ("dhillon", "dhillon_modha"),
    "retrieval": ("retrieval", "retrieval"),
}
ON_CORPORA = frozenset({"retrieval"})  # their corpora do not come with the checkout: nothing of them is quick


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
    rows = []
    for name in SOURCES if "all" in given.names else given.names:
        source, folder = SOURCES[name]
        output = HERE / folder / "results" if given.keep else given.output and given.output / name
        show = {} if given.json else {"show": print_columns}
        data = CORPORA if CORPORA.is_dir() else None
        if not given.json:
            print(f"\n{name}", flush=True)
        found = reproduce(source, quick=given.quick, data=data, output=output, **show)
        rows += found
        if not given.json:
            print_numbers(found)
    if given.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=2)
        print()
    return int(any(row.verdict in UNEXPECTED for row in rows))


if __name__ == "__main__":
    sys.exit(main())
