"""Letters beside words, and words cut to five letters: short texts, and sentences and news in other languages.

``python -m experiments.quality.short [--most N] [--seeds N] [--sets A,B] [--ways A,B] [--keep] [FOLDER]`` clusters up
to N documents of each set, evenly spaced (2,000), with k = number of classes: words as they are stemmed by the stemmer
of their language, with letters, cut to five letters, both, the default, which chooses, and two recipes of scikit-learn.
The sets of the first half were in sight when limits and weights were chosen, those of the second (``--sets reported``)
were not; ``udhr`` are the sentences of the Universal Declaration by article, ``itn`` the news of one language by story,
``lines`` and ``packages`` (with a language, such as "packages pl") are descriptions of packages, by section (see
`experiments.quality.descriptions`). ``--keep`` writes results/short.csv, going on where it stopped, and, with all sets
and ways, the table of docs/evidence/quality.md.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import sys
import tempfile
import time
import zipfile
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer as TheirVectorizer
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import doccluster
from doccluster.text.analysis import CUT, STEMMING_LANGUAGES
from doccluster.vectors.vectorize import choose_vectorizer
from experiments.quality.corpora import PLACES, TEXTS, itn_by_language
from experiments.quality.descriptions import descriptions
from experiments.quality.meaning import HERE, PAGE, Texts, thinned
from experiments.quality.page import put_between
from experiments.quality.run import taken
from experiments.resumable import run_cases

LANGUAGES = {  # of UDHR and of ITN: in sight, and reported
    "udhr": (
        "fin hun est pol spa ita eng swe nob lav ukr bul hrv slk eus pes_1 ben mar vie som yor xho run mri gle kaz tat",
        "deu tur rus ces fra por_PT nld dan isl lit bel srp_latn slv ell_monotonic kat hin tam ind swh hau_NG zul kin "
        "tgl cym uzn_latn azj_latn khk",
    ),
    "itn": ("ru uz ar fi uk be en pl", "sv ms pt fr no id"),
}
SHORT = ("agnews4k", "searchsnippets4k", "biomedical4k", "tweet", "banking77", "questions", "stackoverflow")
IN_SIGHT, IN_RESERVE = (
    [f"{family} {name}" for family, halves in LANGUAGES.items() for name in halves[half].split()] for half in (0, 1)
)
CHOSEN, REPORTED = (*SHORT, *IN_SIGHT), (*IN_RESERVE, "titles vi")
WAYS = ("words", "letters", "cut", "letters, cut", "default", "k-means of tf-idf", "k-means of 100 dimensions")
COLUMNS = ("documents", "words", "stemming", "nmi", "adjusted_rand", "seconds")
FAMILIES = {
    "udhr": "UDHR, sentences",
    "itn": "ITN, news",
    "titles": "Vietnamese titles",
    "packages": "packages, sentences",
    "lines": "packages, lines",
}


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the table."""
    most, n_seeds = int(taken(arguments, "--most") or 2000), int(taken(arguments, "--seeds") or 5)
    keeps = "--keep" in arguments and not arguments.remove("--keep")
    named_sets, named_ways = taken(arguments, "--sets"), taken(arguments, "--ways")
    sets = REPORTED if named_sets == "reported" else (named_sets or ",".join((*CHOSEN, *REPORTED))).split(",")
    ways = named_ways.split(",") if named_ways else list(WAYS)
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    cases = [{"set": name, "way": way, "seed": seed} for name in sets for way in ways for seed in range(n_seeds)]
    texts = cache(lambda name: thinned(texts_of(name, folder), most))
    with tempfile.TemporaryDirectory() as passing:
        path = (HERE / "results" if keeps else pathlib.Path(passing)) / "short.csv"
        run_cases(
            path, cases, lambda **case: [measured(*texts(case["set"]), case["way"], case["seed"])], columns=COLUMNS
        )
        runs = pd.read_csv(path)
    asked = runs["set"].isin(sets) & runs["way"].isin(ways) & (runs["seed"] < n_seeds)
    print(table := table_of(runs[asked], ways, lists_sets=named_sets not in (None, "reported")))
    if keeps and not (named_sets or named_ways):
        PAGE.write_text(put_between(PAGE.read_text(encoding="utf-8"), "short", table), encoding="utf-8")


