"""From a sweep to an answer: a number of clusters, the range about as good, or no structure beyond chance.

The rule is ours and is measured, not derived (`experiments/choosing_k`). Each k is judged by two things that data
without clusters are judged by as well: how far its silhouette, and how far the agreement of its resampled clusterings,
lie above those of the reference data. Each excess is divided by its largest over k, and their sum is maximised.
Whether there is anything to find is a Monte Carlo test: the largest standardised excess of the silhouette over k,
each data set, this one and every reference, judged by all the others, so that without clusters all are alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.selection.rules import best_k
from doccluster.selection.sweep import Sweep, sweep
from doccluster.short_repr import ShortRepr
from doccluster.validation import RandomState, as_generator, check_matrix, check_positive_int

FOUND_AGAIN = 0.1  # adjusted Rand: structure that resampled data share by less than this more than noise is none
SMALLEST_SPREAD = 1e-4  # of a silhouette: keeps a spread of nearly nothing from deciding
WITHOUT_CLUSTERS = {
    "deal": "data with the terms dealt anew",
    "permute": "data with each term permuted over documents",
    "uniform": "points uniform in the box of the data",
    "sphere": "uniform directions",
}


@dataclass(frozen=True, repr=False)
class Recommendation(ShortRepr):
    """What a sweep over k says.

    Attributes
    ----------
    k : int or None
        The recommended number of clusters; None when there is no structure beyond chance.
    about_as_good : tuple of int
        Every k whose merit is within a tenth of the best, the recommended one among them.
    has_structure : bool
        Whether the silhouette of the data exceeds that of data without clusters (p_value <= level, or above all of the
        reference data sets where these are too few for the level), and resampled clusterings agree by at least 0.1 more
        than those of data without clusters (where stability was looked at).
    p_value : float
        (b + 1) / (t + 1) with b of the t reference data sets reaching the figure of the data.
    merit : mapping of k to float
        The sum of the two scaled excesses (each at most 1); nan where the clusters could not all be filled.
    sweep : Sweep
        The evidence.
    rows : int64 array or None
        The documents that were looked at, where these were a random sample; `sweep.labels` are theirs.
    n_documents : int
        All documents.
    """

    k: int | None
    about_as_good: tuple[int, ...]
    has_structure: bool
    p_value: float
    merit: Mapping[int, float]
    sweep: Sweep
    rows: npt.NDArray[np.int64] | None = None
    n_documents: int = 0

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        against = f"(p = {self.p_value:.2f} against {WITHOUT_CLUSTERS[self.sweep.null]})"
        seen = (
            "" if self.rows is None else f", in a random sample of {self.rows.size:,} of {self.n_documents:,} documents"
        )
        if not self.has_structure:
            why = "" if _is_found_again(self.sweep) else "; resampled data do not share what there is"
            return f"no structure beyond chance {against}{seen}{why}"
        others = in_words([k for k in self.about_as_good if k != self.k])
        also = f"; {others} {'is' if others.isdigit() else 'are'} about as good" if others else ""
        end = "; more were not tried" if self.k == int(self.sweep.table["k"].max()) else ""
        return f"{self.k} clusters{also}{end} {against}{seen}"


def in_words(numbers: Sequence[int]) -> str:
    """Return numbers as a list in words.

    >>> in_words([3, 4, 9])
    '3, 4 and 9'
    """
    texts = [str(number) for number in numbers]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def choose_k(
    matrix: Any,
    *,
    ks: Iterable[int] | None = None,
    n_null: int = 19,
    n_stability: int = 10,
    level: float = 0.05,
    max_documents: int | None = None,
    random_state: RandomState = None,
    **settings: Any,
) -> Recommendation:
    """Return the recommended number of clusters with its evidence.

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms)
    ks : numbers of clusters to try; by default about 25 from 2 to three times the square root of the number of
        documents, spread geometrically (see `default_ks`)
    n_null, n_stability : int
        Reference data sets (19 allow p = 0.05) and resampled data sets; the resampled clusterings of one reference data
        set are compared as well.
    level : float
        The largest p value that counts as structure.
    max_documents : int, optional
        Look at a random sample of so many documents, which bounds time and memory; clusters too small to be seen in
        the sample are then not counted.
    **settings
        Anything else `sweep` takes.

    Raises
    ------
    InputError
        If there are fewer than 4 documents, or no reference data set was asked for.
    """
    rng = as_generator(random_state)
    data = check_matrix(matrix)
    n_documents = int(data.shape[0])
    if n_documents < 4:
        raise InputError(
            f"{n_documents} document(s) are too few to choose a number of clusters; give at least 4, or the number."
        )
    if n_null < 1:
        raise InputError(f"n_null={n_null} leaves nothing to compare with; give at least 1 (19 for p = 0.05).")
    rows = None
    if max_documents is not None and check_positive_int(max_documents, "max_documents") < n_documents:
        rows = np.sort(rng.choice(n_documents, max(4, max_documents), replace=False))
        data = data[rows]
    found = sweep(
        data,
        ks=default_ks(data.shape[0]) if ks is None else ks,
        n_null=n_null,
        n_stability=n_stability,
        n_null_stability=1 if n_stability else 0,
        random_state=rng,
        **settings,
    )
    return replace(recommend(found, level=level), rows=rows, n_documents=n_documents)


def default_ks(n_documents: int) -> list[int]:
    """Return about 25 numbers of clusters between 2 and three times the square root of n, spread geometrically.

    Examples
    --------
    >>> default_ks(49)
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21]
    """
    if n_documents < 3:
        raise InputError(f"{n_documents} document(s) leave no number of clusters to try; give at least 4 documents.")
    largest = min(n_documents - 1, max(10, 3 * math.isqrt(n_documents)))
    return sorted({round(k) for k in np.geomspace(2, largest, 25)} | set(range(2, min(largest, 10) + 1)))


def recommend(found: Sweep, *, level: float = 0.05) -> Recommendation:
    """Return what a sweep with reference data says; k = 1 takes no part (no measure of separation is defined there)."""
    p_value = structure_p_value(found)
    merit = merits(found)
    best = best_k(merit)
    least = 1 / (found.null_silhouettes.shape[0] + 1)  # no p value can be below: with few references reaching it is all
    if best is None or p_value > max(level, least) or not _is_found_again(found):
        return Recommendation(None, (), False, p_value, merit, found)
    good = tuple(k for k, value in merit.items() if value >= 0.9 * merit[best])
    return Recommendation(best, good, True, p_value, merit, found)


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
