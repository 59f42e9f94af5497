"""What may be set of each algorithm beside the number of clusters and the seed; None is left out.

The types are what a file may hold; Python may give more (centroids for `init`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class SphericalOptions:
    """Options of spherical k-means; `SphericalKMeans` describes them."""

    init: str | None = None
    n_init: int | str | None = None
    max_iter: int | None = None
    tol: float | None = None
    max_memory: int | str | None = None
    algorithm: str | None = None
    refine: bool | None = None
    verbose: int | None = None


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """Options of smoothed and settled clusters; `DocumentClustering` describes them."""

    init: str | None = None
    n_init: int | str | None = None
    max_iter: int | None = None
    tol: float | None = None
    refine: bool | None = None
    n_components: int | None = None
    n_neighbors: int | None = None
    mixing: float | None = None
    max_memory: int | str | None = None


@dataclass(frozen=True, kw_only=True)
class KMeansOptions:
    """Options of scikit-learn's k-means, which describes them."""

    init: Literal["k-means++", "random"] | None = None
    n_init: int | None = None
    max_iter: int | None = None
    tol: float | None = None


@dataclass(frozen=True, kw_only=True)
class MiniBatchOptions(KMeansOptions):
    """Options of scikit-learn's mini-batch k-means, which describes them."""

    batch_size: int | None = None


@dataclass(frozen=True, kw_only=True)
class BisectingOptions(KMeansOptions):
    """Options of scikit-learn's bisecting k-means, which describes them."""

    bisecting_strategy: Literal["biggest_inertia", "largest_cluster"] | None = None


@dataclass(frozen=True, kw_only=True)
class CriterionOptions:
    """Options of the criterion functions; `CriterionClustering` describes them."""

    criterion: Literal["i1", "i2", "e1", "g1", "h1", "h2"] | None = None
    n_init: int | None = None
    max_passes: int | None = None
    max_memory: int | str | None = None


@dataclass(frozen=True, kw_only=True)
class BisectingSphericalOptions:
    """Options of repeated bisection; `BisectingSphericalKMeans` describes them."""

    split: Literal["gain", "largest", "loosest"] | None = None
    criterion: Literal["i1", "i2", "e1", "g1", "h1", "h2"] | None = None
    refine: bool | None = None
    n_init: int | None = None


@dataclass(frozen=True, kw_only=True)
class AgglomerativeOptions:
    """Options of agglomerative clustering; `AgglomerativeClustering` describes them."""

    linkage: Literal["average", "single", "complete", "ward", "centroid"] | None = None
    max_memory: int | str | None = None


@dataclass(frozen=True, kw_only=True)
class MultinomialOptions:
    """Options of the mixture of multinomials; `MultinomialMixture` describes them."""

    assignment: Literal["soft", "hard"] | None = None
    smoothing: float | None = None
    max_length: float | None = None
    init: Literal["k-means", "random"] | None = None
    n_init: int | None = None
    max_iter: int | None = None
    tol: float | None = None


@dataclass(frozen=True, kw_only=True)
class MixtureOptions:
    """Options of the von Mises-Fisher mixture; `VonMisesFisherMixture` describes them."""

    assignment: Literal["soft", "hard"] | None = None
    concentration: float | Literal["free", "shared"] | None = None
    init: Literal["k-means", "random"] | None = None
    n_init: int | None = None
    max_iter: int | None = None
    tol: float | None = None
    max_concentration: float | None = None
