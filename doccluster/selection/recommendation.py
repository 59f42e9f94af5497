"""How many clusters: the one recommendation, with the range about as good and the reason."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from doccluster.blocks import resolve_threads
from doccluster.choices import spelled
from doccluster.errors import InputError
from doccluster.geometry import as_documents
from doccluster.markup import html_table, latex_table
from doccluster.progress import Progress, silent
from doccluster.selection.granularity import Columns, Curves, Granularity, judge_ks, log_grid, starts_for
from doccluster.selection.held_out import split_terms
from doccluster.selection.prototypes import DEFAULT, Prototype, get_prototype
from doccluster.selection.sweep import check_ks
from doccluster.short_repr import ShortRepr
from doccluster.validation import RandomState, as_generator, check_positive_int, unit_rows

if TYPE_CHECKING:
    import pandas as pd

LEAST_DOCUMENTS = 4
# what is looked at, which bounds time and memory however large the corpus
MOST_DOCUMENTS, MOST_VALUES = 10_000, 500_000
TIMED_K, DEARER_FROM = 20, 400  # a fit with k clusters takes about 1 + k / 400 times as long as one with few


@dataclass(frozen=True, repr=False)
class Recommendation(ShortRepr):
    """How many clusters the data support.

    Attributes
    ----------
    k : int or None
        The recommended number of clusters; None when there is no structure beyond chance.
    about_as_good : tuple of int
        The numbers around it that were looked at and are about as good.
    granularity : {"topics", "stories"}
        What was asked for, or what the data are where nothing was.
    by_data : bool
        Whether the data chose the granularity.
    has_structure : bool
        Whether two halves of the terms find clusters that agree beyond chance.
    p_value : float
        Of that agreement, against shuffled documents.
    columns : mapping of name to array
        The evidence, one entry per k (see `Curves`); `table` is the same as a DataFrame.
    n_documents, n_looked_at : int
        All documents, and those that were looked at: a random sample where there are very many.
    asked : tuple of int
        The numbers of clusters the choice was limited to; empty where it was free.
    unlimited : int or None
        What would be recommended without that limit.
    """

    k: int | None
    about_as_good: tuple[int, ...]
    granularity: Granularity
    by_data: bool
    has_structure: bool
    p_value: float
    columns: Columns = field(repr=False)
    n_documents: int
    n_looked_at: int
    asked: tuple[int, ...] = ()
    unlimited: int | None = None

    @property
    def table(self) -> pd.DataFrame:
        """The evidence as a DataFrame, one row per k."""
        import pandas as pd  # a run needs no frames

        return pd.DataFrame(self.columns)

    def to_pandas(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    def to_latex(self) -> str:
        """Return the evidence as a LaTeX table (package booktabs)."""
        return latex_table(*self._evidence(), alignment="r" * len(self.columns))

    def _repr_html_(self) -> str:
        columns, rows = self._evidence()
        return html_table(columns, rows, caption=self.sentence)

    def _evidence(self) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns, and what stands in each row."""
        shown = [
            [f"{value:,}" if isinstance(value, int) else f"{value:.4g}" for value in np.asarray(column).tolist()]
            for column in self.columns.values()
        ]
        return list(self.columns), [list(row) for row in zip(*shown, strict=True)]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        seen = ""
        if self.n_looked_at < self.n_documents:
            seen = f", judged on {self.n_looked_at:,} of {self.n_documents:,} documents"
        if self.k is None:
            return (
                "no structure beyond chance: clusters found from one half of the vocabulary say nothing of the "
                f"other half (p = {self.p_value:.2f}){seen}"
            )
        others = [k for k in self.about_as_good if k != self.k]
        end = f"; {span_in_words(others)} about as good" if others else ""
        if self.asked and self.unlimited not in (None, self.k):
            end += f"; without the limit it would be {self.unlimited:,}"
        return f"{self.k:,} clusters ({self._reason()}){end}{seen}"

    def _reason(self) -> str:
        if not self.by_data:
            return f"{self.granularity}, as asked"
        if self.granularity == "stories":
            return "stories: both halves of the vocabulary find the same small clusters"
        return "topics: the two halves of the vocabulary do not agree on much finer ones"


def span_in_words(numbers: list[int]) -> str:
    """Return a run of numbers as what is said of it.

    >>> span_in_words([3]), span_in_words([3, 4, 9])
    ('3 is', '3 to 9 are')
    """
    return f"{numbers[0]:,} is" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,} are"


