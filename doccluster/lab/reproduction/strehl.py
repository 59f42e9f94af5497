"""What Strehl's text claims of purity, entropy, F1 and NMI, tried on singletons, refinements and shuffled labels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from doccluster.base.arrays import Integers
from doccluster.cli.reproduction import Work
from doccluster.measures import score
from doccluster.report.figures import line_chart

SOURCE = "Strehl 2002, Relationship-based clustering and cluster ensembles, section on external quality"
N, CLASSES, SHUFFLES = 100, 5, 400
KS = (2, 5, 10, 20, 50, 100)
CURVES = {"purity": "purity", "entropy quality": "strehl_entropy", "F1": "strehl_f1", "NMI (4.25)": "nmi_strehl"}
ADJUSTED = {"adjusted MI": "ami", "adjusted Rand": "adjusted_rand"}


def reproduce(work: Work) -> dict[str, float]:
    """Return 1.0 for each claim that holds, 0.0 for each that does not, and the values that are claimed exactly."""
    rng = np.random.default_rng(work.seed)
    truth = np.repeat(np.arange(CLASSES), N // CLASSES)
    unbalanced = np.repeat([0, 1, 2], [70, 20, 10])
    singletons = np.arange(N)
    means = shuffled_means(truth, rng, shuffles=100 if work.quick else SHUFFLES)
    if work.tables is not None:
        means.to_csv(work.tables / "shuffled.csv", index_label="k")
        line_chart(
            {str(name): (means.index, means[name]) for name in means},
            x_label="clusters of shuffled labels",
            y_label="mean value",
            log_x=True,
        ).save(work.tables / "shuffled.svg")
    refined = [truth * parts + rng.integers(parts, size=N) for parts in (2, 4, 10)]
    many = rng.permutation(np.repeat(np.arange(5), 20_000))
    return {
        "singletons_purity": value("purity", singletons, truth),
        "singletons_entropy_quality": value("strehl_entropy", singletons, truth),
        "singletons_nmi_below_one": float(value("nmi_strehl", singletons, truth) < 1),
        "perfect_balanced_nmi": value("nmi_strehl", truth, truth),
        "perfect_unbalanced_nmi_below_one": float(value("nmi_strehl", unbalanced, unbalanced) < 1),
        "refinement_lowers_nmi": holds(value("nmi_strehl", labels, truth) < 1 for labels in refined),
        "refinement_keeps_mutual_information": holds(
            abs(value("mutual_information", labels, truth) - np.log(CLASSES)) < 1e-9 for labels in refined
        ),
        "purity_rises_with_k_on_random_labels": holds(np.diff(means["purity"]) > 0),
        "entropy_quality_rises_with_k_on_random_labels": holds(np.diff(means["entropy quality"]) > 0),
        "f1_falls_with_k_on_random_labels": holds(np.diff(means["F1"].loc[5:]) < 0),
        "f1_of_random_labels_is_not_zero": float(means["F1"].min() > 0.05),
        "nmi_of_random_labels_in_the_limit": value("nmi_strehl", many, np.repeat(np.arange(5), 20_000)),
        "nmi_of_random_labels_is_unbiased": float(means["NMI (4.25)"].max() < 0.01),
    }


def value(name: str, labels: Integers, truth: Integers) -> float:
    """Return one measure by name."""
    return float(score(name, labels, truth=truth).value)


def holds(claims: Iterable[object]) -> float:
    """Return 1.0 if all claims hold."""
    return float(all(claims))


def shuffled_means(truth: Integers, rng: np.random.Generator, *, shuffles: int) -> pd.DataFrame:
    """Return the mean of each measure over shuffled labels of k equal clusters, one row per k."""
    rows = {}
    for k in KS:
        labels = np.arange(N) % k
        permutations = [rng.permutation(labels) for _ in range(shuffles)]
        rows[k] = {
            name: float(np.mean([value(code, shuffled, truth) for shuffled in permutations]))
            for name, code in {**CURVES, **ADJUSTED}.items()
        }
    return pd.DataFrame.from_dict(rows, orient="index")
