"""How many clusters: sections, topics or subtopics, which of them to show, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Array, CsrArray, Labels, Matrix
from doccluster.base.choices import CRITERIA
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import cut, one_of
from doccluster.base.progress import Progress, silent
from doccluster.base.text_table import html_table, latex_table
from doccluster.base.validation import RandomState, as_generator, check_choice, check_matrix, check_positive_int
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.clustering.task import SmoothedRows
from doccluster.errors import Argument, InputError, NothingUsable
from doccluster.geometry import as_documents
from doccluster.selection.levels import (
    MAX_FOR_TOPICS,
    SURE_SUBTOPICS,
    WEAK,
    Level,
    between,
    come_first,
    draw_rows,
    few_among,
    find_both,
    find_structure,
    middle_among,
    spread,
    subtopics_among,
    topics_among,
)
from doccluster.vectors.document_vectors import DocumentVectors, as_vectors
from doccluster.vectors.letters import Letters
from doccluster.vectors.meaning import Meaning

if TYPE_CHECKING:
    import pandas as pd

Granularity = Literal["sections", "topics", "subtopics"]
GRANULARITIES: tuple[Granularity, ...] = ("sections", "topics", "subtopics")

MIN_DOCUMENTS = 4
MAX_DOCUMENTS = 50_000  # that are looked at, however large the corpus


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation:
    """How many clusters the data support.

    Attributes
    ----------
    k : int or None
        The recommended number of clusters; None when there is no structure beyond chance.
    sections, topics, subtopics : int or None
        The numbers of the broadest, of broad and of narrow clusters; `k` is one of them unless it was limited. There
        are sections only where topics are more stable than what is above them, or 20 to 60 of them lie in between.
    granularity : {"sections", "topics", "subtopics"}
        Which of them `k` is.
    reason : str
        Why that one.
    has_structure : bool
        Whether two halves of the terms find communities that agree beyond chance.
    p_value : float
        Of that agreement, against shuffled documents.
    columns : mapping of name to array
        The evidence, one entry per level that was looked at: as (topics or subtopics), k, resolution, largest (the
        share of the documents in the largest cluster), agreement, and chosen (what the level was taken for, else
        empty); `table` is the same as a DataFrame.
    n_documents, n_looked_at : int
        All documents, and those that were looked at: a random sample where there are very many.
    asked : tuple of int
        The numbers of clusters the choice was limited to; empty where it was free.
    unlimited : int or None
        What would be recommended without that limit.
    levels : mapping of granularity to int64 array of shape (n_documents,)
        The clusters that were counted, from 0; -1 for documents that were not looked at or are alone.
    examples : mapping of granularity to (str, int)
        The name and the size of the largest of those clusters, where it was named.
    """

    k: int | None
    sections: int | None
    topics: int | None
    subtopics: int | None
    granularity: Granularity
    reason: str
    has_structure: bool
    p_value: float
    columns: dict[str, Array] = field(repr=False)
    n_documents: int
    n_looked_at: int
    asked: tuple[int, ...] = ()
    unlimited: int | None = None
    levels: Mapping[Granularity, Labels] = field(default_factory=dict, repr=False)
    examples: Mapping[Granularity, tuple[str, int]] = field(default_factory=dict)

    @property
    def labels(self) -> Labels | None:
        """The clusters of `k` to start from; None where `k` is not the number of any that were counted."""
        return None if self.k is None or self._is_limited else self.levels[self.granularity]

    @property
    def _is_limited(self) -> bool:
        return bool(self.asked) and self.unlimited not in (None, self.k)

    def __repr__(self) -> str:
        return cut(f"Recommendation({self.n_documents:,} documents: {self.sentence})")

    def reordered(self, order: Labels) -> Recommendation:
        """Return the answer for rows ``order`` of an input as one for the input."""
        return self.for_rows(np.argsort(order))

    def for_rows(self, rows: Labels) -> Recommendation:
        """Return the answer for some of the rows, which may repeat."""
        return replace(self, levels={name: labels[rows] for name, labels in self.levels.items()})

    @property
    def table(self) -> pd.DataFrame:
        """The evidence as a DataFrame, one row per level."""
        import pandas as pd  # a run needs no frames

        return pd.DataFrame(self.columns)

    def to_pandas(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    def to_latex(self) -> str:
        """Return the evidence as a LaTeX table (package booktabs)."""
        return latex_table(*self._evidence(), alignment="l" + "r" * (len(self.columns) - 1))

    def _repr_html_(self) -> str:
        columns, rows = self._evidence()
        return html_table(columns, rows, caption=self.sentence)

    def _evidence(self) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns, and what stands in each row."""
        shown = [[_readable(value) for value in np.asarray(column).tolist()] for column in self.columns.values()]
        return list(self.columns), [list(row) for row in zip(*shown, strict=True)]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        sample_note = ""
        if self.n_looked_at < self.n_documents:
            sample_note = f"; judged on {self.n_looked_at:,} of {self.n_documents:,} documents"
        if self.k is None:
            return (
                "no structure beyond chance: clusters found from one half of the words say nothing of the other half "
                f"(p = {self.p_value:.2f}){sample_note}"
            )
        numbers = [f"{_counted(number, name)}" for name, number in self.numbers.items()]
        if self._is_limited:
            return f"{self.k:,} clusters, the best of your numbers; without them {one_of(numbers)}{sample_note}"
        if self.topics == self.subtopics:
            return f"{self.k:,} clusters, whether topics or subtopics{sample_note}"
        alternatives = [
            f"{_counted(n, name)} (--granularity {name})" for name, n in self.numbers.items() if n != self.k
        ]
        also = f"; also {' and '.join(alternatives)}" if alternatives else ""
        return f"{_counted(self.k, self.granularity)}, {self.reason}{also}{sample_note}"

    @property
    def numbers(self) -> dict[Granularity, int]:
        """The number of clusters of each level that there is."""
        return {name: number for name in GRANULARITIES if (number := getattr(self, name))}


