"""A set in many languages beside each of its languages apart.

``python -m experiments.mixed_languages.run [FILE]`` reads the stream of news items in 55 languages (by default
../shared/corpora/itn_news_stream/corpus.json: 312 stories, 3,546 items), clusters all of it, with as many clusters as
there are pairs of a story and a language, and then each language of at least 60 items apart, with as many clusters as
it has stories. Both are scored on the same items of the language against its stories (normalised mutual information
and pair F), means of three seeds, three starts each, for three ways to make terms: the analyzer and the stop lists a
run chooses by itself, words with the stop lists of all languages for all documents, and words alone.
A document without any term counts as a cluster of its own.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from doccluster.clustering import SphericalKMeans
from doccluster.corpus import Corpus, read_corpus
from doccluster.measures import score
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.text.language import load_stop_words
from doccluster.text.tokens import DEFAULT_TOKEN_PATTERN, build_tokenizer

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = (0, 1, 2)
MIN_ITEMS = 60
MEASURES = ("nmi", "pair_f")
WAYS = ("by script, lists by language", "words, all lists together", "words, no lists")

Labels = npt.NDArray[np.int64]


def main(arguments: list[str]) -> None:
    """Cluster both ways and print a table for each way to make terms."""
    default = HERE.parents[2] / "shared" / "corpora" / "itn_news_stream" / "corpus.json"
    path = pathlib.Path(arguments[0]) if arguments else default
    if not path.is_file():
        sys.exit(f"{path} is not there; name the file corpus.json of the ITN corpus")
    corpus = read_corpus(
        path,
        text_column="blurb",
        title_column="keyword",
        date_column="key_2",
        label_columns=["key_1", "lang"],
        strip_html=True,
    )
    stories, languages = (np.array([own[0] for own in corpus.labels[name]]) for name in ("key_1", "lang"))
    tables = [compare_ways(corpus, stories, languages, way).assign(terms=way) for way in WAYS]
    for way, table in zip(WAYS, tables, strict=True):
        print(f"\n{way}\n{table.drop(columns='terms').round(3).to_string(index=False)}")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    pd.concat(tables).round(4).to_csv(results / "languages.csv", index=False, lineterminator="\n")


def compare_ways(
    corpus: Corpus, stories: npt.NDArray[np.str_], languages: npt.NDArray[np.str_], way: str
) -> pd.DataFrame:
    """Return one row per language: its scores clustered apart, and in the mixed set; the last is the mean by items."""
    mixed = cluster(corpus, len(set(zip(languages.tolist(), stories.tolist(), strict=True))), way)
    names, counts = np.unique(languages, return_counts=True)
    rows = []
    for name in names[counts >= MIN_ITEMS][np.argsort(-counts[counts >= MIN_ITEMS], kind="stable")]:
        own = np.flatnonzero(languages == name)
        truth = stories[own]
        apart = cluster(take(corpus, own), len(set(truth)), way)
        scores = {
            f"{measure} {where}": mean_score(measure, labels, truth)
            for measure in MEASURES
            for where, labels in (("apart", apart), ("mixed", [labels[own] for labels in mixed]))
        }
        rows.append({"language": name, "items": own.size, "stories": len(set(truth)), **scores})
    table = pd.DataFrame(rows)
    scored = list(table.columns[3:])
    mean = {name: float(np.average(table[name], weights=table["items"])) for name in scored}
    total = {"language": "mean", "items": table["items"].sum(), "stories": table["stories"].sum(), **mean}
    return pd.concat([table, pd.DataFrame([total])], ignore_index=True)


def cluster(corpus: Corpus, n_clusters: int, way: str) -> list[Labels]:
    """Return labels of every document for each seed; a document without terms has a label of its own."""
    vectors = vectorize_texts(corpus, language="auto", options=options_of(way), n_threads=None).vectors
    filled = np.flatnonzero(~vectors.is_empty)
    matrix = vectors.matrix[filled]
    found = []
    for seed in SEEDS:
        k = min(n_clusters, len({row.tobytes() for row in rows_of(matrix)}))
        labels = -1 - np.arange(len(corpus), dtype=np.int64)
        labels[filled] = SphericalKMeans(k, n_init=3, random_state=seed).fit(matrix).labels_
        found.append(labels)
    return found


def rows_of(matrix: Any) -> list[npt.NDArray[np.float64]]:
    """Return each row's columns and values as one array, to tell equal rows."""
    edges = matrix.indptr
    return [np.concatenate([matrix.indices[a:b], matrix.data[a:b]]) for a, b in itertools.pairwise(edges)]


def options_of(way: str) -> Mapping[str, Any]:
    """Return the options of the vectorizer that a way to make terms stands for; those of a run are none."""
    if way == WAYS[0]:
        return {}
    lists = ("english", "portuguese", "russian", "french") if way == WAYS[1] else ()  # those above 5 % of the items
    cut = build_tokenizer(DEFAULT_TOKEN_PATTERN)
    words = {token for name in lists for word in load_stop_words(name) for token in cut(word)}
    return {"analyzer": "word", "stop_words": sorted(words)}


def mean_score(measure: str, labels: list[Labels], truth: npt.NDArray[np.str_]) -> float:
    """Return the mean of a measure over the seeds."""
    return float(np.mean([score(measure, own.tolist(), truth=truth.tolist()).value for own in labels]))


def take(corpus: Corpus, rows: npt.NDArray[np.intp]) -> Corpus:
    """Return the documents of these rows."""
    return Corpus(ids=tuple(corpus.ids[row] for row in rows), texts=tuple(corpus.texts[row] for row in rows))


if __name__ == "__main__":
    main(sys.argv[1:])
