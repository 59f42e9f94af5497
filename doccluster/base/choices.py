"""The names that options choose among: help and errors list them without loading what they name."""

from __future__ import annotations

SPHERICAL = "spherical-k-means"  # the algorithm of runs from before they wrote it down
METRICS = ("cosine", "euclidean", "sqeuclidean")
FAMILIES = ("external", "internal", "intrinsic", "topic")  # of measures: what is judged
CRITERIA = {  # of the number of clusters: name, and what it chooses
    "silhouette": "the largest silhouette",
    "calinski-harabasz": "the largest ratio of scatter between and within clusters",
    "delta": "the smallest second difference of Calinski-Harabasz",
    "gap": "the first k whose gap of distances the next one does not clearly exceed",
    "gap-rss": "the same of the residual sum of squares (RSS)",
    "knee": "the bend of the RSS",
    "penalised-rss": "the least RSS + penalty k",
    "hartigan": "the first k whose next cluster lowers the RSS by too little",
    "krzanowski-lai": "the largest ratio of successive falls of the RSS",
    "stability": "the k whose clusters resampled documents find again",
}


def spelled(name: str) -> str:
    """Return a name without what people leave out: k-means, kmeans and K_Means are one.

    >>> spelled("spherical-k-means") == spelled("spherical-kmeans")
    True
    """
    return name.lower().replace("-", "").replace("_", "")
