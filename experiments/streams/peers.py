"""What else finds stories: a single pass with one threshold, and clusterings of the whole, which see the future."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from doccluster.clustering import SphericalKMeans
from doccluster.corpus import Corpus
from doccluster.pipeline.main_line import run_pipeline
from doccluster.streams.article_terms import TermReader
from doccluster.streams.joining import Floats
from doccluster.vectors import TfidfVectorizer
from experiments.streams.labelled import LabelledStream

THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
RADII = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # cosine distances, of TextClust
REACHES = (0.5, 0.7, 0.9, 1.0, 1.1, 1.2)  # distances of unit vectors, of DBSTREAM
WINDOW = 10 * 86400  # seconds without an article after which a story is left alone, as in the stream
N_DIMENSIONS = 100
MOST_MEANS = 2**30  # bytes; the means of spherical k-means are dense rows, one for each story


def vectors_of(stream: LabelledStream) -> sparse.csr_array:
    """Return unit tf-idf rows of titles and texts, weighted by the whole stream."""
    texts = [f"{one.title}\n{one.text}" for one in stream.articles]
    return TfidfVectorizer(analyzer="script", sublinear_tf=True, min_df=1).fit_transform(texts)


def single_pass(stream: LabelledStream, rows: sparse.csr_array, threshold: float) -> dict[str, str]:
    """Return stories of one pass: an article joins the story with the most similar mean, from a threshold on."""
    times = np.array([one.time for one in stream.articles])
    story_of: list[int] = []
    lasts: list[int] = []
    for place in range(rows.shape[0]):
        first = int(np.searchsorted(times, times[place] - 30 * 86400))
        likeness = (rows[first:place] @ rows[[place]].T).toarray().ravel()
        sums: dict[int, list[float]] = {}
        for other, value in zip(range(first, place), likeness.tolist(), strict=True):
            if times[place] - lasts[story_of[other]] <= WINDOW:
                sums.setdefault(story_of[other], []).append(value)
        best = max(sums, key=lambda story: (np.mean(sums[story]), -story), default=-1)
        if best < 0 or np.mean(sums[best]) < threshold:
            best = len(lasts)
            lasts.append(int(times[place]))
        lasts[best] = int(times[place])
        story_of.append(best)
    return _named(stream, story_of)


def k_means(stream: LabelledStream, rows: sparse.csr_array) -> dict[str, str] | None:
    """Return the clusters of spherical k-means on the whole, with as many as there are true stories.

    An article without a label counts as a story. None if the means would take too much memory.
    """
    n_stories = len(set(stream.story_of.values())) + len(stream.articles) - len(stream.story_of)
    if 8 * n_stories * rows.shape[1] > MOST_MEANS:
        return None
    return _named(stream, SphericalKMeans(n_stories, random_state=0).fit_predict(rows))


def whole_run(stream: LabelledStream) -> dict[str, str]:
    """Return the clusters of a run of the default algorithm on the whole, which chooses k itself."""
    ids = tuple(one.id for one in stream.articles)
    found = run_pipeline(
        Corpus(ids=ids, texts=tuple(f"{one.title}\n{one.text}" for one in stream.articles)), report=False
    )
    return _named(stream, found.partition.labels.tolist())


def hdbscan(stream: LabelledStream, rows: sparse.csr_array) -> dict[str, str]:
    """Return the clusters of scikit-learn's HDBSCAN on the whole; what it calls noise is a story of its own.

    With a tree of the articles it looks at all pairs without holding them.
    """
    labels = HDBSCAN(min_cluster_size=2, algorithm="kd_tree", copy=True).fit_predict(_latent(rows))
    return _named(stream, [label if label >= 0 else -1 - place for place, label in enumerate(labels.tolist())])


def text_clust(stream: LabelledStream, radius: float) -> dict[str, str]:
    """Return the micro-clusters of river's TextClust, which fade by half in three days, as each article joins one."""
    from river.cluster import TextClust

    reader = TermReader()
    model = TextClust(radius=radius, fading_factor=1 / 72, tgap=24, real_time_fading=True)
    labels = []
    for one in stream.articles:
        read = reader.read(one.title, one.text)
        counts = dict(zip(read.terms, read.counts.tolist(), strict=True))
        model.learn_one(counts, t=one.time / 3600)
        labels.append(model.predict_one(counts))
    return _named(stream, labels)


def dbstream(stream: LabelledStream, rows: sparse.csr_array, threshold: float) -> dict[str, str]:
    """Return the clusters of river's DBSTREAM on 100 latent dimensions, asked when all articles have come in."""
    from river.cluster import DBSTREAM

    points = [dict(enumerate(point)) for point in _latent(rows).tolist()]
    model = DBSTREAM(clustering_threshold=threshold, fading_factor=1e-9, minimum_weight=1.0)
    for point in points:
        model.learn_one(point)
    return _named(stream, [model.predict_one(point) for point in points])


def _latent(rows: sparse.csr_array) -> Floats:
    n_dimensions = min(N_DIMENSIONS, min(rows.shape) - 1)
    return np.asarray(normalize(TruncatedSVD(n_dimensions, random_state=0).fit_transform(rows)))


def _named(stream: LabelledStream, labels: object) -> dict[str, str]:
    named: Mapping[str, str] = {one.id: str(label) for one, label in zip(stream.articles, labels, strict=True)}  # type: ignore[call-overload]
    return dict(named)
