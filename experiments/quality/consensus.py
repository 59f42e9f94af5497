"""Ways to make one partition of the dozen that ``quality="best"`` makes, each settled, against human classes.

``python -m experiments.quality.consensus [--kept] [--seeds N] [--corpora A,B] [FOLDER]`` makes the candidates of
`DocumentClustering(quality="best")` for each corpus of the comparison, and joins them in several ways. Of corpora of
more than 3,000 documents it draws so many, others for each seed. Prints NMI and adjusted Rand of each way, and which
one is best where one corpus is left out, and writes them into docs/explanation/quality.md; goes on where it stopped.
Writes results/consensus.csv.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import doccluster
from doccluster.clustering import SphericalKMeans, consensus_labels
from doccluster.clustering.consensus.candidates import WITH_COUNTS
from doccluster.clustering.consensus.ensemble import Ensemble, medoid_run
from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.geometry import Documents, latent_semantic_space
from doccluster.validation import unit_rows
from experiments.quality.corpora import CORPORA, is_there, load
from experiments.quality.page import put_between
from experiments.quality.run import taken
from experiments.resumable import read_lines, run_cases

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results" / "consensus.csv"
COLUMNS = ("way", "nmi", "adjusted_rand")
SEEDS = 10
MOST_DOCUMENTS = 3000
BOTH_WEIGHTS = [number for number, one in enumerate(WITH_COUNTS) if one.parts == ("l", "n")]
CHOSEN = "k-means of memberships from the medoid"

Runs = Any  # int64 array of shape (n_runs, n_documents)


def from_own_starts(runs: Runs, k: int, seed: int) -> Any:
    """Return spherical k-means of the memberships, ten starts by k-means++."""
    return consensus_labels(list(runs), k, random_state=seed)


def bipartite(runs: Runs, k: int, seed: int) -> Any:
    """Return the clusters of the graph of documents and clusters (Fern & Brodley 2004), by its leading directions."""
    memberships, rng = Ensemble.from_labels(list(runs)).memberships, np.random.default_rng(seed)
    sizes = np.asarray(memberships.sum(axis=0)).ravel()
    scaled = Documents(sparse.csr_array(memberships @ sparse.diags_array(1.0 / np.sqrt(sizes))))
    points = latent_semantic_space(scaled, k, random_state=rng).project(scaled)
    rows = unit_rows(points, warn=False).astype(np.float32)
    return SphericalKMeans(k, n_init=10, random_state=rng).fit_predict(rows)


def medoid(runs: Runs, k: int, seed: int) -> Any:
    """Return the run that agrees most with the others."""
    return runs[medoid_run(Ensemble.from_labels(list(runs)))]


WAYS: dict[str, Callable[[Runs, int, int], Any]] = {
    "k-means of memberships, own starts": from_own_starts,
    "bipartite graph": bipartite,
    "medoid": medoid,
    "k-means of memberships, own starts, only both weights": lambda runs, k, seed: from_own_starts(
        runs[BOTH_WEIGHTS], k, seed
    ),
    "medoid, only both weights": lambda runs, k, seed: medoid(runs[BOTH_WEIGHTS], k, seed),
}


def measure(folder: str, corpus: str, seed: int) -> Iterator[dict[str, object]]:
    """Yield a line for each way, and for the candidates and the default beside them."""
    counts, classes = sampled(*load(folder, corpus)[::2], seed)
    k = len(set(classes))

    def scores(way: str, labels: Any) -> dict[str, object]:
        values = {name: doccluster.score(name, labels, truth=classes).value for name in COLUMNS[1:]}
        return {"way": way, **values}

    default = doccluster.DocumentClustering(k, random_state=seed).fit(counts).labels_
    yield scores("quality='default'", default)
    best = doccluster.DocumentClustering(k, quality="best", random_state=seed).fit(counts)
    runs = best.candidate_labels_
    each = pd.DataFrame([scores("candidates, mean", labels) for labels in runs])
    yield {"way": "candidates, mean", **each[list(COLUMNS[1:])].mean().to_dict()}
    yield scores(CHOSEN, best.labels_)
    for way, join in WAYS.items():
        yield scores(way, settle_labels(counts, join(runs, k, seed), k).labels)


def sampled(counts: Any, classes: list[str], seed: int) -> tuple[Any, list[str]]:
    """Return some of the documents, of those terms that two of them have, where there are more than so many."""
    if counts.shape[0] <= MOST_DOCUMENTS:
        return counts, classes
    rows = np.sort(np.random.default_rng(seed).choice(counts.shape[0], MOST_DOCUMENTS, replace=False))
    some = counts[rows]
    some = sparse.csr_array(some[:, np.flatnonzero(np.bincount(some.indices, minlength=some.shape[1]) > 1)])
    filled = np.flatnonzero(np.diff(some.indptr))
    return some[filled], [classes[rows[place]] for place in filled]


def page_table(lines: pd.DataFrame) -> str:
    """Return the means over the corpora as a table in Markdown."""
    by_corpus = lines.groupby(["way", "corpus"], sort=False)[list(COLUMNS[1:])].mean()
    nmi = by_corpus["nmi"].unstack("corpus", sort=False)
    best = pd.Series({corpus: nmi.drop(columns=corpus).mean(axis=1).idxmax() for corpus in nmi.columns}).value_counts()
    left = nmi.max() - nmi  # what a way lacks on each corpus
    table = ["| joined by | NMI | adjusted Rand | furthest behind | best without one corpus |", "|---|---|---|---|---|"]
    for way, row in by_corpus.groupby("way", sort=False).mean().iterrows():
        numbers = f"{row['nmi']:.3f} | {row['adjusted_rand']:.3f} | {left.loc[way].max():.3f}"
        table.append(f"| {way} | {numbers} | {best.get(way, '')} |")
    return "\n".join(table)


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the table."""
    if "--kept" not in arguments:
        n_seeds, corpora = int(taken(arguments, "--seeds") or SEEDS), taken(arguments, "--corpora")
        folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
        names = [name for name in (corpora.split(",") if corpora else CORPORA) if is_there(folder, name)]
        cases = [{"corpus": name, "seed": seed} for seed in range(n_seeds) for name in names]
        run_cases(RESULTS, cases, lambda corpus, seed: measure(str(folder), corpus, seed), columns=COLUMNS)
    lines = pd.DataFrame(read_lines(RESULTS))
    lines[list(COLUMNS[1:])] = lines[list(COLUMNS[1:])].astype(float)
    table = page_table(lines)
    print(table)
    page = HERE.parents[1] / "docs" / "explanation" / "quality.md"
    page.write_text(put_between(page.read_text(encoding="utf-8"), "consensus", table), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
