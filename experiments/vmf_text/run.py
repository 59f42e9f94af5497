"""Mixtures of von Mises-Fisher distributions on text, beside spherical k-means: NMI over ten seeds on seven corpora.

Run: ``python -m experiments.vmf_text.run FOLDER``, where FOLDER holds the CLUTO matrices as NAME/NAME.mat with their
classes. Every finished case is in ``results/nmi.csv``, from which an interrupted run goes on; the table is printed.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import warnings
from collections.abc import Iterator

from doccluster.clustering import SphericalKMeans, VonMisesFisherMixture
from doccluster.errors import DocclusterWarning
from doccluster.measures import score
from doccluster.vectors import read_matrix
from experiments.resumable import run_cases

CORPORA = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
N_SEEDS = 10
RESULTS = pathlib.Path(__file__).parent / "results"
MIXTURES = {
    "soft, free": {"concentration": "free"},
    "hard, free": {"assignment": "hard", "concentration": "free"},
    "soft, shared": {"concentration": "shared"},
    "hard, shared": {"assignment": "hard", "concentration": "shared"},
}


def measure(folder: pathlib.Path, corpus: str, seed: int) -> Iterator[dict[str, object]]:
    """Yield the NMI of each method on one corpus with one seed; all start from one start of spherical k-means."""
    vectors, classes = read_matrix(folder / corpus / f"{corpus}.mat", drop_empty_columns=True)
    assert classes is not None
    k = len(set(classes))
    k_means = SphericalKMeans(k, n_init=1, random_state=seed).fit(vectors.matrix)
    yield {
        "method": "spherical k-means",
        "nmi": nmi(k_means.labels_, classes),
        "entropy": 0.0,
        "n_iter": k_means.n_iter_,
    }
    for name, options in MIXTURES.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DocclusterWarning)
            model = VonMisesFisherMixture(k, init=k_means.labels_.astype(int), **options).fit(vectors.matrix)
        yield {
            "method": name,
            "nmi": nmi(model.labels_, classes),
            "entropy": float(model.entropies_[~vectors.is_empty].mean()),
            "n_iter": model.n_iter_,
            "note": "; ".join(str(warning.message) for warning in caught),
        }


def nmi(labels: object, classes: list[str]) -> float:
    """Return the normalised mutual information (arithmetic mean) of labels and classes."""
    return float(score("nmi", labels, truth=classes).value)


def print_table(lines: list[dict[str, str]]) -> None:
    """Print mean and standard deviation over the seeds, and the mean entropy of the soft labels in nats."""
    methods = ["spherical k-means", *MIXTURES]
    print("| corpus | " + " | ".join(methods) + " | entropy (soft, free) |")
    print("|---|" + "---|" * (len(methods) + 1))
    for corpus in (name for name in CORPORA if any(line["corpus"] == name for line in lines)):
        cells = []
        for method in methods:
            values = [float(line["nmi"]) for line in lines if (line["corpus"], line["method"]) == (corpus, method)]
            spread = statistics.stdev(values) if len(values) > 1 else float("nan")
            cells.append(f"{statistics.mean(values):.3f} ({spread:.3f})")
        soft = [float(x["entropy"]) for x in lines if (x["corpus"], x["method"]) == (corpus, "soft, free")]
        print(f"| {corpus} | " + " | ".join(cells) + f" | {statistics.mean(soft):.4f} |")


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.vmf_text.run", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="the CLUTO matrices")
    parser.add_argument("--corpora", nargs="+", default=CORPORA, choices=CORPORA)
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    asked = parser.parse_args(arguments)
    cases = [{"corpus": corpus, "seed": seed} for corpus in asked.corpora for seed in range(asked.seeds)]
    lines = run_cases(
        RESULTS / "nmi.csv",
        cases,
        lambda corpus, seed: measure(asked.folder, corpus, seed),
        columns=("method", "nmi", "entropy", "n_iter", "note"),
    )
    print_table(lines)


if __name__ == "__main__":
    main()
