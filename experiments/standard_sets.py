"""Whether the standard sets are the same on this machine: ``python -m experiments.standard_sets``.

Every file of every set is made for the seeds whose checksums are kept, and those that differ are named. ``--keep`` adds
the checksums of sets that have none; kept ones never change.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import scipy

from doccluster.lab import synthetic
from doccluster.lab.synthetic_benchmark import KEPT_SEEDS, STANDARD_SETS, cells_of, write_cells

CHECKSUMS = Path(synthetic.__file__).parent / "sha256.json"


def checksums_of(name: str) -> tuple[list[str], list[str]]:
    """Return the checksums of a set, corpus by corpus and seed by seed, and the files that are not as kept."""
    digests, differing = [], []
    for cell in cells_of(name):
        for seed in range(KEPT_SEEDS):
            with tempfile.TemporaryDirectory() as folder:
                files = write_cells(Path(folder), [cell], [seed])
            digests += files["sha256"].tolist()
            differing += files.loc[files["sha256"] != files["kept"], "file"].tolist()
    return digests, differing


def main() -> int:
    """Print a line for each set; the exit code is 1 if a file differs from what is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="add the checksums of sets that have none")
    keep = parser.parse_args().keep
    kept, n_differing = json.loads(CHECKSUMS.read_text(encoding="utf-8")), 0
    print(f"numpy {np.__version__}, scipy {scipy.__version__}")
    for name in STANDARD_SETS:
        digests, differing = checksums_of(name)
        if name not in kept and keep:
            kept[name], differing = digests, []
        n_differing += len(differing)
        print(f"{name}: {len(digests)} files, {len(digests) - len(differing)} as kept", *differing[:5])
    if keep:
        lines = [f"{json.dumps(name)}: {json.dumps(digests, separators=(',', ':'))}" for name, digests in kept.items()]
        CHECKSUMS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
    return 1 if n_differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
