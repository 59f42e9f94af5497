"""Whether the probabilities of a multinomial mixture mean what they say: how often sure documents are right.

``python -m experiments.quality.reliability [FOLDER]`` fits the default mixture to CLUTO matrices with documents cut to
several lengths (`max_length`), and prints, for documents grouped by their largest probability, the mean of it and the
share whose class is the commonest one of their cluster. That share is below the probability where the clusters are not
the classes, however good the probabilities are; so look at how the lines of one set differ.
Writes results/reliability.csv.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd

from doccluster.clustering import MultinomialMixture
from experiments.quality.corpora import is_there, load
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
CORPORA = ("tr11", "re0", "k1b")
LENGTHS = (25.0, 50.0, 100.0, 200.0, np.inf)
EDGES = (0.0, 0.5, 0.7, 0.9, 0.99, 1.0)
COLUMNS = ("probability", "documents", "mean_probability", "right")


def measure(folder: str, corpus: str, max_length: float) -> Iterator[dict[str, object]]:
    """Yield a line for each group of documents."""
    counts, _, classes = load(folder, corpus)
    truth = np.unique(classes, return_inverse=True)[1]
    model = MultinomialMixture(int(truth.max()) + 1, max_length=max_length, random_state=0).fit(counts)
    largest = model.predict_proba(counts).max(axis=1)
    table = np.zeros((model.weights_.size, truth.max() + 1))
    np.add.at(table, (model.labels_, truth), 1.0)
    right = table.argmax(axis=1)[model.labels_] == truth
    group = np.digitize(largest, EDGES[1:-1])
    for number, (low, high) in enumerate(itertools.pairwise(EDGES)):
        own = group == number
        if own.any():
            yield {
                "probability": f"{low:g} to {high:g}",
                "documents": int(own.sum()),
                "mean_probability": round(float(largest[own].mean()), 4),
                "right": round(float(right[own].mean()), 4),
            }


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the table."""
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    lines = run_cases(
        HERE / "results" / "reliability.csv",
        [{"corpus": c, "max_length": length} for c in CORPORA if is_there(folder, c) for length in LENGTHS],
        lambda corpus, max_length: measure(str(folder), corpus, max_length),
        columns=COLUMNS,
    )
    print(pd.DataFrame(lines).to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1:])
