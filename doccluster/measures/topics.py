"""Measures of topics: do the top terms of a cluster belong together, and to this cluster rather than to others?

A cluster is read as a topic: its terms of largest mean weight, ranked. Co-occurrence is counted in whole documents of
the corpus (or of a reference corpus with the same columns), from the columns of the top terms only, or in a window that
slides over the texts: C_v, C_NPMI and C_UCI of Roeder and others 2015. A window is a run of tokens of a text, a shorter
text one window; how likely words are, alone and together, is the share of all windows that have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Literal

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Floats, Integers, Matrix
from doccluster.base.blocks import row_blocks
from doccluster.base.choices import METRICS
from doccluster.base.validation import check_choice, check_matrix, check_positive_int
from doccluster.errors import InputError, NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.products import documents_together
from doccluster.measures.registry import COUNTED_IN_WINDOWS, Values, list_measures, measure, undefined

TOP_TERMS = 10
TERMS_AT_ONCE = 256  # of which the weights in all clusters are held


class TopicWords:
    """Top terms of clusters, their weights, and the documents they occur in.

    `terms` are the ranked top terms of each cluster (column numbers), instead of those of largest mean weight; the
    matrix `reference` is where documents are counted, if not in the clustered ones, a term where its weight is above 0.
    Raises InputError if there is not one list per cluster, or a column does not exist.

    >>> from doccluster.geometry.partition import Partition
    >>> geometry = ClusterEvidence([[2, 1, 0], [1, 2, 0], [0, 0, 1]], Partition.from_labels([0, 0, 1]))
    >>> [top.tolist() for top in TopicWords(geometry).top_terms(2)]
    [[0, 1], [2]]
    """

    def __init__(self, geometry: ClusterEvidence, *, terms: object = None, reference: Matrix | None = None) -> None:
        self.geometry = geometry
        self._terms = None if terms is None else _checked_terms(terms, geometry)
        matrix = geometry.rows.matrix if reference is None else check_matrix(reference, name="reference")
        if matrix.shape[1] != geometry.rows.n_terms:
            raise InputError(
                f"reference has {matrix.shape[1]} columns and the documents have {geometry.rows.n_terms}",
                remedy="count both with the same vocabulary",
            )
        self._reference = None if reference is None else matrix
        self.n_reference_documents = int(matrix.shape[0])
        self._counted = lru_cache(maxsize=8)(self._count)

    def top_terms(self, n_top_terms: int | None = None) -> list[Integers]:
        """Return the ranked top terms of each cluster, at most `n_top_terms` (10; all of those that were given).

        Raises NotComputable if values are negative, as those of embeddings are: no column is then a term.
        """
        if self._terms is not None:
            return [terms[:n_top_terms] for terms in self._terms]
        if self._is_signed:
            raise NotComputable("there are negative values, so the columns are not terms")
        number = TOP_TERMS if n_top_terms is None else check_positive_int(n_top_terms, "n_top_terms")
        return [self._largest(cluster, number) for cluster in range(self.geometry.n_clusters)]

    @cached_property
    def _is_signed(self) -> bool:
        matrix = self.geometry.rows.matrix
        values = matrix.data if sparse.issparse(matrix) else matrix
        return bool(values.size and values.min() < 0)

    def weight_shares(self, lists: list[Integers]) -> list[Floats]:
        """Return for each cluster the share that it has of the mean weight of each of its terms in all clusters."""
        terms, clusters = np.concatenate(lists), np.repeat(np.arange(len(lists)), list(map(len, lists)))
        columns, places = np.unique(terms, return_inverse=True)
        sums = self.geometry.sums[:, columns]
        by_term = sparse.csc_array(sums) if sparse.issparse(sums) else sums
        shares = np.empty(terms.size)
        for block in row_blocks(columns.size, TERMS_AT_ONCE):  # each term once
            weights = by_term[:, block]
            values = weights.toarray() if sparse.issparse(weights) else weights
            values = values / self.geometry.sizes[:, None]
            here = np.flatnonzero((places >= block.start) & (places < block.stop))
            at = places[here] - block.start
            shares[here] = values[clusters[here], at] / values.sum(axis=0)[at]
        return np.split(shares, np.cumsum(list(map(len, lists)))[:-1])

    def counts(self, n_top_terms: int | None = None) -> list[Integers]:
        """Return, for each cluster, in how many documents each pair of its top terms occurs, arrays (T, T)."""
        counted: list[Integers] = self._counted(n_top_terms)
        return counted

    def _count(self, n_top_terms: int | None) -> list[Integers]:
        lists = self.top_terms(n_top_terms)
        if self._reference is None:
            return self.geometry.documents_together(lists)
        return documents_together(self._reference, lists, n_threads=self.geometry.n_threads)

    def _largest(self, cluster: int, number: int) -> Integers:
        sums = self.geometry.sums
        if sparse.issparse(sums):
            stored = slice(sums.indptr[cluster], sums.indptr[cluster + 1])
            terms, weights = sums.indices[stored].astype(np.int64), sums.data[stored]
        else:
            terms, weights = np.arange(sums.shape[1]), sums[cluster]
        weights = weights / self.geometry.sizes[cluster]
        positive = np.flatnonzero(weights > 0)
        order = positive[np.argsort(-weights[positive], kind="stable")]
        terms, weights = terms[order], weights[order]
        # weights that differ by rounding are ties, and ties go to the lowest column
        slack = 1e-12 if self.geometry.rows.slack <= 1e-12 else 1e-6 * weights[1:]
        run = np.cumsum(np.concatenate([[False], weights[:-1] - weights[1:] > slack])[: terms.size])
        return np.asarray(terms[np.lexsort((terms, run))][:number], dtype=np.int64)


def _checked_terms(terms: object, geometry: ClusterEvidence) -> list[Integers]:
    lists = list(terms) if isinstance(terms, Iterable) and not isinstance(terms, str | bytes) else []
    if len(lists) != geometry.n_clusters:
        raise InputError(
            f"terms has {len(lists)} list(s) and there are {geometry.n_clusters} clusters",
            remedy="give the ranked column numbers of the top terms of each cluster",
        )
    checked = []
    for ranked_terms in lists:
        columns = np.asarray(ranked_terms)
        if columns.size and (columns.ndim != 1 or columns.dtype.kind not in "iu"):
            raise InputError(f"terms has {ranked_terms!r} where a list of column numbers is expected.")
        if columns.size and (columns.min() < 0 or columns.max() >= geometry.rows.n_terms):
            raise InputError(f"terms has a column outside 0..{geometry.rows.n_terms - 1}", remedy="give column numbers")
        checked.append(columns.astype(np.int64).ravel())
    return checked


topic_measure = partial(
    measure, family="topic", evidence="topics", direction="higher", metrics=METRICS, parts=("per_cluster",)
)

EPSILON = 1e-12  # added to joint probabilities, always
TOO_FEW = "no cluster has two top terms that occur"


def _mean_over_clusters(values: Floats, why_not: str) -> Values:
    is_defined = ~np.isnan(values)
    if not is_defined.any():
        return undefined(why_not, per_cluster=values)
    left_out = int((~is_defined).sum())
    note = f"{left_out} cluster(s) have no value and are excluded from the mean" if left_out else None
    return Values(float(values[is_defined].mean()), per_cluster=values, note=note)


def _coherence(topics: TopicWords, n_top_terms: int | None, of_pair: Callable[..., Floats]) -> Values:
    """Return the mean of `of_pair` (D(w_m, w_l), D(w_m), D(w_l), n) over l < m, per cluster and over clusters."""
    values = np.full(topics.geometry.n_clusters, np.nan)
    for cluster, counts in enumerate(topics.counts(n_top_terms)):
        alone = np.diagonal(counts).astype(np.float64)
        if alone.size > 1 and alone.min() > 0:
            lower, higher = np.tril_indices(alone.size, -1)  # m > l: w_l is ranked higher
            together = counts[lower, higher].astype(np.float64)
            pairs = of_pair(together, alone[lower], alone[higher], topics.n_reference_documents)
            values[cluster] = pairs.mean()
    return _mean_over_clusters(values, TOO_FEW)


@topic_measure(
    "umass",
    title="UMass coherence",
    range="(-inf, log 2]",
    bounds=(None, float(np.log(2.0)) + 1e-12),
    formula="mean over l < m of log((D(w_m, w_l) + 1)/D(w_l)), w_1, w_2 ... ranked, D = documents with the terms",
    source="Mimno et al. 2011 (who sum)",
    meaning="How often a lower-ranked top term occurs in the documents of a higher-ranked one. Not symmetric: the "
    "order of the terms counts.",
    edges="fewer than two top terms, or a term that does not occur in the reference corpus: undefined, left out",
)
def umass(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean UMass coherence of the clusters' top terms (10 by default)."""
    return _coherence(topics, n_top_terms, lambda both, lower, higher, n: np.log((both + 1) / higher))


