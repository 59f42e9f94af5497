"""What a person sees of each cluster first: its headline, size, dates, outlets and tightness.

The terminal, `clusters.csv` and the report all take it from here, so that they say the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

import numpy as np

from doccluster.base.arrays import Integers, Labels
from doccluster.base.packed_strings import CodedColumn
from doccluster.corpus.dates import PERIODS, disbelief, period_of
from doccluster.corpus.markup import holds_tags, strip_markup
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import ClusterDescription
from doccluster.results.document_table import DocumentTable
from doccluster.results.record import Run
from doccluster.results.tree import TreeLevel
from doccluster.text.tokens import sentences

OTHER = "Other"
N_WORDS = 3  # of the line below the name an editor gave
HEADLINE_LENGTH = 110
MIN_SENTENCE_LETTERS = 20  # characters; a shorter one says too little
MIN_TITLES = 3  # with an ending that is the name of an outlet
MAX_ENDING_WORDS = 5  # words
MIN_WORDS = 4

# suffixes of files that are read, without those that are domains too (.md, .zip)
_FILE = re.compile(
    r"\.(txt|text|csv|tsv|json|jsonl|ndjson|parquet|xml|rss|atom|opml|html?|eml|mbox|sgml?|tar|t?gz|bz2|xz)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDING = re.compile(r"\s+(?:[|»–—-]|::)\s+([^|»–—]+)$")
_KICKER = re.compile(
    r"^(?:(?:re|fwd?|aw|wg)(?:\[\d+\])?:\s*)+"
    r"|^(?:updated?(?: \d+)?|breaking(?: news)?|exclusive|watch(?: live)?|live|video|photos?|pictures)"
    r"\s*(?::|\s[–—|-]\s|-(?=[A-Z]))\s*",
    re.IGNORECASE,
)
_VIEW = re.compile(
    r"^(?:opinions?|editorial|column|commentary|analysis|letters?|op-ed|viewpoint)\s*[:|/–—-]", re.IGNORECASE
)
_QUOTATION = re.compile(r"""^(?:"[^"]+"|“[^“”]+”|‘[^‘’]+’|'[^']+')[.!?]?$""")


@dataclass(frozen=True)
class Overview:
    """One cluster at a glance; the number of Other is the one after the last cluster.

    A story is called by its headline, any other cluster by its words, each unless it was given a name. The headline is
    the title of its most central document that no other cluster shares; without titles, how that document begins, but
    for what many begin with; for a ready matrix, the label.
    """

    cluster: int
    size: int
    name: str
    headline: str
    label: str  # a few of its words
    first: date | None  # of its documents that have a date
    last: date | None
    outlets: tuple[tuple[str, int], ...]  # and how many documents each has, the commonest first
    n_copies: int  # documents that are near-copies of an earlier one in it
    similarity: float  # the mean cosine of its documents to its centroid; nan for Other, which has none
    beneath: str = ""  # what a line has below the name: of a story its words, of others the headline as an example
    period: str = "day"  # what the dates of the run name: a "year", a "month" or a "day"
    n_documents: int | None = None  # that its parts are of, of a run in parts
    mostly_of: str = ""  # the document that nearly all of its words are of

    @property
    def remark(self) -> str:
        """Which document nearly all of its words are of, in words; empty where they are of several."""
        return f"nearly all of {self.mostly_of}" if self.mostly_of else ""

    def iso(self, day: date | None) -> str | None:
        """Return the first or the last date as ISO 8601 text, as precise as the dates of the run are."""
        return None if day is None else day.isoformat()[: PERIODS[self.period]]


