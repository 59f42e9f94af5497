"""TfidfVectorizer beside scikit-learn's on the descriptions of all Debian packages: seconds, peak memory, equal output.

Every run is a process of its own; the contenders take turns. The clock starts when the texts are in memory and the
modules are imported; what the import took is a figure of its own. "doccluster" pays for loading its compiled loops from
their file, "doccluster, loops loaded" has vectorized two words before. Both write float32.
`python -m experiments.benchmarks.vectorizing` runs the rows again.
"""

from __future__ import annotations

import functools
import json
import pathlib
import statistics
import time
from typing import Any

import numpy as np

from experiments.benchmarks.debian_descriptions import load_debian_descriptions
from experiments.benchmarks.harness import Session, measure_process, row, run_rows, start_clock

TIMED = ("doccluster/text", "doccluster/vectors")
CACHE = pathlib.Path(__file__).parent / "cache" / "debian_descriptions.jsonl"
HERE = "experiments.benchmarks.vectorizing"
CONTENDERS: dict[str, tuple[str, dict[str, object]]] = {
    "doccluster": (f"{HERE}:ours", {}),
    "scikit-learn": (f"{HERE}:theirs", {}),
    "doccluster, loops loaded": (f"{HERE}:ours", {"loaded": True}),
    "doccluster, one thread": (f"{HERE}:ours", {"loaded": True, "n_threads": 1}),
}
FIGURES = ("seconds", "processor_seconds", "peak_bytes", "peak_bytes_beyond_data", "import_seconds")


@functools.cache
def texts_file() -> pathlib.Path:
    """Return the file of the descriptions, one JSON string per line, made from apt's lists on first use."""
    if not CACHE.exists():
        CACHE.parent.mkdir(exist_ok=True)
        lines = [json.dumps(text) + "\n" for text in load_debian_descriptions().texts]
        CACHE.write_text("".join(lines), encoding="ascii")
    return CACHE


def read_texts(n_documents: int | None, copies: int) -> list[str]:
    """Return the first descriptions, `copies` times, without leaving anything else in memory."""
    texts: list[str] = []
    with texts_file().open(encoding="ascii") as lines:
        for line in lines:
            if len(texts) == n_documents:
                break
            texts.append(json.loads(line))
    return texts * copies


def ours(n_documents: int | None, copies: int, loaded: bool = False, n_threads: int | None = None) -> dict[str, float]:
    """Vectorize with doccluster, measured by the harness."""
    importing = time.perf_counter()
    from doccluster.vectors import TfidfVectorizer

    imported = time.perf_counter() - importing
    texts = read_texts(n_documents, copies)
    if loaded:
        TfidfVectorizer(n_threads=n_threads).fit_transform(["two naïve", "words"])
    start_clock()
    started = time.process_time()
    matrix = TfidfVectorizer(n_threads=n_threads).fit_transform(texts)
    return {"import_seconds": imported, **_figures(matrix, started)}


def theirs(n_documents: int | None, copies: int) -> dict[str, float]:
    """Vectorize with scikit-learn, measured by the harness."""
    importing = time.perf_counter()
    from sklearn.feature_extraction.text import TfidfVectorizer

    imported = time.perf_counter() - importing
    texts = read_texts(n_documents, copies)
    start_clock()
    started = time.process_time()
    matrix = TfidfVectorizer(dtype=np.float32).fit_transform(texts)
    return {"import_seconds": imported, **_figures(matrix, started)}


def _figures(matrix: Any, started: float) -> dict[str, float]:
    """Processor seconds of all threads (they stay comparable on a busy machine), and the size of the result."""
    used = time.process_time() - started
    return {"processor_seconds": used, "documents": matrix.shape[0], "terms": matrix.shape[1], "entries": matrix.nnz}


def take_turns(session: Session, copies: int, repeats: int) -> None:
    """Run all contenders in turn, record the medians and their ratios to ours."""
    size = {"n_documents": 3000 if session.quick else None, "copies": copies}
    texts_file()
    ours(n_documents=10, copies=1)  # compiles the loops where their cache is empty
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(1 if session.quick else repeats):
        for name, (function, further) in CONTENDERS.items():
            measured = measure_process(function, {**size, **further})
            if "error" in measured:
                raise RuntimeError(f"{name} did not run: {measured['error']}")
            runs[name].append(measured)  # type: ignore[arg-type]
    for name, measured_runs in runs.items():
        for figure in (*FIGURES, "documents", "terms", "entries"):
            values = [run[figure] for run in measured_runs]
            session.record(name, figure, statistics.median(values), values)
    for figure in FIGURES:
        peer = session.figures["scikit-learn", figure]
        for name in CONTENDERS:
            if name != "scikit-learn":
                session.record(name, f"scikit-learn_{figure}_times", peer / session.figures[name, figure])


@row("tfidf-63k", "TfidfVectorizer on the descriptions of 63 thousand packages, against scikit-learn", target=7.0)
def tfidf_63k(session: Session) -> None:
    take_turns(session, copies=1, repeats=7)


@row("tfidf-190k", "the same texts three times: 190 thousand documents", target=7.0)
def tfidf_190k(session: Session) -> None:
    take_turns(session, copies=3, repeats=5)


@row("tfidf-equal", "the largest difference between the two outputs: terms, places of the entries, values")
def tfidf_equal(session: Session) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer as Peer

    from doccluster.vectors import TfidfVectorizer

    texts = read_texts(3000 if session.quick else None, 1)
    for dtype in (np.float32, np.float64):
        ours_, peer = TfidfVectorizer(dtype=dtype), Peer(dtype=dtype)
        found, expected = ours_.fit_transform(texts), peer.fit_transform(texts)
        expected.sort_indices()
        terms = (ours_.get_feature_names_out() != peer.get_feature_names_out()).sum()
        places = (found.indices != expected.indices).sum() + (found.indptr != expected.indptr).sum()
        name = np.dtype(dtype).name
        session.record("doccluster", f"{name}_terms_that_differ", float(terms))
        session.record("doccluster", f"{name}_places_that_differ", float(places))
        session.record("doccluster", f"{name}_largest_difference", float(abs(found.data - expected.data).max()))


if __name__ == "__main__":
    run_rows("vectorizing", again=True)
