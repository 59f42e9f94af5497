"""What `apart_from` does to the messages of the busiest posters of 20 Newsgroups.

``python -m experiments.apart_from [ARCHIVE]`` (by default ../shared/corpora/newsgroups20/20news-18828.tar.xz) clusters
the messages of the 124 busiest posters into as many clusters as they have newsgroups: as they are, with
``apart_from="poster"``, and apart from a column of random values. It prints NMI and adjusted Rand with newsgroups, and
how far clusters follow the poster beyond the newsgroup: I(cluster; poster | newsgroup) less its mean over shuffles,
as a share of H(poster | newsgroup). Three seeds each.
"""

from __future__ import annotations

import pathlib
import sys
from collections import Counter

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import doccluster
from doccluster.corpus.mail import split_headers

ARCHIVE = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpora" / "newsgroups20" / "20news-18828.tar.xz"
N_POSTERS, N_SHUFFLES, SEEDS = 124, 20, (0, 1, 2)


def entropy(*columns: np.ndarray) -> float:
    """Return the joint entropy of some columns of codes, in nats."""
    counts = np.unique(np.stack(columns), axis=1, return_counts=True)[1]
    share = counts / counts.sum()
    return float(-np.sum(share * np.log(share)))


def told_of_poster(labels: np.ndarray, posters: np.ndarray, groups: np.ndarray) -> float:
    """Return I(labels; posters | groups), as a share of H(posters | groups)."""
    inner = entropy(posters, groups) - entropy(groups)
    return (
        entropy(labels, groups) - entropy(groups) + inner - entropy(labels, posters, groups) + entropy(groups)
    ) / inner


def bound(labels: np.ndarray, posters: np.ndarray, groups: np.ndarray) -> float:
    """Return how far labels follow the poster beyond the newsgroup and beyond chance."""
    rng = np.random.default_rng(0)
    by_chance = []
    for _ in range(N_SHUFFLES):
        shuffled = labels.copy()
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            shuffled[rows] = rng.permutation(shuffled[rows])
        by_chance.append(told_of_poster(shuffled, posters, groups))
    return told_of_poster(labels, posters, groups) - float(np.mean(by_chance))


def busiest(archive: pathlib.Path) -> pd.DataFrame:
    """Return text, newsgroup and poster of the messages of the busiest posters."""
    corpus = doccluster.read_corpus(archive)
    posters = [split_headers(text)[0].get("from", "").strip().lower() for text in corpus.texts]
    names = {name for name, _ in Counter(filter(None, posters)).most_common(N_POSTERS)}
    rows = [row for row, poster in enumerate(posters) if poster in names]
    groups = [corpus.labels["class"][row][0] for row in rows]
    texts = [corpus.texts[row] for row in rows]
    chance = np.random.default_rng(0).integers(12, size=len(rows)).astype(str)
    return pd.DataFrame({"text": texts, "group": groups, "poster": [posters[row] for row in rows], "chance": chance})


def main() -> None:
    """Print the table."""
    frame = busiest(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ARCHIVE)
    groups, posters = (pd.factorize(frame[name])[0] for name in ("group", "poster"))
    print(
        f"{len(frame):,} messages of {N_POSTERS} posters in {groups.max() + 1} newsgroups, mean of {len(SEEDS)} seeds\n"
    )
    rows = []
    for apart in (None, "poster", "chance"):
        for seed in SEEDS:
            run = doccluster.run(
                frame,
                n_clusters=int(groups.max()) + 1,
                apart_from=apart,
                random_state=seed,
                reader={"label_columns": ()},
            )
            labels, kept = run.partition.labels, run.documents.positions
            of_groups, of_posters = groups[kept], posters[kept]
            rows.append(
                {
                    "apart from": apart or "nothing",
                    "nmi": normalized_mutual_info_score(of_groups, labels),
                    "ari": adjusted_rand_score(of_groups, labels),
                    "bound": bound(labels, of_posters, of_groups),
                    "seconds": sum(run.provenance.timings[name] for name in ("cluster",)),
                }
            )
    print(pd.DataFrame(rows).groupby("apart from", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
