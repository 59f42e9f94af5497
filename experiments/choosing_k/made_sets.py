"""Made data sets of known k, of three kinds and three degrees of difficulty, and some without clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import doccluster
from doccluster.synthetic import make_sharma, make_sparse_vmf, make_zipf_corpus
from experiments.tendency.null_models import sample_null

KS = (3, 8, 20)
LEVELS = ("easy", "medium", "hard")
TEXT = {"easy": (0.3, 0.1), "medium": (0.5, 0.3), "hard": (0.65, 0.5)}  # share of background words, of shared words
VMF = {"easy": (0.6, 0.1), "medium": (0.5, 0.2), "hard": (0.45, 0.3)}  # length of a cluster's mean, cosine of two means
BLOCKS = {"easy": 0.1, "medium": 0.4, "hard": 0.8}  # gamma: overlap columns over 2 n


@dataclass(frozen=True)
class MadeSet:
    """What a data set is made of: its kind, its difficulty, its true k (1: no structure) and its seed."""

    kind: str
    level: str
    k: int
    seed: int

    def matrix(self, n_documents: int) -> Any:
        """Return the unit rows."""
        if self.level == "none":
            return _without_structure(self.kind, n_documents, self.seed)
        return MAKERS[self.kind](self.k, self.level, n_documents, self.seed)


def all_sets(seeds: range) -> Iterator[MadeSet]:
    """Yield the grid, and for each kind and seed one set without structure."""
    for seed in seeds:
        for kind in MAKERS:
            yield MadeSet(kind, "none", 1, seed)
            for level in LEVELS:
                for k in KS:
                    yield MadeSet(kind, level, k, seed)


def text(k: int, level: str, n_documents: int, seed: int) -> Any:
    """Return texts of invented words, topics of equal probability, through the vectorizer."""
    background, overlap = TEXT[level]
    corpus = make_zipf_corpus(
        n_documents,
        n_topics=k,
        n_stories=k,
        n_terms=5000,
        background=background,
        overlap=overlap,
        story_share=0.05,
        median_length=80,
        near_duplicates=0.0,
        random_state=seed,
    )
    return doccluster.TfidfVectorizer(min_df=2).fit_transform(corpus.texts)


def vmf(k: int, level: str, n_documents: int, seed: int) -> Any:
    """Return sparse rows around k sparse mean directions."""
    length, separation = VMF[level]
    made = make_sparse_vmf(
        n_documents,
        6000,
        k,
        mean_resultant_length=length,
        separation=separation,
        terms_per_document=60,
        random_state=seed,
    )
    return made.vectors.matrix


def blocks(k: int, level: str, n_documents: int, seed: int) -> Any:
    """Return Algorithm 1 of Sharma & Sharma with n / k documents in each cluster."""
    made = make_sharma(
        k, overlap=BLOCKS[level], documents_per_cluster=n_documents // k, terms_per_cluster=20, random_state=seed
    )
    return made.vectors.matrix


def _without_structure(kind: str, n_documents: int, seed: int) -> Any:
    """Return one topic, one direction, or blocks with their terms dealt out again."""
    if kind == "text":
        return text(1, "easy", n_documents, seed)
    if kind == "vmf":
        return vmf(1, "medium", n_documents, seed)
    rng = np.random.default_rng(seed)
    return sample_null(blocks(8, "medium", n_documents, seed), model="permute", random_state=rng)


MAKERS = {"text": text, "vmf": vmf, "blocks": blocks}
