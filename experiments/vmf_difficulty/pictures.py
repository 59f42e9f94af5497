"""Pictures for the pages on generated corpora: ``python -m experiments.vmf_difficulty.pictures`` writes docs/images."""

from __future__ import annotations

import pathlib

import numpy as np

from doccluster.clustering.mixtures.vmf_functions import log_normalizer_plus_kappa
from doccluster.corpus import read_corpus
from doccluster.report.figures import line_chart
from doccluster.report.plots import heat_map
from doccluster.synthetic import make_sharma, make_sparse_vmf, make_twin, plan_zipf, sample_vmf
from doccluster.vectors import vectorize

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
NEWSROOM = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
RANKS = np.unique(np.round(np.geomspace(1, 3000, 60)).astype(int))


def vmf() -> None:
    """Draw sampled cosines beside their exact density, for one concentration in three numbers of dimensions."""
    kappa, size = 50.0, 20_000
    edges = np.linspace(-0.3, 1.0, 66)
    middles = (edges[1:] + edges[:-1]) / 2
    series = {}
    for d in (3, 30, 300):
        mean = np.eye(1, d)[0]
        counts, _ = np.histogram(sample_vmf(mean, kappa, size, 0) @ mean, edges)
        # the density of the cosine t is C_d(kappa) exp(kappa t) times the area of the sphere across it
        log_area = np.log(2) + (d - 1) / 2 * np.log(np.pi) - _log_gamma((d - 1) / 2)
        across = (d - 3) / 2 * np.log1p(-(middles**2))
        log_density = log_normalizer_plus_kappa(d, kappa) + kappa * (middles - 1) + log_area + across
        series[f"{d} dimensions, drawn"] = counts / size / np.diff(edges)
        series[f"{d} dimensions, exact"] = np.exp(log_density)
    line_chart(
        {name: (middles, density) for name, density in series.items()},
        title="Cosine to the mean direction at concentration 50",
        x_label="cosine to the mean direction",
        y_label="density",
        y_range=(0, 12),
        has_markers=False,
    ).save(IMAGES / "vmf-cosines.svg")


def _log_gamma(value: float) -> float:
    from scipy.special import gammaln

    return float(gammaln(value))


def sharma() -> None:
    """Draw the matrix of Algorithm 1 in both readings."""
    for structure in ("block", "dense"):
        vectors, _ = make_sharma(5, structure=structure, random_state=0)
        rows = np.stack([vectors.matrix[[row]].toarray()[0] for row in range(vectors.n_documents)])
        heat_map(
            rows,
            title=f"Algorithm 1, structure={structure!r}: 5 clusters, 50 own and 12 overlap columns",
            x_label="term",
            y_label="document",
            scale_label="weight",
            path=IMAGES / f"sharma-{structure}.svg",
        )


def sparse_vmf() -> None:
    """Draw document frequencies by rank for three mean resultant lengths."""
    series = {}
    for length in (0.25, 0.4, 0.6):
        vectors, _ = make_sparse_vmf(5000, 20_000, 10, mean_resultant_length=length, random_state=0)
        series[f"mean resultant length {length:g}"] = _frequencies(vectors)
    _draw_frequencies(series, "Sparse vMF-like documents: how often terms occur", "sparse-vmf-frequencies.svg")


def zipf() -> None:
    """Draw how many documents of the six largest stories appear in each week."""
    documents = list(plan_zipf(10_000, n_topics=10, n_stories=60, random_state=0).documents())
    weeks = np.array([document.date[:19] for document in documents], dtype="datetime64[s]")
    week = ((weeks - np.datetime64("2024-01-01")) / np.timedelta64(7, "D")).astype(int)
    stories = np.array([document.story for document in documents])
    names, sizes = np.unique(stories, return_counts=True)
    largest = names[np.argsort(-sizes, kind="stable")[:6]]
    line_chart(
        {name: (np.arange(52), np.bincount(week[stories == name], minlength=53)[:52]) for name in largest},
        title="Documents of invented words: the six largest of 60 stories",
        x_label="week",
        y_label="documents",
        has_markers=False,
    ).save(IMAGES / "zipf-stories.svg")


def twin() -> None:
    """Draw the document frequencies of the newsroom sample and of its twin."""
    vectors = vectorize(read_corpus(NEWSROOM))
    resembling = make_twin(vectors, 8, random_state=0).vectors
    series = {"newsroom sample": _frequencies(vectors), "its twin": _frequencies(resembling)}
    _draw_frequencies(series, "The twin of a corpus: how often terms occur", "twin-frequencies.svg")


def _frequencies(vectors: object) -> np.ndarray:
    matrix = vectors.matrix  # type: ignore[attr-defined]
    counts = np.sort(np.bincount(matrix.indices, minlength=max(matrix.shape[1], RANKS[-1])))[::-1]
    return np.where(counts > 0, counts / matrix.shape[0], np.nan)[RANKS - 1]


def _draw_frequencies(series: dict[str, np.ndarray], title: str, name: str) -> None:
    line_chart(
        {label: (RANKS, shares) for label, shares in series.items()},
        title=title,
        x_label="rank of the term",
        y_label="share of documents that have it",
        log_x=True,
        log_y=True,
        has_markers=False,
    ).save(IMAGES / name)


def main() -> None:
    """Draw all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for draw in (vmf, sharma, sparse_vmf, zipf, twin):
        draw()
        print(draw.__name__)


if __name__ == "__main__":
    main()
