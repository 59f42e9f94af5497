"""What a sweep over k says as a whole: the k that exceeds data without clusters most, or no structure beyond chance.

The rule is ours and is measured, not derived (`experiments/choosing_k`). Each k is judged by two things that data
without clusters are judged by as well: how far its silhouette, and how far the agreement of its resampled clusterings,
lie above those of the reference data. Each excess is divided by its largest over k, and their sum is maximised.
Whether there is anything to find is a Monte Carlo test: the largest standardised excess of the silhouette over k,
each data set, this one and every reference, judged by all the others, so that without clusters all are alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.short_repr import ShortRepr
from doccluster.geometry import as_documents
from doccluster.validation import as_generator, unit_rows
from experiments.choosing_k.contenders import get_contender
from experiments.choosing_k.rules import best_k
from experiments.choosing_k.stability import stability
from experiments.choosing_k.sweep import Sweep, sweep
from experiments.tendency.null_models import NullModel, sample_null

FOUND_AGAIN = 0.1  # adjusted Rand: structure that resampled data share by less than this more than noise is none
SMALLEST_SPREAD = 1e-4  # of a silhouette: keeps a spread of nearly nothing from deciding


@dataclass(frozen=True, repr=False)
class SweepChoice(ShortRepr):
    """What a sweep over k says by the excess over data without clusters.

    Attributes
    ----------
    k : int or None
        The k of the largest merit; None when there is no structure beyond chance.
    about_as_good : tuple of int
        Every k whose merit is within a tenth of the best, the chosen one among them.
    has_structure : bool
        Whether the silhouette of the data exceeds that of data without clusters (p_value <= level, or above all of the
        reference data sets where these are too few for the level), and resampled clusterings agree by at least 0.1 more
        than those of data without clusters (where stability was looked at).
    p_value : float
        (b + 1) / (t + 1) with b of the t reference data sets reaching the figure of the data.
    merit : mapping of k to float
        The sum of the two scaled excesses (each at most 1); nan where the clusters could not all be filled.
    """

    k: int | None
    about_as_good: tuple[int, ...]
    has_structure: bool
    p_value: float
    merit: Mapping[int, float]


def sweep_with_null(
    matrix: Any,
    *,
    ks: Iterable[int],
    random_state: Any = None,
    n_init: int = 5,
    n_stability: int = 0,
    null: NullModel = "deal",
    **settings: Any,
) -> Sweep:
    """Return a sweep by spherical k-means whose table also has the stability of data without clusters."""
    rng, sizes = as_generator(random_state), list(ks)
    fitted: dict[str, Any] = {"algorithm": get_contender("spherical-k-means", n_init=n_init), "random_state": rng}
    found = sweep(matrix, ks=sizes, null=null, n_stability=n_stability, **fitted, **settings)
    if not n_stability:
        return found
    rows = unit_rows(as_documents(matrix).matrix)
    noise = sample_null(rows, model=null, random_state=rng, keep_unit_rows=True)
    several = [k for k in sizes if k > 1]
    unsteady = stability(noise, ks=several, n_samples=n_stability, method="subsample", **fitted)
    table = found.table.assign(null_stability=found.table["k"].map(dict(unsteady.values)).astype(float))
    return replace(found, table=table)


def recommend(found: Sweep, *, level: float = 0.05) -> SweepChoice:
    """Choose by a sweep with reference data; k = 1 takes no part (no measure of separation is defined there)."""
    p_value = structure_p_value(found)
    merit = merits(found)
    best = best_k(merit)
    least = 1 / (found.null_silhouettes.shape[0] + 1)  # no p value can be below: with few references reaching it is all
    if best is None or p_value > max(level, least) or not _is_found_again(found):
        return SweepChoice(None, (), False, p_value, merit)
    good = tuple(k for k, value in merit.items() if value >= 0.9 * merit[best])
    return SweepChoice(best, good, True, p_value, merit)


def _is_found_again(found: Sweep) -> bool:
    """Return whether resampled clusterings agree materially more than those of reference data, for some k."""
    if "stability" not in found.table or "null_stability" not in found.table:
        return True  # not looked at
    return bool((found.table["stability"] - found.table["null_stability"]).max() >= FOUND_AGAIN)


def structure_p_value(found: Sweep) -> float:
    """Return (b + 1) / (t + 1) for the largest standardised excess of the silhouette over k.

    The data and the t reference data sets are treated alike, each judged by the t others, so that the p value is exact
    where the data are one more draw of the null.
    """
    usable = [i for i, k in enumerate(found.table["k"]) if k > 1]
    data = found.table["silhouette"].to_numpy(dtype=float)[usable]
    everything = np.vstack([data, found.null_silhouettes[:, usable]])
    if everything.shape[0] == 2:  # one reference: nothing to standardise by
        excess = everything - everything.mean(axis=0)
        figures = [float(np.nanmax(own)) if np.isfinite(own).any() else -math.inf for own in excess]
    else:
        figures = [_largest_excess(own, np.delete(everything, i, axis=0)) for i, own in enumerate(everything)]
    reached = sum(figure >= figures[0] for figure in figures[1:])
    return float((reached + 1) / len(figures))


def _largest_excess(values: npt.NDArray[np.float64], reference: npt.NDArray[np.float64]) -> float:
    spread = np.maximum(reference.std(axis=0), SMALLEST_SPREAD)
    excess = (values - reference.mean(axis=0)) / spread
    known = excess[np.isfinite(excess)]
    return float(known.max()) if known.size else -math.inf


def merits(found: Sweep) -> dict[int, float]:
    """Return for each k > 1 the sum of its scaled excesses of silhouette and of stability over the reference data."""
    filled = (found.table["k"] > 1) & (found.table["n_clusters"] == found.table["k"])
    table = found.table[filled]
    if table.empty:
        return {}
    parts = [table["silhouette"] - table["null_silhouette"]]
    if "stability" in table and "null_stability" in table:
        parts.append(table["stability"] - table["null_stability"])
    scaled = [part / part.max() if part.max() > 0 else part * 0.0 for part in parts]
    total = sum(part.to_numpy(dtype=float) for part in scaled)
    return {int(k): float(value) for k, value in zip(table["k"], np.atleast_1d(total), strict=True)}
