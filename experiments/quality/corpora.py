"""The corpora of the comparison: counts, unit tf-idf rows and the classes that people gave."""

from __future__ import annotations

import json
import pathlib
import re
from functools import cache
from typing import Any

import numpy as np

import doccluster
from doccluster.vectors.matrix_files import load_matrix_file

CLUTO = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
PLACES = {
    "itn": "itn_news_stream",
    "stackoverflow": "stackoverflow_titles",
    "reuters": "reuters21578",
    "newsgroups": "newsgroups20",
}
CORPORA = (*CLUTO, *PLACES)


def is_there(folder: pathlib.Path, name: str) -> bool:
    """Return whether a corpus is available."""
    return (folder / PLACES.get(name, f"cluto_matrices/{name}")).is_dir()


@cache
def load(folder: str, name: str) -> tuple[Any, Any, list[str]]:
    """Return the counts and the unit tf-idf rows of the documents that have terms, and their classes."""
    place = pathlib.Path(folder) / PLACES.get(name, "cluto_matrices")
    if name in PLACES:
        texts, classes = TEXTS[name](place)
        counts = count_terms(texts)
    else:
        file = place / name / f"{name}.mat"
        _, classes = doccluster.read_matrix(file)
        every = load_matrix_file(file).matrix  # the counts themselves; read_matrix gives unit rows
        counts = every[:, np.flatnonzero(np.bincount(every.indices, minlength=every.shape[1]) > 1)]
    filled = np.flatnonzero(np.diff(counts.indptr))
    counts = counts[filled]
    return counts, weigh(counts), [classes[row] for row in filled]


def reuters(place: pathlib.Path) -> tuple[list[str], list[str]]:
    """Return the articles that have one topic, and that."""
    corpus = doccluster.read_corpus(place)
    topics = corpus.labels["topics"]
    rows = [row for row, own in enumerate(topics) if len(own) == 1]
    return [corpus.texts[row] for row in rows], [topics[row][0] for row in rows]


def newsgroups(place: pathlib.Path) -> tuple[list[str], list[str]]:
    """Return the postings and their groups."""
    corpus = doccluster.read_corpus(place / "20news-18828.tar.xz")
    return list(corpus.texts), [label for (label,) in corpus.labels["class"]]


def stack_overflow(place: pathlib.Path) -> tuple[list[str], list[str]]:
    """Return the titles of questions and their tags."""
    titles = (place / "rawText" / "title_StackOverflow.txt").read_text(encoding="utf-8").splitlines()
    return titles, (place / "rawText" / "label_StackOverflow.txt").read_text(encoding="utf-8").split()


def itn_by_language(place: pathlib.Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return the blurbs of each language and their stories."""
    stories = json.loads((place / "corpus.json").read_text(encoding="utf-8"))
    found: dict[str, tuple[list[str], list[str]]] = {}
    for story, own in stories.items():
        for one in own.values():
            blurbs, classes = found.setdefault(one["lang"], ([], []))
            blurbs.append(re.sub("<[^>]+>", "", one["blurb"]))
            classes.append(story)
    return found


def itn_english(place: pathlib.Path) -> tuple[list[str], list[str]]:
    """Return the English blurbs and their stories."""
    return itn_by_language(place)["en"]


TEXTS = {"itn": itn_english, "stackoverflow": stack_overflow, "reuters": reuters, "newsgroups": newsgroups}


def count_terms(texts: list[str]) -> Any:
    """Return counts of the terms of texts, English function words and terms of one document left out."""
    return doccluster.TfidfVectorizer(stop_words="english", min_df=2, weighting="nnn").fit_transform(texts)


def weigh(counts: Any) -> Any:
    """Return scikit-learn's default tf-idf of counts."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(counts).astype(np.float32)
