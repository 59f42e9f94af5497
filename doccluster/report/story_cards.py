"""The story list as plain data: what an editor reads of each cluster, bounded so that a large run is a small page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import LOOPS
from doccluster.corpus.dates import PERIODS, period_of
from doccluster.labeling.placement import BORDERLINE_MARGIN
from doccluster.labeling.profiles import ClusterDescription, Representative
from doccluster.report.wording import counted, date_words, one_line, safe_link, span_words
from doccluster.results.overview import OTHER, Overview, as_date, days_of, first_sentence, outlets_of
from doccluster.results.record import Run

MAX_STORIES = 500
MAX_LISTED = 4000  # documents listed in the whole page
MAX_EXPLORED = 200_000  # documents whose terms and dates the page holds
MAX_BORDERLINE = 8
MAX_TERMS = 8
MAX_OUTLETS = 4
HEADLINE_LENGTH = 220
N_REPRESENTATIVES = 3
N_BINS = 28  # of a sparkline
MIN_LINES = 18  # of clusters on a first screen
MAX_UNFOLDED = 40  # clusters that are all lines of the list; of more only the largest of each section


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
class StoryCard:
    """One cluster, as its card shows it; dates are None and empty where no document has one.

    Other, whose documents fit no cluster, comes last: it has no words and no similarity.
    """

    number: int
    begins_at: int  # documents of the clusters before it: the page counts documents cluster by cluster
    headline: str
    label: str
    size: int
    terms: tuple[TermBar, ...]
    discriminating: tuple[str, ...]
    representatives: tuple[DocumentLine, ...]
    borderline: tuple[DocumentLine, ...]
    n_borderline: int
    documents: tuple[DocumentLine, ...]
    outlets: tuple[tuple[str, int], ...]
    n_outlets: int
    n_copies: int
    first: date | None
    last: date | None
    span: str
    bins: tuple[int, ...]
    similarity: float
    is_other: bool = False
    named_by: str = ""  # the model that chose the headline
    period: str = "day"  # what the dates of the run name
    origin: str = ""  # from how many documents its parts are, of a run in parts

    @property
    def lead(self) -> DocumentLine | None:
        """The document whose name the card shows above; None where it shows none (an editor's name, words)."""
        shown = (self.headline, self.label)
        return next((line for line in self.representatives if line.name in shown), None)

    @property
    def n_hidden(self) -> int:
        """How many of its documents are not listed."""
        return self.size - len(self.documents)


def stories_of(run: Run, overviews: Sequence[Overview]) -> tuple[StoryCard, ...]:
    """Return the clusters of a run as stories, the `MAX_STORIES` first (largest) of them, and Other last."""
    days = days_of(run.documents.dates)
    dated = days[days > 0]
    period = (int(dated.min()), int(dated.max())) if dated.size else None
    numbers = [*range(min(run.n_clusters, MAX_STORIES)), *range(run.n_clusters, run.shown_sizes.size)]
    lines = Lines(run, outlets_of(run.documents), _listed(run))
    begins = np.concatenate([[0], np.cumsum(explored_sizes(run))]).tolist()
    return tuple(_story(lines, overviews[number], days, period, begins[number]) for number in LOOPS.over(numbers))


@dataclass(frozen=True)
class StorySection:
    """The cards of one part of the list: of a section (or topic), or all where there are none, without a label."""

    number: int
    label: str
    size: int
    n_clusters: int  # with those that have no card
    leading: tuple[StoryCard, ...]  # the first
    further: tuple[StoryCard, ...] = ()  # those that are folded


def sections_of(run: Run, stories: Sequence[StoryCard]) -> tuple[StorySection, ...]:
    """Return the cards by the coarsest level of a run; where there are many, the smaller ones of each are folded."""
    if not run.around.coarser:
        return (StorySection(0, "", run.n_documents, run.n_clusters, tuple(stories)),)
    top, shown = run.levels[0], run.levels[len(run.around.coarser)]
    parents = shown.parents_on(top)
    n_leading = max(1, -(-MIN_LINES // top.n_clusters)) if run.n_clusters > MAX_UNFOLDED else run.n_clusters
    sections = []
    for whole in top.clusters:
        cards = [story for story in stories if not story.is_other and parents[story.number] == whole.cluster]
        n_clusters = int(np.count_nonzero(parents == whole.cluster))
        first = len(cards) if len(cards) <= n_leading + 1 else n_leading
        label = one_line(whole.name or whole.label, 120)
        further = tuple(cards[first:])
        sections.append(StorySection(whole.cluster, label, whole.size, n_clusters, tuple(cards[:first]), further))
    other = tuple(story for story in stories if story.is_other)
    return (*sections, StorySection(top.n_clusters, "", run.n_other, 0, other)) if other else tuple(sections)


def explored_sizes(run: Run) -> npt.NDArray[np.int64]:
    """Return how many documents of each cluster and of Other the page explores, the most typical ones: all, unless
    there are very many, but always those that it lists."""
    sizes = run.shown_sizes
    if run.n_documents <= MAX_EXPLORED:
        return sizes
    return np.minimum(sizes, np.maximum(sizes * MAX_EXPLORED // run.n_documents, _listed(run)))


def listed_sizes(run: Run) -> npt.NDArray[np.int64]:
    """Return how many documents of each cluster and of Other the page lists, the most typical ones."""
    listed = np.minimum(run.shown_sizes, _listed(run))
    listed[MAX_STORIES : run.n_clusters] = 0
    return listed


def _listed(run: Run) -> int:
    return listed_per_cluster([cluster.size for cluster in run.clusters[:MAX_STORIES]], MAX_LISTED)


@dataclass(frozen=True, eq=False)
class Lines:
    """The documents of a run as lines: with their outlets, at most `max_listed` of each cluster."""

    run: Run
    outlets: Sequence[str]
    max_listed: int

    def of(self, row: int, *, n_copies: int = 0) -> DocumentLine:
        """Return one document as it is shown; its name is its title, else how it begins, else its id."""
        run, documents = self.run, self.run.documents
        title, begins = documents.titles[row].strip(), first_sentence(documents.excerpts[row])
        # a text may begin with its own title
        remainder = documents.excerpts[row].removeprefix(" ".join(title.split()) or begins).lstrip()
        day, period = as_date(documents.dates[row]), period_of([documents.dates[row]])
        return DocumentLine(
            id=one_line(documents.ids[row]),
            name=one_line(title or begins, HEADLINE_LENGTH) or one_line(documents.ids[row]) or f"document {row}",
            date=date_words(day, period) if day else "",
            date_iso=day.isoformat()[: PERIODS[period]] if day else "",
            source=one_line(self.outlets[row], 60),
            link=safe_link(documents.links[row]),
            excerpt=one_line(remainder, 180) if title or not begins.endswith("…") else "",
            similarity=float(run.similarity[row]),
            margin=float(run.margin[row]),
            runner_up=int(run.runner_up[row]),
            n_copies=n_copies,
        )


def listed_per_cluster(sizes: Iterable[int], max_lines: int) -> int:
    """Return how many documents each cluster may list so that together they list at most `max_lines` (at least 3 each).

    >>> listed_per_cluster([10, 10, 10], 100), listed_per_cluster([1000, 5, 5], 100)
    (10, 90)
    """
    ordered = sorted(sizes)
    n_free = max_lines
    for place, size in enumerate(ordered):
        fair = n_free // (len(ordered) - place)
        if size > fair:
            return max(3, fair)
        n_free -= size
    return max(3, ordered[-1] if ordered else 0)


def _story(
    lines: Lines,
    facts: Overview,
    days: npt.NDArray[np.int64],
    period: tuple[int, int] | None,
    begins_at: int,
) -> StoryCard:
    run = lines.run
    is_other = facts.cluster == run.n_clusters
    cluster = ClusterDescription(facts.cluster, facts.size, OTHER) if is_other else run.clusters[facts.cluster]
    members = run.members(facts.cluster)
    # the most typical first; ties in the order of reading
    typical = members[np.argsort(-run.similarity[members], kind="stable")][: lines.max_listed]
    longest = max((term.share for term in cluster.descriptive), default=0.0) or 1.0
    bars = tuple(
        TermBar(one_line(term.term, 60), term.share, term.share / longest, term.support)
        for term in cluster.descriptive[:MAX_TERMS]
    )
    shown, apart = {bar.term for bar in bars}, [one_line(term.term, 60) for term in cluster.discriminating]
    headline = one_line(facts.name, HEADLINE_LENGTH) or f"Cluster {facts.cluster}"
    return StoryCard(
        number=cluster.cluster,
        begins_at=begins_at,
        headline=headline,
        label=one_line(facts.beneath, HEADLINE_LENGTH),
        size=cluster.size,
        terms=bars,
        discriminating=tuple(name for name in apart if name not in shown)[:MAX_TERMS],
        representatives=tuple(
            _representative(lines, document, members) for document in cluster.representatives[:N_REPRESENTATIVES]
        ),
        borderline=tuple(lines.of(document.row) for document in cluster.borderline[:MAX_BORDERLINE]),
        n_borderline=0 if is_other else int(np.count_nonzero(run.margin[members] < BORDERLINE_MARGIN)),
        documents=tuple(lines.of(row) for row in typical.tolist()),
        outlets=tuple((one_line(name, 60), count) for name, count in facts.outlets[:MAX_OUTLETS]),
        n_outlets=len(facts.outlets),
        n_copies=facts.n_copies,
        first=facts.first,
        last=facts.last,
        span=span_words(facts.first, facts.last, facts.period)
        if facts.first is not None and facts.last is not None
        else "",
        bins=_bins(days[members], period),
        similarity=facts.similarity,
        is_other=is_other,
        period=facts.period,
        named_by=one_line(cluster.named_by, 60),
        origin=one_line(_origin(facts), 120),
    )


def _origin(facts: Overview) -> str:
    """Return in words from how many documents the parts of a cluster are."""
    if facts.n_documents is None:
        return ""
    return f"from {counted(facts.n_documents, 'document')}{f', {facts.remark}' if facts.remark else ''}"


def _representative(lines: Lines, representative: Representative, members: npt.NDArray[np.int64]) -> DocumentLine:
    copy_of, n_copies = lines.run.copy_of, representative.n_copies
    if copy_of is not None:
        n_copies = int(np.count_nonzero(copy_of[members] == copy_of[representative.row])) - 1
    return lines.of(representative.row, n_copies=n_copies)


def _bins(days: npt.NDArray[np.int64], period: tuple[int, int] | None) -> tuple[int, ...]:
    """Return how many documents fall in each part of the period of the whole run, so that cards can be compared."""
    dated = days[days > 0]
    if not dated.size or period is None or period[0] == period[1]:
        return ()
    length = period[1] - period[0] + 1
    n_bins = min(N_BINS, length)
    return tuple(np.bincount((dated - period[0]) * n_bins // length, minlength=n_bins).tolist())
