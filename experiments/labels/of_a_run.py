"""How good the labels of clusters are: of a run, or of the classes that documents come with.

``python -m experiments.labels.of_a_run RUN|FILES [--truth COLUMN] [--synonyms FILE] [--json]`` prints what
docs/explanation/labels.md explains.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.artifacts.run_folder import load_run
from doccluster.corpus.draft import ReadFailure
from doccluster.corpus.opening import read_whole
from doccluster.errors import InputError
from doccluster.geometry import ClusterEvidence
from doccluster.labeling import ClusterDescription, place_documents
from doccluster.labeling.label_phrases import LabelQueries
from doccluster.labeling.profiles import ClusterProfiles
from doccluster.partition import Partition
from doccluster.pipeline.naming import name_clusters
from doccluster.pipeline.sources import read_source, split_empty
from doccluster.record import DocumentTable
from doccluster.text.stemming import STEMMING_LANGUAGES, build_stemmer
from doccluster.text.stopwords import load_stop_words
from doccluster.vectors import DocumentVectors, TfidfVectorizer
from experiments.labels.quality import LabelScores, judge_labels, label_as_query, names_of_classes

SHOWN = 5  # terms of a cluster


@dataclass(frozen=True)
class JudgedLabel:
    """A cluster, the class most of its documents are of (none if not known), its label and the terms behind it."""

    cluster: int
    class_name: str
    label: str
    terms: tuple[str, ...]


@dataclass(frozen=True)
class LabelEvaluation:
    """How good labels are, and the labels."""

    scores: LabelScores
    labels: tuple[JudgedLabel, ...]


def evaluate_labels(
    source: Any,
    *,
    truth: str | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    reader: Mapping[str, Any] | None = None,
    vectorizer: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
) -> LabelEvaluation:
    """Return how good the labels of clusters are.

    Raises InputError if documents have no classes, or there are several columns and none is named.

    Parameters
    ----------
    source : folder of a run, or documents as for `run_pipeline`
        Of a run its clusters are judged, and the name of a cluster is that of the class most of its documents have. Of
        documents their true classes are labelled and judged.
    truth : str, optional
        The column of classes; by default the only one there is.
    synonyms : mapping of class to names, optional
        What counts as the name of a class; by default the class and those of its parts that no other class has.
    reader, vectorizer, n_threads
        As for `run_pipeline`; of documents only.
    """
    if isinstance(source, str | Path) and (Path(source) / "run.json").is_file():
        return _of_run(source, truth, synonyms)
    read = read_source(source, reader=reader or {}, truth=() if truth is None else (truth,))
    made = read.vectorize(options=vectorizer, n_threads=n_threads)
    documents, _, vectors = split_empty(read.documents, made.vectors)
    column = _column(truth, documents, needed=True)
    assert column is not None  # it is needed
    rows, names = _classes(documents, column)
    vectors, documents = vectors.take(rows), documents.take(rows)
    partition = Partition.from_labels(names)
    evidence = ClusterEvidence(vectors.documents, partition, n_threads=n_threads)
    placed = place_documents(
        vectors.documents, partition, ClusterProfiles.from_evidence(evidence).centroids, n_threads=n_threads
    )
    texts = None if read.corpus is None else [read.corpus.texts[place] for place in documents.positions.tolist()]
    vectors, clusters = name_clusters(made, vectors, evidence, placed, texts, documents, None)
    classes = [str(name) for name in partition.names]
    return _judged(clusters, classes, partition, vectors, made.vectorizer, made.languages, synonyms)


def read_synonyms(path: str | Path) -> dict[str, list[str]]:
    """Return the names of classes from a file: a JSON object of class to a list of names.

    Raises InputError if the file cannot be read, or holds something else.
    """
    try:
        content = json.loads(read_whole(path))
    except ReadFailure as error:
        raise InputError(f"{path} cannot be read: {error.detail}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is not JSON ({str(error)[:80]}); give an object of classes and lists of names."
        ) from error
    is_names = isinstance(content, dict) and all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names) for names in content.values()
    )
    if not is_names:
        raise InputError(f'{path} is not a list of names; give {{"class": ["name", "other name"], ...}}.')
    return dict(content)


def _of_run(folder: str | Path, truth: str | None, synonyms: Mapping[str, Sequence[str]] | None) -> LabelEvaluation:
    run = load_run(folder)
    column = _column(truth or (run.truth[0] if len(run.truth) == 1 else None), run.documents, needed=truth is not None)
    classes = [""] * run.n_clusters
    if column is not None:
        rows, names = _classes(run.documents, column)
        labels = run.partition.labels[rows]
        for cluster in range(run.n_clusters):
            counts = Counter(names[place] for place in np.flatnonzero(labels == cluster).tolist())
            classes[cluster] = min(counts, key=lambda name: (-counts[name], name), default="")
    languages = tuple(run.parameters.get("resolved", {}).get("languages", ()))
    return _judged(run.clusters, classes, run.partition, run.vectors, run.vectorizer, languages, synonyms)


def _column(truth: str | None, documents: DocumentTable, *, needed: bool) -> str | None:
    """Return the column of classes: the one named, or the only one."""
    columns = list(documents.labels)
    if truth is not None:
        if truth not in columns:
            there = f"there are {', '.join(columns)}" if columns else "the documents come with none"
            raise InputError(f"there is no column of classes {truth!r}", remedy=there)
        return truth
    if needed and len(columns) != 1:
        there = f"choose one of {', '.join(columns)}" if columns else "give documents that have classes, or a run"
        raise InputError(f"the documents come with {len(columns) or 'no'} columns of classes", remedy=there)
    return columns[0] if len(columns) == 1 else None


def _classes(documents: DocumentTable, column: str) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the rows that have exactly one class, and those classes."""
    own = documents.labels[column]
    rows = [row for row, names in enumerate(own) if len(names) == 1]
    if not rows:
        raise InputError(f"no document has exactly one class in {column!r}", remedy="choose another column")
    return np.array(rows, dtype=np.int64), [own[row][0] for row in rows]


