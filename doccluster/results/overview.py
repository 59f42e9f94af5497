"""What a person sees of each cluster first: its headline, size, dates, outlets and tightness.

The terminal, `clusters.csv` and the report all take it from here, so that they say the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

import numpy as np

from doccluster.base.arrays import Integers, Labels
from doccluster.base.packed_strings import CodedColumn
from doccluster.corpus.dates import disbelief
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import ClusterDescription
from doccluster.results.document_table import DocumentTable
from doccluster.results.headlines import choose_headline, plain_title, title_endings
from doccluster.results.record import Run
from doccluster.results.tree import TreeLevel

OTHER = "Other"
N_WORDS = 3  # of the line below the name an editor gave

# suffixes of files that are read, without those that are domains too (.md, .zip)
_FILE = re.compile(
    r"\.(txt|text|csv|tsv|json|jsonl|ndjson|parquet|xml|rss|atom|opml|html?|eml|mbox|sgml?|tar|t?gz|bz2|xz)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Overview:
    """One cluster at a glance; the number of Other is the one after the last cluster.

    The headline is what an editor called it; else the title of its most central document that no other cluster shares;
    without titles, how that document begins, but for what many begin with; for a ready matrix, the label.
    """

    cluster: int
    size: int
    headline: str
    label: str  # a few of its words, also where an editor gave it a name
    first: date | None  # of its documents that have a date
    last: date | None
    outlets: tuple[tuple[str, int], ...]  # and how many documents each has, the commonest first
    n_copies: int  # documents that are near-copies of an earlier one in it
    similarity: float  # the mean cosine of its documents to its centroid; nan for Other, which has none
    is_beginning: bool = False  # whether the headline is how a document begins, which says less than the label

    @property
    def short_name(self) -> str:
        """What the cluster is called where there is room for a few words: the headline, but no beginning of a text."""
        return self.label if self.is_beginning else self.headline


def overview(run: Run, level: TreeLevel | None = None) -> tuple[Overview, ...]:
    """Return the first facts to see of each cluster of a run, and last of Other, where documents fit no cluster.

    With a level, those of its clusters. Similarity is always to the centroids of the clusters of the run.
    """
    level = run.levels[len(run.around.coarser)] if level is None else level
    partition = run.partition if level.clusters is run.clusters else Partition(level.labels, level.clusters)
    days = days_of(run.documents.dates)
    outlets = outlets_of(run.documents)
    endings = title_endings(_distinct(run.documents.titles), _distinct(outlets))
    shared = _titles_of_several_clusters(run.documents.titles, level.labels, endings)
    overviews = []
    number = level.n_clusters
    other_clusters = () if run.n_other == 0 else (ClusterDescription(number, run.n_other, OTHER, name=OTHER),)
    for cluster in (*level.clusters, *other_clusters):
        members = run.members(run.n_clusters) if cluster in other_clusters else partition.members(cluster.cluster)
        if run.is_other is not None and cluster not in other_clusters:
            members = members[~run.is_other[members]]
        cluster_days = days[members]
        cluster_days = cluster_days[cluster_days > 0]  # 0 stands for no date
        counts = _counts(outlets, members)
        headline, is_beginning = (cluster.name, False) if cluster.name else _headline(run, cluster, shared, endings)
        overviews.append(
            Overview(
                cluster=cluster.cluster,
                size=cluster.size,
                headline=headline,
                label=cluster.label
                if not cluster.name
                else ", ".join(term.term for term in cluster.descriptive[:N_WORDS]),
                first=date.fromordinal(int(cluster_days.min())) if cluster_days.size else None,
                last=date.fromordinal(int(cluster_days.max())) if cluster_days.size else None,
                outlets=tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
                n_copies=0 if run.copy_of is None else members.size - np.unique(run.copy_of[members]).size,
                similarity=math.nan if cluster in other_clusters else float(run.similarity[members].mean()),
                is_beginning=is_beginning,
            )
        )
    return tuple(overviews)


def _counts(outlets: Sequence[str], members: Integers) -> Counter[str]:
    """Return how many of some documents each outlet has."""
    if not isinstance(outlets, CodedColumn):
        return Counter(filter(None, (outlets[row] for row in members.tolist())))
    counts: Counter[str] = Counter()
    for code, count in zip(*np.unique(outlets.codes[members], return_counts=True), strict=True):
        if outlets.values[int(code)]:
            counts[outlets.values[int(code)]] += int(count)
    return counts


def days_of(dates: Sequence[str]) -> Integers:
    """Return the ordinal of the day of each date, 0 where there is none or it cannot be right.

    >>> days_of(["2026-03-03", "soon"]).tolist() == [date(2026, 3, 3).toordinal(), 0]
    True
    """
    distinct = _distinct(dates)
    numbers = [0 if (day := as_date(text)) is None or doubt(text) else day.toordinal() for text in distinct]
    days = np.array(numbers, np.int64)
    return days[dates.codes] if isinstance(dates, CodedColumn) else days


def outlets_of(documents: DocumentTable) -> Sequence[str]:
    """Return who published each document; empty where the source is only the file that it was read from."""
    sources = documents.sources
    if isinstance(sources, CodedColumn) and not any(text and _FILE.search(text) is None for text in sources.values):
        return CodedColumn(("",), np.zeros(len(sources), np.int8))
    return tuple(
        "" if _is_file(source, name) else source for source, name in zip(documents.sources, documents.ids, strict=True)
    )


def _is_file(source: str, document_id: str) -> bool:
    # documents that have no name of their own are called after their file: "articles.txt:12", "folder/articles.txt"
    place = document_id.rpartition(":")[0] or document_id
    same = f"/{place}".endswith(f"/{source}") or f"/{source}".endswith(f"/{place}")
    return same or document_id == source or _FILE.search(source) is not None


def doubt(text: str) -> str:
    """Return why the date of a document cannot be right; nothing where it can, or where there is no date."""
    day = as_date(text)
    return "" if day is None else disbelief(day, date.today())


@lru_cache(maxsize=65536)
def as_date(text: str) -> date | None:
    """Return the day of an ISO 8601 date or time, None if it is none.

    >>> as_date("2026-03-03T06:40:00+00:00"), as_date("2026-03"), as_date("soon")
    (datetime.date(2026, 3, 3), datetime.date(2026, 3, 1), None)
    """
    for candidate in (text, text[:10], f"{text[:7]}-01", f"{text[:4]}-01-01"):
        try:
            return datetime.fromisoformat(candidate).date()
        except ValueError:
            continue
    return None


def _headline(
    run: Run, described: ClusterDescription, shared: frozenset[str], endings: frozenset[str]
) -> tuple[str, bool]:
    """Return the headline of a cluster, and whether it is only how a document begins."""
    documents = run.documents
    rows = [document.row for document in described.representatives]
    titles = [plain_title(documents.titles[row], endings) for row in rows]
    begins = () if any(titles) else [documents.excerpts[row] for row in rows]
    chosen = choose_headline(titles, begins, shared)
    return chosen or described.label, bool(chosen) and not any(titles)


def _titles_of_several_clusters(titles: Sequence[str], labels: Labels, endings: frozenset[str]) -> frozenset[str]:
    """Return the titles (case ignored) of documents in several clusters: "News in brief" names none of them."""
    distinct = _distinct(titles)
    numbers = np.fromiter((hash(title.strip().casefold()) for title in distinct), np.int64, len(distinct))
    if isinstance(titles, CodedColumn):
        numbers = numbers[titles.codes]
    order = np.lexsort((labels, numbers))
    is_next = (np.diff(numbers[order]) == 0) & (np.diff(labels[order]) != 0)  # the same title, the next cluster
    return frozenset(plain_title(titles[row], endings).casefold() for row in order[1:][is_next].tolist())


def _distinct(values: Sequence[str]) -> Sequence[str]:
    """Return the values of a column, each once where the column keeps them so."""
    return values.values if isinstance(values, CodedColumn) else values
