"""How often the known criteria find the right k, on data of known k; and what they find on the CLUTO matrices.

    python -m experiments.choosing_k [--quick] [--seeds A-B]

Every finished data set is a line of results/runs.csv with its curves in results/curves.csv; the same command goes on
from there. Delete the two files to start again.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from doccluster.report.charts import line_chart
from experiments.choosing_k.adherence_bounded import AdherenceBoundedKMeans
from experiments.choosing_k.excess import recommend, sweep_with_null
from experiments.choosing_k.made_sets import KS, LEVELS, MadeSet, all_sets
from experiments.choosing_k.sweep import Sweep, default_ks

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results"
MATRICES = HERE.parents[2] / "shared" / "corpora" / "cluto_matrices"
N_DOCUMENTS = 300
SETTINGS: dict[str, Any] = {"n_null": 9, "n_init": 2, "n_stability": 5}
LARGEST_K = 30
CURVES = [
    "silhouette",
    "null_silhouette",
    "stability",
    "null_stability",
    "rss",
    "gap",
    "gap_sd",
    "gap_rss",
    "gap_rss_sd",
]


def main() -> None:
    """Make what is missing, then print and draw the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.choosing_k", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, only k = 3, nothing written")
    parser.add_argument("--seeds", default="2-3", help="which seeds (2-3; the rule was looked at on 0-1)")
    given = parser.parse_args()
    first, last = (int(end) for end in given.seeds.split("-"))
    if given.quick:
        print_table(success(pd.DataFrame([judged(each)[0] for each in all_sets(range(1)) if each.k <= KS[0]])))
        return
    RESULTS.mkdir(exist_ok=True)
    made = list(all_sets(range(first, last + 1)))
    runs = completed(RESULTS / "runs.csv", RESULTS / "curves.csv", made)
    table = success(runs)
    table.to_csv(RESULTS / "success.csv", index=False, float_format="%.3f", lineterminator="\n")
    draw(runs)
    print_table(table)
    corpora = on_matrices(RESULTS / "cluto.csv")
    if corpora is not None:
        print(corpora.to_string(index=False))


def completed(path: pathlib.Path, curves_path: pathlib.Path, made: list[MadeSet]) -> pd.DataFrame:
    """Return one row per data set; those that the file has are read, the others are made and added."""
    done = set()
    if path.exists():
        known = pd.read_csv(path)
        done = set(zip(known["kind"], known["level"], known["k"], known["seed"], strict=True))
    missing = [each for each in made if (each.kind, each.level, each.k, each.seed) not in done]
    started = time.perf_counter()
    for number, each in enumerate(missing, start=1):
        row, curves = judged(each)
        _append(path, pd.DataFrame([row]))
        _append(curves_path, curves)
        left = (time.perf_counter() - started) / number * (len(missing) - number)
        print(
            f"  {number}/{len(missing)} {each.kind} {each.level} k={each.k}: {row['recommended']} ({left:.0f} s left)"
        )
    runs = pd.read_csv(path)
    wanted = {(each.kind, each.level, each.k, each.seed) for each in made}
    keys = list(zip(runs["kind"], runs["level"], runs["k"], runs["seed"], strict=True))
    return runs[[key in wanted for key in keys]]


def _append(path: pathlib.Path, rows: pd.DataFrame) -> None:
    rows.to_csv(path, mode="a", header=not path.exists(), index=False, float_format="%.5g", lineterminator="\n")