def _counted(number: int, name: str) -> str:
    """Return a number of topics, subtopics or documents in words.

    >>> _counted(1, "subtopics"), _counted(1200, "topics")
    ('1 subtopic', '1,200 topics')
    """
    return f"1 {name.removesuffix('s')}" if number == 1 else f"{number:,} {name}"


def _readable(value: object) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


@at_the_door
def choose_k(
    matrix: Matrix,
    *,
    counts: CsrArray | None = None,
    granularity: str | None = None,
    subtopics_because: str | None = None,
    ks: Iterable[int] | None = None,
    max_documents: int | None = None,
    meaning: Meaning | None = None,
    letters: Letters | None = None,
    smoothed: SmoothedRows | None = None,
    random_state: RandomState = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Recommendation:
    """Return the recommended number of clusters with its evidence.

    The rows are smoothed over the graph of `DocumentClustering`, but once: more steps blur small clusters. Topics are
    communities of the nearest neighbours of these rows, subtopics communities of the graph of common terms, its weights
    times the squared cosines of these rows, both at levels from coarse to fine; those that random parts of the
    documents find again are taken (see `doccluster.selection.levels`).

    Parameters
    ----------
    matrix : csr or dense array of shape (n_documents, n_terms), or Documents
    counts : csr array of the same shape, optional
        How often each term occurs in each document, where that is known.
    granularity : {"sections", "topics", "subtopics"}, optional
        Few broad clusters, or many narrow ones. Without it subtopics where `subtopics_because` says so or they come
        back almost exactly, else the broadest there are.
    subtopics_because : str, optional
        Why subtopics are wanted where nothing was asked for, such as "because the documents are dated".
    ks : numbers of clusters to choose from, optional
        The one nearest to the number that would be chosen freely is taken.
    max_documents : int, optional
        Look at a random sample of this many documents where there are more; 50,000 by default. Clusters too small to be
        seen in the sample are then not counted.
    meaning : Meaning, optional
        The documents in a second space: neighbours there are neighbours too.
    letters : Letters, optional
        Short documents by runs of letters, likewise.
    smoothed : SmoothedRows, optional
        The rows smoothed already; not used where a sample is looked at.
    random_state : int, numpy Generator or RandomState, optional
    n_threads : int, optional
        All processors by default; the answer does not depend on it.

    Raises
    ------
    InputError
        If there are fewer than 4 documents, or a name or number cannot be used.
    NothingUsable
        If no row has a non-zero value.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> topics = np.repeat(np.eye(3), 20, axis=0).repeat(10, axis=1)
    >>> recommendation = choose_k(topics * (rng.random((60, 30)) < 0.5), random_state=0)
    >>> recommendation.k, recommendation.has_structure
    (3, True)
    """
    documents, rng = as_documents(matrix), as_generator(random_state)
    if counts is not None:
        counts = counts if documents is matrix else sparse.csr_array(check_matrix(counts, name="counts"))
        if counts.shape != documents.shape:
            raise InputError("has another shape than the matrix", argument="counts", received=counts.shape)
    return recommend(
        as_vectors(documents, counts=counts, meaning=meaning, letters=letters),
        granularity=granularity,
        subtopics_because=subtopics_because,
        ks=ks,
        max_documents=max_documents,
        smoothed=smoothed,
        rng=rng,
        n_threads=n_threads,
        progress=progress,
    )


def recommend(
    vectors: DocumentVectors,
    *,
    granularity: str | None,
    subtopics_because: str | None,
    ks: Iterable[int] | None,
    max_documents: int | None,
    smoothed: SmoothedRows | None,
    rng: np.random.Generator,
    n_threads: int | None,
    progress: Progress,
    only: bool = False,
) -> Recommendation:
    """Return the answer of `choose_k` for documents that came through a door; the arguments are those it has.

    `only`: topics, or subtopics, are looked for alone where `granularity` asks for them. They are the same.
    """
    if granularity not in (None, *GRANULARITIES):
        raise InputError(
            "is not known",
            argument="granularity",
            received=granularity,
            expected="'sections', 'topics' or 'subtopics', or leave it out",
        )
    n_documents = vectors.n_documents
    if n_documents < MIN_DOCUMENTS:
        raise InputError(
            f"{n_documents} document(s) are too few to choose a number of clusters",
            remedy=f"give at least {MIN_DOCUMENTS}, or the number",
        )
    limit = MAX_DOCUMENTS if max_documents is None else check_positive_int(max_documents, "max_documents")
    places = draw_rows(n_documents, max(MIN_DOCUMENTS, limit), rng)
    if places.size < n_documents:
        # rows that were smoothed with all documents are no sample of them
        vectors, smoothed = vectors.take(places), None
    rows, meaning = vectors.documents.unit, vectors.meaning
    if not np.count_nonzero(rows.data if sparse.issparse(rows) else rows):
        raise NothingUsable("there is no row with a non-zero value", remedy="there is nothing to cluster")
    requested = () if ks is None else tuple(check_ks(ks, n_documents))
    if smoothed is None:
        parameters = DocumentParameters(n_clusters=1, random_state=rng, n_threads=n_threads, progress=progress)
        smoothed = DocumentWork(vectors, parameters).smooth()
    # whether there is anything to find by the words, else whether there is by the meaning
    few = draw_rows(places.size, MAX_FOR_TOPICS, rng)
    structure = find_structure(rows[few], rng, n_threads=n_threads)
    if meaning is not None and not structure.is_there:
        structure = find_structure(meaning.rows[few], rng, n_threads=n_threads)
    wanted = granularity if only else None
    levels = find_both(rows, smoothed, rng, only=wanted, n_threads=n_threads, progress=progress)
    best = _best_levels(levels)
    if wanted == "topics" and "topics" in best:  # subtopics were looked at only as far as they decide which these are
        best.pop("subtopics", None)
        levels["subtopics"] = [], levels["subtopics"][1]
    broad = levels["topics"][0]
    topics_first = "sections" in best and come_first(broad, best["sections"], best["topics"])
    if not topics_first:
        best = _with_middle(best, broad)
    chosen, reason = _shown(granularity, subtopics_because, best, topics_first=topics_first)
    if chosen == next(iter(best), None) and granularity is None and best[chosen].agreement < WEAK:
        help_most = "an encoder (--encoder)" if meaning is None else "a number of your own (-k)"
        reason = f"few and broad, since the words hold little; {help_most} would help most"
    level = best.get(chosen) if structure.is_there else None
    k = unlimited = None if level is None else level.n_clusters
    # of the numbers that were asked for the nearest by ratio: 20 is as far from 10 as 5
    if requested and unlimited is not None:
        k = min(requested, key=lambda number: (abs(math.log(number / unlimited)), number))
    numbers: Any = {name: best[name].n_clusters if name in best else None for name in GRANULARITIES}
    return Recommendation(
        k=k,
        **numbers,
        granularity=chosen,
        reason=reason,
        has_structure=level is not None,
        p_value=structure.p_value,
        columns=_columns(levels, best),
        n_documents=n_documents,
        n_looked_at=int(places.size),
        asked=requested,
        unlimited=unlimited if requested else None,
        levels={} if level is None else _labels_of(best, levels, places, n_documents),
    )


def _best_levels(levels: Mapping[str, tuple[list[Level], Labels]]) -> dict[Granularity, Level]:
    """Return the best level of each granularity that there is, the broadest first."""
    (broad, _), (narrow, _) = levels["topics"], levels["subtopics"]
    coarse = few_among(broad, topics_among(broad))
    subtopics = subtopics_among(narrow, coarse)
    return _named(coarse, between(broad, coarse, subtopics), subtopics)


def _named(coarse: Level | None, middle: Level | None, subtopics: Level | None) -> dict[Granularity, Level]:
    """Return levels by their names; a coarse one is one of sections where there is one between it and subtopics."""
    by_name = zip(GRANULARITIES, (middle and coarse, middle or coarse, subtopics), strict=True)
    return {name: level for name, level in by_name if level is not None}


def _with_middle(best: Mapping[Granularity, Level], levels: Sequence[Level]) -> dict[Granularity, Level]:
    """Return the levels with topics of a number between, where there are such and none of these are."""
    coarse = best.get("sections", best.get("topics"))
    middle = middle_among(levels, coarse, best["topics"] if "sections" in best else None)
    return dict(best) if middle is None else _named(coarse, middle, best.get("subtopics"))


def _labels_of(
    best: Mapping[Granularity, Level],
    levels: Mapping[str, tuple[list[Level], Labels]],
    places: Labels,
    n_documents: int,
) -> dict[Granularity, Labels]:
    """Return the cluster of each document by each level; -1 for one in none, or not looked at: not at `places`."""
    labels_of: dict[Granularity, Labels] = {}
    for name, level in best.items():
        nodes = levels["subtopics" if name == "subtopics" else "topics"][1]
        labels_of[name] = np.full(n_documents, -1)
        labels_of[name][places] = spread(level, nodes, places.size)
    return labels_of


def default_ks(n_documents: int) -> list[int]:
    """Return about 25 numbers of clusters between 2 and three times the square root of n, spread geometrically.

    >>> default_ks(49)
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21]
    """
    largest = min(n_documents - 1, max(10, 3 * math.isqrt(n_documents)))
    return sorted({round(k) for k in np.geomspace(2, largest, 25)} | set(range(2, min(largest, 10) + 1)))


def checked_criteria(criteria: Iterable[str] | str, penalty: float | None) -> list[str]:
    """Return the names of criteria, or raise InputError if one is not known, or the penalty is missing or below 0."""
    if penalty is not None and not penalty >= 0:
        raise InputError(argument="penalty", received=penalty, expected="a number >= 0")
    if criteria == "all":
        return [name for name in CRITERIA if name != "penalised-rss" or penalty is not None]
    names = [criteria] if isinstance(criteria, str) else list(dict.fromkeys(criteria))
    for name in names:
        check_choice(name, CRITERIA, "criterion")
    if "penalised-rss" in names and penalty is None:
        raise InputError("'penalised-rss' has no penalty", remedy=("give ", Argument("penalty", 1.0)))
    return names


def check_ks(ks: Iterable[int], n_documents: int) -> list[int]:
    """Return the numbers of clusters sorted and without repetition, or raise InputError if one is out of range."""
    if not isinstance(ks, Iterable) or isinstance(ks, str):
        raise InputError(
            "is not a list of numbers", argument="ks", received=ks, expected="several, such as range(2, 21)"
        )
    sizes = sorted({int(k) for k in ks})
    if not sizes:
        raise InputError("no number of clusters was given", remedy=("give for instance ", Argument("ks", range(2, 21))))
    if sizes[0] < 1 or sizes[-1] > n_documents:
        raise InputError(
            f"has numbers from {sizes[0]} to {sizes[-1]}",
            argument="ks",
            expected=f"numbers from 1 to {n_documents}, the number of documents",
        )
    return sizes


def _shown(
    wanted_level: Granularity | None,
    subtopics_because: str | None,
    best: Mapping[Granularity, Level],
    *,
    topics_first: bool,
) -> tuple[Granularity, str]:
    """Return which of the levels is shown, and why; `topics_first` where topics are far more stable."""
    broadest: Granularity = next(iter(best), "topics")
    if wanted_level is not None and wanted_level in best:
        return wanted_level, "as you asked"
    if wanted_level is not None:
        return broadest, f"because no {wanted_level} are stable"
    if subtopics_because is not None and "subtopics" in best:
        return "subtopics", subtopics_because
    if "subtopics" in best and best["subtopics"].agreement >= SURE_SUBTOPICS:
        return "subtopics", "because random parts of the documents have nearly the same ones"
    if topics_first:
        return "topics", "which random parts of the documents have too, more than the sections"
    return broadest, "the broadest ones" if len(best) > 2 else "the broader ones"


def _columns(levels: Mapping[str, tuple[list[Level], Labels]], best: Mapping[Granularity, Level]) -> dict[str, Array]:
    """Return the evidence, coarse levels first."""
    rows = [(name, level) for name, (levels_of_kind, _) in levels.items() for level in levels_of_kind]
    return {
        "as": np.array([name for name, _ in rows]),
        "k": np.array([level.n_clusters for _, level in rows]),
        "resolution": np.array([level.resolution for _, level in rows]),
        "largest": np.array([level.largest for _, level in rows]),
        "agreement": np.array([level.agreement for _, level in rows]),
        "chosen": np.array([next((name for name, taken in best.items() if taken is level), "") for _, level in rows]),
    }
