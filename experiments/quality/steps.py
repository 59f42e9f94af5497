"""How far rows are smoothed: one step, three, or three that each take up the row as it was, which is the default.

``python -m experiments.quality.steps [--most N] [--seeds N] [--keep] [FOLDER]`` clusters up to N documents of each set
(2,500, evenly spaced) and the CLUTO matrices, k = number of classes, two seeds: rows smoothed in each way, settled.
``--keep`` writes results/steps.csv and the table of docs/explanation/quality.md.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.clustering.smoothed.document_spaces import shared_term_rows
from doccluster.geometry import Documents, latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.geometry.projection import unit
from doccluster.vectors import vectorize
from doccluster.vectors.weighting import Weighting
from experiments.quality.corpora import CLUTO, load
from experiments.quality.meaning import PAGE, TITLES, texts_of, thinned
from experiments.quality.page import put_between
from experiments.quality.run import taken

HERE = pathlib.Path(__file__).resolve().parent
CHOSEN_ON = ("stackoverflow", "questions", "newsgroups", "reuters", "itn", "k1b", "tr11", "re0")


def further(rows: Any, graph: Any) -> Any:
    """Return rows moved three times, each time from where they were last."""
    for _ in range(3):
        rows = smoothed_rows(rows, graph, mixing=0.7, n_steps=1)
    return rows


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "one step, half way": lambda rows, graph: smoothed_rows(rows, graph, mixing=0.5, n_steps=1),
    "three steps": further,
    "three steps from the row": smoothed_rows,
}


def main(arguments: list[str]) -> None:
    """Print the table of all sets."""
    most, n_seeds = int(taken(arguments, "--most") or 2500), int(taken(arguments, "--seeds") or 2)
    keeps = "--keep" in arguments and not arguments.remove("--keep")
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    lines = []
    for name in (*TITLES, *CLUTO):
        groups = list(counts_of(name, folder, most))
        scores = pd.DataFrame([one for group in groups for seed in range(n_seeds) for one in scores_of(*group, seed)])
        lines += [
            {"set": name, **line} for line in scores.groupby("way", sort=False).mean().reset_index().to_dict("records")
        ]
    runs = pd.DataFrame(lines)
    print(table := table_of(runs))
    if keeps:
        runs.to_csv(HERE / "results" / "steps.csv", index=False, float_format="%.6f")
        PAGE.write_text(put_between(PAGE.read_text(encoding="utf-8"), "steps", table), encoding="utf-8")


def counts_of(name: str, folder: pathlib.Path, most: int) -> Iterator[tuple[Any, list[str]]]:
    """Yield the counts of the documents of each group of a set, and their classes."""
    if name in CLUTO:
        counts, _, classes = load(str(folder), name)
        yield counts, classes
        return
    for texts in texts_of(name, folder):
        few, classes = thinned(texts, most)
        vectors = vectorize(few)
        kept = np.flatnonzero(~vectors.is_empty)
        assert vectors.counts is not None
        yield vectors.counts[kept], [classes[row] for row in kept]


def scores_of(counts: Any, classes: list[str], seed: int) -> Iterator[dict[str, Any]]:
    """Yield the agreement of each way of smoothing with the classes."""
    k = len(set(classes))
    logarithms = shared_term_rows(counts, k, weighting=Weighting(term="l")).rows
    graph = nearest_neighbours(Documents(logarithms), 10)
    spaces = []
    for rows in (logarithms, shared_term_rows(counts, k).rows):
        space = latent_semantic_space(rows, 50, n_power_iterations=1, random_state=seed)
        spaces.append(space.project(rows)[graph.first])
    for way, moved in WAYS.items():
        points = unit(np.hstack([moved(rows, graph.symmetric()) for rows in spaces]))[graph.families]
        fit = spherical_k_means(
            Documents(points.astype(np.float32)), SphericalParameters(k, n_init=10, random_state=seed)
        )
        labels = settle_labels(counts, fit.labels.astype(np.int64), k).labels
        scores = {name: doccluster.score(name, labels, truth=classes).value for name in ("nmi", "adjusted_rand")}
        yield {"way": way, **scores}


def table_of(runs: pd.DataFrame) -> str:
    """Return the table of the page: NMI / adjusted Rand of each set, and the means of both halves."""
    means = runs.set_index(["set", "way"]).unstack()
    lines = ["| set | " + " | ".join(WAYS) + " |", "|---" * (len(WAYS) + 1) + "|"]
    is_known = means.index.isin(CHOSEN_ON)
    for half, title in ((means[is_known], "mean of these"), (means[~is_known], "mean of the others")):
        titled = {TITLES.get(str(name), str(name)): row for name, row in half.iterrows()}
        for name, row in {**titled, title: half.mean()}.items():
            cells = [f"{row['nmi', way]:.3f} / {row['adjusted_rand', way]:.3f}" for way in WAYS]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
