"""Adjusted Rand index of five methods over a grid of concentration, separation and dimension, as csv and figure.

Run: ``python -m experiments.vmf_difficulty [--quick]``. Every finished case is in ``results/ari.csv``, from which an
interrupted run goes on; the figure is ``results/ari.svg``.

Concentration is given as the expected cosine A_d(kappa) of a document to its mean, because the same kappa means quite
different things in 10 and in 1,000 dimensions.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from doccluster.clustering import SphericalKMeans, VonMisesFisherMixture
from doccluster.clustering.mixtures.vmf_functions import MAX_CONCENTRATION, concentration
from doccluster.measures import score
from doccluster.report.figures import line_chart
from doccluster.synthetic import make_vmf_mixture
from experiments.resumable import run_cases

RESULTS = pathlib.Path(__file__).parent / "results"
N_DOCUMENTS, N_CLUSTERS = 500, 5
DIMENSIONS = (10, 100, 1000)
SEPARATIONS = (0.0, 0.5, 0.8)
COSINES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8)
SEEDS = 3
GAUSSIAN_LIMIT = (
    100  # dimensions: covariances of 1,000 dimensions take n_clusters x 1,000 x 1,000 numbers from 200 rows
)


def methods(n_terms: int, seed: int) -> dict[str, object]:
    """Return the estimators, each with the same number of starts."""
    found: dict[str, object] = {
        "spherical k-means": SphericalKMeans(N_CLUSTERS, n_init=3, random_state=seed),
        "vMF mixture, soft": VonMisesFisherMixture(N_CLUSTERS, concentration="free", n_init=3, random_state=seed),
        "vMF mixture, hard": VonMisesFisherMixture(
            N_CLUSTERS, assignment="hard", concentration="free", n_init=3, random_state=seed
        ),
        "KMeans": KMeans(N_CLUSTERS, n_init=3, random_state=seed),
    }
    if n_terms <= GAUSSIAN_LIMIT:
        found["GaussianMixture"] = GaussianMixture(N_CLUSTERS, n_init=3, reg_covar=1e-6, random_state=seed)
    return found


def measure(n_terms: int, separation: float, cosine: float, seed: int) -> Iterator[dict[str, object]]:
    """Yield the adjusted Rand index of each method on one corpus."""
    kappa = concentration(n_terms, cosine, MAX_CONCENTRATION)
    vectors, truth = make_vmf_mixture(
        N_DOCUMENTS, n_terms, N_CLUSTERS, kappa=kappa, separation=separation, random_state=seed, dtype=np.float64
    )
    for name, method in methods(n_terms, seed).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # GaussianMixture where nothing can be found
            labels = method.fit_predict(vectors.matrix)  # type: ignore[attr-defined]
        ari = score("adjusted_rand", labels, truth=truth).value
        yield {"kappa": f"{kappa:.6g}", "method": name, "ari": f"{ari:.6f}"}


def draw(lines: list[dict[str, str]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw one figure for each dimension and separation that has lines."""
    paths = []
    for n_terms, separation in sorted({(int(line["n_terms"]), float(line["separation"])) for line in lines}):
        here = [x for x in lines if (int(x["n_terms"]), float(x["separation"])) == (n_terms, separation)]
        cosines = sorted({float(line["cosine"]) for line in here})
        series = {}
        for method in dict.fromkeys(line["method"] for line in here):
            series[method] = [
                statistics.mean(float(x["ari"]) for x in here if (x["method"], float(x["cosine"])) == (method, cosine))
                for cosine in cosines
            ]
        path = folder / f"ari_{n_terms}_{separation:g}.svg"
        line_chart(
            {method: (cosines, scores) for method, scores in series.items()},
            title=f"{n_terms} dimensions, cosine {separation:g} between means",
            x_label="expected cosine of a document to its mean",
            y_label="adjusted Rand index",
            y_range=(-0.05, 1.05),
        ).save(path)
        paths.append(path)
    return paths


def print_table(lines: list[dict[str, str]]) -> None:
    """Print the mean over concentrations and seeds for each dimension and separation."""
    names = list(dict.fromkeys(line["method"] for line in lines))
    print("| dimensions | separation | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    for n_terms, separation in sorted({(int(line["n_terms"]), float(line["separation"])) for line in lines}):
        cells = []
        for name in names:
            key = (n_terms, separation, name)
            values = [
                float(line["ari"])
                for line in lines
                if (int(line["n_terms"]), float(line["separation"]), line["method"]) == key
            ]
            cells.append(f"{statistics.mean(values):.3f}" if values else "-")
        print(f"| {n_terms} | {separation:g} | " + " | ".join(cells) + " |")


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing, draw the figures and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.vmf_difficulty", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, two concentrations, up to 100 dimensions")
    asked = parser.parse_args(arguments)
    dimensions, cosines, seeds = (DIMENSIONS[:2], COSINES[2:4], 1) if asked.quick else (DIMENSIONS, COSINES, SEEDS)
    cases = [
        {"n_terms": n_terms, "separation": separation, "cosine": cosine, "seed": seed}
        for n_terms, separation, cosine, seed in itertools.product(dimensions, SEPARATIONS, cosines, range(seeds))
    ]
    lines = run_cases(RESULTS / "ari.csv", cases, measure, columns=("kappa", "method", "ari"))
    print_table(lines)
    for path in draw(lines, RESULTS):
        print(path)


if __name__ == "__main__":
    main()