def choose_k(
    matrix: Any,
    *,
    granularity: str | None = None,
    ks: Iterable[int] | None = None,
    algorithm: Any = "spherical-k-means",
    max_documents: int | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Recommendation:
    """Return the recommended number of clusters with its evidence.

    The terms are split at random into two halves. For each k on a log grid up to half of the documents, the documents
    are clustered by either half and the clusters judged by the other (see `Curves`).

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms)
    granularity : {"topics", "stories"}, optional
        Few broad clusters, or as many as say something of terms they were not found from. Without it the data choose:
        stories where the stories of both halves agree by an adjusted Rand index of 0.6 or more, else topics.
    ks : numbers of clusters to choose from, optional
    algorithm : str or estimator
        What clusters, see `get_prototype`.
    max_documents : int, optional
        Look at a random sample of so many documents where there are more; by default of at most 10,000 documents and
        about 500,000 stored values, which bounds time and memory. Clusters too small to be seen in the sample are then
        not counted.
    random_state : int, numpy Generator or RandomState, optional
    n_threads : int, optional
        All processors by default; the answer does not depend on it.

    Raises
    ------
    InputError
        If there are fewer than 4 documents, or a name or number cannot be used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> topics = np.repeat(np.eye(3), 20, axis=0).repeat(10, axis=1)
    >>> found = choose_k(topics * (rng.random((60, 30)) < 0.5), random_state=0)
    >>> found.k, found.has_structure
    (3, True)
    """
    if granularity not in (None, "topics", "stories"):
        raise InputError(
            "is not known",
            argument="granularity",
            received=granularity,
            expected="'topics' or 'stories', or leave it out",
        )
    rng = as_generator(random_state)
    data = as_documents(matrix).matrix
    n_documents = int(data.shape[0])
    check_enough(n_documents)
    asked = () if ks is None else tuple(check_ks(ks, n_documents))
    data = sampled(data, max_documents, rng)
    tried = {*log_grid(data.shape[0]), *asked}
    curves = judge_ks(data, tried, quick(algorithm), rng, n_threads=n_threads, progress=progress)
    wanted = cast("Granularity | None", granularity)
    return recommend(curves, wanted, asked, n_documents=n_documents, n_looked_at=int(data.shape[0]))


def sampled(data: Any, max_documents: int | None, rng: np.random.Generator) -> Any:
    """Return the unit rows that are looked at: all, or a random sample in the order of the rows."""
    n_documents = int(data.shape[0])
    if max_documents is None:
        stored = data.nnz if sparse.issparse(data) else data.size
        most = min(MOST_DOCUMENTS, int(MOST_VALUES * n_documents / max(1, stored)))
    else:
        most = check_positive_int(max_documents, "max_documents")
    if most < n_documents:
        data = data[np.sort(rng.choice(n_documents, max(4, most), replace=False))]
    return unit_rows(data, warn=False)


def seconds_to_choose(
    matrix: Any,
    *,
    algorithm: Any = "spherical-k-means",
    max_documents: int | None = None,
    n_threads: int | None = None,
) -> float:
    """Return roughly how long `choose_k` takes: one small fit is timed. Good to a factor of two or so."""
    data = sampled(as_documents(matrix).matrix, max_documents, np.random.default_rng(0))
    check_enough(int(data.shape[0]))
    half = split_terms(data, np.random.default_rng(0))[0]
    if half.shape[0] < 2:
        return 0.0
    timed, seconds = quick(algorithm), np.inf
    for seed in range(2):  # the first may compile
        started = time.perf_counter()
        timed.labels(half, n_clusters=min(TIMED_K, half.shape[0]), seed=seed)
        seconds = min(seconds, time.perf_counter() - started)
    fits = sum(2 * starts_for(k) * (1 + k / DEARER_FROM) for k in log_grid(data.shape[0]))
    return float(seconds * fits / resolve_threads(n_threads))


def check_enough(n_documents: int) -> None:
    """Raise InputError where there are too few documents to choose a number of clusters."""
    if n_documents < LEAST_DOCUMENTS:
        raise InputError(
            f"{n_documents} document(s) are too few to choose a number of clusters",
            remedy=f"give at least {LEAST_DOCUMENTS}, or the number",
        )


def quick(algorithm: Any) -> Prototype:
    """Return the algorithm, with few iterations where it is ours by name: many k make up for a little noise."""
    found = get_prototype(algorithm, n_init=1)
    if isinstance(algorithm, str) and spelled(algorithm) == spelled(DEFAULT):
        return replace(found, parameters={**found.parameters, "max_iter": 20, "tol": 1e-3})
    return found


def recommend(
    curves: Curves,
    granularity: Granularity | None,
    asked: tuple[int, ...] = (),
    *,
    n_documents: int,
    n_looked_at: int,
) -> Recommendation:
    """Return what the curves say, of the numbers asked for only where there are some."""
    chosen = granularity or curves.natural()
    told: dict[str, Any] = {
        "granularity": chosen,
        "by_data": granularity is None,
        "has_structure": curves.has_structure,
        "p_value": curves.p_value,
        "columns": curves.columns,
        "n_documents": n_documents,
        "n_looked_at": n_looked_at,
        "asked": asked,
    }
    known = [k for k in asked if k in set(curves.columns["k"].tolist())]
    if not curves.has_structure or (asked and not known):
        return Recommendation(None, (), **told)
    free, good = curves.best(chosen)
    if not asked:
        return Recommendation(free, good, **told)
    k, good = curves.best(chosen, known)
    return Recommendation(k, good, **told, unlimited=free)
