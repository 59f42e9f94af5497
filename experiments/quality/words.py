"""What each step of the default vectors adds: how well clusters agree with human classes, k = number of classes.

``python -m experiments.quality.words [--most N] [--seeds N] [--keep] [FOLDER]`` clusters up to N documents of each set
(2,500, evenly spaced) with three seeds and one thread: all words, then without function words, then with stems, then
without even words too, which is the default. Search results of AMBIENT are clustered query by query (fewer than 100
documents each, so none of their words are even). ``--keep`` writes results/words.csv and the table of
docs/explanation/quality.md.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, cluster_documents
from doccluster.vectors import vectorize
from experiments.quality.meaning import PAGE, TITLES, Texts, texts_of, thinned
from experiments.quality.page import put_between
from experiments.quality.run import taken

HERE = pathlib.Path(__file__).resolve().parent
WAYS: dict[str, dict[str, Any]] = {
    "all words": {"language": "none"},
    "without function words": {"stemming": "none", "dropped_terms": ()},
    "and stemmed": {"dropped_terms": ()},
    "and without even words": {},
}


def main(arguments: list[str]) -> None:
    """Print the table of all sets."""
    most, n_seeds = int(taken(arguments, "--most") or 2500), int(taken(arguments, "--seeds") or 3)
    keeps = "--keep" in arguments and not arguments.remove("--keep")
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    runs = pd.DataFrame(line for name in TITLES for line in lines_of(name, folder, most, n_seeds))
    print(table := table_of(runs))
    if keeps:
        runs.to_csv(HERE / "results" / "words.csv", index=False, float_format="%.6f")
        PAGE.write_text(put_between(PAGE.read_text(encoding="utf-8"), "words", table), encoding="utf-8")


def lines_of(name: str, folder: pathlib.Path, most: int, n_seeds: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each way: the mean over the groups of texts and the seeds."""
    groups = [thinned(texts, most) for texts in texts_of(name, folder)]
    for way, options in WAYS.items():
        scores = np.mean([score for texts in groups for score in scores_of(texts, options, n_seeds)], axis=0)
        yield {"set": name, "way": way, "nmi": scores[0], "adjusted_rand": scores[1]}


def scores_of(texts: Texts, options: dict[str, Any], n_seeds: int) -> Iterator[tuple[float, float]]:
    """Yield normalised mutual information and adjusted Rand of the default clusters, for each seed."""
    vectors = vectorize(texts[0], **options)
    kept = np.flatnonzero(~vectors.is_empty)
    vectors, classes = vectors.take(kept), [texts[1][row] for row in kept]
    for seed in range(n_seeds):
        parameters = DocumentParameters(n_clusters=len(set(classes)), random_state=seed, n_threads=1)
        labels = cluster_documents(vectors.documents.unit, vectors.counts, parameters).labels
        nmi, rand = (doccluster.score(name, labels, truth=classes).value for name in ("nmi", "adjusted_rand"))
        yield nmi, rand


def table_of(runs: pd.DataFrame) -> str:
    """Return the table of the page: a line for each set, NMI / adjusted Rand in each cell."""
    lines = ["| set | " + " | ".join(WAYS) + " |", "|---" * (len(WAYS) + 1) + "|"]
    for name, of_set in runs.groupby("set", sort=False):
        cells = [f"{nmi:.3f} / {rand:.3f}" for nmi, rand in zip(of_set["nmi"], of_set["adjusted_rand"], strict=True)]
        lines.append(f"| {TITLES[str(name)]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
