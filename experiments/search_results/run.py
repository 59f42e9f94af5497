"""Search results in groups, measured on AMBIENT.

``python -m experiments.search_results.run [FOLDER]`` (by default ../shared/corpora/search_results_ambient) groups the
100 hits of each of 44 queries and prints

- agreement with the subtopics: adjusted Rand, Rand and Jaccard index, means over queries, once on the hits that have a
  subtopic (its first one), once on all hits with those of no subtopic as one class;
- subtopic search length, SSL_1 to SSL_4 (see `reading_cost`): how many items, labels and hits, are
  read until one to four relevant hits have been seen. One reader knows which groups are best and opens them by their
  share of relevant hits, after reading all labels; another goes down the list of labels and opens each group that has
  a relevant hit when its label is read; a third knows nothing but words: all labels are read, and opened first are
  those that share most words with the description of the subtopic, then the others from the top;
- milliseconds of processor time for a query;
- what other cuts of the trees would give;
- the agreement and the number of groups for 30 queries of two words over 20 Newsgroups, whose hits are all alike (where
  newsgroups20/20news-18828.tar.xz lies beside FOLDER; the rule was chosen with other queries).

The plain list must give 22.47 34.66 41.96 47.55, as published by Bernardini, Carpineto and D'Amico (2009).
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from doccluster.clustering import SphericalKMeans
from doccluster.corpus import Corpus
from doccluster.measures import score
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.retrieval import GroupedHits, HitGroup, SearchHit
from doccluster.retrieval.grouping import cluster_search_results
from doccluster.text.analysis import build_stemmer
from doccluster.text.tokens import DEFAULT_TOKEN_PATTERN, build_tokenizer
from doccluster.vectors.encoders import encode, get_encoder
from doccluster.vectors.meaning import meaning_of
from experiments.search_results.ambient import AmbientQuery, read_ambient
from experiments.search_results.reading_cost import reading_cost, subtopic_search_length
from experiments.search_results.two_words import newsgroup_queries

HERE = pathlib.Path(__file__).resolve().parent
PUBLISHED = (22.47, 34.66, 41.96, 47.55)
AGREEMENT = {"ARI": "adjusted_rand", "Rand": "rand", "Jaccard": "jaccard"}
LABEL = -1  # read among the hits, and never relevant
CUTS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
LENGTHS = ("SSL_1", "SSL_2", "SSL_3", "SSL_4")
STEM = build_stemmer("english")
TOKENS = build_tokenizer(DEFAULT_TOKEN_PATTERN)
Order = Callable[[frozenset[int], str, GroupedHits], list[tuple[int, ...]]]


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    default = HERE.parents[2] / "shared" / "corpora" / "search_results_ambient"
    folder = pathlib.Path(arguments[0]) if arguments else default
    if not folder.is_dir():
        sys.exit(f"{folder} is not there; name the folder of the AMBIENT collection")
    queries = read_ambient(folder)
    plain = plain_list(queries)
    if tuple(round(value, 2) for value in plain.values()) != PUBLISHED:
        sys.exit(f"the plain list gives {plain}, published are {PUBLISHED}: these are other files")
    columns = {"plain list": plain}
    for name, group in WAYS.items():
        group(queries[0].hits, queries[0].text)  # compiles what is not compiled yet
        began = time.process_time()
        found = [group(one.hits, one.text) for one in queries]
        spent = 1000 * (time.process_time() - began) / len(queries)
        groups = float(np.mean([len(one.groups) for one in found]))
        columns[name] = {**judge(queries, found), "groups": groups, "milliseconds": spent}
    table = pd.DataFrame(columns)
    print(table.round(3).to_string(na_rep=""))
    cuts = pd.DataFrame([_of_cut(queries, cut) for cut in CUTS])
    print(f"\n{cuts.round(3).to_string(index=False)}")
    archive = folder.parent / "newsgroups20" / "20news-18828.tar.xz"
    two_words = of_two_words(archive) if archive.is_file() else None
    if two_words is not None:
        print(f"\nqueries of two words\n{two_words.round(3).to_string()}")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    table.drop(index="milliseconds").round(4).to_csv(
        results / "ambient.csv", lineterminator="\n", index_label="measure"
    )
    if two_words is not None:
        two_words.round(4).to_csv(results / "two_words.csv", lineterminator="\n", index_label="measure")


def of_two_words(archive: pathlib.Path) -> pd.DataFrame:
    """Return the agreement with newsgroups, and the number of groups, for queries whose hits are all alike."""
    queries = newsgroup_queries(archive)
    ways = {**WAYS, "fixed cut .65": partial(cluster_search_results, cut_at=0.65)}
    columns = {}
    for name, group in ways.items():
        found = [group(one.hits, one.text) for one in queries]
        judged = judge(queries, found)
        columns[name] = {
            **{measure: judged[measure] for measure in AGREEMENT},
            "groups": float(np.mean([len(one.groups) for one in found])),
            "subtopics": float(np.mean([len(one.relevant) for one in queries])),
        }
    return pd.DataFrame(columns)


def _of_cut(queries: Sequence[AmbientQuery], cut: float) -> dict[str, float]:
    """Return the scores of another cut of the trees."""
    found = [cluster_search_results(one.hits, one.text, cut_at=cut) for one in queries]
    judged = judge(queries, found)
    groups = float(np.mean([len(one.groups) for one in found]))
    return {"cut at": cut, "ARI": judged["ARI"], "SSL_2, best groups": judged["SSL_2, best groups"], "groups": groups}


def plain_list(queries: Sequence[AmbientQuery]) -> dict[str, float]:
    """Return SSL_1 to SSL_4 of the ranked list as it is."""
    return {
        name: subtopic_search_length(
            [[reading_cost([range(len(one.hits))], own, k) for own in one.relevant] for one in queries]
        )
        for k, name in enumerate(LENGTHS, 1)
    }


def judge(queries: Sequence[AmbientQuery], found: Sequence[GroupedHits]) -> dict[str, float]:
    """Return agreement with the subtopics, and the search lengths of both readers, by name."""
    values: dict[str, list[float]] = {}
    for query, groups in zip(queries, found, strict=True):
        labels, classes = _labels(groups), query.classes
        known = classes >= 0
        for name, measure in AGREEMENT.items():
            for note, rows in {"": known, ", all hits": np.ones_like(known)}.items():
                one = score(measure, labels[rows].tolist(), truth=classes[rows].tolist())
                values.setdefault(f"{name}{note}", []).append(one.value)
    agreement = {name: float(np.mean(each)) for name, each in values.items()}
    readers = {"best groups": by_relevance, "down the labels": down_the_list, "words of labels": by_label}
    lengths = {reader: _search_lengths(queries, found, order) for reader, order in readers.items()}
    return agreement | {f"{name}, {reader}": value for reader, of in lengths.items() for name, value in of.items()}


def group_by_k_means(hits: Sequence[SearchHit], text: str) -> GroupedHits:
    """Return ten groups without labels by spherical k-means on the words of the hits: what this is compared with."""
    corpus = Corpus(ids=tuple(one.id for one in hits), texts=tuple(one.text for one in hits))
    rows = vectorize_texts(corpus, language="english", options={"stemming": "english"}, n_threads=1).vectors.matrix
    labels = SphericalKMeans(10, random_state=0, n_threads=1).fit_predict(rows)
    members = [tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    return GroupedHits(text, tuple(hits), tuple(HitGroup("", (), 0.0, own) for own in members), (), {})


static_encoder = cache(partial(get_encoder, "static", n_threads=1))


def group_by_both(hits: Sequence[SearchHit], text: str) -> GroupedHits:
    """Return the groups of `cluster_search_results` by words and by what the static encoder makes of the hits."""
    meaning = meaning_of(encode(static_encoder(), [one.text for one in hits]))
    return cluster_search_results(hits, text, meaning=meaning.rows)


def by_relevance(relevant: frozenset[int], description: str, found: GroupedHits) -> list[tuple[int, ...]]:
    """Return the groups, and Other, by their share of relevant hits; equal ones in their order."""
    groups = [*(one.documents for one in found.groups), *([found.other] if found.other else [])]
    return sorted(groups, key=lambda own: -len(relevant.intersection(own)) / len(own))


def by_label(relevant: frozenset[int], description: str, found: GroupedHits) -> list[tuple[int, ...]]:
    """Return the groups by how many words their labels share with the description of a subtopic; Other comes last."""
    wanted = _stems(description)
    ordered = sorted(found.groups, key=lambda one: -len(wanted & _stems(one.label)))
    return [*(one.documents for one in ordered), *([found.other] if found.other else [])]


def down_the_list(relevant: frozenset[int], description: str, found: GroupedHits) -> list[tuple[int, ...]]:
    """Return the label of each group from the top, and of Other, as an item, and after it those with a relevant hit."""
    groups = [*(one.documents for one in found.groups), *([found.other] if found.other else [])]
    return [(LABEL, *own) if relevant.intersection(own) else (LABEL,) for own in groups]


def _stems(text: str) -> set[str]:
    return {STEM(word) for word in TOKENS(text.lower())}


def _search_lengths(queries: Sequence[AmbientQuery], found: Sequence[GroupedHits], order: Order) -> dict[str, float]:
    """Return SSL_1 to SSL_4 of a reader."""
    costs: dict[str, list[list[int]]] = {name: [] for name in LENGTHS}
    for query, groups in zip(queries, found, strict=True):
        n_labels = 0 if order is down_the_list else len(groups.groups) + bool(groups.other)
        opened = [
            (relevant, order(relevant, description, groups))
            for relevant, description in zip(query.relevant, query.descriptions, strict=True)
        ]
        for n_wanted, name in enumerate(LENGTHS, 1):
            costs[name].append([reading_cost(own, relevant, n_wanted, n_labels=n_labels) for relevant, own in opened])
    return {name: subtopic_search_length(each) for name, each in costs.items()}


def _labels(found: GroupedHits) -> npt.NDArray[np.int64]:
    labels = np.full(len(found.hits), -1, dtype=np.int64)
    for number, group in enumerate(found.groups):
        labels[list(group.documents)] = number
    return labels


WAYS: dict[str, Callable[[Sequence[SearchHit], str], GroupedHits]] = {
    "k-means, k=10": group_by_k_means,
    "doccluster": cluster_search_results,
    "words and meaning": group_by_both,
}

if __name__ == "__main__":
    main(sys.argv[1:])
