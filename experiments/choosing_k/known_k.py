"""The number of clusters that is chosen beside the true one: real corpora with classes, generated corpora, and noise.

    python -m experiments.choosing_k.known_k [--kept] [FOLDER]

FOLDER holds the real corpora (by default ../shared/corpora; those that are not there are left out). ``--kept`` prints
the kept results and runs nothing. Finished sets are lines of results/known_k.csv; the same command continues from
there. results/known_k_before.csv has what the rule before this one chose: two halves of the terms, each judging the
clusters of the other.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import doccluster
from doccluster.lab._null_models import sample_null
from doccluster.selection import choose_k
from doccluster.synthetic import make_sharma, make_sparse_vmf, make_vmf_mixture, make_zipf_corpus
from doccluster.vectors.letters import Letters
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# whose documents have dates, so that stories are shown, as a run does
DATED = {f"real {name}" for name in ("newsroom stories", "itn_news_stream", "reuters21578", "news_stories_basil")}
SHORT = ("agnews4k", "searchsnippets4k", "biomedical4k", "tweet", "banking77")
CLUTO = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
Labelled = tuple[Any, Any, Sequence[Any], Letters | None]  # unit rows, counts or None, classes, and letters

# kind of set: (name, true k, documents, and what else its maker takes)
MADE: dict[str, list[tuple[int, int, dict[str, Any]]]] = {
    "sparse-vmf": [
        (2, 500, {}),
        (3, 1000, {}),
        (10, 1000, {}),
        (20, 2000, {}),
        (50, 2000, {"mean_resultant_length": 0.5}),
        (100, 3000, {"mean_resultant_length": 0.5, "n_terms": 40_000}),
        (300, 6000, {"mean_resultant_length": 0.7, "n_terms": 100_000}),
        (1000, 10_000, {"mean_resultant_length": 0.7, "n_terms": 100_000, "terms_per_document": 30}),
        (2000, 20_000, {"mean_resultant_length": 0.7, "n_terms": 100_000, "terms_per_document": 30}),
    ],
    "vmf": [
        (2, 400, {"kappa": 50}),
        (5, 1000, {"kappa": 50}),
        (20, 2000, {"kappa": 100}),
        (50, 3000, {"kappa": 100}),
        (200, 6000, {"kappa": 200}),
    ],
    "sharma": [(5, 100, {}), (20, 400, {}), (100, 1000, {})],
    "zipf": [(2, 500, {}), (5, 1000, {}), (10, 1000, {}), (20, 2000, {}), (50, 2500, {}), (200, 4000, {})],
}
NOISE = ("sparse-vmf", "vmf", "zipf", "dealt newsroom", "permuted newsroom", "dealt re0", "sphere")


def main(arguments: list[str]) -> None:
    """Choose for every set that is not done yet, and print the table."""
    named = [argument for argument in arguments if not argument.startswith("--")]
    folder = pathlib.Path(named[0]) if named else ROOT.parent / "shared" / "corpora"
    results = HERE / "results"
    if "--kept" in arguments:
        table = pd.read_csv(results / "known_k.csv")
    else:
        sets = {**real_sets(folder), **made_sets(), **noise_sets(folder)}
        cases = [{"set": name} for name in sets]

        def choose(set: str) -> list[dict[str, Any]]:
            return [chosen(sets[set], is_dated=set in DATED)]

        columns = ("documents", "true_k", "k", "granularity", "sections", "topics", "stories", "largest", "cpu_seconds")
        table = pd.DataFrame(run_cases(results / "known_k.csv", cases, choose, columns=columns))
    before = pd.read_csv(results / "known_k_before.csv")[["set", "k"]].rename(columns={"k": "before"})
    table = table.merge(before, on="set", how="left")
    print(table.to_string(index=False))
    for name in ("k", "before"):
        print_summary(table, name)


def print_summary(table: pd.DataFrame, name: str) -> None:
    """Print how many numbers of a column are within 1.5 of the true one (real sets), or within 20 % (made ones)."""
    known = table[table[name].notna()]
    k, true = (pd.to_numeric(known[column]) for column in (name, "true_k"))
    ratio = np.maximum(k / true, true / k.where(k > 0))
    kinds = known["set"].str.split().str[0]
    for kind, limit in (("real", 1.5), ("made", 1.2)):
        own = ratio[kinds == kind]
        print(f"{name}: {kind}, {int((own <= limit + 1e-9).sum())} of {own.size} within a factor of {limit}")
    none = k[kinds == "noise"]
    print(f"{name}: noise, {int((none == 0).sum())} of {none.size} called so")


def chosen(make: Callable[[], Labelled], *, is_dated: bool) -> dict[str, Any]:
    """Return the number chosen for a set, stories where its documents are dated; 0 where no structure is found."""
    matrix, counts, labels, letters = make()
    why = "because the documents are dated" if is_dated else None
    started = time.process_time()
    found = choose_k(matrix, counts=counts, letters=letters, subtopics_because=why, random_state=0, n_threads=1)
    seconds = time.process_time() - started
    kept = None if found.labels is None else found.labels[found.labels >= 0]
    return {
        "documents": matrix.shape[0],
        "true_k": len(set(labels)),
        "k": found.k or 0,
        "granularity": found.granularity if found.k else "",
        "sections": (found.sections or 0) if found.k else 0,
        "topics": found.topics if found.k else 0,
        "stories": found.subtopics if found.k else 0,
        "largest": round(float(np.bincount(kept).max() / kept.size), 3) if kept is not None else 1.0,
        "cpu_seconds": round(seconds, 1),
    }


def real_sets(folder: pathlib.Path) -> dict[str, Callable[[], Labelled]]:
    """Return the real sets that are available, by name, each as what loads it."""
    sets: dict[str, Callable[[], Labelled]] = {"real newsroom stories": newsroom}
    places = {"itn_news_stream": itn_english, "reuters21578": reuters, "newsgroups20": newsgroups}
    places |= {"stackoverflow_titles": stack_overflow, "news_stories_basil": basil, "events_ecbplus": ecb_plus}
    places |= {"questions_clinc150": clinc, "search_results_ambient": ambient}
    for place, load in places.items():
        if (folder / place).is_dir():
            sets[f"real {place}"] = lambda load=load, place=place: load(folder / place)
    for name in CLUTO:
        if (folder / "cluto_matrices" / name).is_dir():
            sets[f"real {name}"] = lambda name=name: cluto(folder / "cluto_matrices" / name / f"{name}.mat")
    for name in SHORT:
        if (folder / "short_texts").is_dir():
            sets[f"real {name}"] = lambda name=name: short(folder / "short_texts" / f"{name}.jsonl.gz")
    return sets


def texts_to_rows(texts: Sequence[str], labels: Sequence[Any]) -> Labelled:
    """Return the unit rows of texts that have terms, their counts, their labels, and their letters where short."""
    vectors = doccluster.vectorize(doccluster.read_corpus(list(texts)))
    kept = np.flatnonzero(~vectors.is_empty)
    filled = vectors.take(kept)
    return filled.matrix, filled.counts, [labels[row] for row in kept], filled.letters


def newsroom() -> Labelled:
    """Return the bundled sample and its stories."""
    lines = (ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return texts_to_rows([row["text"] for row in rows], [row["story"] for row in rows])


def itn_english(place: pathlib.Path) -> Labelled:
    """Return the English blurbs and their stories."""
    stories = json.loads((place / "corpus.json").read_text(encoding="utf-8"))
    found = [(one["blurb"], story) for story, own in stories.items() for one in own.values() if one["lang"] == "en"]
    return texts_to_rows([re.sub("<[^>]+>", "", blurb) for blurb, _ in found], [story for _, story in found])


def reuters(place: pathlib.Path) -> Labelled:
    """Return the articles with one topic, and that."""
    corpus = doccluster.read_corpus(place)
    rows = [row for row, topics in enumerate(corpus.labels["topics"]) if len(topics) == 1]
    return texts_to_rows([corpus.texts[row] for row in rows], [corpus.labels["topics"][row][0] for row in rows])


def newsgroups(place: pathlib.Path) -> Labelled:
    """Return the postings and their groups."""
    corpus = doccluster.read_corpus(place / "20news-18828.tar.xz")
    groups = next(iter(corpus.labels.values()))
    return texts_to_rows(corpus.texts, [own[0] for own in groups])


def stack_overflow(place: pathlib.Path) -> Labelled:
    """Return the titles and their tags."""
    titles = (place / "rawText" / "title_StackOverflow.txt").read_text(encoding="utf-8").splitlines()
    return texts_to_rows(titles, (place / "rawText" / "label_StackOverflow.txt").read_text(encoding="utf-8").split())


def _lines(path: pathlib.Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def basil(place: pathlib.Path) -> Labelled:
    """Return articles of three outlets about one story each."""
    rows = _lines(place / "basil_2010_2014.jsonl.gz")
    return texts_to_rows([row["text"] for row in rows], [row["story"] for row in rows])


def ecb_plus(place: pathlib.Path) -> Labelled:
    """Return articles about one event each."""
    rows = _lines(place / "ecb_plus.jsonl.gz")
    return texts_to_rows([row["text"] for row in rows], [row["story"] for row in rows])


def clinc(place: pathlib.Path) -> Labelled:
    """Return two thousand of the questions and their intents."""
    rows = [row for row in _lines(place / "clinc150.jsonl.gz") if row["label"] != "oos"]
    few = [rows[place] for place in np.random.default_rng(0).choice(len(rows), 2000, replace=False)]
    return texts_to_rows([row["text"] for row in few], [row["label"] for row in few])


def ambient(place: pathlib.Path) -> Labelled:
    """Return the search results of all queries, and which query each is for."""
    with gzip.open(place / "results.txt.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return texts_to_rows([" ".join(row[2:4]) for row in rows], [row[0].split(".")[0] for row in rows])


def short(path: pathlib.Path) -> Labelled:
    """Return short texts and their classes."""
    rows = _lines(path)
    return texts_to_rows([row["text"] for row in rows], [row["label"] for row in rows])


def cluto(path: pathlib.Path) -> Labelled:
    """Return the rows, counts and classes of a CLUTO matrix."""
    vectors, classes = doccluster.read_matrix(path)
    assert classes is not None  # these sets have them
    kept = np.flatnonzero(~vectors.is_empty)
    counts = None if vectors.counts is None else vectors.counts[kept]
    return vectors.matrix[kept], counts, [classes[row] for row in kept], None


def made_sets() -> dict[str, Callable[[], Labelled]]:
    """Return the made sets by name."""
    return {
        f"made {kind} {k}": lambda kind=kind, k=k, n=n, options=options: made(kind, k, n, options)
        for kind, sets in MADE.items()
        for k, n, options in sets
    }


def made(kind: str, k: int, n_documents: int, options: dict[str, Any]) -> Labelled:
    """Return a made set of k clusters."""
    if kind == "zipf":
        shares = {"story_share": 0.05, "near_duplicates": 0.0}
        corpus = make_zipf_corpus(n_documents, n_topics=k, n_stories=k, random_state=1, **shares, **options)
        return texts_to_rows(corpus.texts, [own[0] for own in corpus.labels["topic"]])
    if kind == "sharma":
        one = make_sharma(k, documents_per_cluster=n_documents // k, random_state=1, **options)
        return one.vectors.matrix, None, one.truth.tolist(), None
    if kind == "vmf":
        mixture = make_vmf_mixture(n_documents, 100, k, random_state=1, **options)
        return mixture.vectors.matrix, None, mixture.truth.tolist(), None
    one = make_sparse_vmf(n_documents, n_clusters=k, random_state=1, **{"n_terms": 20_000, **options})
    return one.vectors.matrix, None, one.truth.tolist(), None


def noise_sets(folder: pathlib.Path) -> dict[str, Callable[[], Labelled]]:
    """Return the sets without structure by name."""
    there = [name for name in NOISE if name != "dealt re0" or (folder / "cluto_matrices" / "re0").is_dir()]
    return {f"noise {name}": lambda name=name: (without_structure(name, folder), None, [0], None) for name in there}


def without_structure(name: str, folder: pathlib.Path) -> Any:
    """Return rows around one mean, texts of one topic, or rows whose terms were dealt out again."""
    rng = np.random.default_rng(1)
    if name == "sparse-vmf":
        return make_sparse_vmf(1000, 20_000, 1, random_state=1).vectors.matrix
    if name == "vmf":
        return make_vmf_mixture(1000, 100, 1, kappa=50, random_state=1).vectors.matrix
    if name == "zipf":
        shares = {"story_share": 0.0, "near_duplicates": 0.0}
        return texts_to_rows(
            make_zipf_corpus(2000, n_topics=1, n_stories=1, random_state=1, **shares).texts, [0] * 2000
        )[0]
    if name == "sphere":
        points = rng.normal(size=(1000, 50))
        return points / np.linalg.norm(points, axis=1, keepdims=True)
    model, _, source = name.partition(" ")
    matrix = newsroom()[0] if source == "newsroom" else cluto(folder / "cluto_matrices" / "re0" / "re0.mat")[0]
    drawn = sample_null(matrix, model="deal" if model == "dealt" else "permute", random_state=rng)
    return drawn[np.flatnonzero(np.diff(drawn.indptr))]


if __name__ == "__main__":
    main(sys.argv[1:])
