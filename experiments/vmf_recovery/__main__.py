"""Bias and spread of the mixture's estimates over seeds, where the truth is known, as csv and a printed table.

Run: ``python -m experiments.vmf_recovery``. Every finished case is in ``results/recovery.csv``.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from doccluster.clustering import VonMisesFisherMixture
from doccluster.clustering.mixtures.vmf_functions import MAX_CONCENTRATION, concentration
from doccluster.synthetic import plan_vmf_mixture
from experiments.resumable import run_cases

RESULTS = pathlib.Path(__file__).parent / "results"
WEIGHTS = (0.5, 0.3, 0.2)
COSINES = (0.5, 0.6, 0.7)  # A_d(kappa) of the three clusters
CASES = ((500, 10), (5000, 10), (500, 100), (5000, 100), (500, 1000), (5000, 1000))
SEEDS = 10


def measure(n_documents: int, n_terms: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield, for each cluster, the relative error of kappa, the error of the weight and the cosine of the means."""
    kappas = [concentration(n_terms, cosine, MAX_CONCENTRATION) for cosine in COSINES]
    mixture = plan_vmf_mixture(
        n_documents, n_terms, 3, kappa=kappas, separation=0.2, weights=WEIGHTS, random_state=seed, dtype=np.float64
    )
    made = mixture.draw()
    model = VonMisesFisherMixture(3, concentration="free", n_init=3, random_state=seed).fit(made.vectors.matrix)
    cosines = mixture.means @ model.means_.T
    true, found = linear_sum_assignment(-cosines)
    for cluster, match in zip(true, found, strict=True):
        yield {
            "cluster": int(cluster),
            "kappa": f"{kappas[cluster]:.6g}",
            "kappa_error": f"{model.concentrations_[match] / kappas[cluster] - 1:.6f}",
            "weight_error": f"{model.weights_[match] - np.mean(made.truth == cluster):.6f}",
            "mean_cosine": f"{cosines[cluster, match]:.6f}",
        }


def print_table(lines: list[dict[str, str]]) -> None:
    """Print mean (standard deviation) over the seeds."""
    print("| documents | dimensions | cluster | kappa | error of kappa, % | error of weight | cosine of means |")
    print("|---|---|---|---|---|---|---|")
    for n_documents, n_terms in CASES:
        for cluster in range(len(WEIGHTS)):
            key = (str(n_documents), str(n_terms), str(cluster))
            here = [line for line in lines if (line["n_documents"], line["n_terms"], line["cluster"]) == key]
            if not here:
                continue
            cells = [
                _cell([scale * float(line[name]) for line in here], digits)
                for name, scale, digits in (("kappa_error", 100, 2), ("weight_error", 1, 4), ("mean_cosine", 1, 4))
            ]
            kappa = float(here[0]["kappa"])
            print(f"| {n_documents} | {n_terms} | {cluster + 1} | {kappa:.1f} | " + " | ".join(cells) + " |")


def _cell(values: list[float], digits: int) -> str:
    spread = statistics.stdev(values) if len(values) > 1 else float("nan")
    return f"{statistics.mean(values):+.{digits}f} ({spread:.{digits}f})"


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.vmf_recovery", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    asked = parser.parse_args(arguments)
    cases = [
        {"n_documents": n_documents, "n_terms": n_terms, "seed": seed}
        for (n_documents, n_terms), seed in itertools.product(CASES, range(asked.seeds))
    ]
    columns = ("cluster", "kappa", "kappa_error", "weight_error", "mean_cosine")
    print_table(run_cases(RESULTS / "recovery.csv", cases, measure, columns=columns))


if __name__ == "__main__":
    main()
