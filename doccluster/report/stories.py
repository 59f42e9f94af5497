"""The story list as plain data: what an editor reads of each cluster, bounded so that a large run is a small page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from doccluster.labeling.description import ClusterDescription, Representative, Term
from doccluster.record import Run
from doccluster.report.wording import as_date, date_words, one_line, safe_link, span_words

MAX_STORIES = 500
MAX_LISTED = 4000  # documents listed in the whole page
MAX_BORDERLINE = 8
MAX_TERMS = 8
N_REPRESENTATIVES = 3
N_BINS = 28  # of a sparkline


@dataclass(frozen=True)
class DocumentLine:
    """One document as a line of a table; `link` is None unless it leads to a web page."""

    id: str
    name: str
    date: str
    date_iso: str
    source: str
    link: str | None
    excerpt: str
    similarity: float
    margin: float
    runner_up: int
    n_copies: int = 0


@dataclass(frozen=True)
class TermBar:
    """One term: its share of the cluster's cohesion, and the length of its bar (the longest of the cluster is 1)."""

    term: str
    share: float
    length: float
    support: int


@dataclass(frozen=True)
class Story:
    """One cluster, as its card shows it; dates are None and empty where no document has one."""

    number: int
    label: str
    size: int
    share: float
    relative_size: float
    terms: tuple[TermBar, ...]
    discriminating: tuple[str, ...]
    representatives: tuple[DocumentLine, ...]
    borderline: tuple[DocumentLine, ...]
    documents: tuple[DocumentLine, ...]
    sources: tuple[tuple[str, int], ...]
    first: date | None
    last: date | None
    span: str
    bins: tuple[int, ...]
    coherence: float
    density: float
    silhouette: float
    similarity: float

    @property
    def n_copies(self) -> int:
        """The near-copies that the representatives stand for."""
        return sum(line.n_copies for line in self.representatives)

    @property
    def n_hidden(self) -> int:
        """How many of its documents are not listed."""
        return self.size - len(self.documents)


def stories_of(run: Run) -> tuple[Story, ...]:
    """Return the clusters of a run as stories, the `MAX_STORIES` first (largest) of them."""
    dates = tuple(_parse(text) for text in run.documents.dates)
    known = [day for day in dates if day is not None]
    period = (min(known), max(known)) if known else None
    shown = run.clusters[:MAX_STORIES]
    most = listed_per_cluster([cluster.size for cluster in shown], MAX_LISTED)
    values = {name: cluster_values(run, name) for name in ("coherence", "density", "silhouette")}
    largest = max((cluster.size for cluster in run.clusters), default=1)
    return tuple(_story(run, cluster, dates, period, most, values, largest) for cluster in shown)


def cluster_values(run: Run, name: str) -> npt.NDArray[np.float64]:
    """Return what a measure says of each cluster, float64 array of shape (k,); nan where it says nothing."""
    for score in run.evaluation.scores:
        if score.name == name and score.per_cluster is not None and len(score.per_cluster) == run.n_clusters:
            return np.asarray(score.per_cluster, dtype=np.float64)
    return np.full(run.n_clusters, np.nan)


def story_name(number: int, label: str) -> str:
    """Return what to call a cluster: its label, else its number."""
    return one_line(label, 120) or f"Cluster {number}"


def listed_per_cluster(sizes: Iterable[int], most: int) -> int:
    """Return how many documents each cluster may list so that together they list at most `most` (at least 3 each).

    >>> listed_per_cluster([10, 10, 10], 100), listed_per_cluster([1000, 5, 5], 100)
    (10, 90)
    """
    ordered = sorted(sizes)
    left = most
    for place, size in enumerate(ordered):
        fair = left // (len(ordered) - place)
        if size > fair:
            return max(3, fair)
        left -= size
    return max(3, ordered[-1] if ordered else 0)


def _story(
    run: Run,
    cluster: ClusterDescription,
    dates: Sequence[date | None],
    period: tuple[date, date] | None,
    most: int,
    values: dict[str, npt.NDArray[np.float64]],
    largest: int,
) -> Story:
    members = run.partition.members(cluster.cluster)
    own_dates = [day for day in (dates[row] for row in members) if day is not None]
    # the most typical first; ties in the order of reading
    typical = members[np.argsort(-run.similarity[members], kind="stable")][:most]
    first, last = (min(own_dates), max(own_dates)) if own_dates else (None, None)
    return Story(
        number=cluster.cluster,
        label=story_name(cluster.cluster, cluster.label),
        size=cluster.size,
        share=cluster.size / run.n_documents,
        relative_size=cluster.size / largest,
        terms=_bars(cluster.descriptive[:MAX_TERMS]),
        discriminating=tuple(one_line(term.term, 60) for term in cluster.discriminating[:MAX_TERMS]),
        representatives=tuple(_representative(run, one) for one in cluster.representatives[:N_REPRESENTATIVES]),
        borderline=tuple(document_line(run, one.row) for one in cluster.borderline[:MAX_BORDERLINE]),
        documents=tuple(document_line(run, row) for row in typical.tolist()),
        sources=_sources(run, members),
        first=first,
        last=last,
        span=span_words(first, last) if first is not None and last is not None else "",
        bins=_bins(own_dates, period),
        similarity=float(run.similarity[members].mean()),
        **{name: float(per_cluster[cluster.cluster]) for name, per_cluster in values.items()},
    )


def document_line(run: Run, row: int, *, n_copies: int = 0) -> DocumentLine:
    """Return one document of a run as it is shown; its name is its title, else how it begins, else its id."""
    documents = run.documents
    title = one_line(documents.titles[row])
    excerpt = one_line(documents.excerpts[row], 180)
    day = _parse(documents.dates[row])
    return DocumentLine(
        id=one_line(documents.ids[row]),
        name=title or one_line(excerpt, 90) or one_line(documents.ids[row]) or f"document {row}",
        date=date_words(day) if day else "",
        date_iso=day.isoformat() if day else "",
        source=one_line(documents.sources[row], 60),
        link=safe_link(documents.links[row]),
        excerpt=excerpt if title else "",
        similarity=float(run.similarity[row]),
        margin=float(run.margin[row]),
        runner_up=int(run.runner_up[row]),
        n_copies=n_copies,
    )


def _representative(run: Run, one: Representative) -> DocumentLine:
    return document_line(run, one.row, n_copies=one.n_copies)


def _bars(terms: Sequence[Term]) -> tuple[TermBar, ...]:
    longest = max((term.share for term in terms), default=0.0)
    return tuple(
        TermBar(one_line(term.term, 60), term.share, term.share / longest if longest > 0 else 0.0, term.support)
        for term in terms
    )


def _sources(run: Run, members: npt.NDArray[np.int64]) -> tuple[tuple[str, int], ...]:
    """Return the commonest sources of a cluster with their counts, at most four; ties by name."""
    counts: dict[str, int] = {}
    for row in members.tolist():
        name = run.documents.sources[row]
        if name:
            counts[name] = counts.get(name, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple((one_line(name, 60), count) for name, count in ordered[:4])


def _bins(days: Sequence[date], period: tuple[date, date] | None) -> tuple[int, ...]:
    """Return how many documents fall in each part of the period of the whole run, so that cards can be compared."""
    if not days or period is None or period[0] == period[1]:
        return ()
    length = (period[1] - period[0]).days + 1
    n_bins = min(N_BINS, length)
    places = [(day - period[0]).days * n_bins // length for day in days]
    return tuple(np.bincount(places, minlength=n_bins).tolist())


@lru_cache(maxsize=65536)
def _parse(text: str) -> date | None:
    return as_date(text)
