"""Whole runs of the command line with their report: by stage and cores, of many documents, and beside other programs.

Each run is a process of its own. `processor_seconds` count all of its threads and processes; `seconds` are those of the
clock on the wall, which other programs on the machine lengthen; `peak_bytes` is the most that one process held.
`--against` takes a commit, or the program of another checkout, such as `../old/.venv/bin/doccluster`.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from doccluster.base.blocks import available_threads
from experiments.benchmarks.engine import checked_out
from experiments.benchmarks.harness import ROOT, Session, measure_command, row
from experiments.benchmarks.made_text import news_file, text_file
from experiments.benchmarks.matrices import CACHE, CORPORA

TIMED = ("doccluster",)
HERE = "experiments.benchmarks.run"
ROUNDS = 3
CORES = (1, 2, 4, 16)
N_ARTICLES = (12_588, 24_195, 47_831, 177_000)
N_WORDS = 10  # at the top of a cluster
SOURCES = {"two weeks of feeds": "news_feeds_may", "Reuters": "reuters21578", "20 Newsgroups": "newsgroups20"}

Program = tuple[Sequence[str], dict[str, str]]  # what is typed before `run`, and settings of the environment


def of_checkout(place: pathlib.Path) -> Program:
    """Return the program of a checkout, run by this Python."""
    return (sys.executable, "-m", "doccluster"), {"PYTHONPATH": str(place)}


@contextmanager
def program_beside(name: str) -> Iterator[tuple[str, Program]]:
    """Yield the program of a path and its version, or that of a commit, which is checked out meanwhile."""
    if pathlib.Path(name).is_file():
        said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
        yield said.stdout.strip(), ((name,), {})
    else:
        with checked_out(name) as place:
            yield name, of_checkout(place)


def sources(session: Session) -> dict[str, pathlib.Path]:
    """Return the collections that are there, the first alone in a quick session."""
    found = {name: CORPORA / folder for name, folder in SOURCES.items() if (CORPORA / folder).is_dir()}
    for name, place in found.items():
        found[name] = next(iter(sorted(place.glob("articles.jsonl.gz"))), place)
    if not found:
        session.say(f"  {session.row}: no real corpora beside this checkout")
    return dict(list(found.items())[: 1 if session.quick else None])


def measured_run(program: Program, source: pathlib.Path, *options: str) -> dict[str, float]:
    """Return the costs of a run with its report, the seconds of each of its stages, and how many clusters it found."""
    command, settings = program
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "run"
        whole = [*command, "run", str(source), "--output", str(output), *options]
        costs = measure_command(whole, folder=pathlib.Path(folder), **settings)
        if not (output / "report.html").is_file():
            raise RuntimeError(f"{' '.join(whole)} wrote no report")
        record = json.loads((output / "run.json").read_text(encoding="utf-8"))
    stages = {f"{stage}_seconds": float(seconds) for stage, seconds in record["provenance"]["timings"].items()}
    return costs | stages | {"clusters": float(record["counts"]["n_clusters"])}


def record_medians(session: Session, name: str, runs: list[dict[str, float]]) -> None:
    """Record the median of each figure of some runs."""
    for figure in runs[0]:
        values = [run[figure] for run in runs if figure in run]
        session.record(name, figure, statistics.median(values), values)


@row(
    "run-stages",
    "whole runs with their report by stage and cores, beside tf-idf, k-means and top terms of scikit-learn",
)
def run_stages(session: Session) -> None:
    cores = [n for n in CORES if n <= available_threads()]
    for name, source in sources(session).items():
        measured_run(of_checkout(ROOT), source)  # what is compiled once
        runs: dict[str, list[dict[str, float]]] = {f"{name}, {n} core(s)": [] for n in cores}
        for _ in range(1 if session.quick else ROUNDS):
            for n, taken in zip(cores, runs.values(), strict=True):
                taken.append(measured_run(of_checkout(ROOT), source, "--threads", str(n)))
        for contender, taken in runs.items():
            record_medians(session, contender, taken)
        n_clusters = int(taken[-1]["clusters"])
        session.compare_memory(
            {f"{name}, scikit-learn": f"{HERE}:plain_scikit_learn"}, source=str(source), n_clusters=n_clusters
        )


def plain_scikit_learn(source: str, n_clusters: int, cache: pathlib.Path = CACHE) -> dict[str, float]:
    """Cluster the texts of a source by scikit-learn alone, from the texts to the top terms of each cluster."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    from experiments.benchmarks.harness import start_clock

    texts = texts_of(pathlib.Path(source), cache)
    start_clock()
    before = _processor_seconds()
    vectorizer = TfidfVectorizer(stop_words="english", min_df=2, dtype=np.float32)
    rows = vectorizer.fit_transform(texts)
    rows.sort_indices()
    found = KMeans(n_clusters, random_state=0).fit(rows)
    terms = vectorizer.get_feature_names_out()
    top = np.argsort(-found.cluster_centers_, axis=1)[:, :N_WORDS]
    lines = [" ".join(terms[own]) for own in top]
    return {"processor_seconds": _processor_seconds() - before, "clusters": float(len(lines))}


