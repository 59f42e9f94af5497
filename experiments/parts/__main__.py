"""How well `parts` finds what share of each long document is about what, beside a run of whole documents, NMF and LDA.

``python -m experiments.parts [--seeds 5]`` makes documents with known shares of the paragraphs of 20 Newsgroups and of
six classes of Reuters-21578 (in ../shared/corpora), and prints for each way the words *lost*: the share of the words of
a document that are under a wrong topic, after the best match of clusters and classes. Then 12 "novels" on all topics,
each with eight names of its own: NMI of clusters and classes by words, and the share of the words that are in clusters
of which four fifths are of one document. Each number is a mean over seeds, of documents and runs alike.
"""

from __future__ import annotations

import argparse
import pathlib
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import doccluster
from doccluster.measures import score
from doccluster.pipeline import vectorizing
from doccluster.vectors import DocumentVectors

CORPORA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpora"
REUTERS_CLASSES = ("earn", "acq", "money-fx", "interest", "crude", "trade")
N_DOCUMENTS, N_NOVELS, NOVEL_WORDS, N_NAMES = 150, 12, 15_000, 8
WORDS_PER_NAME = 16
LEAST = 20  # words of a paragraph that is taken
SYLLABLES = ("ba", "do", "ki", "lu", "me", "no", "ra", "si", "tu", "va", "we", "zo")


@dataclass(frozen=True, eq=False)
class Paragraphs:
    """The paragraphs of the messages of each class, and how the shares of classes in a document are drawn."""

    by_class: list[list[list[str]]]  # class -> message -> paragraphs
    concentration: float | None  # of a Dirichlet distribution; None where each run is of any class

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.by_class)


def read_newsgroups() -> Paragraphs:
    """Return the paragraphs of 20 Newsgroups."""
    archive = CORPORA / "newsgroups20" / "20news-18828.tar.xz"
    corpus = doccluster.read_corpus(archive, format="newsgroups", strip="all")
    return paragraphs_of(corpus, sorted({labels[0] for labels in corpus.labels["class"]}), "class", None)


def read_reuters() -> Paragraphs:
    """Return the paragraphs of six classes of Reuters-21578."""
    corpus = doccluster.read_corpus(CORPORA / "reuters21578")
    return paragraphs_of(corpus, list(REUTERS_CLASSES), "topics", 0.3)


def paragraphs_of(
    corpus: doccluster.Corpus, classes: list[str], column: str, concentration: float | None
) -> Paragraphs:
    """Return the paragraphs of 20 words or more of the documents with one of the classes alone."""
    by_class: list[list[list[str]]] = [[] for _ in classes]
    for text, labels in zip(corpus.texts, corpus.labels[column], strict=True):
        if len(labels) == 1 and labels[0] in classes:
            paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n|\n {4}", text)]
            long_ones = [paragraph for paragraph in paragraphs if len(paragraph.split()) >= LEAST]
            if long_ones:
                by_class[classes.index(labels[0])].append(long_ones)
    return Paragraphs(by_class, concentration)


def made_documents(
    source: Paragraphs, rng: np.random.Generator, n_documents: int, n_words: int | None = None
) -> tuple[list[str], list[np.ndarray]]:
    """Return documents of runs of one to five paragraphs of a class, and the class of each of their words.

    A document has 3 to 12 runs, or as many as make `n_words`.
    """
    pools = [stream(messages, rng) for messages in source.by_class]
    documents, classes_of_words = [], []
    for _ in range(n_documents):
        shares = np.full(source.n_classes, 1 / source.n_classes)
        if source.concentration is not None:
            shares = rng.dirichlet(np.full(source.n_classes, source.concentration))
        paragraphs: list[str] = []
        classes: list[int] = []
        n_runs = int(rng.integers(3, 13))
        while n_runs > 0 if n_words is None else len(classes) < n_words:
            of_class = int(rng.choice(source.n_classes, p=shares))
            for _ in range(int(rng.integers(1, 6))):
                paragraphs.append(next(pools[of_class]))
                classes += [of_class] * len(paragraphs[-1].split())
            n_runs -= 1
        documents.append("\n\n".join(paragraphs))
        classes_of_words.append(np.array(classes))
    return documents, classes_of_words


def stream(messages: list[list[str]], rng: np.random.Generator) -> Iterator[str]:
    """Yield the paragraphs of messages that are drawn at random, without end."""
    while True:
        for place in rng.permutation(len(messages)).tolist():
            yield from messages[place]


def with_names(
    documents: list[str], classes: list[np.ndarray], rng: np.random.Generator
) -> tuple[list[str], list[np.ndarray]]:
    """Return documents in which one word in sixteen is followed by one of eight names of the document's own."""
    named, classes_of_words = [], []
    for number, (text, of_words) in enumerate(zip(documents, classes, strict=True)):
        names = ["".join(rng.choice(SYLLABLES, 3)).title() + f"{'abcdefghijkl'[number]}o" for _ in range(N_NAMES)]
        paragraphs, new_classes, place = [], [], 0
        for paragraph in text.split("\n\n"):
            words: list[str] = []
            for word in paragraph.split():
                words.append(word)
                new_classes.append(of_words[place])
                if place % WORDS_PER_NAME == 0:
                    words.append(names[int(rng.integers(N_NAMES))])
                    new_classes.append(of_words[place])
                place += 1
            paragraphs.append(" ".join(words))
        named.append("\n\n".join(paragraphs))
        classes_of_words.append(np.array(new_classes))
    return named, classes_of_words


