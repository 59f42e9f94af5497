"""Adherence as an objective: which of 50 runs of spherical k-means it chooses, beside the objective and the silhouette.

``python -m experiments.sharma.adherence [--sets N]``. Sharma & Sharma remark that adherence can serve as an objective
if bounds on its least or largest value are given. For each set of their Algorithm 1 (k = 5) a run is chosen by each
rule, and the mean adjusted Rand index of the chosen runs is printed, for several overlaps. A bound takes the run with
the highest objective of those whose largest adherence is at most the bound; where none is, the one with the least.
"""

from __future__ import annotations

import argparse
import pathlib

import pandas as pd

from doccluster.lab.reproduction.sharma_runs import K, measure_runs, pair
from doccluster.synthetic import make_sharma

RESULTS = pathlib.Path(__file__).parent / "results"
BOUNDS = (0.3, 0.4, 0.5, 0.6)
OVERLAPS = (0.3, 0.6, 1.0)  # gamma: that of the paper, and more


def chosen_runs(runs: pd.DataFrame) -> dict[str, int]:
    """Return which of the runs each rule chooses, the first among equals."""
    chosen = {
        "highest objective": runs["objective"].idxmax(),
        "highest silhouette": runs["silhouette"].idxmax(),
        "least largest adherence": runs["adherence_max"].idxmin(),
        "lowest least adherence": runs["adherence_min"].idxmin(),
        "any run (the first)": 0,
    }
    for bound in BOUNDS:
        within = runs[runs["adherence_max"] <= bound]
        chosen[f"objective, adherence at most {bound}"] = (
            runs["adherence_max"].idxmin() if within.empty else within["objective"].idxmax()
        )
    return {rule: int(run) for rule, run in chosen.items()}


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.sharma.adherence")
    parser.add_argument("--sets", type=int, default=20)
    rows = []
    for seed in range(parser.parse_args().sets):
        for overlap in OVERLAPS:
            runs = measure_runs(*pair(make_sharma(K, overlap=overlap, random_state=seed)))
            for rule, run in {**chosen_runs(runs), "the best of the runs": runs["ari"].idxmax()}.items():
                rows.append({"rule": rule, "overlap": overlap, "ari": runs["ari"][run]})
    table = pd.DataFrame(rows).pivot_table("ari", "rule", "overlap", sort=False)
    table.to_csv(RESULTS / "adherence.csv", float_format="%.3f", lineterminator="\n")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
