"""What is promised of the matrices of Algorithm 1, tried on every form over seeds, as csv and two tables.

Run: ``python -m experiments.sharma_algorithm``. Every matrix has its line in ``results/promises.csv``, those of the
scaled form in ``results/scales.csv``.
"""

from __future__ import annotations

import argparse
import csv
import math
import pathlib
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from doccluster.synthetic import make_sharma

RESULTS = pathlib.Path(__file__).parent / "results"
SEEDS = 20
SCALES = (1, 2, 6, 20)
FORMS: tuple[dict[str, Any], ...] = (
    {},
    {"extra_rows": "per_column"},
    {"extra_rows": "gamma_n"},
    {"structure": "dense"},
    {"alpha": 0.9},
    {"alpha": 0.9, "extra_rows": "per_column"},
    {"alpha": 0.9, "extra_rows": "gamma_n"},
    {"alpha": 0.9, "structure": "dense"},
    {"n_clusters": 2},
    {"n_clusters": 20},
    {"n_clusters": 1},
    {"overlap": 0.0},
    {"overlap": 1.0, "beta": 0.0},
    {"sigma": 0.5},
    {"scale": 5},
    {"documents_per_cluster": 20},
    {"terms_per_cluster": 1, "documents_per_cluster": 3},
)


def name_of(form: Mapping[str, Any]) -> str:
    """Return a form as the options that make it."""
    return ", ".join(f"{option}={value}" for option, value in form.items()) or "default"


def try_promises(form: Mapping[str, Any], seed: int) -> dict[str, object]:
    """Return the facts of one matrix and how many of the five promises it breaks."""
    vectors, truth = make_sharma(**form, random_state=seed)
    matrix = vectors.matrix
    k, scale = form.get("n_clusters", 5), form.get("scale", 1)
    documents, terms = form.get("documents_per_cluster", 4 * scale), form.get("terms_per_cluster", 10 * scale)
    squares = matrix.multiply(matrix).sum(axis=1, dtype=np.float64)
    sizes = np.bincount(truth, minlength=k)
    fewest_terms = int(np.diff(matrix.indptr).min())
    fewest_documents = int(np.bincount(matrix.indices, minlength=matrix.shape[1]).min())
    expected = math.floor(terms * k + 2 * documents * k * form.get("overlap", 0.3) + 0.5)
    kept = (
        float(np.abs(np.sqrt(squares) - 1).max()) < 1e-6,
        fewest_terms >= 1,
        fewest_documents >= 1,
        int(sizes.min()) >= documents,
        matrix.shape[1] == expected,
    )
    return {
        "form": name_of(form),
        "seed": seed,
        "rows": matrix.shape[0],
        "added_rows": matrix.shape[0] - documents * k,
        "columns": matrix.shape[1],
        "columns_of_the_formula": expected,
        "fewest_terms_of_a_row": fewest_terms,
        "fewest_rows_of_a_column": fewest_documents,
        "smallest_cluster": int(sizes.min()),
        "least_cluster_promised": documents,
        "largest_error_of_a_length": f"{np.abs(np.sqrt(squares) - 1).max():.1e}",
        "promises_broken": kept.count(False),
    }


def measure_shape(scale: int, seed: int) -> dict[str, object]:
    """Return the share of filled cells of a block and the share of values in overlap columns, of one scaled matrix."""
    vectors, _ = make_sharma(5, scale=scale, random_state=seed)
    in_block = int((vectors.matrix.indices < 50 * scale).sum())
    return {
        "scale": scale,
        "seed": seed,
        "filled_cells_of_a_block": f"{in_block / (20 * scale * 10 * scale):.4f}",
        "values_in_overlap_columns": f"{(vectors.matrix.nnz - in_block) / vectors.matrix.nnz:.4f}",
    }


def print_promises(lines: Sequence[Mapping[str, Any]]) -> None:
    """Print the least and the most of each form, and how many promises were broken."""
    print("| form | matrices | rows added | smallest cluster (promised) | fewest terms of a row | promises broken |")
    print("|---|---|---|---|---|---|")
    for name in dict.fromkeys(line["form"] for line in lines):
        here = [line for line in lines if line["form"] == name]
        added = [line["added_rows"] for line in here]
        smallest = f"{min(line['smallest_cluster'] for line in here)} ({here[0]['least_cluster_promised']})"
        fewest = min(line["fewest_terms_of_a_row"] for line in here)
        broken = sum(line["promises_broken"] for line in here)
        print(f"| {name} | {len(here)} | {min(added)} to {max(added)} | {smallest} | {fewest} | {broken} |")
    print(f"\n{len(lines)} matrices, {sum(line['promises_broken'] for line in lines)} promises broken\n")


def print_shapes(lines: Sequence[Mapping[str, Any]]) -> None:
    """Print the means over the seeds."""
    print("| scale | documents per cluster | terms per cluster | filled cells of a block | values in overlap columns |")
    print("|---|---|---|---|---|")
    for scale in dict.fromkeys(line["scale"] for line in lines):
        here = [line for line in lines if line["scale"] == scale]
        means = [
            statistics.mean(float(line[name]) for line in here)
            for name in ("filled_cells_of_a_block", "values_in_overlap_columns")
        ]
        print(f"| {scale} | {4 * scale} | {10 * scale} | {means[0]:.3f} | {means[1]:.3f} |")


def write(path: pathlib.Path, lines: Sequence[Mapping[str, object]]) -> None:
    """Write lines as csv."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def main(arguments: list[str] | None = None) -> None:
    """Make the matrices, write what they are and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.sharma_algorithm", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = range(parser.parse_args(arguments).seeds)
    promises = [try_promises(form, seed) for form in FORMS for seed in seeds]
    shapes = [measure_shape(scale, seed) for scale in SCALES for seed in seeds]
    write(RESULTS / "promises.csv", promises)
    write(RESULTS / "scales.csv", shapes)
    print_promises(promises)
    print_shapes(shapes)


if __name__ == "__main__":
    main()
