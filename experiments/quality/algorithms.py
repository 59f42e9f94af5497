"""The algorithms of the comparison by name: ours, and scikit-learn's beside them, all with their defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, BisectingKMeans, KMeans, SpectralClustering
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import doccluster
from doccluster import clustering
from doccluster.base.validation import compact_indices

STARTS = 10

Fit = Callable[[Any, Any, int, int], Any]  # counts, unit tf-idf rows, k, seed -> labels


def spherical(**options: Any) -> Fit:
    """Return spherical k-means of the rows."""
    return lambda counts, rows, k, seed: (
        doccluster.SphericalKMeans(k, n_init=STARTS, random_state=seed, **options).fit(rows).labels_
    )


def document_clustering(quality: str) -> Fit:
    """Return `DocumentClustering` of the counts."""
    return lambda counts, rows, k, seed: (
        doccluster.DocumentClustering(k, quality=quality, random_state=seed).fit(counts).labels_
    )


def by_criterion(criterion: str) -> Fit:
    """Return moves of single documents from five starts."""
    return lambda counts, rows, k, seed: (
        clustering.CriterionClustering(k, criterion=criterion, n_init=5, random_state=seed).fit(rows).labels_
    )


def bisecting(criterion: str, *, refine: bool) -> Fit:
    """Return repeated bisection."""
    return lambda counts, rows, k, seed: (
        clustering.BisectingSphericalKMeans(k, criterion=criterion, refine=refine, random_state=seed).fit(rows).labels_
    )


def agglomerative(linkage: str) -> Fit:
    """Return agglomerative clustering; it does not depend on the seed."""
    return lambda counts, rows, k, seed: clustering.AgglomerativeClustering(k, linkage=linkage).fit(rows).labels_


def vmf(**options: Any) -> Fit:
    """Return a mixture of von Mises-Fisher distributions."""
    return lambda counts, rows, k, seed: (
        doccluster.VonMisesFisherMixture(k, random_state=seed, **options).fit(rows).labels_
    )


def multinomial(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the labels of a mixture of multinomials, from its own starts."""
    return clustering.MultinomialMixture(k, random_state=seed).fit(counts).labels_


def k_means(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the labels of scikit-learn's k-means of the rows."""
    return KMeans(k, n_init=STARTS, random_state=seed).fit(rows).labels_


def svd_k_means(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the labels of scikit-learn's recipe for text: 100 dimensions, unit rows, k-means."""
    return KMeans(k, n_init=STARTS, random_state=seed).fit(svd(rows, seed)).labels_


def svd(rows: Any, seed: int) -> Any:
    """Return unit rows in 100 dimensions."""
    return make_pipeline(TruncatedSVD(100, random_state=seed), Normalizer()).fit_transform(rows)


def bisecting_k_means(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the labels of scikit-learn's bisecting k-means of the rows."""
    return BisectingKMeans(k, n_init=STARTS, random_state=seed).fit(compact_indices(rows)).labels_


def factors(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the largest factor of each document in a non-negative factorisation of the rows."""
    return NMF(k, random_state=seed, init="nndsvda", max_iter=500, tol=1e-3).fit_transform(rows).argmax(axis=1)


def topics(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the largest topic of each document in latent Dirichlet allocation."""
    return LatentDirichletAllocation(k, random_state=seed, max_iter=20).fit_transform(counts).argmax(axis=1)


def hdbscan(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the labels of scikit-learn's HDBSCAN in 100 dimensions; it chooses the number of clusters, -1 is noise."""
    return HDBSCAN(copy=True).fit(svd(rows, seed)).labels_


def spectral(counts: Any, rows: Any, k: int, seed: int) -> Any:
    """Return the labels of scikit-learn's spectral clustering of the graph of ten nearest neighbours."""
    from doccluster.geometry import nearest_neighbours

    graph = compact_indices(nearest_neighbours(rows, 10, fold=None).symmetric())
    graph.data[:] = np.clip(graph.data, 0.0, 1.0)
    return SpectralClustering(k, affinity="precomputed", random_state=seed, n_init=STARTS).fit(graph).labels_


ALGORITHMS: dict[str, Fit] = {
    "spherical k-means": spherical(),
    "spherical k-means, refined": spherical(refine=True),
    "settled (quality='fast')": document_clustering("fast"),
    "smoothed and settled (quality='default')": document_clustering("default"),
    "criterion I1": by_criterion("i1"),
    "criterion I2": by_criterion("i2"),
    "criterion H2": by_criterion("h2"),
    "bisecting": bisecting("i2", refine=False),
    "bisecting, refined by I2": bisecting("i2", refine=True),
    "bisecting, refined by H2": bisecting("h2", refine=True),
    "agglomerative, average": agglomerative("average"),
    "agglomerative, Ward": agglomerative("ward"),
    "von Mises-Fisher mixture": vmf(),
    "multinomial mixture": multinomial,
    "scikit-learn KMeans": k_means,
    "scikit-learn SVD and KMeans": svd_k_means,
    "scikit-learn BisectingKMeans": bisecting_k_means,
    "scikit-learn NMF": factors,
    "scikit-learn LDA": topics,
    "scikit-learn SpectralClustering": spectral,
    "scikit-learn SVD and HDBSCAN": hdbscan,
}
WITHOUT_SEED = ("agglomerative, average", "agglomerative, Ward")