def lost(shares: np.ndarray, classes: list[np.ndarray], n_classes: int) -> float:
    """Return the mean share of the words of a document under a wrong topic, of the best match of topics and classes."""
    truth = np.stack([np.bincount(of_words, minlength=n_classes) / of_words.size for of_words in classes])
    agreement = np.minimum(shares[:, :, None], truth[:, None, :]).sum(axis=0)
    rows, columns = linear_sum_assignment(-agreement)
    return float(1 - agreement[rows, columns].sum() / len(classes))


def of_factors(model: object, rows: object) -> np.ndarray:
    """Return the shares of topics of a model of scikit-learn."""
    weights = model.fit_transform(rows)  # type: ignore[attr-defined]
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)


def switched(*, order: bool, terms: bool) -> ExitStack:
    """Return a context in which parts are clustered without their order, or with terms of one document too."""
    stack = ExitStack()
    if not order:
        stack.enter_context(mock.patch.object(DocumentVectors, "with_order", lambda vectors, document_of: vectors))
    if not terms:
        stack.enter_context(mock.patch.object(vectorizing, "SHARED_FROM", 10**9))
    return stack


def run_of_parts(texts: list[str], k: int, seed: int) -> doccluster.Run:
    """Return the run of texts in parts, with nothing that its labels do not need."""
    return doccluster.run(texts, n_clusters=k, parts="auto", random_state=seed, levels="none", measures=["silhouette"])


def shares_of(run: doccluster.Run) -> np.ndarray:
    """Return the shares of clusters in each document."""
    return run.shares().filter(regex=r"cluster_\d+").to_numpy()


def rows_of_shares(source: Paragraphs, seed: int) -> Iterator[tuple[str, float]]:
    """Yield the words that each way loses."""
    k = source.n_classes
    texts, classes = made_documents(source, np.random.default_rng(seed), N_DOCUMENTS)
    whole = doccluster.run(texts, n_clusters=k, random_state=seed, levels="none", measures=["silhouette"])
    yield "whole documents, a run today", lost(np.eye(k)[whole.labels_], classes, k)
    how = {"stop_words": "english", "min_df": 2}
    nmf = NMF(k, init="nndsvda", max_iter=500, random_state=seed)
    yield (
        "whole, NMF of scikit-learn",
        lost(of_factors(nmf, TfidfVectorizer(**how).fit_transform(texts)), classes, k),
    )
    lda = LatentDirichletAllocation(k, max_iter=50, random_state=seed)
    yield (
        "whole, LDA of scikit-learn",
        lost(of_factors(lda, CountVectorizer(**how).fit_transform(texts)), classes, k),
    )
    for name, order, terms in (
        ("parts", False, False),
        ("parts, with the order", True, False),
        ("parts, as a run has them", True, True),
    ):
        with switched(order=order, terms=terms):
            yield name, lost(shares_of(run_of_parts(texts, k, seed)), classes, k)


def rows_of_names(source: Paragraphs, seed: int) -> Iterator[tuple[str, float, float]]:
    """Yield NMI by words, and the share of words in clusters of one document, for documents with names of their own."""
    k, rng = source.n_classes, np.random.default_rng(seed)
    texts, classes = with_names(*made_documents(source, rng, N_NOVELS, NOVEL_WORDS), rng)
    for name, order, terms in (
        ("plain", False, False),
        ("order", True, False),
        ("terms of two documents", False, True),
        ("both, as a run has them", True, True),
    ):
        with switched(order=order, terms=terms):
            run = run_of_parts(texts, k, seed)
        frame = run.to_pandas()
        words = frame["words"].to_numpy()
        clusters = np.repeat(frame["cluster"].fillna(k).to_numpy(np.int64), words)
        together = pd.crosstab(frame["part_of"], frame["cluster"], frame["words"], aggfunc="sum").fillna(0)
        is_of_one = together.max() > 0.8 * together.sum()
        share = float(together.sum()[is_of_one].sum() / together.sum().sum())
        yield name, score("nmi", clusters, truth=np.concatenate(classes)).value, share


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.parts")
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    newsgroups = read_newsgroups()
    corpora: dict[str, Callable[[], Paragraphs]] = {"newsgroups": lambda: newsgroups, "reuters": read_reuters}
    lines = [
        (way, name, value)
        for name, read in corpora.items()
        for seed in seeds
        for way, value in rows_of_shares(read(), seed)
    ]
    table = pd.DataFrame(lines, columns=["words lost", "corpus", "value"])
    print(table.pivot_table("value", "words lost", "corpus", sort=False).round(3).to_string())
    names = [line for seed in seeds for line in rows_of_names(newsgroups, seed)]
    print()
    frame = pd.DataFrame(
        names, columns=["12 novels with names of their own", "nmi", "words in clusters of one document"]
    )
    print(frame.groupby("12 novels with names of their own", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
