"""How well nested levels agree with two levels of classes, beside free partitions and scikit-learn's Ward.

``python -m experiments.quality.levels [FOLDER]`` clusters up to 5,000 documents of each set as `run` does, with as many
clusters as there are fine classes, and makes the level above and, from clusters of as many as there are coarse classes,
the level below, as `run` does too. Beside them are the partition that is found freely with as many clusters, and Ward's
tree of scikit-learn on 100 components of a singular value decomposition, cut at both numbers. "By the gap" is the level
above without a number. One number of groups says little, so there are six more, of those that a run chooses from; their
lines are means. Clusters may also go to the group that has most of their documents: after the documents of merged
groups have settled, or in the free partition. Last come the subtopics of a run with as many clusters as coarse classes
(of the run's own terms, other than the lines before), beside a run with as many clusters as these subtopics. Coarse
classes are the heads of newsgroups, the domains of CLINC150 and the kinds in Reuters's list of categories. Purity is
that of the whole dendrogram, from the clusters up, by the fine classes: the mean over pairs of documents of one class
of that class's share of the smallest branch that holds both (Heller & Ghahramani 2005).
Writes results/levels.csv.
"""

from __future__ import annotations

import csv
import gzip
import json
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

import doccluster
from doccluster.clustering.mixtures.multinomial import settle_labels
from doccluster.clustering.nesting import (
    coarser_groups,
    majority_groups,
    merge_order,
    nested_labels,
    products_of_sums,
)
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.vectors.document_vectors import as_vectors
from experiments.quality.corpora import count_terms, newsgroups, reuters, weigh
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
MAX_DOCUMENTS, N_SEEDS, N_PAIRS = 5_000, 3, 10_000
FEWEST_OF_A_CLASS = 10
NUMBERS = range(6, 17, 2)  # of sections, fewer than the clusters of each set
MEASURES = ["nmi", "adjusted_rand"]
COLUMNS = ("level", "way", "clusters", "nmi", "ari", "purity")


