"""What happened to clusters: two stores, two moments of one, or two runs, matched by the documents they share.

The kinds of change follow MONIC (Spiliopoulou, Ntoutsi, Theodoridis & Schult 2006, doi:10.1145/1150402.1150491): a
cluster survives in the one that holds enough of it, is absorbed where several do so in one, is split where several
clusters hold enough parts of it or consist of it, and vanishes otherwise.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from doccluster.base.paths import usable_path
from doccluster.base.plain_values import cut
from doccluster.errors import InputError
from doccluster.results.record import Run
from doccluster.streams.store.access import reading
from doccluster.streams.store.tables import StoryNames, batch_at

SURVIVE, PART = 0.5, 0.25
AGREEMENT = ("adjusted_rand", "nmi", "homogeneity", "completeness", "variation_of_information")
KINDS = ("merged", "split", "appeared", "vanished", "grew", "shrank", "changed", "stayed")


@dataclass(frozen=True)
class Side:
    """One of the two partitions that are compared."""

    name: str
    cluster_of: Mapping[str, str]  # by document
    labels: Mapping[str, str]  # what each cluster is called
    # a hash of the text of each document; empty where it is not known
    text_of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What happened to some clusters; `n_shared` counts the documents in both the old and the new ones."""

    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    n_before: int
    n_after: int
    n_shared: int
    label_before: str
    label_after: str


@dataclass(frozen=True)
class MovedDocument:
    """A document that left its cluster for one that is no part or heir of it."""

    document: str
    before: str
    after: str


@dataclass(frozen=True, repr=False)
class Difference:
    """All changes, those of most documents first within each kind, and which documents moved and were edited.

    `agreement` has measures of the documents in both (`AGREEMENT`: those before count as classes, those after as
    clusters); it is empty where `compare_sides` made the difference.
    """

    before: str
    after: str
    changes: tuple[Change, ...]
    n_before: int
    n_after: int
    n_common: int
    edited: tuple[str, ...]
    moved: tuple[MovedDocument, ...] = ()
    agreement: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_same(self) -> bool:
        """Whether both sides hold the same documents in the same clusters, unedited."""
        return all(change.kind == "stayed" for change in self.changes) and not self.edited

    def __repr__(self) -> str:
        changes = ", ".join(f"{count:,} {kind}" for kind, count in self.counts().items() if count)
        return cut(f"Difference({self.n_before:,} and {self.n_after:,} documents; clusters: {changes or 'none'})")

    def counts(self) -> dict[str, int]:
        """Return how many changes there are of each kind, zeros included."""
        counted = Counter(change.kind for change in self.changes)
        return {kind: counted[kind] for kind in KINDS}


@dataclass(frozen=True)
class _ClusterPairs:
    """The documents of each cluster before and after, and how many each two of them share."""

    before: Side
    after: Side
    olds: Mapping[str, set[str]]
    news: Mapping[str, set[str]]
    shared: Mapping[str, Counter[str]]  # by the cluster before

    @classmethod
    def of(cls, before: Side, after: Side) -> _ClusterPairs:
        olds, news = _members(before), _members(after)
        shared = {
            old: Counter(after.cluster_of[document] for document in documents if document in after.cluster_of)
            for old, documents in olds.items()
        }
        return cls(before, after, olds, news, shared)

    def parts(self, old: str, survive: float, part: float) -> tuple[str, ...]:
        """Return the parts that a cluster was split into, the largest first, none where it was not split."""
        counts, total = self.shared[old], self.shared[old].total()
        parts = [new for new, n in counts.items() if n >= part * total or n >= survive * len(self.news[new])]
        sizes = [counts[new] for new in parts]
        n_besides = sum(sizes) - max(sizes, default=0)
        is_split = len(parts) > 1 and sum(sizes) >= survive * total and n_besides >= part * total
        return tuple(sorted(parts, key=lambda new: (-counts[new], new))) if is_split else ()

    def heirs(self, old: str, survive: float) -> tuple[str, ...]:
        """Return the one cluster that an old one lives on in, none where it vanished."""
        counts = self.shared[old]
        best = min(counts, key=lambda new: (-counts[new], new), default=None)
        return () if best is None or counts[best] < survive * counts.total() else (best,)

    def change(self, kind: str, olds: tuple[str, ...], news: tuple[str, ...]) -> Change:
        sides = (self.before, olds), (self.after, news)
        labels = [side.labels.get(names[0], "") if names else "" for side, names in sides]
        sizes = sum(len(self.olds[old]) for old in olds), sum(len(self.news[new]) for new in news)
        return Change(kind, olds, news, *sizes, sum(self.shared[old][new] for old in olds for new in news), *labels)


