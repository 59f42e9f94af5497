"""The generalised Dunn indices: seven distances between clusters over three diameters (Bezdek & Pal).

Every distance is taken in the chosen metric; under cosine the centre of a cluster is its centroid. Forms that need only
centres are computed from sums; the others take the sweep over all pairs.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.measures.distances import PairwiseDistances
from doccluster.measures.registry import Values, alias, internal_measure, undefined, variant
from doccluster.measures.scatter import off_diagonal

FloatArray = npt.NDArray[np.float64]

pair_measure = partial(internal_measure, evidence="pairwise")

BETWEEN = {
    1: "least distance of two documents (single linkage)",
    2: "largest distance of two documents (complete linkage)",
    3: "mean distance of two documents (average linkage)",
    4: "distance of the centres",
    5: "mean distance of the documents of both to their own centre",
    51: "mean distance of the documents of both to the other centre (as in the paper)",
    6: "Hausdorff distance",
}
WITHIN = {
    1: "largest distance of two documents",
    2: "mean distance of two documents",
    3: "twice the mean distance to the centre",
}
FROM_CENTRES = (4, 5, 51)


@pair_measure(
    "gdi",
    title="Generalised Dunn",
    range="[0, inf]",
    bounds=(0.0, None),
    formula="min_{i<j} delta_a(C_i, C_j)/max_i Delta_b(C_i), by default a = 3, b = 3",
    source="Bezdek & Pal 1998",
    meaning="The least distance of two clusters over the largest diameter, with distances and diameters that do not "
    "hang on two documents: by default average linkage and twice the mean distance to the centre.",
    edges="one cluster or all singletons: undefined; every diameter 0: inf; 0/0: undefined",
    parts=("per_cluster", "per_pair"),
    evidence_by_metric={"cosine": "geometry", "sqeuclidean": "geometry"},
)
def gdi(evidence: Any, *, between: int = 3, within: int = 3) -> Values:
    """Return the least distance of two clusters over the largest diameter of one.

    `between`: the distance delta of clusters. `within`: the diameter Delta of a cluster; those of the clusters come per
    cluster, the distances per pair.
    """
    if between not in BETWEEN or within not in WITHIN:
        raise InputError(
            f"between={between!r}, within={within!r} is not a form of the generalised Dunn index",
            remedy=(
                f"choose between from {', '.join(map(str, BETWEEN))} and within from {', '.join(map(str, WITHIN))}"
            ),
        )
    geometry = evidence.geometry
    if geometry.n_clusters == 1 or geometry.n_inner_pairs == 0:
        why = "there is only one cluster" if geometry.n_clusters == 1 else "every cluster is a single document"
        return undefined(why)
    evidence = _sufficient(evidence, between, within)
    distances = _between(evidence, between)
    diameters = _within(evidence, within)
    parts: dict[str, Any] = {"per_cluster": diameters, "per_pair": distances}
    nearest, widest = float(off_diagonal(distances).min()), float(diameters.max())
    if widest > 0:
        return Values(nearest / widest, **parts)
    return Values(math.inf, **parts) if nearest > 0 else undefined("0/0: no distance and no diameter", **parts)


def _sufficient(evidence: Any, between: int, within: int) -> Any:
    """Return the evidence, with distances of pairs if the form needs them and only the geometry was given."""
    needs_pairs = between in (1, 2, 6) or within == 1
    if needs_pairs and evidence is evidence.geometry:
        return PairwiseDistances(evidence)
    return evidence


def _between(evidence: Any, form: int) -> FloatArray:
    geometry = evidence.geometry
    sizes = geometry.sizes.astype(np.float64)
    if form == 1:
        table = np.where(np.isfinite(evidence.block_least), evidence.block_least, 0.0)
    elif form == 2:
        table = evidence.block_largest.copy()
    elif form == 3:
        table = evidence.block_weights / np.outer(sizes, sizes)
    elif form == 4:
        table = geometry.centre_distances.copy()
    elif form == 6:
        table = evidence.hausdorff.copy()
    else:
        sums = geometry.centre_distance_sums
        own = np.diagonal(sums)
        both = sums + sums.T if form == 51 else own[:, None] + own[None, :]
        table = both / (sizes[:, None] + sizes[None, :])
    np.fill_diagonal(table, 0.0)
    return np.asarray(table)


def _within(evidence: Any, form: int) -> FloatArray:
    geometry = evidence.geometry
    sizes = geometry.sizes.astype(np.float64)
    if form == 1:
        return np.diagonal(evidence.block_largest).copy()
    if form == 2:
        return np.asarray(evidence.cluster_weights[0] / np.maximum(sizes * (sizes - 1), 1))
    return np.asarray(2 * np.diagonal(geometry.centre_distance_sums) / sizes)


def _register_forms() -> None:
    for a in BETWEEN:
        for b in WITHIN:
            if a in FROM_CENTRES and b == 3:
                cost = {"evidence": "geometry", "evidence_by_metric": {}}
            elif a in (1, 2, 6) or b == 1:
                cost = {"evidence": "pairwise", "evidence_by_metric": {}}
            else:
                cost = {}
            record = {
                "title": f"Generalised Dunn {a}, {b}",
                "formula": f"delta: {BETWEEN[a]}; Delta: {WITHIN[b]}",
                "parameters": {"between": a, "within": b},
            }
            if (a, b) == (1, 1):
                alias("gdi_1_1", of="dunn", function=gdi, parts=("per_cluster", "per_pair"), **record)
            elif (a, b) == (3, 3):
                alias("gdi_3_3", of="gdi", **record)
            else:
                variant(f"gdi_{a}_{b}", of="gdi", **record, **cost)


_register_forms()