def texts_of(name: str, folder: pathlib.Path) -> Texts:
    """Return the texts of a set with their classes."""
    family, _, language = name.partition(" ")
    if family in ("lines", "packages"):
        return descriptions(language, lines=family == "lines")
    if family == "udhr":
        return sentences_by_article(folder / "languages_encodings" / "udhr2.zip", language)
    if family == "itn":
        return itn_by_language(folder / PLACES["itn"])[language]
    if name in TEXTS:
        return TEXTS[name](folder / PLACES[name])
    lines = {
        "titles": ("news_stories_vietnamese/articles.jsonl.gz", "title", "story"),
        "questions": ("questions_clinc150/clinc150.jsonl.gz", "text", "label"),
    }
    path, text, label = lines.get(family, (f"short_texts/{name}.jsonl.gz", "text", "label"))
    with gzip.open(folder / path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [record[text] for record in records], [record[label] for record in records]


def sentences_by_article(archive: pathlib.Path, language: str) -> Texts:
    """Return the sentences of the thirty articles, which begin with a short line after an empty one."""
    with zipfile.ZipFile(archive) as files:
        text = files.read(f"udhr2/{language}.txt").decode("utf-8", "replace")
    paragraphs = [[line.strip() for line in part.splitlines()] for part in re.split(r"\n\s*\n", text.strip())]
    headings = [place for place, lines in enumerate(paragraphs) if len(lines[0]) <= 36][-30:]
    sentences, articles = [], []
    for place in range(headings[0], len(paragraphs)):
        article = sum(heading <= place for heading in headings)
        for line in paragraphs[place][place in headings :]:
            for sentence in re.split(r"(?<=[.;:!?。؛।])\s+", line):
                if len(cleaned := re.sub(r"^[(\[]?\d+[.)]*\s*", "", sentence)) >= 12:
                    sentences.append(cleaned)
                    articles.append(str(article))
    return sentences, articles


def measured(texts: list[str], classes: list[str], way: str, seed: int) -> dict[str, Any]:
    """Return the agreement of a way with the classes, and the seconds that it took the processor."""
    k, seconds, stemming, n_words = len(set(classes)), 0.0, "", 0.0
    with threadpool_limits(1):
        if way.startswith("k-means"):
            began = time.process_time()
            rows = TheirVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
            if way != WAYS[-2]:
                rows = normalize(
                    TruncatedSVD(min(100, *np.subtract(rows.shape, 1)), random_state=seed).fit_transform(rows)
                )
            labels = KMeans(k, n_init=10, random_state=seed).fit_predict(rows)
        else:
            vectors, stemming, seconds = vectors_of(tuple(texts), way)
            began, n_words = time.process_time(), vectors.mean_words
            model = doccluster.DocumentClustering(k, random_state=seed, n_threads=1)
            labels = model.fit_predict(vectors.counts, letters=vectors.letters)
    seconds += time.process_time() - began
    scores = {name: doccluster.score(name, labels, truth=classes).value for name in ("nmi", "adjusted_rand")}
    figures = {"words": n_words, "seconds": seconds, **scores}
    return {"documents": len(texts), "stemming": stemming, **{name: round(one, 6) for name, one in figures.items()}}


@lru_cache(maxsize=1)
def vectors_of(texts: tuple[str, ...], way: str) -> tuple[doccluster.DocumentVectors, str, float]:
    """Return the vectors of a way, the same for all seeds, the stemming, and the seconds of the processor."""
    began = time.process_time()
    vectorizer, _, writing = choose_vectorizer(texts, options={}, n_threads=1)
    main_language = next(iter(writing.languages), "")
    if way != "default" and vectorizer.stemming in (None, CUT):
        vectorizer.stemming = main_language if main_language in STEMMING_LANGUAGES else None
    stemming = CUT if "cut" in way else vectorizer.stemming or "none"
    vectors = doccluster.vectorize(texts, stemming=stemming, letters=letters_in(way))
    return vectors, stemming, time.process_time() - began


def letters_in(way: str) -> bool | None:
    """Return whether a way has letters; None where it is left to the default."""
    return None if way == "default" or "letters" in way else False


def table_of(runs: pd.DataFrame, ways: list[str], *, lists_sets: bool) -> str:
    """Return the means over the seeds, NMI / adjusted Rand, by half and family, and then perhaps set by set."""
    timed = [way for way in ("default", "words") if way in ways]
    lines = [f"| set | documents | {' | '.join([*ways, *(f'{way}, s' for way in timed)])} |"]
    lines.append("|" + "---|" * (len(ways) + len(timed) + 2))
    half = {**dict.fromkeys(CHOSEN, "in sight"), **dict.fromkeys(REPORTED, "reported")}
    families = runs["set"].str.split(" ").str[0].map(FAMILIES).fillna("short English texts")
    for title, own in runs.groupby(runs["set"].map(half).fillna("further"), sort=False):
        for name, group in own.groupby(families, sort=False):
            lines.append(line_of(f"**{name}, {title}** ({group['set'].nunique()})", group, ways, timed))
        lines.append(line_of(f"**mean, {title}** ({own['set'].nunique()})", own, ways, timed))
    if lists_sets:
        lines += [line_of(str(name), group, ways, timed) for name, group in runs.groupby("set", sort=False)]
    return "\n".join(lines)


def line_of(title: str, runs: pd.DataFrame, ways: list[str], timed: list[str]) -> str:
    """Return a line of the table."""
    means = runs.groupby("way")[["nmi", "adjusted_rand", "seconds"]].mean()
    cells = [f"{means.nmi[way]:.3f} / {means.adjusted_rand[way]:.3f}".replace("0.", ".") for way in ways]
    cells += [f"{means.seconds[way]:.1f}" for way in timed]
    documents = f"{runs.groupby('set')['documents'].first().mean():,.0f}"
    return f"| {title} | {documents} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
