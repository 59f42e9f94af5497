"""What the rows that are smoothed (by one step, half way) should be made of: weights of the terms, graph, dimensions,
accuracy, starts.

``python -m experiments.quality.smoothing [--kept] [--seeds N] [--corpora A,B] [FOLDER]`` clusters the corpora of
`experiments.quality.run` by smoothed rows of several kinds, settled, k = number of classes, three seeds; prints the
means over the corpora, which kind is best when each corpus is left out in turn, and the seconds of the processor of
each kind over those of ten starts of plain spherical k-means; and writes the means into docs/explanation/quality.md.
``--kept`` runs nothing.
Writes results/smoothing.csv; an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.clustering.smoothed.document_spaces import shared_term_rows
from doccluster.geometry import Documents, latent_semantic_space, nearest_neighbours, smoothed_rows
from doccluster.geometry.projection import unit
from doccluster.vectors.weighting import Weighting
from experiments.quality.corpora import CORPORA, is_there, load
from experiments.quality.page import put_between
from experiments.quality.run import taken
from experiments.resumable import read_lines, run_cases

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results" / "smoothing.csv"
COLUMNS = ("kind", "nmi", "adjusted_rand", "seconds", "plain_seconds")
SEEDS = 3
MOST_TIMES_PLAIN = 2.5  # what the default may take


@dataclass(frozen=True)
class Kind:
    """How the rows are made: the weights of each part of them, those of the graph, and the sizes."""

    parts: tuple[str, ...]
    graph: str
    dimensions: int = 100  # of each part
    power: int = 1
    starts: int = 10


KINDS = {
    "counts": Kind(("n",), "n"),
    "counts, four power iterations": Kind(("n",), "n", power=4),
    "logarithms": Kind(("l",), "l"),
    "counts on the graph of logarithms": Kind(("n",), "l"),
    "both, 50 dimensions each, that graph": Kind(("n", "l"), "l", 50),
    "the same, five starts": Kind(("n", "l"), "l", 50, starts=5),
    "the same, three starts": Kind(("n", "l"), "l", 50, starts=3),
    "both, 100 dimensions each, that graph": Kind(("n", "l"), "l"),
    "both and BM25, 33 dimensions each, that graph": Kind(("n", "l", "bm25"), "l", 33),
}


class Timed:
    """Results of calls, each made once, and the seconds that they took the processor."""

    def __init__(self) -> None:
        self.seconds: dict[Any, float] = {}
        self._found: dict[Any, Any] = {}

    def __call__(self, key: Any, make: Callable[[], Any]) -> Any:
        """Call `make`, or return its earlier result."""
        if key not in self._found:
            start = time.process_time()
            self._found[key] = make()
            self.seconds[key] = time.process_time() - start
        return self._found[key]


def measure(folder: str, corpus: str, seed: int) -> Iterator[dict[str, object]]:
    """Yield a line for each kind."""
    counts, _, classes = load(folder, corpus)
    k = len(set(classes))
    done = Timed()
    weights = {w for kind in KINDS.values() for w in (*kind.parts, kind.graph)}
    rows = {w: shared_term_rows(counts, k, weighting=Weighting(term=w)).rows for w in sorted(weights)}
    spherical_k_means(Documents(rows["n"][:2000]), parameters(k, 10, seed))  # loads the compiled code
    done("plain", lambda: spherical_k_means(Documents(rows["n"]), parameters(k, 10, seed)))
    for name, kind in KINDS.items():
        graph = done(("graph", kind.graph), lambda kind=kind: nearest_neighbours(rows[kind.graph], 10))
        keys: list[Any] = [("graph", kind.graph)]
        for part in kind.parts:
            keys.append(("space", part, kind.dimensions, kind.power))
            make = latent_semantic_space
            done(
                keys[-1],
                lambda part=part, kind=kind, make=make: make(
                    rows[part], kind.dimensions, n_power_iterations=kind.power, random_state=seed
                ),
            )
        start = time.process_time()
        spaces = [done(key, lambda: None) for key in keys[1:]]
        moved = [
            smoothed_rows(space.project(rows[part][graph.first]), graph.symmetric(), mixing=0.5, n_steps=1)
            for part, space in zip(kind.parts, spaces, strict=True)
        ]
        points = unit(np.hstack(moved))[graph.families].astype(np.float32)
        labels = spherical_k_means(Documents(points), parameters(k, kind.starts, seed)).labels
        settled = settle_labels(counts, labels, k).labels
        seconds = time.process_time() - start + sum(done.seconds[key] for key in keys)
        yield {
            "kind": name,
            "nmi": doccluster.score("nmi", settled, truth=classes).value,
            "adjusted_rand": doccluster.score("adjusted_rand", settled, truth=classes).value,
            "seconds": round(seconds, 3),
            "plain_seconds": round(done.seconds["plain"], 3),
        }


def parameters(k: int, starts: int, seed: int) -> SphericalParameters:
    """Return those of spherical k-means."""
    return SphericalParameters(k, n_init=starts, random_state=seed)


def by_corpus(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the seeds of each kind and corpus, and how many times the seconds of plain k-means."""
    table = lines.groupby(["kind", "corpus"], sort=False)[list(COLUMNS[1:])].mean()
    return table.assign(times_plain=table["seconds"] / table["plain_seconds"])


