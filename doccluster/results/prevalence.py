"""How common each cluster is in each group of documents: by party, outlet, month, or any column of the source."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Floats, Integers
from doccluster.base.validation import RandomState, as_generator
from doccluster.corpus.columns import kept_name, type_of
from doccluster.corpus.dates import PERIODS
from doccluster.corpus.source_rows import PART_COLUMNS
from doccluster.errors import InputError
from doccluster.measures.chance import holm
from doccluster.results.shares import needed
from doccluster.results.views import Prevalence

if TYPE_CHECKING:
    from doccluster.results.record import Run

MIN_GROUP = 5  # documents of a group that is compared
MAX_GROUPS = 200
MAX_NUMBERS = 10  # different numbers of a column whose values are groups; of more, quarters are
N_BOOTSTRAP = 1_000
N_PERMUTED = 9_999  # of documents in parts
ROUNDING = 1e-9  # of sums of shares that are equal
NORMAL_QUANTILE = 1.959964  # of 97.5 %


def prevalence(run: Run, by: str, *, random_state: RandomState = 0) -> Prevalence:
    """Return how common each cluster of a run is in each group of its documents.

    Parameters
    ----------
    run : Run
    by : str
        A column of the source or of its labels, or "year", "month" or "day" of the date. Numbers with more than ten
        values are cut into quarters of the documents.
    random_state : int, numpy Generator or RandomState
        For the bootstrap over documents.

    Raises
    ------
    InputError
        If there is no such column, or it has one value, or a different one for each document.

    Examples
    --------
    >>> import doccluster
    >>> run = doccluster.run(doccluster.load_sample(), n_clusters=6, granularity=None)
    >>> table = run.prevalence("source").table
    >>> bool(np.allclose(table.groupby("group")["share"].sum(), 1))
    True
    """
    import pandas as pd
    from scipy import stats

    counted, rng = group_counts(run, by), as_generator(random_state)
    counts = counted.counts
    of_cluster, of_group = counts.sum(axis=1, keepdims=True), np.rint(counts.sum(axis=0)).astype(np.int64)
    overall = of_cluster / of_group.sum()
    share, wilson_low, wilson_high = wilson(counts, of_group)
    if counted.drawn is None:
        low, high = _bootstrap(counts, rng)
        given = of_group.sum(), of_cluster, of_group
        tails = stats.hypergeom.cdf(counts, *given), stats.hypergeom.sf(counts - 1, *given)
        p = np.minimum(1.0, 2 * np.minimum(*tails))
    else:
        low, high = _bootstrap_of_shares(*counted.drawn, of_group.size, rng)
        p = _permuted(*counted.drawn, of_group.size, rng)
    cluster, group = np.indices(counts.shape)
    columns = {
        "cluster": cluster,
        "label": np.asarray(counted.labels, dtype=object)[cluster],
        "group": np.asarray(counted.groups, dtype=object)[group],
        "n": counts,
        "share": share,
        "low": wilson_low,
        "high": wilson_high,
        "bootstrap_low": low,
        "bootstrap_high": high,
        "lift": np.divide(share, overall, out=np.full_like(share, np.nan), where=overall > 0),
        "p": p,
        "p_holm": np.array(holm(p.ravel().tolist())),
    }
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    return Prevalence(by, dict(zip(counted.groups, of_group.tolist(), strict=True)), table, counted.notes)


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """How many documents of each cluster (row of `counts`, Other last) are in each group (column).

    Documents in parts count in each cluster by their share, and are drawn as wholes: `drawn` has the shares of each,
    of shape (n_documents, n_clusters), and its group.
    """

    by: str
    groups: list[str]
    labels: list[str]
    counts: Any
    notes: tuple[str, ...]
    drawn: tuple[Floats, Integers] | None = None


def group_counts(run: Run, by: str) -> GroupCounts:
    """Return how many documents of each cluster are in each group of a column; errors are those of `prevalence`."""
    if not isinstance(by, str):
        raise InputError("is not a column", argument="by", received=by, expected="the name of one")
    values, notes = group_of_documents(run, by)
    if run.parts is not None:
        values = values[first_parts(run)]
    names, codes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    is_group = (sizes >= MIN_GROUP) & (names != "")
    if n_missing := int(sizes[names == ""].sum()):
        notes.append(f"{n_missing:,} documents without a {by} are left out.")
    if small := names[(sizes < MIN_GROUP) & (names != "")].tolist():
        n_left_out = int(sizes[(sizes < MIN_GROUP) & (names != "")].sum())
        shown = ", ".join(small[:5]) + (", ..." if len(small) > 5 else "")
        notes.append(f"Groups of fewer than {MIN_GROUP} documents are left out: {shown} ({n_left_out:,} documents).")
    groups = names[is_group].tolist()
    if len(groups) < 2:
        raise InputError(
            f"{by!r} has {len(groups)} group(s) of at least {MIN_GROUP} documents",
            remedy="choose a column with at least two",
        )
    if len(groups) > MAX_GROUPS:
        raise InputError(
            f"{by!r} has {len(groups):,} groups", remedy=f"choose a column with at most {MAX_GROUPS}, or longer periods"
        )
    counted = is_group[codes]
    place = np.cumsum(is_group) - 1
    n_clusters = run.n_clusters + bool(run.n_other)
    labels = [cluster.label for cluster in run.clusters] + ["Other"] * bool(run.n_other)
    if run.parts is not None:
        shares, group = _shares_of_placed(run)[counted], place[codes[counted]]
        of_groups = sparse.coo_array((np.ones(group.size), (group, np.arange(group.size)))).tocsr()
        return GroupCounts(by, groups, labels, (of_groups @ shares).T, tuple(notes), (shares, group))
    cells = run.shown_labels[counted], place[codes[counted]]
    counts = (
        sparse.coo_array((np.ones(counted.sum()), cells), shape=(n_clusters, len(groups))).toarray().astype(np.int64)
    )
    return GroupCounts(by, groups, labels, counts, tuple(notes))


def first_parts(run: Run) -> Integers:
    """Return the row of a part of each document in parts that has a cluster, in their order."""
    return np.unique(run.document_of, return_index=True)[1]


def _shares_of_placed(run: Run) -> Floats:
    """Return of each document in parts the share of its words in each cluster (and Other), of those that are in one."""
    totals = needed(run.parts).totals[np.unique(run.document_of), : run.n_clusters + bool(run.n_other)]
    return np.asarray(totals / np.maximum(totals.sum(axis=1, keepdims=True), 1))


def words_over_time(run: Run, cluster: int, by: str = "month", *, n_words: int = 5) -> dict[str, list[str]]:
    """Return the words that set each period (or group) of one cluster apart from its other documents.

    A word counts by the share of the documents of the group that have it, less that of the other documents of the
    cluster; at least two must have it. Groups of fewer than five documents are left out.
    """
    if not 0 <= cluster < run.n_clusters:
        raise InputError(argument="cluster", received=cluster, expected=f"a number from 0 to {run.n_clusters - 1}")
    rows = run.members(cluster)
    values = group_of_documents(run, by)[0][rows]
    vectors = run.vectors
    has_term = sparse.csr_array(vectors.matrix[rows]).astype(bool).astype(np.int64)
    terms: Any = vectors.terms if vectors.display_terms is None else vectors.display_terms
    totals = has_term.sum(axis=0)
    words: dict[str, list[str]] = {}
    for group in np.unique(values[values != ""]).tolist():
        in_group = np.flatnonzero(values == group)
        n_others = rows.size - in_group.size
        if in_group.size < MIN_GROUP or not n_others:
            continue
        counts = has_term[in_group].sum(axis=0)
        gain = np.where(counts > 1, counts / in_group.size - (totals - counts) / n_others, 0)
        order = np.argsort(-gain, kind="stable")[:n_words].tolist()
        words[group] = [str(terms[term]) for term in order if gain[term] > 0]
    return words


def columns_to_group_by(run: Run, n_columns: int) -> list[str]:
    """Return columns whose values group documents: label columns first, those judged by before them, then the others.

    At least two values have five documents each, and there are at most 200.
    """
    columns: list[str] = []
    for column in dict.fromkeys([*run.truth, *run.documents.labels, *run.documents.columns, "source"]):
        try:
            values = group_of_documents(run, column)[0]
        except InputError:
            continue
        values = values if run.parts is None else values[first_parts(run)]
        sizes = Counter(values[values != ""].tolist())
        if sum(size >= MIN_GROUP for size in sizes.values()) > 1 and len(sizes) <= MAX_GROUPS:
            columns.append(column)
        if len(columns) == n_columns:
            break
    return columns


def group_of_documents(run: Run, by: str) -> tuple[npt.NDArray[np.object_], list[str]]:
    """Return the group of each document, empty where it has none, and what a reader should know of the groups.

    Raises InputError if there is no such column, or its values are all the same or all different.
    """
    documents = run.documents
    if run.parts is not None:  # what a column says of a document counts once
        if by in PART_COLUMNS[1:]:
            raise InputError(f"{by!r} is of parts, not of documents", remedy="choose another column")
        documents = documents.take(first_parts(run))
    notes: list[str] = []
    column = by if by in documents.columns else kept_name(by)
    if column in documents.columns:
        values = [str(value) for value in documents.columns[column]]
    elif by in documents.labels:
        values = [labels[0] if len(labels) == 1 else "" for labels in documents.labels[by]]
        if n_several := sum(len(labels) > 1 for labels in documents.labels[by]):
            notes.append(f"{n_several:,} documents with several labels are left out.")
    elif by == "source":
        values = list(documents.sources)
    elif by in PERIODS:
        values = [date[: PERIODS[by]] if len(date) >= PERIODS[by] else "" for date in documents.dates]
    else:
        names = [*documents.columns, *documents.labels, "source", *PERIODS]
        raise InputError(f"there is no column {by!r} to group by", remedy=f"the run has {', '.join(names)}")
    distinct = set(values) - {""}
    if len(distinct) < 2:
        value = f"one value, {distinct.pop()!r}" if distinct else "no values"
        raise InputError(f"{by!r} has {value}", remedy="choose a column with at least two")
    if type_of(distinct) in (int, float) and len(distinct) > MAX_NUMBERS and by not in PERIODS:
        values = _quarters(values)
        notes.append(f"The numbers of {by} are cut into quarters of the documents.")
    elif len(distinct) == len([value for value in values if value]):
        raise InputError(
            f"{by!r} has a different value for each document", remedy="choose a column whose values come again"
        )
    groups = np.asarray(values, dtype=object)
    if run.parts is not None:
        groups = groups[np.unique(run.document_of, return_inverse=True)[1]]
    return groups, notes


def _quarters(values: Sequence[str]) -> list[str]:
    """Return for each number the name of its quarter, such as "2: 10 to 20"."""
    numbers = np.array([float(value) if value else math.nan for value in values])
    edges = np.unique(np.nanquantile(numbers, [0, 0.25, 0.5, 0.75, 1]))
    bins = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, max(0, len(edges) - 2))
    names = [
        f"{number + 1}: {low:g} to {high:g}" for number, (low, high) in enumerate(itertools.pairwise(edges.tolist()))
    ]
    return ["" if math.isnan(value) else names[place] for value, place in zip(numbers, bins.tolist(), strict=True)]


def wilson(counts: Integers, sizes: Integers) -> tuple[Floats, Floats, Floats]:
    """Return shares with their 95 % intervals (Wilson 1927), which hold near 0 and 1 too."""
    share = counts / sizes
    spread = NORMAL_QUANTILE**2 / sizes
    centre = (share + spread / 2) / (1 + spread)
    half = NORMAL_QUANTILE / (1 + spread) * np.sqrt(share * (1 - share) / sizes + spread / (4 * sizes))
    return share, np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


def _bootstrap_of_shares(
    shares: Floats, group: Integers, n_groups: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the 95 % intervals of mean shares in samples of all documents, drawn with replacement."""
    low, high = np.full((2, shares.shape[1], n_groups), np.nan)
    times = rng.multinomial(group.size, np.full(group.size, 1 / group.size), size=N_BOOTSTRAP)
    for number in range(n_groups):
        members = np.flatnonzero(group == number)
        drawn = times[:, members]
        means = (drawn @ shares[members]) / np.maximum(drawn.sum(axis=1, keepdims=True), 1)
        low[:, number], high[:, number] = np.quantile(means, [0.025, 0.975], axis=0)
    return low, high


