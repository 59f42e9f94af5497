"""The number of clusters that is chosen beside the true one: real corpora with classes, generated corpora, and noise.

    python -m experiments.choosing_k.known_k [--old | --kept] [FOLDER]

FOLDER holds the real corpora (by default ../shared/corpora; those that are not there are left out). With ``--old`` the
rule before it is run as well (silhouette and stability against data without clusters, on 500 documents), which takes
hours; ``--kept`` prints the kept results and runs nothing. Finished sets are lines of results/known_k.csv and
results/known_k_old.csv; the same command continues from there.
"""

from __future__ import annotations

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
from doccluster.pipeline import vectorize_texts
from doccluster.selection import choose_k, default_ks, recommend, sweep
from doccluster.selection.granularity import Curves
from doccluster.selection.null_models import sample_null
from doccluster.synthetic import make_sharma, make_sparse_vmf, make_vmf_mixture, make_zipf_corpus
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLUTO = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
OLD_SAMPLE = 500
Labelled = tuple[Any, Sequence[Any]]

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
    """Choose for every set that is not done yet, and print the tables."""
    if "--kept" in arguments:
        kept, earlier = (pd.read_csv(HERE / "results" / f"{name}.csv") for name in ("known_k", "known_k_old"))
        print(kept.merge(earlier, on="set", how="left").to_string(index=False))
        print_summary(kept)
        return
    named = [argument for argument in arguments if not argument.startswith("--")]
    folder = pathlib.Path(named[0]) if named else ROOT.parent / "shared" / "corpora"
    sets = {**real_sets(folder), **made_sets(), **noise_sets(folder)}
    cases = [{"set": name} for name in sets]
    columns = ("documents", "true_k", "k", "low", "high", "granularity", "topics", "stories", "cpu_seconds")
    new = pd.DataFrame(
        run_cases(HERE / "results" / "known_k.csv", cases, lambda set: [chosen(sets[set])], columns=columns)
    )
    table = new
    if "--old" in arguments:
        old = run_cases(
            HERE / "results" / "known_k_old.csv",
            cases,
            lambda set: [chosen_by_old(sets[set])],
            columns=("old_k", "old_cpu_seconds"),
        )
        table = new.merge(pd.DataFrame(old), on="set", how="left")
    print(table.to_string(index=False))
    print_summary(new)


def print_summary(table: pd.DataFrame) -> None:
    """Print how many numbers are within 1.5 of the true one (real sets) and within 20 % (generated ones)."""
    k, true = (pd.to_numeric(table[name]) for name in ("k", "true_k"))
    ratio = np.maximum(k / true, true / k.where(k > 0))
    kinds = table["set"].str.split().str[0]
    for kind, limit in (("real", 1.5), ("made", 1.2)):
        own = ratio[kinds == kind]
        print(f"{kind}: {int((own <= limit + 1e-9).sum())} of {own.size} within a factor of {limit}")
    none = k[kinds == "noise"]
    print(f"noise: {int((none == 0).sum())} of {none.size} called so")


def chosen(make: Callable[[], Labelled]) -> dict[str, Any]:
    """Return what is chosen for a set; 0 where no structure is found."""
    matrix, labels = make()
    started = time.process_time()
    found = choose_k(matrix, random_state=0)
    seconds = time.process_time() - started
    curves = Curves(found.table, found.p_value)
    good = found.about_as_good or (0,)
    return {
        "documents": matrix.shape[0],
        "true_k": len(set(labels)),
        "k": found.k or 0,
        "low": min(good),
        "high": max(good),
        "granularity": found.granularity if found.k else "",
        "topics": curves.best("topics")[0] if found.k else 0,
        "stories": curves.best("stories")[0] if found.k else 0,
        "cpu_seconds": round(seconds, 1),
    }


def chosen_by_old(make: Callable[[], Labelled]) -> dict[str, Any]:
    """Return what the rule before this one chose: 500 documents, up to 3 sqrt(500) clusters."""
    matrix = make()[0]
    rng = np.random.default_rng(0)
    if matrix.shape[0] > OLD_SAMPLE:
        matrix = matrix[np.sort(rng.choice(matrix.shape[0], OLD_SAMPLE, replace=False))]
    started = time.process_time()
    settings = {"n_null": 19, "n_stability": 10, "n_null_stability": 1}
    found = recommend(sweep(matrix, ks=default_ks(matrix.shape[0]), random_state=rng, **settings))
    return {"old_k": found.k or 1, "old_cpu_seconds": round(time.process_time() - started, 1)}


def real_sets(folder: pathlib.Path) -> dict[str, Callable[[], Labelled]]:
    """Return the real sets that are available, by name, each as what loads it."""
    sets: dict[str, Callable[[], Labelled]] = {"real newsroom stories": newsroom}
    places = {"itn_news_stream": itn_english, "reuters21578": reuters, "newsgroups20": newsgroups}
    places["stackoverflow_titles"] = stack_overflow
    for place, load in places.items():
        if (folder / place).is_dir():
            sets[f"real {place}"] = lambda load=load, place=place: load(folder / place)
    for name in CLUTO:
        if (folder / "cluto_matrices" / name).is_dir():
            sets[f"real {name}"] = lambda name=name: cluto(folder / "cluto_matrices" / name / f"{name}.mat")
    return sets


def texts_to_rows(texts: Sequence[str], labels: Sequence[Any]) -> Labelled:
    """Return the unit rows of texts that have terms, and their labels."""
    vectors = vectorize_texts(doccluster.read_corpus(list(texts)), language="auto", options={}, n_threads=None).vectors
    kept = np.flatnonzero(~vectors.is_empty)
    return vectors.matrix[kept], [labels[row] for row in kept]


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


def cluto(path: pathlib.Path) -> Labelled:
    """Return the rows and classes of a CLUTO matrix."""
    vectors, classes = doccluster.read_matrix(path)
    assert classes is not None  # these sets have them
    kept = np.flatnonzero(~vectors.is_empty)
    return vectors.matrix[kept], [classes[row] for row in kept]


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
        return one.vectors.matrix, one.truth.tolist()
    if kind == "vmf":
        mixture = make_vmf_mixture(n_documents, 100, k, random_state=1, **options)
        return mixture.vectors.matrix, mixture.truth.tolist()
    one = make_sparse_vmf(n_documents, n_clusters=k, random_state=1, **{"n_terms": 20_000, **options})
    return one.vectors.matrix, one.truth.tolist()


def noise_sets(folder: pathlib.Path) -> dict[str, Callable[[], Labelled]]:
    """Return the sets without structure by name."""
    there = [name for name in NOISE if name != "dealt re0" or (folder / "cluto_matrices" / "re0").is_dir()]
    return {f"noise {name}": lambda name=name: (without_structure(name, folder), [0]) for name in there}


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
