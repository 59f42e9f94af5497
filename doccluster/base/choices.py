"""The names that a user may choose from, where more than one room needs them."""

from __future__ import annotations

METRICS = ("cosine", "euclidean", "sqeuclidean")
FAMILIES = ("external", "internal", "intrinsic", "topic")  # of measures: what is judged


def spelled(name: str) -> str:
    """Return a name without what people leave out: k-means, kmeans and K_Means are one.

    >>> spelled("spherical-k-means") == spelled("spherical-kmeans")
    True
    """
    return name.lower().replace("-", "").replace("_", "")
