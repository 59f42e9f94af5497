"""How often documents keep their cluster over resamples, by how much they belong to it.

``python -m experiments.quality.memberships [FOLDER]`` clusters up to 3,000 documents of each set as `run` does, with as
many clusters as classes; then ten random samples of four fifths of them, each with another seed. Clusters of a sample
are paired with those of all documents, so that as many documents as can be are in paired ones. It prints for documents
grouped by their largest membership (see `Run.memberships`) the share of cases in which a document of the sample was in
the pair of its cluster, and how many documents that are. Writes results/memberships.csv.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from doccluster.clustering import DocumentClustering
from experiments.quality.corpora import is_there, load
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
CORPORA = ("re0", "k1b", "la1", "reuters", "newsgroups", "stackoverflow")
MAX_DOCUMENTS, N_SAMPLES, SHARE = 3_000, 10, 0.8
EDGES = (0.0, 0.5, 0.7, 0.9, 0.99, 0.9999, 1.0)
COLUMNS = ("membership", "documents", "mean_membership", "kept")


def measure(folder: str, corpus: str) -> Iterator[dict[str, object]]:
    """Yield a line for each group of documents."""
    counts, _, classes = load(folder, corpus)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(counts.shape[0])[:MAX_DOCUMENTS])
    counts, k = counts[rows], len({classes[row] for row in rows})
    model = DocumentClustering(k, random_state=0).fit(counts)
    assert model.mixture_ is not None
    largest = model.mixture_.rule.memberships(counts, k).max(axis=1).toarray().ravel()
    n_cases, n_kept = np.zeros(rows.size), np.zeros(rows.size)
    for seed in range(1, N_SAMPLES + 1):
        sample = np.sort(rng.permutation(rows.size)[: int(SHARE * rows.size)])
        labels = DocumentClustering(k, random_state=seed).fit_predict(counts[sample])
        overlaps = np.zeros((k, k))
        np.add.at(overlaps, (model.labels_[sample], labels), 1)
        pair = linear_sum_assignment(overlaps, maximize=True)[1]
        n_cases[sample] += 1
        n_kept[sample] += pair[model.labels_[sample]] == labels
    group = np.digitize(largest, EDGES[1:-1])
    for number, (low, high) in enumerate(itertools.pairwise(EDGES)):
        in_group = group == number
        if n_cases[in_group].sum():
            yield {
                "membership": f"{low:g} to {high:g}",
                "documents": int(in_group.sum()),
                "mean_membership": round(float(largest[in_group].mean()), 4),
                "kept": round(float(n_kept[in_group].sum() / n_cases[in_group].sum()), 4),
            }


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the table."""
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    lines = run_cases(
        HERE / "results" / "memberships.csv",
        [{"corpus": corpus} for corpus in CORPORA if is_there(folder, corpus)],
        lambda corpus: measure(str(folder), corpus),
        columns=COLUMNS,
    )
    table = pd.DataFrame(lines)
    table["cell"] = table["kept"] + " (" + table["documents"] + ")"
    print(table.pivot(index="membership", columns="corpus", values="cell").fillna("").to_string())


if __name__ == "__main__":
    main(sys.argv[1:])
