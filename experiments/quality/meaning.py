"""Words, meaning, and both: how well their clusters agree with human classes, on texts short and long.

``python -m experiments.quality.meaning [--most N] [--seeds N] [--sets A,B] [--encoder NAME] [--weights] [--keep]
[FOLDER]`` clusters up to N documents of each set, evenly spaced (2,500), by their words, by the embeddings of an
encoder (static, of the extra ``meaning``), and by both, with k = number of classes and five seeds; beside them
scikit-learn's k-means of the same embeddings and, where they are installed, BERTopic's two usual lines (umap-learn)
with three seeds: UMAP to 5 dimensions, then k-means, or HDBSCAN, which chooses its own number of clusters and leaves
documents without one; and with one seed EVoC (evoc), likewise, and TriTopic (tritopic) with k topics, which sees the
texts too.
Search results of AMBIENT are clustered query by query, and blurbs of ITN language by language; the means count. Each
fit has one thread.
``--keep`` writes results/meaning.csv, going on where it stopped, and the table of docs/evidence/quality.md; results
and table of another encoder are called ``language-model``.

With ``--weights`` it clusters by both with the same weight of meaning for all sets, and with one by their length. It
says which is best on every second set, and what that one gives on the others.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans
from threadpoolctl import threadpool_limits

import doccluster
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.corpus import Corpus
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.vectors import DocumentVectors
from doccluster.vectors.encoders import encode, get_encoder
from doccluster.vectors.meaning import meaning_of, usual_weight
from experiments.quality.corpora import PLACES, TEXTS, itn_by_language
from experiments.quality.page import put_between
from experiments.quality.run import taken
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "evidence" / "quality.md"
UMAP_WAYS = ("UMAP, HDBSCAN", "UMAP, k-means")
PEERS = ("k-means of embeddings", *UMAP_WAYS, "EVoC", "TriTopic")
PACKAGES = {**dict.fromkeys(UMAP_WAYS, "umap"), "EVoC": "evoc", "TriTopic": "tritopic"}
SEEDS = {**dict.fromkeys(UMAP_WAYS, 3), "EVoC": 1, "TriTopic": 1}
WAYS = (*PEERS, "words", "meaning", "both", "both, fast")
TIMED = ("k-means of embeddings", "UMAP, HDBSCAN", "both")
UMAP = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}  # as BERTopic has them
MIN_CLUSTER = 10  # of HDBSCAN, likewise
WEIGHTS = ("both x 0.5", "both x 1", "both x 2", "both x 4", "both")  # the last by the length of documents
TITLES = {
    "stackoverflow": "StackOverflow titles",
    "questions": "CLINC150 questions",
    "search results": "AMBIENT search results",
    "itn": "ITN, English news",
    "itn elsewhere": "ITN, 17 other languages",
    "basil": "BASIL, news in full",
    "reuters": "Reuters-21578, single topic",
    "newsgroups": "20 Newsgroups",
}

LINES = {  # files of JSON lines, and the column of classes
    "questions": ("questions_clinc150/clinc150.jsonl.gz", "label"),
    "basil": ("news_stories_basil/basil_2010_2014.jsonl.gz", "story"),
}
MIN_OF_A_LANGUAGE = 75  # blurbs
COLUMNS = ("documents", "words", "nmi", "adjusted_rand", "without", "encoding", "clustering")

Texts = tuple[list[str], list[str]]  # and their classes
Prepared = tuple[DocumentVectors, Texts, float, float]


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the table of all sets."""
    most, n_seeds = int(taken(arguments, "--most") or 2500), int(taken(arguments, "--seeds") or 5)
    keeps = "--keep" in arguments and not arguments.remove("--keep")
    weighs = "--weights" in arguments and not arguments.remove("--weights")
    encoder, sets = taken(arguments, "--encoder") or "static", taken(arguments, "--sets") or ",".join(TITLES)
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    what = "meaning" if encoder == "static" else "language-model"
    ways = tuple(way for way in WAYS if way not in PACKAGES or find_spec(PACKAGES[way]))
    what, ways, shown = ("weights", WEIGHTS, table_of_weights) if weighs else (what, ways, table_of)
    groups = cache(lambda name: [prepared(*thinned(one, most), encoder) for one in texts_of(name, folder)])
    cases = [
        {"set": name, "way": way, "seed": seed}
        for seed in range(n_seeds)
        for name in sets.split(",")
        for way in ways
        if seed < SEEDS.get(way, n_seeds)
    ]
    with tempfile.TemporaryDirectory() as passing:
        path = (HERE / "results" if keeps else pathlib.Path(passing)) / f"{what}.csv"
        run_cases(
            path, cases, lambda **case: [line_of(groups(case["set"]), case["way"], case["seed"])], columns=COLUMNS
        )
        runs = pd.read_csv(path)
    print(table := shown(runs[runs["set"].isin(sets.split(","))]))
    if keeps:
        PAGE.write_text(put_between(PAGE.read_text(encoding="utf-8"), what, table), encoding="utf-8")


