"""Labels of the true classes of 20 Newsgroups: do they say what the groups are called?

``python -m experiments.labels.run [ARCHIVE]`` (by default ../shared/corpora/newsgroups20/20news-18828.tar.xz) labels
the 20 groups, once with whole messages and once without headers, signatures and quotations, each with words as they are
and with stems, and prints for several ways to rank terms

- Match@1, 3, 5, 20: the share of groups whose name is among the first terms, and MRR@5, the mean reciprocal rank of the
  name among the first five. The names that count are in newsgroups_names.json: the parts of the name of the group,
  written out, with their forms and synonyms;
- of the labels (three terms): P@10 and MRR of a search for them, where a message of the group is right.

"And titles" is the way of `doccluster.labeling`: words and phrases by mutual information, times the share of the group
that a search for the term brings back, times the square root of the share of the group's titles that have the term.
`python -m experiments.labels.of_a_run RUN` prints the same numbers for a run.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from doccluster.corpus import Corpus, read_corpus
from doccluster.geometry import ClusterEvidence
from doccluster.labeling import ClusterProfiles, LabelTerm, short_labels
from doccluster.labeling.label_phrases import LabelQueries
from doccluster.labeling.label_terms import rank_label_terms
from doccluster.labeling.profiles import largest_per_row
from doccluster.labeling.short_labels import is_content
from doccluster.partition import Partition
from doccluster.pipeline.naming import in_written_forms, phrases_of, title_counts, unwanted_words
from doccluster.pipeline.vectorizing import Vectorized, vectorize_texts
from doccluster.text.stemming import build_stemmer
from experiments.labels.quality import judge_labels, label_as_query, names_of_classes

HERE = pathlib.Path(__file__).resolve().parent
N_TERMS = 20
STRIPPED = ("headers", "footers", "quotes")
Ranked = Sequence[Sequence[LabelTerm]]


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    default = HERE.parents[2] / "shared" / "corpora" / "newsgroups20" / "20news-18828.tar.xz"
    archive = pathlib.Path(arguments[0]) if arguments else default
    if not archive.is_file():
        sys.exit(f"{archive} is not there; name the archive of 20 Newsgroups")
    names = json.loads((HERE / "newsgroups_names.json").read_text(encoding="utf-8"))
    rows = []
    for messages, strip in (("whole", ()), ("stripped", STRIPPED)):
        corpus = read_corpus(archive, format="newsgroups", strip=strip)
        for terms, stemming in (("words", "none"), ("stems", "english")):
            rows += [{"messages": messages, "terms": terms, **row} for row in compare(corpus, stemming, names)]
    table = pd.DataFrame(rows).round(3)
    print(table.to_string(index=False))
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    table.to_csv(results / "newsgroups.csv", index=False, lineterminator="\n")


def compare(corpus: Corpus, stemming: str, names: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return a row for each way to rank the terms of the true classes."""
    made = vectorize_texts(corpus, language="english", options={"stemming": stemming}, n_threads=1)
    kept = np.flatnonzero(~made.vectors.is_empty)
    vectors = made.vectors.take(kept)
    texts = [corpus.texts[row] for row in kept.tolist()]
    classes = corpus.labels["class"]
    partition = Partition.from_labels([classes[row][0] for row in kept.tolist()])
    vectors = in_written_forms(made, vectors, texts[::10])
    evidence = ClusterEvidence(vectors.documents, partition, n_threads=1)
    profiles = ClusterProfiles.from_evidence(evidence)
    unwanted = made.function_words | unwanted_words(made, texts, None)
    given: dict[str, Any] = {"rows": evidence.rows.matrix, "partition": partition, "function_words": unwanted}
    assert vectors.display_terms is not None  # made of texts
    titles = [corpus.column("title")[row] for row in kept.tolist()]
    phrases = phrases_of(made, vectors, partition, texts, titles, unwanted)
    in_titles = title_counts(made, partition, titles)
    ways: dict[str, Ranked] = {
        **plain_rankings(profiles, vectors.display_terms, unwanted),
        "words, as queries": rank_label_terms(profiles, vectors.display_terms, **given),
        "and phrases": rank_label_terms(profiles, vectors.display_terms, phrases=phrases, **given),
        "and titles": rank_label_terms(profiles, vectors.display_terms, phrases=phrases, in_titles=in_titles, **given),
    }
    accepted = names_of_classes([str(name) for name in partition.names], names)
    return [
        {"ranked by": way, **judged(ranked, made, evidence, [accepted[str(name)] for name in partition.names])}
        for way, ranked in ways.items()
    ]


def plain_rankings(profiles: ClusterProfiles, names: Any, unwanted: frozenset[str]) -> dict[str, Ranked]:
    """Return words ranked by mutual information, times coverage, and times what no sibling covers."""
    information, support = profiles.mutual_information(), profiles.support
    coverage = support.data / np.repeat(profiles.sizes, np.diff(support.indptr))
    table = sparse.csr_array((coverage, support.indices, support.indptr), shape=support.shape)
    alone = np.concatenate([_beyond_siblings(table, cluster) for cluster in range(profiles.n_clusters)])
    factors = {
        "mutual information": np.ones_like(coverage),
        "times coverage": coverage,
        "times coverage beyond siblings": alone,
    }
    return {way: _ranked(information, values, names, unwanted) for way, values in factors.items()}


def _beyond_siblings(coverage: sparse.csr_array, cluster: int) -> Any:
    others = sparse.vstack([coverage[:cluster], coverage[cluster + 1 :]]).max(axis=0).tocsr()
    own = slice(coverage.indptr[cluster], coverage.indptr[cluster + 1])
    row = np.zeros(coverage.shape[1])
    row[others.indices] = others.data
    return np.maximum(coverage.data[own] - row[coverage.indices[own]], 0.0)


def _ranked(information: sparse.csr_array, factors: Any, names: Any, unwanted: frozenset[str]) -> Ranked:
    scores = sparse.csr_array(
        (information.data * factors, information.indices, information.indptr), shape=information.shape
    )
    found = []
    for columns, values in largest_per_row(scores, 3 * N_TERMS):
        pairs = [(str(names[column]), float(value)) for column, value in zip(columns, values, strict=True)]
        terms = [LabelTerm(name, value, 0.0) for name, value in pairs if is_content(name, unwanted)]
        found.append(tuple(terms[:N_TERMS]))
    return found


def judged(
    ranked: Ranked, made: Vectorized, evidence: ClusterEvidence, accepted: Sequence[frozenset[str]]
) -> dict[str, float]:
    """Return the measures of one way."""
    assert made.vectorizer is not None  # made of texts
    labels = short_labels(ranked)
    columns = [sorted(made.vectorizer.transform([label]).indices.tolist()) for label in labels]
    queries = LabelQueries(evidence.rows.matrix, evidence.labels, {one for own in columns for one in own})
    found = [label_as_query(queries, own, cluster) for cluster, own in enumerate(columns)]
    terms = [[one.term for one in own] for own in ranked]
    scores = judge_labels(labels, terms, found, accepted=accepted, stem=build_stemmer("english"))
    matches = {f"Match@{at}": value for at, value in scores.match.items()}
    return {**matches, "MRR@5": scores.reciprocal_rank, "P@10": scores.precision, "MRR": scores.first_found}


if __name__ == "__main__":
    main(sys.argv[1:])
