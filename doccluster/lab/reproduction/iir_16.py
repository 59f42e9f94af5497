"""The numbers of Introduction to Information Retrieval, chapter 16, and of its slides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from doccluster.base.arrays import Floats
from doccluster.cli.reproduction import Work
from doccluster.corpus import load_sample
from doccluster.lab.criteria import criteria_over_k, penalised_k
from doccluster.measures import score
from doccluster.report.figures import line_chart
from doccluster.vectors import vectorize

SOURCE = "Manning, Raghavan & Schuetze 2008, Introduction to Information Retrieval, chapter 16"
TRUTH = ["x"] * 5 + ["o"] + ["x"] + ["o"] * 4 + ["d"] + ["x"] * 2 + ["d"] * 3
FOUND = [1] * 6 + [2] * 6 + [3] * 5
POULTRY = {(1, 1): 49, (1, 0): 27_652, (0, 1): 141, (0, 0): 774_106}  # (term occurs, in class): documents


def reproduce(work: Work) -> dict[str, float]:
    """Return our value for each printed number."""
    if work.tables is not None:
        draw_rss_curve(work, work.tables)
    return {**figure_16_4(), **exercise_16_3(), **mutual_information_of_poultry(), **k_means_claims()}


def value(name: str, labels: Sequence[int], truth: Sequence[str], **parameters: Any) -> float:
    """Return one measure by name."""
    return float(score(name, labels, truth=truth, **parameters).value)


def figure_16_4() -> dict[str, float]:
    """Return the measures of figure 16.4 and the pair counts of section 16.3."""
    counts = pair_counts(FOUND, TRUTH)
    f5 = value("pair_f", FOUND, TRUTH, beta=5)
    return {
        "purity": value("purity", FOUND, TRUTH),
        "nmi": value("nmi", FOUND, TRUTH),
        "rand": value("rand", FOUND, TRUTH),
        "f5": f5,
        "f5_three_digits": f5,
        "f1": value("pair_f", FOUND, TRUTH),
        "pair_precision": value("pair_precision", FOUND, TRUTH),
        "pair_recall": value("pair_recall", FOUND, TRUTH),
        "n_pairs_slides": float(sum(counts)),
        **dict(zip(("true_positives", "false_positives", "false_negatives", "true_negatives"), counts, strict=True)),
    }


def pair_counts(labels: Sequence[int], truth: Sequence[str]) -> tuple[float, ...]:
    """Return TP, FP, FN, TN by looking at every pair."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for i in range(len(labels)):
        for j in range(i + 1, len(labels)):
            counts[labels[i] == labels[j], truth[i] == truth[j]] += 1
    return tuple(float(counts[key]) for key in ((True, True), (True, False), (False, True), (False, False)))


def exercise_16_3() -> dict[str, float]:
    """Return 1.0 where a measure stays (purity, NMI) or rises (Rand, F5) when every point is doubled, else 0.0."""
    parameters: dict[str, dict[str, Any]] = {"purity": {}, "nmi": {}, "rand": {}, "pair_f": {"beta": 5}}
    change = {
        name: value(name, FOUND * 2, TRUTH * 2, **extra) - value(name, FOUND, TRUTH, **extra)
        for name, extra in parameters.items()
    }
    return {
        "doubled_purity_stays": float(abs(change["purity"]) < 1e-12),
        "doubled_nmi_stays": float(abs(change["nmi"]) < 1e-12),
        "doubled_rand_rises": float(change["rand"] > 1e-12),
        "doubled_f5_rises": float(change["pair_f"] > 1e-12),
    }


def mutual_information_of_poultry() -> dict[str, float]:
    """Return the mutual information, in bits, of the slides' table of term and class."""
    term = np.repeat([key[0] for key in POULTRY], list(POULTRY.values()))
    in_class = np.repeat([key[1] for key in POULTRY], list(POULTRY.values()))
    bits = score("mutual_information", term, truth=in_class, base=2).value
    return {"poultry_export_mutual_information": float(bits)}


def k_means_claims() -> dict[str, float]:
    """Return 1.0 where the slides' claims on K-means hold on six points in two rows, else 0.0."""
    points = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    points[:, 0] *= 2
    final: dict[tuple[int, int], float] = {}
    never_rises = True
    for i in range(6):
        for j in range(i + 1, 6):
            curve = rss_over_iterations(points, points[[i, j]])
            never_rises &= all(after <= before + 1e-12 for before, after in itertools.pairwise(curve))
            final[i, j] = curve[-1]
    best = min(final.values())
    worse = sum(rss > best + 1e-9 for rss in final.values())
    return {"kmeans_rss_never_rises": float(never_rises), "suboptimal_seeds_stay_suboptimal": float(worse > 1)}


def rss_over_iterations(points: Floats, seeds: Floats) -> list[float]:
    """Return the RSS after each iteration of scikit-learn's K-means from the given seeds."""
    curve: list[float] = []
    centers = seeds
    for _ in range(10):
        step = KMeans(2, init=centers, n_init=1, max_iter=1, tol=0, algorithm="lloyd").fit(points)
        centers = np.array([points[step.labels_ == c].mean(axis=0) for c in range(2)])
        curve.append(float(np.square(points - centers[step.labels_]).sum()))
        if len(curve) > 1 and curve[-1] == curve[-2]:
            break
    return curve


def draw_rss_curve(work: Work, folder: Path) -> None:
    """Write the RSS of the newsroom sample over K, with the knee and the choices of three penalties."""
    vectors = vectorize(load_sample())
    result = criteria_over_k(vectors, ks=range(1, 41), criteria="knee", n_init=10, random_state=work.seed)
    rss, knee = result.curve("rss"), result.choices["knee"]
    pd.DataFrame({"k": rss.keys(), "rss": rss.values()}).to_csv(folder / "rss.csv", index=False)
    chosen = {"knee": knee} | {f"penalty {p}": penalised_k(rss, penalty=p) for p in (0.5, 1.0, 2.0)}
    pd.DataFrame(chosen.items(), columns=["rule", "k"]).to_csv(folder / "chosen.csv", index=False)
    line_chart(
        {"RSS": (list(rss), list(rss.values()))},
        x_label="number of clusters K",
        y_label="RSS(K)",
        chosen=knee,
    ).save(folder / "rss.svg")