def two_levels(folder: pathlib.Path, corpus: str) -> tuple[list[str], list[str], list[str]]:
    """Return texts with their fine and their coarse classes."""
    if corpus == "newsgroups":
        texts, groups = newsgroups(folder / "newsgroups20")
        return texts, groups, [group.split(".")[0] for group in groups]
    if corpus == "clinc150":
        place = folder / "questions_clinc150"
        with gzip.open(place / "clinc150.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        with (place / "domains.csv").open(encoding="utf-8") as table:
            domain = {row["label"]: row["domain"] for row in csv.DictReader(table)}
        rows = [row for row in rows if row["label"] in domain]
        return [row["text"] for row in rows], [row["label"] for row in rows], [domain[row["label"]] for row in rows]
    texts, topics = reuters(folder / "reuters21578")
    kinds = kinds_of(folder / "reuters21578" / "cat-descriptions_120396.txt")
    known = [place for place, topic in enumerate(topics) if topic in kinds]
    return [texts[place] for place in known], [topics[place] for place in known], [kinds[topics[p]] for p in known]


def kinds_of(path: pathlib.Path) -> dict[str, str]:
    """Return the heading above each topic in the list of categories."""
    kind, kinds = "subject", {}
    for line in path.read_text(encoding="latin-1").splitlines():
        heading = re.match(r"\*\*+([A-Z].*?) Codes \(", line)
        code = re.search(r"\(([A-Z-]+)\)$|^([A-Z-]+)$", line.strip())
        if heading is not None:
            kind = heading[1]
        elif code is not None:
            kinds.setdefault((code[1] or code[2]).lower(), kind)
    return kinds


def measure(folder: str, corpus: str, seed: int) -> Iterator[dict[str, object]]:
    """Yield a line for each level and way."""
    texts, fine, coarse = two_levels(pathlib.Path(folder), corpus)
    rng = np.random.default_rng(seed)
    counts = count_terms(texts)
    filled = np.flatnonzero(np.diff(counts.indptr))
    sizes = pd.Series([fine[row] for row in filled]).value_counts()
    large = np.array([row for row in filled.tolist() if sizes[fine[row]] >= FEWEST_OF_A_CLASS])
    rows = np.sort(rng.permutation(large)[:MAX_DOCUMENTS])
    counts, unit = counts[rows], weigh(counts)[rows]
    classes = {"fine": [fine[row] for row in rows], "coarse": [coarse[row] for row in rows]}
    k, n_coarse = (len(set(classes[level])) for level in ("fine", "coarse"))
    vectors = as_vectors(unit, counts=counts)
    smoothed = DocumentWork(vectors, DocumentParameters(n_clusters=1, random_state=seed)).smooth()
    assert smoothed is not None
    points = smoothed.points

    def free(n_clusters: int) -> Any:
        parameters = DocumentParameters(n_clusters=n_clusters, random_state=seed)
        labels = DocumentWork(vectors, parameters, smoothed_rows=smoothed).run().labels
        return np.unique(labels, return_inverse=True)[1]

    shown, broad = free(k), free(n_coarse)
    products = products_of_sums(points, shown, int(shown.max()) + 1)
    merges = [(merge.first, merge.second) for merge in merge_order(products)]
    semantic = normalize(TruncatedSVD(100, random_state=seed).fit_transform(unit))
    ward = {n: AgglomerativeClustering(n, linkage="ward").fit_predict(semantic) for n in (k, n_coarse)}
    ways = [
        ("fine", "free, the clusters shown", shown, purity(shown, merges, classes["fine"], rng)),
        ("fine", "nested in free coarse ones", nested_labels(points, broad, shown), None),
        ("fine", "scikit-learn Ward", ward[k], purity(ward[k], ward_merges(semantic, ward[k]), classes["fine"], rng)),
        ("coarse", "merged, by the gap", coarser_groups(products)[shown], None),
        ("coarse", "scikit-learn Ward", ward[n_coarse], None),
    ]
    for level, way, labels, branch_purity in ways:
        yield line(level, way, [labels], classes[level], branch_purity)
    for level, numbers in (("coarse", [n_coarse]), ("coarse, 6 to 16", NUMBERS)):
        ways_of = [coarse_ways(shown, products, counts, free(n), n) for n in numbers]
        for way in ways_of[0]:
            yield line(level, way, [partitions[way] for partitions in ways_of], classes["coarse"])
    yield from beneath([texts[row] for row in rows], classes["fine"], n_coarse, seed)


def line(
    level: str, way: str, partitions: Sequence[Any], classes: Sequence[str], branch_purity: float | None = None
) -> dict[str, object]:
    """Return a line of results, the means of partitions."""
    scores = [doccluster.evaluate(labels, truth=classes, measures=MEASURES) for labels in partitions]
    return {
        "level": level,
        "way": way,
        "clusters": round(float(np.mean([np.unique(labels).size for labels in partitions]))),
        "nmi": round(float(np.mean([score["nmi"].value for score in scores])), 4),
        "ari": round(float(np.mean([score["adjusted_rand"].value for score in scores])), 4),
        "purity": "" if branch_purity is None else round(branch_purity, 4),
    }


def coarse_ways(shown: Any, products: Any, counts: Any, free: Any, n_groups: int) -> dict[str, Any]:
    """Return coarse partitions: the free one, and whole clusters brought together in three ways."""
    groups, k = coarser_groups(products, n_groups), len(products)
    settled = settle_labels(counts, groups[shown], n_groups).labels
    return {
        "free": free,
        "merged from the clusters shown": groups[shown],
        "merged, settled, clusters by most documents": majority_groups(shown, settled, k)[shown],
        "free, clusters by most documents": majority_groups(shown, free, k)[shown],
    }


def beneath(texts: list[str], classes: Sequence[str], n_clusters: int, seed: int) -> Iterator[dict[str, object]]:
    """Yield a line for the subtopics of a run with this many clusters, where it has them, and one for free ones."""
    run = doccluster.run(texts, n_clusters=n_clusters, random_state=seed)
    subtopics = next((level for level in run.levels if level.name == "subtopic"), None)
    if subtopics is not None:
        free = doccluster.run(texts, n_clusters=subtopics.n_clusters, levels="none", random_state=seed)
        has_terms = run.labels_ >= 0
        classes = [label for label, is_there in zip(classes, has_terms, strict=True) if is_there]
        yield line("fine, beneath -k", "free", [free.labels_[has_terms]], classes)
        yield line("fine, beneath -k", "subtopics of the run", [subtopics.labels], classes)


def ward_merges(rows: Any, labels: Any) -> list[tuple[int, int]]:
    """Return the merges of clusters by Ward, from their means."""
    k = int(labels.max()) + 1
    means, sizes = np.array([rows[labels == cluster].mean(axis=0) for cluster in range(k)]), np.bincount(labels)
    alive, merges = set(range(k)), []
    sizes = sizes.astype(float)
    while len(alive) > 1:
        pairs = [(a, b) for a in alive for b in alive if a < b]
        first, second = np.array(pairs).T
        apart = ((means[first] - means[second]) ** 2).sum(axis=1)
        a, b = pairs[int((apart * sizes[first] * sizes[second] / (sizes[first] + sizes[second])).argmin())]
        means[a] = (sizes[a] * means[a] + sizes[b] * means[b]) / (sizes[a] + sizes[b])
        sizes[a] += sizes[b]
        alive.discard(b)
        merges.append((a, b))
    return merges


def purity(labels: Any, merges: list[tuple[int, int]], classes: Sequence[str], rng: np.random.Generator) -> float:
    """Return the purity of a dendrogram whose leaves are clusters, over random pairs of one class."""
    codes, _ = pd.factorize(pd.Series(classes))
    k, m = int(labels.max()) + 1, int(codes.max()) + 1
    table = np.zeros((2 * k - 1, m))
    np.add.at(table, (labels, codes), 1)
    above, number = np.full(2 * k - 1, -1), np.arange(k)
    for step, (first, second) in enumerate(merges):
        node = k + step
        above[[number[first], number[second]]] = node
        table[node] = table[number[first]] + table[number[second]]
        number[first] = node
    shares = table / table.sum(axis=1, keepdims=True)
    total = 0.0
    for row in rng.integers(0, codes.size, N_PAIRS):
        partner = rng.choice(np.flatnonzero(codes == codes[row]))
        path, node = set(), int(labels[row])
        while node >= 0:
            path.add(node)
            node = int(above[node])
        node = int(labels[partner])
        while node not in path:
            node = int(above[node])
        total += shares[node, codes[row]]
    return total / N_PAIRS


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the tables."""
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    corpora = [name for name in ("reuters", "clinc150", "newsgroups") if folder.is_dir()]
    lines = run_cases(
        HERE / "results" / "levels.csv",
        [{"corpus": corpus, "seed": seed} for corpus in corpora for seed in range(N_SEEDS)],
        lambda corpus, seed: measure(str(folder), corpus, int(seed)),
        columns=COLUMNS,
    )
    table = pd.DataFrame(lines)
    numbers = table[["clusters", "nmi", "ari", "purity"]].apply(pd.to_numeric)
    means = numbers.groupby([table["corpus"], table["level"], table["way"]], sort=False).mean()
    print(means.round(3).to_string(na_rep=""))
    print(f"\nall\n{means.groupby(level=['level', 'way'], sort=False).mean().round(3).to_string(na_rep='')}")


if __name__ == "__main__":
    main(sys.argv[1:])
