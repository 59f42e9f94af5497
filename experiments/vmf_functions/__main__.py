"""Errors of the normaliser and of the mean resultant length, over dimensions and concentrations, as csv and a table.

Run: ``python -m experiments.vmf_functions``. Every pair of values is in ``results/values.csv``.
"""

from __future__ import annotations

import argparse
import csv
import pathlib

from doccluster.clustering.mixtures.vmf_functions import log_normalizer_plus_kappa, mean_resultant
from experiments.vmf_functions.definition import CONCENTRATIONS, DIMENSIONS, defined_values

RESULTS = pathlib.Path(__file__).parent / "results"


def compare(n_dimensions: int, kappa: float) -> dict[str, object]:
    """Return both quantities as computed and as defined, and their errors.

    The error of the logarithm is over its size where that is above 1, and that of the mean resultant length over its
    size wherever it is not zero.
    """
    log_peak, resultant = defined_values(n_dimensions, kappa)
    ours, our_resultant = log_normalizer_plus_kappa(n_dimensions, kappa), mean_resultant(n_dimensions, kappa)
    return {
        "dimensions": n_dimensions,
        "kappa": kappa,
        "log_normalizer_plus_kappa": repr(ours),
        "by_definition": repr(log_peak),
        "error": abs(ours - log_peak) / max(1.0, abs(log_peak)),
        "mean_resultant": repr(our_resultant),
        "resultant_by_definition": repr(resultant),
        "resultant_error": abs(our_resultant - resultant) / resultant if kappa > 0 else abs(our_resultant),
    }


def print_table(lines: list[dict[str, object]]) -> None:
    """Print the largest errors of each dimension and of all."""
    print("| dimensions | largest error of the log normaliser | largest error of the mean resultant length |")
    print("|---|---|---|")
    for name, here in [
        *((f"{d:,}", [line for line in lines if line["dimensions"] == d]) for d in DIMENSIONS),
        ("all", lines),
    ]:
        cells = [max(float(str(line[figure])) for line in here) for figure in ("error", "resultant_error")]
        print(f"| {name} | " + " | ".join(f"{cell:.1e}" for cell in cells) + " |")


def main(arguments: list[str] | None = None) -> None:
    """Compute, write and print."""
    argparse.ArgumentParser(prog="python -m experiments.vmf_functions", description=__doc__).parse_args(arguments)
    lines = [compare(n_dimensions, kappa) for n_dimensions in DIMENSIONS for kappa in CONCENTRATIONS]
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "values.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    print_table(lines)


if __name__ == "__main__":
    main()