def _permuted(shares: Floats, group: Integers, n_groups: int, rng: np.random.Generator) -> Floats:
    """Return two-sided p of the mean share of each cluster in each group, if documents belonged to groups by chance.

    A permutation test: how often a group of the same size, drawn from all documents, is as far from the mean of all.
    """
    expected = shares.mean(axis=0)[:, None] * np.bincount(group, minlength=n_groups)
    distance = np.abs(_sums_by_group(shares, group, n_groups) - expected)
    n_as_far = np.ones(distance.shape)  # the groups as they are count too
    for _ in range(N_PERMUTED):
        sums = _sums_by_group(shares, rng.permutation(group), n_groups)
        n_as_far += np.abs(sums - expected) >= distance - ROUNDING
    return np.asarray(n_as_far / (N_PERMUTED + 1))


def _sums_by_group(shares: Floats, group: Integers, n_groups: int) -> Floats:
    """Return the sums of the shares of each cluster in each group."""
    rows = sparse.csr_array((np.ones(group.size), group, np.arange(group.size + 1)), shape=(group.size, n_groups))
    return np.asarray((rows.T @ shares).T)


def _bootstrap(counts: Integers, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the 95 % intervals of the shares in samples of all documents, drawn with replacement, a group at a time.

    How many documents of a sample are in each group is multinomial, and so is where these are.
    """
    low, high = np.full((2, *counts.shape), np.nan)
    of_group = counts.sum(axis=0)
    sizes = rng.multinomial(of_group.sum(), of_group / of_group.sum(), size=N_BOOTSTRAP)
    for group in range(of_group.size):
        samples = rng.multinomial(sizes[:, group], counts[:, group] / of_group[group])
        shares = samples / np.maximum(sizes[:, [group]], 1)
        low[:, group], high[:, group] = np.quantile(shares, [0.025, 0.975], axis=0)
    return low, high