def line_of(groups: list[Prepared], way: str, seed: int) -> dict[str, Any]:
    """Return the mean measures of the groups of texts, and the sums of their documents and seconds."""
    found = pd.DataFrame([measured(way, vectors, texts, seed) for vectors, texts, _, _ in groups])
    sizes = {"documents": sum(one[0].n_documents for one in groups), "words": np.mean([one[2] for one in groups])}
    means = {one: found[one].mean() for one in ("nmi", "adjusted_rand", "without")}
    seconds = {"encoding": sum(one[3] for one in groups), "clustering": found["s"].sum()}
    return {name: round(float(value), 6) for name, value in {**sizes, **means, **seconds}.items()}


def texts_of(name: str, folder: pathlib.Path) -> list[Texts]:
    """Return the texts of a set with their classes; of search results one pair for each query."""
    if name in TEXTS:
        return [TEXTS[name](folder / PLACES[name])]
    if name == "itn elsewhere":
        languages = itn_by_language(folder / PLACES["itn"])
        return [own for language, own in languages.items() if language != "en" and len(own[0]) >= MIN_OF_A_LANGUAGE]
    if name in LINES:
        path, column = LINES[name]
        with gzip.open(folder / path, "rt", encoding="utf-8") as file:
            read = [json.loads(line) for line in file]
        return [([one["text"] for one in read], [one[column] for one in read])]
    return search_results(folder / "search_results_ambient")


def search_results(place: pathlib.Path) -> list[Texts]:
    """Return title and snippet of the results that are of one meaning of their query, by query."""
    meanings = pd.read_csv(place / "strel.txt", sep="\t", dtype=str)
    meanings = meanings.drop_duplicates("resultID", keep=False).set_index("resultID")["subTopicID"]
    groups: dict[str, Texts] = {}
    with gzip.open(place / "results.txt.gz", "rt", encoding="utf-8", errors="replace") as file:
        for line in list(file)[1:]:
            result, _, *shown = line.rstrip("\n").split("\t")
            if result in meanings.index:
                texts, classes = groups.setdefault(result.partition(".")[0], ([], []))
                texts.append(". ".join(shown))
                classes.append(meanings[result])
    return [one for one in groups.values() if len(set(one[1])) > 1]