def compare_sides(before: Side, after: Side, *, survive: float = SURVIVE, part: float = PART) -> Difference:
    """Return the changes of each cluster.

    `survive`: the least share of a cluster's documents (of those on both sides) that the cluster it lives on in must
    hold; also the least share that the parts of a split must hold together. `part`: the least share of each part of a
    split; smaller clusters are parts too if at least `survive` of them comes from it, and all but the largest part
    together hold this share.

    >>> old = Side("old", {"a": "1", "b": "1", "c": "2"}, {})
    >>> new = Side("new", {"a": "x", "b": "x", "c": "x", "d": "y"}, {})
    >>> [(one.kind, one.before, one.after) for one in compare_sides(old, new).changes]
    [('merged', ('1', '2'), ('x',)), ('appeared', (), ('y',))]
    """
    for name, value in (("survive", survive), ("part", part)):
        if not 0 < value <= 1:
            raise InputError(f"{name}={value!r} is not a share; give a number above 0 and at most 1.")
    pairs = _ClusterPairs.of(before, after)
    successors = {old: pairs.parts(old, survive, part) or pairs.heirs(old, survive) for old in pairs.olds}
    changes = sorted(
        _changes(pairs, successors),
        key=lambda change: (KINDS.index(change.kind), -change.n_after, -change.n_before, change.before, change.after),
    )
    edited = [document for document, text in before.text_of.items() if after.text_of.get(document, text) != text]
    common = [
        (document, old, after.cluster_of[document])
        for document, old in before.cluster_of.items()
        if document in after.cluster_of
    ]
    moved = [MovedDocument(document, old, new) for document, old, new in common if new not in successors[old]]
    sizes = len(before.cluster_of), len(after.cluster_of), len(common)
    return Difference(before.name, after.name, tuple(changes), *sizes, tuple(sorted(edited)), tuple(moved))


def _changes(pairs: _ClusterPairs, successors: Mapping[str, tuple[str, ...]]) -> list[Change]:
    """Return the changes of all clusters, from the clusters that each old one lives on in."""
    changes: list[Change] = []
    predecessors: dict[str, list[str]] = defaultdict(list)
    for old, news in successors.items():
        if len(news) == 1:
            predecessors[news[0]].append(old)
        else:
            changes.append(pairs.change("split" if news else "vanished", (old,), news))
    for new, olds in predecessors.items():
        by_size = tuple(sorted(olds, key=lambda old: (-len(pairs.olds[old]), old)))
        kind = "merged" if len(olds) > 1 else _growth(pairs.olds[olds[0]], pairs.news[new])
        changes.append(pairs.change(kind, by_size, (new,)))
    inherited = {new for news in successors.values() for new in news}
    return changes + [pairs.change("appeared", (), (new,)) for new in pairs.news if new not in inherited]


def read_sides(before: Run | str | Path, after: Run | str | Path) -> tuple[Side, Side]:
    """Open stores (``news.db``, ``news.db@TIME``) or run folders; two stores are matched by keys of documents."""
    sides = [source if isinstance(source, Run) else os.fspath(source) for source in (before, after)]
    is_run = [isinstance(source, Run) or usable_path(source).is_dir() for source in sides]
    first, second = (
        _read_run(source) if run else _read_store(str(source), not any(is_run))
        for source, run in zip(sides, is_run, strict=True)
    )
    return first, second


def diff(
    before: Run | str | Path, after: Run | str | Path, *, survive: float = SURVIVE, part: float = PART
) -> Difference:
    """Compare the clusters of two runs (values or folders), two stores or two moments.

    A store at a moment is ``"news.db@2026-03-02T08:00:00Z"``; `survive` and `part` as for `compare_sides`. Raises
    InputError if there is no such run or store.
    """
    from doccluster.measures import score  # brings in numba, which stores need not

    sides = read_sides(before, after)
    difference = compare_sides(*sides, survive=survive, part=part)
    documents = [document for document in sides[0].cluster_of if document in sides[1].cluster_of]
    classes, labels = ([side.cluster_of[document] for document in documents] for side in sides)
    measures = AGREEMENT if documents else ()
    return replace(difference, agreement={name: score(name, labels, truth=classes).value for name in measures})


def _members(side: Side) -> dict[str, set[str]]:
    members: dict[str, set[str]] = {}
    for document, cluster in side.cluster_of.items():
        members.setdefault(cluster, set()).add(document)
    return dict(sorted(members.items()))


def _growth(old: set[str], new: set[str]) -> str:
    if old == new:
        return "stayed"
    if old < new or len(new) > len(old):
        return "grew"
    return "shrank" if len(new) < len(old) else "changed"


def _read_run(source: Run | str) -> Side:
    from doccluster.results.run_folder import load_run

    run, name = load_run(source), "a run" if isinstance(source, Run) else source
    clusters = dict(zip(run.documents.ids, map(str, run.partition.labels.tolist()), strict=True))
    return Side(name, clusters, {str(cluster.cluster): cluster.name or cluster.label for cluster in run.clusters})


def _read_store(name: str, by_key: bool) -> Side:
    path, at = Path(name), None
    if not path.is_file() and "@" in name:
        place, _, at = name.rpartition("@")
        path = Path(place)
    with reading(path) as connection:
        return side_of(connection, name, at=at, by_key=by_key)


def side_of(connection: sqlite3.Connection, name: str, *, at: str | None = None, by_key: bool = True) -> Side:
    """Return the stories of an open store, at a moment or now."""
    batch, _ = batch_at(connection, at)
    column = "d.doc_key" if by_key else "d.id"
    rows = connection.execute(
        f"SELECT {column}, m.story_id, COALESCE("
        "(SELECT v.text_hash FROM document_version v WHERE v.doc_id = d.doc_id"
        " AND v.seen > (SELECT moment FROM batch WHERE batch_id = :batch) ORDER BY v.version LIMIT 1), d.text_hash)"
        " FROM membership m JOIN document d USING (doc_id)"
        " WHERE m.from_batch <= :batch AND (m.to_batch IS NULL OR m.to_batch > :batch) ORDER BY d.number",
        {"batch": batch},
    ).fetchall()
    clusters, names = {document: story for document, story, _ in rows}, StoryNames(connection, batch)
    labels = {story: names.name_of(story) for story in dict.fromkeys(clusters.values())}
    return Side(name, clusters, labels, {document: text for document, _, text in rows})