def judged(each: MadeSet) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the choice of every rule on a made data set (0: no structure, or no k qualifies), and the curves."""
    matrix = each.matrix(N_DOCUMENTS)
    ks = [k for k in default_ks(matrix.shape[0]) if k <= LARGEST_K]
    found = sweep_with_null(matrix, ks=ks, random_state=each.seed, **SETTINGS)
    adherence = AdherenceBoundedKMeans(max_clusters=LARGEST_K, n_init=2, random_state=each.seed, n_threads=1).fit(
        matrix
    )
    key = {"kind": each.kind, "level": each.level, "k": each.k, "seed": each.seed}
    curves = found.table[["k", *CURVES]].rename(columns={"k": "tried"})
    return {**key, **chosen(found), "adherence_bounded": adherence.n_clusters_}, curves.assign(**key)


def chosen(found: Sweep) -> dict[str, Any]:
    """Return the choice of the excess, its p value, and what each criterion chooses alone."""
    alone = {name: k or 0 for name, k in found.choices.items()}
    excess = recommend(found)
    return {"recommended": excess.k or 0, "p_value": round(excess.p_value, 3), **alone}


def success(runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each rule and difficulty the share of sets with k exactly, within 10 % and within 20 %."""
    rules = list(runs.columns.drop(["kind", "level", "k", "seed", "p_value"]))
    rows = []
    for level, group in [("all", runs[runs["k"] > 1]), *runs.groupby("level", sort=False)]:
        for rule in rules:
            # without structure the answer is 0 (none found); a rule that always names a k cannot be right there
            truth = np.where(group["k"] == 1, 0, group["k"])
            off = np.abs(group[rule] - truth)
            shares = {name: float(np.mean(off <= share * truth)) for name, share in TOLERANCES.items()}
            rows.append({"level": level, "rule": rule, "n": len(group), **shares})
    return pd.DataFrame(rows)


TOLERANCES = {"exact": 0.0, "within_10": 0.1, "within_20": 0.2}


def print_table(table: pd.DataFrame) -> None:
    """Print the share within 20 % of each rule over difficulty, and the exact share over all."""
    wide = table.pivot(index="rule", columns="level", values="within_20")
    levels = [level for level in ("all", *LEVELS, "none") if level in wide]
    wide = wide[levels].add_prefix("20 % ")
    wide.insert(0, "exact", table[table["level"] == "all"].set_index("rule")["exact"])
    print(wide.sort_values("20 % all", ascending=False).round(2).to_string())


def draw(runs: pd.DataFrame) -> None:
    """Draw the share within 20 % of the best-known rules over difficulty."""
    table = success(runs)
    shown = ("recommended", "silhouette", "stability", "gap_rss_tibshirani", "calinski_harabasz", "adherence_bounded")
    series = {}
    for rule in shown:
        own = table[table["rule"] == rule].set_index("level")["within_20"]
        series[rule.replace("_", " ")] = [own[level] for level in LEVELS]
    line_chart(
        range(1, len(LEVELS) + 1),
        series,
        title="k within 20 % of the truth",
        x_label="difficulty (1 easy, 2 medium, 3 hard)",
        y_label="share of data sets",
        y_range=(0, 1),
        path=RESULTS / "success.svg",
    )


def on_matrices(path: pathlib.Path, *, max_documents: int = 400) -> pd.DataFrame | None:
    """Return the recommendation on a sample of each CLUTO matrix beside its number of classes; None where absent."""
    for name, matrix, classes in _matrices():
        if path.exists() and name in set(pd.read_csv(path)["matrix"]):
            continue
        rng = np.random.default_rng(0)
        few = min(max_documents, matrix.shape[0])
        sample = matrix[np.sort(rng.choice(matrix.shape[0], few, replace=False))]
        found = sweep_with_null(sample, ks=default_ks(few), random_state=rng, **SETTINGS)
        adherence = AdherenceBoundedKMeans(max_clusters=LARGEST_K, n_init=2, random_state=0).fit(sample)
        row = {"matrix": name, "n_documents": matrix.shape[0], "n_looked_at": sample.shape[0]}
        good = json.dumps(list(recommend(found).about_as_good))
        row |= {"classes": len(set(classes)), **chosen(found), "about_as_good": good}
        _append(path, pd.DataFrame([{**row, "adherence_bounded": adherence.n_clusters_}]))
        print(f"  {name}: {recommend(found).k}")
    return pd.read_csv(path) if path.exists() else None


def _matrices() -> Iterator[tuple[str, Any, list[Any]]]:
    for path in sorted(MATRICES.glob("*/*.mat")):
        if path.parent.name != path.stem:
            continue  # a second edition of a set that is there
        vectors, classes = doccluster.read_matrix(path)
        if classes is not None:
            kept = np.flatnonzero(~vectors.is_empty)
            yield path.stem, vectors.matrix[kept], [classes[row] for row in kept]
