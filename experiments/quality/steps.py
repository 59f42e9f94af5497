"""What each choice behind the default clusters is worth: its words, how far rows are smoothed, what they are made of.

``python -m experiments.quality.steps [words] [smoothing] [rows] [--most N] [--seeds N] [--keep] [FOLDER]`` clusters up
to N documents of each set (2,500, evenly spaced), k = number of classes, with two seeds and one thread, and prints a
table for each of the three (all, if none is named). Search results of AMBIENT are clustered query by query.

- words: the texts by all their words, without function words, stemmed, without even words, and with letters beside
  the words, which is the default.
- smoothing: rows moved one step half way, three steps each from where the row was last, or from the row as it was.
- rows: rows of tf-idf weights, of logarithms, or both side by side; neighbours by either; sizes and starts. It also
  says how much processor time each takes beside ten starts of plain k-means, and how often it has the highest mean NMI
  of all when one set is left out.

``--keep`` writes the tables into docs/evidence/quality.md.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import doccluster
from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.clustering.smoothed.document_spaces import shared_term_rows
from doccluster.geometry import latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.geometry.projection import unit
from doccluster.vectors.weighting import Weighting
from experiments.quality.corpora import CLUTO, load
from experiments.quality.meaning import PAGE, TITLES, Texts, texts_of, thinned
from experiments.quality.page import put_between
from experiments.quality.run import taken

TEXT_SETS = ("stackoverflow", "questions", "search results", "itn", "reuters", "newsgroups")
CHOSEN_ON = ("stackoverflow", "questions", "newsgroups", "reuters", "itn", "k1b", "tr11", "re0")
AGREEMENT = ("nmi", "adjusted_rand")


def further(rows: Any, graph: Any) -> Any:
    """Return rows moved three times, each time from where they were last."""
    for _ in range(3):
        rows = smoothed_rows(rows, graph, mixing=0.7, n_steps=1)
    return rows


@dataclass(frozen=True)
class Rows:
    """How the smoothed rows are made: the weights of each part of them, those of the graph, sizes, and steps."""

    parts: tuple[str, ...] = ("l", "n")  # logarithms of the counts, counts; each times idf
    graph: str = "l"
    dimensions: int = 50  # of each part
    n_power_iterations: int = 1
    n_init: int = 10
    moved: Callable[[Any, Any], Any] = smoothed_rows


WORDS: dict[str, dict[str, Any]] = {
    "all words": {"language": "none", "letters": False},
    "without function words": {"stemming": "none", "dropped_terms": (), "letters": False},
    "and stemmed": {"dropped_terms": (), "letters": False},
    "and without even words": {"letters": False},
    "and with letters": {},
}
SMOOTHING = {
    "one step, half way": Rows(moved=partial(smoothed_rows, mixing=0.5, n_steps=1)),
    "three steps": Rows(moved=further),
    "three steps from the row": Rows(),
}
ROWS = {
    "counts": Rows(("n",), "n", 100),
    "counts, four power iterations": Rows(("n",), "n", 100, 4),
    "logarithms": Rows(("l",), "l", 100),
    "counts on the graph of logarithms": Rows(("n",), "l", 100),
    "both, 50 dimensions each, that graph": Rows(),
    "the same, five starts": Rows(n_init=5),
    "the same, three starts": Rows(n_init=3),
    "both, 100 dimensions each, that graph": Rows(dimensions=100),
    "both and BM25, 33 dimensions each, that graph": Rows(("l", "n", "bm25"), dimensions=33),
}


def main(arguments: list[str]) -> None:
    """Print the tables asked for."""
    most, n_seeds = int(taken(arguments, "--most") or 2500), int(taken(arguments, "--seeds") or 2)
    keeps = "--keep" in arguments and not arguments.remove("--keep")
    parts = {"words": words_table, "smoothing": smoothing_table, "rows": rows_table}
    asked = [part for part in parts if part in arguments] or list(parts)
    folders = [pathlib.Path(argument) for argument in arguments if argument not in parts]
    folder = folders[0] if folders else pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpora"
    for part in asked:
        with threadpool_limits(1):
            table = parts[part](folder, most, n_seeds)
        print(table, end="\n\n", flush=True)
        if keeps:
            PAGE.write_text(put_between(PAGE.read_text(encoding="utf-8"), part, table), encoding="utf-8")


def words_table(folder: pathlib.Path, most: int, n_seeds: int) -> str:
    """Return NMI and adjusted Rand of the default clusters by each choice of words, a line for each set of texts."""
    lines = []
    for name in TEXT_SETS:
        groups = [thinned(texts, most) for texts in texts_of(name, folder)]
        for way, options in WORDS.items():
            scores = [score for texts in groups for score in scores_of_words(texts, options, n_seeds)]
            lines.append({"set": name, "way": way, **dict(zip(AGREEMENT, np.mean(scores, axis=0), strict=True))})
    return table_of(pd.DataFrame(lines), list(WORDS))


def scores_of_words(texts: Texts, options: dict[str, Any], n_seeds: int) -> Iterator[tuple[float, ...]]:
    """Yield the agreement of the default clusters of some texts with their classes, for each seed."""
    vectors = doccluster.vectorize(texts[0], n_threads=1, **options)
    kept = np.flatnonzero(~vectors.is_empty)
    vectors, classes = vectors.take(kept), [texts[1][row] for row in kept]
    for seed in range(n_seeds):
        model = doccluster.DocumentClustering(len(set(classes)), random_state=seed, n_threads=1)
        yield agreement(model.fit_predict(vectors.counts, letters=vectors.letters), classes)


def smoothing_table(folder: pathlib.Path, most: int, n_seeds: int) -> str:
    """Return NMI and adjusted Rand by how far rows are smoothed, a line for each set, and the means of both halves."""
    runs = runs_of(SMOOTHING, folder, most, n_seeds)
    chosen_on = runs["set"].isin(CHOSEN_ON)
    halves = [(runs[chosen_on], "mean of these"), (runs[~chosen_on], "mean of the others")]
    tables = [table_of(half, list(SMOOTHING), mean=title).splitlines() for half, title in halves]
    return "\n".join([*tables[0], *tables[1][2:]])


def rows_table(folder: pathlib.Path, most: int, n_seeds: int) -> str:
    """Return the means over the sets of each kind of rows, its time beside plain k-means, and where it is the best."""
    means = runs_of(ROWS, folder, most, n_seeds).groupby(["way", "set"], sort=False).mean(numeric_only=True)
    nmi = means["nmi"].unstack("set", sort=False)
    best = [nmi.drop(columns=name).mean(axis=1).idxmax() for name in nmi.columns]
    lines = ["| rows made of | NMI | adjusted Rand | times plain | best without one set |", "|---|---|---|---|---|"]
    for kind, row in means.groupby("way", sort=False).mean().iterrows():
        numbers = f"{row['nmi']:.3f} | {row['adjusted_rand']:.3f} | {row['times_plain']:.1f}"
        lines.append(f"| {kind} | {numbers} | {best.count(kind) or ''} |")
    return "\n".join(lines)


def runs_of(ways: dict[str, Rows], folder: pathlib.Path, most: int, n_seeds: int) -> pd.DataFrame:
    """Return a line for each set and way of making rows: means over groups and seeds."""
    lines = []
    for name in (*TEXT_SETS, *CLUTO):
        groups = list(counts_of(name, folder, most))
        if not lines:
            list(fits(ways, *groups[0], 0))  # loads the compiled code
        runs = pd.DataFrame([line for group in groups for seed in range(n_seeds) for line in fits(ways, *group, seed)])
        means = runs.groupby("way", sort=False).mean()
        seconds = means.pop("seconds")
        lines += (
            means.assign(times_plain=seconds / means.pop("plain_seconds"), set=name).reset_index().to_dict("records")
        )
    return pd.DataFrame(lines)


def counts_of(name: str, folder: pathlib.Path, most: int) -> Iterator[tuple[Any, list[str]]]:
    """Yield the counts of the documents of each group of a set, and their classes."""
    if name in CLUTO:
        counts, _, classes = load(str(folder), name)
        yield counts, classes
        return
    for texts in texts_of(name, folder):
        documents, classes = thinned(texts, most)
        vectors = doccluster.vectorize(documents, letters=False, n_threads=1)
        kept = np.flatnonzero(~vectors.is_empty)
        assert vectors.counts is not None  # made of texts
        yield vectors.counts[kept], [classes[row] for row in kept]


def fits(ways: dict[str, Rows], counts: Any, classes: list[str], seed: int) -> Iterator[dict[str, Any]]:
    """Yield the agreement of each way with the classes, and its seconds beside those of plain k-means."""
    k = len(set(classes))
    began = time.process_time()
    doccluster.SphericalKMeans(k, random_state=seed, n_threads=1).fit(shared_term_rows(counts, k).rows)
    plain = time.process_time() - began
    for way, rows in ways.items():
        began = time.process_time()
        labels = labels_by(rows, counts, k, seed)
        seconds = {"seconds": time.process_time() - began, "plain_seconds": plain}
        yield {"way": way, **dict(zip(AGREEMENT, agreement(labels, classes), strict=True)), **seconds}


def labels_by(rows: Rows, counts: Any, k: int, seed: int) -> Any:
    """Return the labels of spherical k-means of smoothed rows, settled by the counts."""
    weights = {rows.graph, *rows.parts}
    weighed = {term: shared_term_rows(counts, k, weighting=Weighting(term=term)).rows for term in sorted(weights)}
    graph = nearest_neighbours(weighed[rows.graph], 10)
    points = []
    for part in rows.parts:
        how = {"n_power_iterations": rows.n_power_iterations, "random_state": seed}
        space = latent_semantic_space(weighed[part], rows.dimensions, **how)
        points.append(rows.moved(space.project(weighed[part])[graph.first], graph.symmetric()))
    side_by_side = unit(np.hstack(points))[graph.families].astype(np.float32)
    model = doccluster.SphericalKMeans(k, n_init=rows.n_init, random_state=seed, n_threads=1).fit(side_by_side)
    return settle_labels(counts, model.labels_.astype(np.int64), k).labels


def agreement(labels: Any, classes: list[str]) -> tuple[float, ...]:
    """Return normalised mutual information and adjusted Rand."""
    return tuple(float(doccluster.score(name, labels, truth=classes).value) for name in AGREEMENT)


def table_of(means: pd.DataFrame, ways: list[str], *, mean: str | None = None) -> str:
    """Return a table of the page: NMI / adjusted Rand of each set and way, and their mean where it has a title."""
    wide = means.pivot(index="set", columns="way", values=list(AGREEMENT))
    titled = {TITLES.get(str(name), str(name)): wide.loc[name] for name in means["set"].unique()}
    lines = ["| set | " + " | ".join(ways) + " |", "|---" * (len(ways) + 1) + "|"]
    for name, row in {**titled, **({mean: wide.mean()} if mean else {})}.items():
        cells = [f"{row['nmi', way]:.3f} / {row['adjusted_rand', way]:.3f}" for way in ways]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