def overview(run: Run, level: TreeLevel | None = None) -> tuple[Overview, ...]:
    """Return the first facts to see of each cluster of a run, and last of Other, where documents fit no cluster.

    With a level, those of its clusters. Similarity is always to the centroids of the clusters of the run.
    """
    level = run.levels[len(run.around.coarser)] if level is None else level
    partition = run.partition if level.clusters is run.clusters else Partition(level.labels, level.clusters)
    days, period = days_of(run.documents.dates), period_of(run.documents.dates)
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
        # a column with codes is one without any outlet
        named = () if isinstance(outlets, CodedColumn) else (outlets[row] for row in members.tolist())
        counts = Counter(filter(None, named))
        n_documents, of_one = None, None
        if run.parts is not None and level.name == run.around.shown:
            n_documents, of_one = run.parts.documents_in(cluster.cluster)
        headline, is_beginning = _headline(run, cluster, shared, endings)
        words = cluster.label if not cluster.name else ", ".join(cluster.terms[:N_WORDS])
        no_words = words in ("", f"cluster {cluster.cluster}")
        is_headline = no_words or (run.shows_stories and level.clusters is run.clusters and not is_beginning)
        name, other_line = (headline, "" if no_words else words) if is_headline else (words, headline)
        name = cluster.name or name
        overviews.append(
            Overview(
                cluster=cluster.cluster,
                size=cluster.size,
                name=name,
                headline=headline,
                label=words,
                beneath=other_line if other_line != name else "",
                first=date.fromordinal(int(cluster_days.min())) if cluster_days.size else None,
                last=date.fromordinal(int(cluster_days.max())) if cluster_days.size else None,
                outlets=tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
                n_copies=0 if run.copy_of is None else members.size - np.unique(run.copy_of[members]).size,
                similarity=math.nan if cluster in other_clusters else float(run.similarity[members].mean()),
                period=period,
                n_documents=n_documents,
                mostly_of="" if of_one is None or run.parts is None else run.parts.ids[of_one],
            )
        )
    return tuple(overviews)


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
    """Return who published each document; empty where the source is only the file that it was read from.

    Where that is so of all, it is a column with codes.
    """
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
    # a title is of a document, which its parts share
    titles = [plain_title(documents.titles[row], endings) for row in rows if run.parts is None]
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


def plain_title(title: str, endings: Collection[str] = ()) -> str:
    """Return a title without markup, without "UPDATED:" and the like, and without the name of its outlet at the end.

    >>> plain_title("Example <b>Atom</b>"), plain_title("History of the <blink> tag")
    ('Example Atom', 'History of the <blink> tag')
    >>> plain_title("UPDATED: Ferry runs aground - Yahoo News", {"yahoo news"})
    'Ferry runs aground'
    """
    plain = (strip_markup(title) if holds_tags(title) else title).strip()
    ending = _ENDING.search(plain)
    if ending is not None and ending[1].strip().casefold() in endings:
        plain = plain[: ending.start()].rstrip()
    return _KICKER.sub("", plain) or plain


def title_endings(titles: Iterable[str], outlets: Iterable[str] = ()) -> frozenset[str]:
    """Return in small letters what ends titles after a dash or bar and is the name of an outlet.

    That is the name of one of `outlets`, or what ends three different titles.

    >>> titles = ["Rain - Yahoo News", "Rye up - Yahoo News", "A cup - Yahoo News", "Fog - Courier", "Hot - cold"]
    >>> sorted(title_endings(titles, ["Courier"]))
    ['courier', 'yahoo news']
    """
    names = {name.casefold() for name in outlets if name}
    heads: defaultdict[str, set[int]] = defaultdict(set)
    for title in titles:
        match = _ENDING.search(title)
        if match is not None and len(match[1].split()) <= MAX_ENDING_WORDS:
            heads[match[1].strip().casefold()].add(hash(title[: match.start()].casefold()))
    return frozenset(name for name, title_heads in heads.items() if len(title_heads) >= MIN_TITLES or name in names)


def is_plain(title: str) -> bool:
    """Return whether a title says what happened: no opinion, no single quotation, four words or more.

    >>> titles = ["Ferry runs aground at dawn", "OPINION: Fix the ferry now", '"We are all quite fine"', "$$ in Bash"]
    >>> [is_plain(title) for title in titles]
    [True, False, False, False]
    """
    if _VIEW.match(title) or _QUOTATION.match(title):
        return False
    return not title.isascii() or len(_WORD.findall(title)) >= MIN_WORDS


def choose_headline(titles: Sequence[str], beginnings: Sequence[str], shared: Collection[str] = ()) -> str:
    """Return the first plain title that no other cluster shares, else the first title, else the plainest beginning."""
    unshared = [title for title in titles if title and title.casefold() not in shared]
    candidates = unshared or [title for title in titles if title]
    if candidates:
        return next(filter(is_plain, candidates), candidates[0])
    first = [first_sentence(begins) for begins in beginnings if begins]
    return next(filter(is_plain, first), first[0] if first else "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text if it is short enough for a headline, else the words that fit.

    >>> first_sentence("A ferry ran aground off the islands. All 40 people on board are safe.")
    'A ferry ran aground off the islands.'
    """
    first = ""
    for sentence in sentences(text):
        first = text[: text.index(sentence, len(first)) + len(sentence)]
        if len(first) >= MIN_SENTENCE_LETTERS:
            break
    if len(first) < len(text) and MIN_SENTENCE_LETTERS <= len(first) <= HEADLINE_LENGTH:
        return first
    if len(text) <= HEADLINE_LENGTH:
        return text
    cut = text[:HEADLINE_LENGTH]
    return f"{cut.rpartition(' ')[0] or cut} …"