def thinned(texts: Texts, most: int) -> Texts:
    """Return at most this many of the texts, evenly spaced."""
    step = -(-len(texts[0]) // most)
    return texts[0][::step], texts[1][::step]


def prepared(texts: list[str], classes: list[str], name: str) -> Prepared:
    """Return documents with words and meaning, those with words and their classes, known words, seconds of encoding."""
    corpus = Corpus(ids=tuple(map(str, range(len(texts)))), texts=tuple(texts))
    made = vectorize_texts(corpus, language="auto", options={}, n_threads=1).vectors
    encoder = get_encoder(name, n_threads=1)
    began = time.process_time()
    rows = encode(encoder, texts)
    seconds = time.process_time() - began
    kept = np.flatnonzero(~made.is_empty)
    meaning = meaning_of(rows, weight=usual_weight(made.mean_words))
    vectors = replace(made, meaning=meaning).take(kept)
    worded = [texts[row] for row in kept], [classes[row] for row in kept]
    return vectors, worded, vectors.mean_words, seconds


def measured(way: str, vectors: DocumentVectors, texts: Texts, seed: int) -> dict[str, float]:
    """Return the agreement with the classes, and the seconds that the fit took the processor."""
    documents, classes = texts
    k = len(set(classes))
    began = time.process_time()
    if way in PEERS:
        assert vectors.meaning is not None
        with threadpool_limits(1):
            labels = of_peers(way, vectors.meaning.rows, documents, k, seed)
    else:
        space, _, weight = way.partition(" x ")
        if weight:
            assert vectors.meaning is not None
            vectors = replace(vectors, meaning=replace(vectors.meaning, weight=float(weight)))
        seen = vectors.in_space(space.split(",")[0])
        quality = "fast" if way.endswith("fast") else "default"
        parameters = DocumentParameters(n_clusters=k, quality=quality, random_state=seed, n_threads=1)
        labels = DocumentWork(seen, parameters).run().labels
    seconds = time.process_time() - began
    scores = {name: doccluster.score(name, labels, truth=classes).value for name in ("nmi", "adjusted_rand")}
    return {**scores, "without": float(np.mean(np.asarray(labels) < 0)), "s": seconds}


def of_peers(way: str, rows: Any, documents: list[str], k: int, seed: int) -> Any:
    """Return the labels that another package gives documents with these embeddings."""
    if way == "EVoC":
        return class_of("evoc", "EVoC")(random_state=seed).fit_predict(np.ascontiguousarray(rows, dtype=np.float32))
    if way == "TriTopic":
        peer = class_of("tritopic", "TriTopic")(n_topics=k, random_state=seed, verbose=False)
        return peer.fit(documents, embeddings=np.asarray(rows)).labels_
    if way in UMAP_WAYS:
        neighbours = min(UMAP["n_neighbors"], len(rows) - 1)
        with warnings.catch_warnings(action="ignore"):  # that a seed leaves one thread
            reducer = class_of("umap", "UMAP")(**{**UMAP, "n_neighbors": neighbours}, random_state=seed)
            rows = reducer.fit_transform(rows)
        if way == UMAP_WAYS[0]:
            return HDBSCAN(min_cluster_size=min(MIN_CLUSTER, max(2, len(rows) // 4)), copy=True).fit_predict(rows)
    return KMeans(k, n_init=10, random_state=seed).fit_predict(rows)


@cache
def class_of(package: str, name: str) -> Any:
    """Return the estimator of another package, its loops compiled."""
    estimator = getattr(import_module(package), name)
    if name != "TriTopic":
        estimator(n_neighbors=5, random_state=0).fit(np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32))
    return estimator


def table_of(runs: pd.DataFrame) -> str:
    """Return the means over the seeds, NMI and adjusted Rand index, as a table of the page; median seconds."""
    ways = [way for way in WAYS if way in set(runs["way"])]
    timed = [way for way in TIMED if way in ways]
    seconds = " | ".join(f"{way}, s" for way in ("encoding", *timed))
    lines = [f"| set | documents | words in each | {' | '.join(ways)} | {seconds} |"]
    lines.append("|" + "---|" * (len(ways) + len(timed) + 4))
    for name, own in runs.groupby("set", sort=False):
        means = own.groupby("way")[["nmi", "adjusted_rand", "without"]].mean()
        medians = own.groupby("way")["clustering"].median()
        cells = [f"{means.nmi[way]:.3f} / {means.adjusted_rand[way]:.3f}".replace("0.", ".") for way in ways]
        best = max(range(len(ways)), key=lambda place: means.nmi[ways[place]])
        for way in {UMAP_WAYS[0], "EVoC"} & set(ways):
            cells[ways.index(way)] += f" ({means.without[way]:.0%} without)"
        cells[best] = f"**{cells[best]}**"
        sizes = f"{own.documents.iloc[0]:,.0f} | {own.words.iloc[0]:.0f}"
        spent = " | ".join(f"{one:.1f}" for one in (own.encoding.median(), *medians[timed]))
        lines.append(f"| {TITLES[str(name)]} | {sizes} | {' | '.join(cells)} | {spent} |")
    return "\n".join(lines)


def table_of_weights(runs: pd.DataFrame) -> str:
    """Return the mean NMI of each weight, and what the one chosen on every second set gives on the others."""
    means = runs.groupby(["set", "way"], sort=False)["nmi"].mean().unstack()[list(WEIGHTS)]
    words = runs.groupby("set", sort=False)["words"].first()
    names = [way.partition(" x ")[2] or "by length" for way in WEIGHTS]
    lines = [f"| set | words in each | {' | '.join(names)} |"]
    lines.append("|" + "---|" * (len(WEIGHTS) + 2))
    halves = {"first half": means.iloc[::2], "second half": means.iloc[1::2]}
    for title, half in halves.items():
        shown = {TITLES[str(name)]: (f"{words[name]:.0f}", row) for name, row in half.iterrows()}
        for name, (size, row) in {**shown, f"mean of the {title}": ("", half.mean())}.items():
            lines.append(f"| {name} | {size} | {' | '.join(f'{row[way]:.3f}'.lstrip('0') for way in WEIGHTS)} |")
    for (chosen_on, half), other in zip(halves.items(), reversed(halves.values()), strict=True):
        best = half[list(WEIGHTS[:-1])].mean().idxmax()
        gains = [other.mean()[way] - other.mean()["both x 1"] for way in (best, "both")]
        lines.append(
            f"\nOn the {chosen_on} {best.partition(' x ')[2]} is the best of the four; on the other it gains "
            f"{gains[0]:+.3f} over 1, and the weight by length {gains[1]:+.3f}."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