@topic_measure(
    "uci",
    title="UCI coherence (PMI)",
    range="(-inf, log n]",
    formula="mean over l < m of log((p(w_m, w_l) + 1e-12)/(p(w_m) p(w_l))), p = share of documents",
    source="Newman et al. 2010 (documents instead of sliding windows)",
    meaning="How much more often two top terms share a document than they would by chance; 0 is independence.",
    edges="as umass; a pair that never meets costs about -27",
)
def uci(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean pointwise mutual information of pairs of top terms."""
    return _coherence(topics, n_top_terms, _pmi)


def _pmi(both: Floats, lower: Floats, higher: Floats, n: int) -> Floats:
    return np.asarray(np.log((both / n + EPSILON) / (lower / n * higher / n)))


@topic_measure(
    "npmi",
    title="NPMI coherence",
    range="about [-1, 1]",
    bounds=(-1.0 - 1e-6, 1.0 + 1e-6),
    formula="mean over l < m of log((p(w_m, w_l) + 1e-12)/(p(w_m) p(w_l)))/(-log(p(w_m, w_l) + 1e-12))",
    source="Bouma 2009; Aletras & Stevenson 2013",
    meaning="UCI on a scale from -1 (never together) over 0 (independent) to 1 (only together).",
    edges="as umass; a pair that is in all documents counts 1",
)
def npmi(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean normalised pointwise mutual information of pairs of top terms."""
    return _coherence(topics, n_top_terms, _normalised_pmi)


def _normalised_pmi(both: Floats, lower: Floats, higher: Floats, n: int) -> Floats:
    everywhere = both == n
    scale = np.where(everywhere, 1.0, -np.log(both / n + EPSILON))
    return np.where(everywhere, 1.0, _pmi(both, lower, higher, n) / scale)


@topic_measure(
    "topic_diversity",
    range="[1/k, 1]",
    bounds=(0.0, 1.0),
    formula="distinct terms / all terms, over the top terms of all clusters",
    source="Dieng, Ruiz & Blei 2020",
    meaning="Whether clusters have top terms of their own. Per cluster: the share of its top terms that no other "
    "cluster has.",
    edges="no terms: undefined",
)
def topic_diversity(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the share of distinct terms among the top terms of all clusters."""
    lists = topics.top_terms(n_top_terms)
    terms = np.concatenate(lists)
    if terms.size == 0:
        return undefined("no cluster has terms", per_cluster=np.full(len(lists), np.nan))
    distinct, counts = np.unique(terms, return_counts=True)
    exclusive_shares = [
        float((counts[np.searchsorted(distinct, top_terms)] == 1).mean()) if top_terms.size else np.nan
        for top_terms in lists
    ]
    return Values(distinct.size / terms.size, per_cluster=np.array(exclusive_shares))


@topic_measure(
    "exclusivity",
    range="(0, 1] for non-negative weights",
    formula="per cluster the mean over its top terms of mu_it / sum_j mu_jt; the mean over clusters",
    source="Bischof & Airoldi 2012",
    meaning="Whether the top terms of a cluster are heavy there and light elsewhere; mean weights are compared, so "
    "size gives no credit.",
    edges="one cluster: 1; a cluster without terms: undefined, left out",
)
def exclusivity(topics: TopicWords, *, n_top_terms: int | None = None) -> Values:
    """Return the mean share that clusters have of the weight of their top terms."""
    lists = topics.top_terms(n_top_terms)
    values = np.full(len(lists), np.nan)
    for cluster, shares in enumerate(topics.weight_shares(lists)):
        if shares.size:
            values[cluster] = np.mean(shares)
    return _mean_over_clusters(values, "no cluster has terms")


WindowMeasure = Literal["c_v", "c_npmi", "c_uci"]
WINDOWS = {"c_v": 110, "c_npmi": 10, "c_uci": 10}  # tokens
WINDOWS_AT_A_TIME = 4_096


def window_coherence(
    topics: Sequence[Sequence[str]],
    texts: Iterable[Sequence[str]],
    *,
    measure: WindowMeasure = "c_v",
    window: int | None = None,
) -> Floats:
    """Return the coherence of each topic by how its words share windows of the texts.

    Parameters
    ----------
    topics : the top words of each topic
    texts : the tokens of each text, in their order
    measure : {"c_v", "c_npmi", "c_uci"}
        "c_npmi": the mean normalised pointwise mutual information of all pairs, -1 to 1; "c_uci" the same not
        normalised; "c_v": the mean cosine of each word's vector of NPMI with the topic's words to the sum of these
        vectors, near 0 to 1.
    window : int, optional
        How many tokens; by default 110 for "c_v", 10 for the others.

    Returns
    -------
    float64 array of shape (n_topics,)
        nan for a topic of which fewer than two words occur.

    Raises
    ------
    InputError
        If the measure is not known, or there are no texts with tokens.

    Notes
    -----
    Source: Roeder, Both & Hinneburg 2015, Exploring the space of topic coherence measures. Equal to gensim 4.4's
    `CoherenceModel` (same epsilon, boolean windows) where no word comes twice within a window; of words that do,
    gensim misses windows: of "a b a b a" it finds two of three windows of three tokens that have "a".

    Examples
    --------
    >>> texts = [["rye", "bread", "oven"], ["rye", "oven"], ["sea", "boat"], ["sea", "bread"]]
    >>> window_coherence([["rye", "oven"], ["rye", "sea"]], texts, measure="c_npmi").round(2).tolist()
    [1.0, -0.95]
    """
    if isinstance(measure, str) and measure in {record.name for record in list_measures(family="topic")}:
        in_windows = ", ".join(COUNTED_IN_WINDOWS)
        raise InputError(
            f"{measure!r} is counted in documents, not in windows of their texts",
            remedy=f"ask `doccluster.score` for it, or for one of {in_windows} here",
        )
    check_choice(measure, COUNTED_IN_WINDOWS, "measure")
    size = check_positive_int(WINDOWS[measure] if window is None else window, "window")
    counts, n_windows = _count_windows([list(dict.fromkeys(words)) for words in topics], texts, size)
    if not n_windows:
        raise InputError("there are no texts with tokens to count windows of", remedy="give at least one")
    return np.array([_coherence_in_windows(count / n_windows, measure) for count in counts])


def _count_windows(
    topics: Sequence[Sequence[str]], texts: Iterable[Sequence[str]], size: int
) -> tuple[list[Integers], int]:
    """Return for each topic in how many windows each pair of its words is (alone on the diagonal), and all windows."""
    words = {word: number for number, word in enumerate(dict.fromkeys(word for topic in topics for word in topic))}
    topics_of: list[list[tuple[int, int]]] = [[] for _ in words]  # and the place of the word in them
    for topic, topic_words in enumerate(topics):
        for place, word in enumerate(topic_words):
            topics_of[words[word]].append((topic, place))
    counts = [np.zeros((len(topic_words), len(topic_words)), np.int64) for topic_words in topics]
    n_windows = 0
    for tokens in texts:
        if not len(tokens):
            continue
        n_of_text = max(1, len(tokens) - size + 1)
        n_windows += n_of_text
        found = [(words[token], place) for place, token in enumerate(tokens) if token in words]
        if not found:
            continue
        numbers, places = np.array(found).T
        present, rows = np.unique(numbers, return_inverse=True)
        by_topic: dict[int, list[tuple[int, int]]] = {}
        for row, number in enumerate(present.tolist()):
            for topic, place in topics_of[number]:
                by_topic.setdefault(topic, []).append((row, place))
        for start in range(0, n_of_text, WINDOWS_AT_A_TIME):
            together = _together(rows, places, len(present), start, min(start + WINDOWS_AT_A_TIME, n_of_text), size)
            for topic, pairs in by_topic.items():
                chosen, at = np.array(pairs).T
                counts[topic][np.ix_(at, at)] += together[np.ix_(chosen, chosen)]
    return counts, n_windows


def _together(rows: Integers, places: Integers, n_words: int, first: int, end: int, size: int) -> Integers:
    """Return in how many of the windows that start from `first` on and before `end` each pair of words is."""
    # a word at a place is in the windows that start at most `size` - 1 before it: mark where that begins and ends
    begins, ends = np.clip(places - size + 1, first, end) - first, np.clip(places + 1, first, end) - first
    changes = np.zeros((n_words, end - first + 1), np.int64)
    np.add.at(changes, (rows, begins), 1)
    np.add.at(changes, (rows, ends), -1)
    has_word = (changes.cumsum(axis=1)[:, :-1] > 0).astype(np.float32)  # products of counts below 2^24 are exact
    return np.asarray(np.rint(has_word @ has_word.T), np.int64)


def _coherence_in_windows(share: Floats, measure: WindowMeasure) -> float:
    """Return the coherence of a topic from the share of windows that each pair of its words is in; nan below two."""
    occurs = np.diag(share) > 0
    share = share[np.ix_(occurs, occurs)]
    if len(share) < 2:
        return float("nan")
    alone = np.diag(share)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: Floats = np.log((share + EPSILON) / np.outer(alone, alone))  # pointwise mutual information
        if measure != "c_uci":
            ratios /= -np.log(share + EPSILON)
    if measure != "c_v":
        return float(ratios[~np.eye(len(ratios), dtype=bool)].mean())
    of_topic = ratios.sum(axis=0)
    lengths = np.linalg.norm(ratios, axis=1) * np.linalg.norm(of_topic)
    cosines = np.divide(ratios @ of_topic, lengths, out=np.zeros(len(ratios)), where=lengths > 0)
    return float(cosines.mean())