def texts_of(source: pathlib.Path, cache: pathlib.Path) -> list[str]:
    """Return the texts of a source, kept as JSON, so that reading them costs a peer next to nothing."""
    path = cache / f"texts-{source.parent.name}-{source.stem}.json.gz"
    if not path.exists():
        from doccluster.corpus import read_corpus

        cache.mkdir(exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump(list(read_corpus(source).texts), file)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(json.load(file))


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@row("run-against", "whole runs with their report beside another commit or program, in turn (`--against`)")
def run_against(session: Session) -> None:
    with program_beside(session.against) as (other, program_of_other):
        programs = {"doccluster": of_checkout(ROOT), other: program_of_other}
        for name, source in sources(session).items():
            runs: dict[str, list[dict[str, float]]] = {who: [] for who in programs}
            for turn in range(2 if session.quick else ROUNDS + 1):  # the first compiles
                for who, program in programs.items():
                    figures = measured_run(program, source)
                    if turn:
                        runs[who].append(figures)
            ours, theirs = runs.values()
            for who, taken in runs.items():
                record_medians(session, f"{name}, {who}", taken)
            for figure in ("processor_seconds", "peak_bytes"):
                median, other_median = (statistics.median(run[figure] for run in taken) for taken in (ours, theirs))
                session.record(f"{name}, doccluster", f"{figure}_as_share_of_{other}", median / other_median)


@row("run-articles", "made news of five months: whether a step grows faster than the articles")
def run_articles(session: Session) -> None:
    for n_documents in (6_000,) if session.quick else N_ARTICLES:
        path = news_file(n_documents)
        if path is None:
            session.say(f"  {session.row}: no feeds beside this checkout")
            return
        record_medians(session, f"{n_documents:,} articles", [measured_run(of_checkout(ROOT), path)])


@row("run-k300", "90,000 made documents in 300 clusters, and the memory that it takes")
def run_k300(session: Session) -> None:
    n_documents, k = (6_000, 60) if session.quick else (90_000, 300)
    path = text_file(n_documents)
    record_medians(session, f"k={k}", [measured_run(of_checkout(ROOT), path, "-k", str(k), "--format", "lines")])


@row(
    "run-words",
    "the words of the stories of two weeks of feeds: what cutting texts into words once could save a part of",
)
def run_words(session: Session) -> None:
    from doccluster.corpus import read_corpus
    from doccluster.stories.words import Cleaner, WordReader, outlet_of

    source = sources(session).get("two weeks of feeds")
    if source is None:
        return
    corpus = read_corpus(source)
    rows = list(zip(corpus.column("title"), corpus.texts, map(outlet_of, corpus.column("source")), strict=True))
    seconds: dict[str, list[float]] = {"cleaned of what outlets repeat": [], "cut into words": []}
    for _ in range(1 if session.quick else ROUNDS):
        cleaner, started = Cleaner(), time.process_time()
        cleaned = [(*cleaner.clean(*article), article[2]) for article in rows]
        between = time.process_time()
        WordReader().read(cleaned)
        for taken, value in zip(seconds.values(), (between - started, time.process_time() - between), strict=True):
            taken.append(value)
    for step, values in seconds.items():
        session.record(step, "processor_seconds", statistics.median(values), values)
    whole = measured_run(of_checkout(ROOT), source)["processor_seconds"]
    session.record("the whole run", "processor_seconds", whole)