def best_without_each(table: pd.DataFrame) -> pd.Series:
    """Return, for each corpus, which kind has the highest mean NMI over the others; only cheap kinds."""
    affordable = table["times_plain"].groupby("kind", sort=False).mean() <= MOST_TIMES_PLAIN
    nmi = table["nmi"].unstack("corpus", sort=False)[affordable]
    return pd.Series({corpus: nmi.drop(columns=corpus).mean(axis=1).idxmax() for corpus in nmi.columns})


def page_table(table: pd.DataFrame) -> str:
    """Return the means over the corpora as a table in Markdown."""
    best = best_without_each(table).value_counts()
    lines = ["| rows made of | NMI | adjusted Rand | times plain | best without one corpus |", "|---|---|---|---|---|"]
    for kind, row in table.groupby("kind", sort=False).mean().iterrows():
        numbers = f"{row['nmi']:.3f} | {row['adjusted_rand']:.3f} | {row['times_plain']:.1f}"
        lines.append(f"| {kind} | {numbers} | {best.get(kind, '')} |")
    return "\n".join(lines)


def report(table: pd.DataFrame) -> str:
    """Return the figures of each corpus, and what is best without it."""
    parts = [
        f"{name}\n{table[name].unstack('corpus', sort=False).round(3).to_string()}"
        for name in ("nmi", "adjusted_rand", "times_plain")
    ]
    best = "\n".join(f"  {corpus}: {kind}" for corpus, kind in best_without_each(table).items())
    return "\n\n".join([*parts, f"highest mean NMI at no more than {MOST_TIMES_PLAIN} times plain, without\n{best}"])


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the tables."""
    if "--kept" not in arguments:
        n_seeds, corpora = int(taken(arguments, "--seeds") or SEEDS), taken(arguments, "--corpora")
        folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
        names = [name for name in (corpora.split(",") if corpora else CORPORA) if is_there(folder, name)]
        cases = [{"corpus": name, "seed": seed} for seed in range(n_seeds) for name in names]
        run_cases(RESULTS, cases, lambda corpus, seed: measure(str(folder), corpus, seed), columns=COLUMNS)
    lines = pd.DataFrame(read_lines(RESULTS))
    lines[list(COLUMNS[1:])] = lines[list(COLUMNS[1:])].astype(float)
    table = by_corpus(lines)
    print(report(table), page_table(table), sep="\n\n")
    page = HERE.parents[1] / "docs" / "explanation" / "quality.md"
    page.write_text(put_between(page.read_text(encoding="utf-8"), "smoothing", page_table(table)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