def _judged(
    clusters: Sequence[ClusterDescription],
    classes: Sequence[str],
    partition: Partition,
    vectors: DocumentVectors,
    vectorizer: TfidfVectorizer | None,
    languages: Sequence[str],
    synonyms: Mapping[str, Sequence[str]] | None,
) -> LabelEvaluation:
    names = names_of_classes(sorted({name for name in classes if name}), synonyms)
    stem = build_stemmer(languages[0]) if len(languages) == 1 and languages[0] in STEMMING_LANGUAGES else str
    ranked = [
        tuple(one.term for one in cluster.label_terms) or tuple(cluster.label.split(", ")) for cluster in clusters
    ]
    columns = [_columns_of(cluster.label, vectors, vectorizer) for cluster in clusters]
    queries = LabelQueries.of_partition(vectors.documents.unit, partition, {one for own in columns for one in own})
    scores = judge_labels(
        [cluster.label for cluster in clusters],
        ranked,
        [label_as_query(queries, own, cluster) for cluster, own in enumerate(columns)],
        accepted=[names.get(name, frozenset()) for name in classes],
        function_words=frozenset().union(*(load_stop_words(name) for name in languages)),
        stem=stem,
    )
    judged = zip(clusters, classes, ranked, strict=True)
    return LabelEvaluation(
        scores, tuple(JudgedLabel(cluster.cluster, name, cluster.label, terms) for cluster, name, terms in judged)
    )


def _columns_of(label: str, vectors: DocumentVectors, vectorizer: TfidfVectorizer | None) -> list[int]:
    if vectorizer is not None:
        return sorted(vectorizer.transform([label]).indices.tolist())
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    wanted = set(label.split(", "))
    return [] if names is None else [place for place, name in enumerate(names.tolist()) if name in wanted]


def main(arguments: list[str]) -> None:
    """Print the scores of the labels, and the labels beside the classes."""
    parser = argparse.ArgumentParser(prog="python -m experiments.labels.of_a_run")
    parser.add_argument("source", help="the folder of a run, or documents with classes")
    parser.add_argument("--truth", metavar="COLUMN", help="the column of classes")
    parser.add_argument("--synonyms", metavar="FILE", help='the names of classes, JSON {"class": ["name"]}')
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    given = parser.parse_args(arguments)
    names = None if given.synonyms is None else read_synonyms(given.synonyms)
    found = evaluate_labels(given.source, truth=given.truth, synonyms=names)
    if given.json:
        print(json.dumps(asdict(found), indent=2))
        return
    for name, value in _rows(found.scores):
        print(f"{name:<33}  {value}")
    for one in found.labels:
        print(f"{one.cluster:>3}  {one.class_name or '-'}: {', '.join(one.terms[:SHOWN])}")


def _rows(scores: LabelScores) -> list[tuple[str, str]]:
    rows = [("clusters", f"{scores.n_clusters:,}")]
    if scores.n_named:
        rows += [(f"Match@{at}", f"{value:.3f}") for at, value in scores.match.items()]
        rows += [("MRR@5", f"{scores.reciprocal_rank:.3f}")]
    return [
        *rows,
        ("found by its label, P@10", f"{scores.precision:.3f}"),
        ("found by its label, MRR", f"{scores.first_found:.3f}"),
        ("labels of one word", f"{scores.one_word:.1%}"),
        ("labels that another cluster has", f"{scores.duplicate:.1%}"),
        ("labels with function words", f"{scores.function_word:.1%}"),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
