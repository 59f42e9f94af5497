"""How often the criteria of the textbooks find the right k, on made data of known k, and what they say of noise.

``python -m experiments.choosing_k.criteria [--seeds N]`` makes 300 documents of 3, 8 or 20 clusters, of three kinds
(texts of invented words, sparse directions around means, the blocks of Sharma & Sharma's Algorithm 1) and three
degrees of difficulty, with two seeds, and for each kind and seed one set without clusters. It prints for each
criterion of `criteria_over_k` the share of sets whose k comes out exactly and within a fifth, and how often it names
no k where there are no clusters.

The last line is adherence as an objective, which Sharma & Sharma remark on: the largest k whose clusters have an
adherence of at most `BOUND`, the largest cosine of a document with the centroid of another cluster.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.preprocessing import normalize

import doccluster
from doccluster.selection import criteria_over_k
from doccluster.synthetic import make_sharma, make_sparse_vmf, make_zipf_corpus
from experiments.quality.run import taken

N_DOCUMENTS = 300
TRUE_KS = (3, 8, 20)
TRIED = (*range(2, 13), 14, 16, 18, 20, 22, 24, 27, 30)
LEVELS = ("easy", "medium", "hard")
BACKGROUND = {"easy": (0.3, 0.1), "medium": (0.5, 0.3), "hard": (0.65, 0.5)}  # share of background and shared words
MEANS = {"easy": (0.6, 0.1), "medium": (0.5, 0.2), "hard": (0.45, 0.3)}  # length of a mean, cosine of two means
OVERLAP = {"easy": 0.1, "medium": 0.4, "hard": 0.8}  # gamma of Algorithm 1
BOUND = 0.5
WITHIN = 0.2


class MadeSet(NamedTuple):
    """What a data set is made of; the level "none" has no clusters."""

    kind: str
    level: str
    k: int
    seed: int

    def rows(self) -> Any:
        """Return the unit rows."""
        return MAKERS[self.kind](self)


def texts(made: MadeSet) -> Any:
    """Return tf-idf rows of texts of invented words, topics of equal probability; one topic for no clusters."""
    background, overlap = BACKGROUND.get(made.level, BACKGROUND["easy"])
    topics = {"n_topics": made.k, "n_stories": made.k, "story_share": 0.05, "near_duplicates": 0.0}
    words = {"n_terms": 5000, "background": background, "overlap": overlap, "median_length": 80}
    corpus = make_zipf_corpus(N_DOCUMENTS, **topics, **words, random_state=made.seed)
    return doccluster.TfidfVectorizer(min_df=2).fit_transform(corpus.texts)


def directions(made: MadeSet) -> Any:
    """Return sparse rows around sparse means; one mean for no clusters."""
    length, separation = MEANS.get(made.level, MEANS["medium"])
    how = {"mean_resultant_length": length, "separation": separation, "terms_per_document": 60}
    return make_sparse_vmf(N_DOCUMENTS, 6000, made.k, **how, random_state=made.seed).vectors.matrix


def blocks(made: MadeSet) -> Any:
    """Return rows of Algorithm 1; for no clusters those of eight, the values of each term dealt to documents anew."""
    k = made.k if made.level in OVERLAP else 8
    sizes = {"documents_per_cluster": N_DOCUMENTS // k, "terms_per_cluster": 20}
    overlap = OVERLAP.get(made.level, OVERLAP["medium"])
    rows = make_sharma(k, overlap=overlap, **sizes, random_state=made.seed).vectors.matrix
    if made.level in OVERLAP:
        return rows
    return normalize(np.random.default_rng(made.seed).permuted(rows.toarray(), axis=0))


MAKERS = {"texts": texts, "directions": directions, "blocks": blocks}


def main(arguments: list[str]) -> None:
    """Print the table."""
    n_seeds = int(taken(arguments, "--seeds") or 2)
    runs = pd.DataFrame([{**made._asdict(), **choices(made)} for made in made_sets(n_seeds)])
    print(f"{(runs['level'] != 'none').sum()} sets with clusters, {(runs['level'] == 'none').sum()} without\n")
    print(table_of(runs))


def made_sets(n_seeds: int) -> Iterator[MadeSet]:
    """Yield the data sets."""
    for seed in range(n_seeds):
        for kind in MAKERS:
            yield MadeSet(kind, "none", 1, seed)
            yield from (MadeSet(kind, level, k, seed) for level in LEVELS for k in TRUE_KS)


def choices(made: MadeSet) -> dict[str, int | None]:
    """Return the k of each criterion, and the largest that keeps the bound on adherence; None for no k."""
    rows = made.rows()
    result = criteria_over_k(rows, ks=TRIED, random_state=made.seed, n_threads=1)
    bounded = [k for k, labels in result.labels.items() if adherence(labels, rows) <= BOUND]
    return {**result.choices, f"adherence up to {BOUND}": max(bounded, default=None)}


def adherence(labels: Any, rows: Any) -> float:
    """Return the largest cosine of a document with the centroid of a cluster that it is not in."""
    return float(doccluster.score("adherence_max", labels, vectors=rows).value)


def table_of(runs: pd.DataFrame) -> str:
    """Return the shares of sets that each rule is right on, the best rule first."""
    rules = [column for column in runs if column not in MadeSet._fields]
    chosen, true = runs[rules].astype(float), runs["k"].to_numpy()[:, None]
    is_near = (chosen - true).abs() <= WITHIN * true
    has_clusters = runs["level"] != "none"
    columns = {
        "exact": (chosen == true)[has_clusters].mean(),
        "within 20 %": is_near[has_clusters].mean(),
        **{level: is_near[runs["level"] == level].mean() for level in LEVELS},
        "none, and none said": chosen[~has_clusters].isna().mean(),
    }
    shares = pd.DataFrame(columns).sort_values(["within 20 %", "exact"], ascending=False)
    lines = [f"| rule | {' | '.join(shares)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {rule} | {' | '.join(f'{share:.2f}' for share in row)} |" for rule, row in shares.iterrows()]
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
