"""Everything that is said of the clusters of a partition, in one call, and the terms among it.

Texts of scripts without blanks are cut into pairs of characters (or other short pieces) for counting. A pair says
little to a reader, so it is shown as the longest string around it that recurs whole in the documents of the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.geometry import ClusterEvidence, Documents
from doccluster.geometry.partition import Partition
from doccluster.labeling.label_phrases import LabelPhrases, TitleCounts
from doccluster.labeling.label_terms import LongerStrings, rank_label_terms, short_labels
from doccluster.labeling.placement import Placement, borderline_documents, place_documents, representative_documents
from doccluster.labeling.profiles import (
    ClusterDescription,
    ClusterProfiles,
    Term,
    checked_documents,
    entries,
    largest_per_row,
)
from doccluster.text.scripts import is_unspaced, whole_letters, whole_word, without_ending
from doccluster.vectors.document_vectors import DocumentVectors

N_TEXTS = 50  # of a cluster, nearest to its centroid, in which strings are looked for
MAX_CHARACTERS = 5_000  # of each of them


def descriptive_terms(
    profiles: ClusterProfiles, names: npt.NDArray[np.object_], *, n_terms: int = 10
) -> list[tuple[Term, ...]]:
    """Return for each cluster the terms that explain most of its cohesion, largest share first.

    The cohesion of a cluster is the sum of the cosines of its documents to its centroid, ``|s| = sum_t c_t s_t``; the
    share of a term is ``c_t s_t / |s| = c_t ** 2``. The shares of all terms of a cluster sum to 1.

    Parameters
    ----------
    profiles : ClusterProfiles
    names : array of str of shape (n_terms,)
        The written form of each column.
    n_terms : int
        The most terms per cluster.

    Notes
    -----
    These are the "descriptive features" of CLUTO's manual (Karypis 2003, section 3.2.2).
    """
    return _strongest(profiles.cohesion_shares(), profiles.support, names, n_terms)


def discriminating_terms(
    profiles: ClusterProfiles, names: npt.NDArray[np.object_], *, n_terms: int = 10
) -> list[tuple[Term, ...]]:
    """Return for each cluster the terms that set it apart from all other documents, largest share first.

    With r the unit direction of the documents outside the cluster, a term explains ``(c_t - r_t) ** 2 / |c - r| ** 2``
    of the squared distance; only terms with ``c_t > r_t`` are listed. A single cluster has none.
    """
    if profiles.n_clusters == 1:
        return [()]
    return _strongest(profiles.contrast_shares(), profiles.support, names, n_terms)


def _strongest(
    shares: sparse.csr_array, support: sparse.csr_array, names: npt.NDArray[np.object_], count: int
) -> list[tuple[Term, ...]]:
    return [
        tuple(
            Term(str(names[column]), int(column), float(share), int(documents))
            for column, share, documents in zip(columns, values, entries(support, cluster, columns), strict=True)
        )
        for cluster, (columns, values) in enumerate(largest_per_row(shares, count))
    ]


def describe_clusters(
    vectors: DocumentVectors,
    partition: Partition,
    *,
    placement: Placement | None = None,
    evidence: ClusterEvidence | None = None,
    texts: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    phrases: LabelPhrases | None = None,
    in_titles: TitleCounts | None = None,
    outlets: Sequence[str] | None = None,
    function_words: Collection[str] = frozenset(),
    n_terms: int = 10,
    n_documents: int = 5,
    n_threads: int | None = None,
) -> list[ClusterDescription]:
    """Describe each cluster: label, terms, representative and borderline documents.

    Parameters
    ----------
    vectors : DocumentVectors
        The documents of the partition, row for row. Without `terms` the descriptions have documents only.
    partition : Partition
    placement : Placement, optional
        How each document sits in the partition; computed against the partition's own centroids by default.
    evidence : ClusterEvidence, optional
        What is known of the same vectors and partition under the cosine, which is not computed again.
    texts : sequence of str, optional
        The documents, row for row: where terms are pieces of words of a script without blanks, the strings that recur
        in the texts of a cluster are shown in their place.
    titles : sequence of str, optional
        Theirs: strings that several titles share are shown first.
    phrases : LabelPhrases, optional
        Phrases that may stand in a label, besides the terms.
    in_titles : TitleCounts, optional
        How many titles have each term: what titles have names a cluster before what they have not.
    outlets : sequence of str, optional
        Who published each document: representatives are of different ones first.
    function_words : collection of str
        Words that may not stand in a label (lower case).
    n_terms, n_documents : int
        The most terms, and documents of each kind, per cluster.
    n_threads : int, optional
        For computing the placement.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> rows = sparse.csr_array(np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [0, 0.6, 0.8]]))
    >>> terms = np.array(["oil", "price", "wheat"], dtype=object)
    >>> vectors = DocumentVectors(rows, ids=("a", "b", "c", "d"), terms=terms)
    >>> [cluster.label for cluster in describe_clusters(vectors, Partition.from_labels([0, 0, 1, 1]))]
    ['oil', 'wheat']
    """
    documents = checked_documents(vectors, partition)
    evidence_of_all = evidence or ClusterEvidence(documents, partition, n_threads=n_threads)
    profiles = ClusterProfiles.from_evidence(evidence_of_all)
    placed = placement or place_documents(documents, partition, profiles.centroids, n_threads=n_threads)
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    longer = None if names is None or texts is None else _longer_strings(partition, placed, names, texts, titles)
    descriptive: list[tuple[Term, ...]] = [()] * partition.n_clusters
    discriminating = descriptive
    if names is not None:
        descriptive = _terms(descriptive_terms, profiles, names, longer, n_terms)
        discriminating = _terms(discriminating_terms, profiles, names, longer, n_terms)
    ranked = rank_label_terms(
        profiles,
        names,
        rows=Documents(evidence_of_all.rows.matrix),
        partition=partition,
        phrases=phrases,
        in_titles=in_titles,
        function_words=function_words,
        longer=longer,
        term_factors=vectors.term_factors,
    )
    # the labels of all clusters at once: no two may be the same
    labels = short_labels(ranked)
    shown = representative_documents(
        documents, partition, placed.similarity, n_documents=n_documents, outlets=outlets, evidence=evidence_of_all
    )
    border = borderline_documents(partition, placed, n_documents=n_documents)
    return [
        ClusterDescription(
            cluster=cluster,
            size=int(partition.sizes[cluster]),
            label=labels[cluster],
            label_terms=ranked[cluster],
            descriptive=descriptive[cluster],
            discriminating=discriminating[cluster],
            representatives=shown[cluster],
            borderline=border[cluster],
        )
        for cluster in range(partition.n_clusters)
    ]


def _longer_strings(
    partition: Partition,
    placed: Placement,
    names: npt.NDArray[np.object_],
    texts: Sequence[str],
    titles: Sequence[str] | None,
) -> LongerStrings | None:
    """Return a finder of strings to show for the terms of a cluster; None if no term is a piece of a word."""
    if not any(map(is_unspaced, names)):
        return None

    def longer(cluster: int, terms: Sequence[str]) -> Mapping[str, str]:
        members = partition.members(cluster)
        nearest = members[np.argsort(-placed.similarity[members], kind="stable")[:N_TEXTS]]
        theirs = [] if titles is None else [titles[row] for row in nearest.tolist()]
        return recurring_strings(terms, [texts[row][:MAX_CHARACTERS] for row in nearest.tolist()], titles=theirs)

    return longer


def _terms(
    choose: Callable[..., list[tuple[Term, ...]]],
    profiles: ClusterProfiles,
    names: npt.NDArray[np.object_],
    longer: LongerStrings | None,
    n_terms: int,
) -> list[tuple[Term, ...]]:
    if longer is None:
        return choose(profiles, names, n_terms=n_terms)
    # a string of m characters has m - 1 pieces, so more terms are taken than are shown
    return [
        merge_pieces(terms, longer(cluster, [term.term for term in terms]), n_terms)
        for cluster, terms in enumerate(choose(profiles, names, n_terms=4 * n_terms))
    ]


MAX_LETTERS = 12
MIN_SHARE = 0.6  # part of the occurrences of a term that its longer string must cover
TITLES_SHARE = 1 / 3  # the same of titles, which say what a text is about
MAX_OCCURRENCES = 200
MAX_CUT = 12  # occurrences that are looked at for whole words

Occurrence = tuple[str, int, int]


def recurring_strings(
    terms: Sequence[str],
    texts: Sequence[str],
    *,
    titles: Sequence[str] = (),
    min_share: float = MIN_SHARE,
    longest: int = MAX_LETTERS,
) -> Mapping[str, str]:
    """Return for each term in a script without blanks the longest string around it that recurs in `texts`.

    A string grows by the neighbouring character, left or right, that most of the occurrences share, as long as it
    covers `min_share` of the occurrences of the term, has at most `longest` characters, and occurs at least twice.
    Where two of `titles` or more have the term, it is the longest that a third of those share. With the extra ``cjk``,
    and in Korean, it is the words around the term. Terms of other scripts, and terms that no text has, are left
    out.

    >>> recurring_strings(["京地", "metro"], ["東京地下鉄の駅", "駅は東京地下鉄", "東京地下鉄"])
    {'京地': '東京地下鉄'}
    """
    strings = {}
    for term in dict.fromkeys(terms):
        if is_unspaced(term):
            occurrences, share = _occurrences(term, list(dict.fromkeys(titles))), TITLES_SHARE
            if len(occurrences) < 2:
                occurrences, share = _occurrences(term, texts), min_share
            if occurrences:
                grown = _grown(occurrences, max(2, share * len(occurrences)), longest)
                strings[term] = _whole_words(occurrences) or grown
    return strings


def merge_pieces(terms: Sequence[Term], shown: Mapping[str, str], n_terms: int) -> tuple[Term, ...]:
    """Return terms as `shown` has them; pieces of one string are one term, with the sum of their shares.

    The first `n_terms` stay, in the order of their shares. The support of a sum is that of its commonest piece.
    """
    merged: list[Term] = []
    for term in terms:
        text = shown.get(term.term, term.term)
        pieces = set(pairwise(text)) if is_unspaced(text) else set()
        overlapping = (
            i for i, earlier in enumerate(merged) if is_unspaced(earlier.term) and pieces & set(pairwise(earlier.term))
        )
        place = next(overlapping, None)
        if place is None:
            merged.append(replace(term, term=text))
        else:
            earlier_term = merged[place]
            support = max(earlier_term.support, term.support)
            merged[place] = replace(earlier_term, share=min(1.0, earlier_term.share + term.share), support=support)
    return tuple(sorted(merged, key=lambda term: -term.share)[:n_terms])


def _occurrences(term: str, texts: Sequence[str]) -> list[Occurrence]:
    occurrences: list[Occurrence] = []
    for text in texts:
        start = text.find(term)
        while start >= 0 and len(occurrences) < MAX_OCCURRENCES:
            occurrences.append((text, start, start + len(term)))
            start = text.find(term, start + len(term))
    return occurrences


def _grown(occurrences: list[Occurrence], needed: float, longest: int) -> str:
    text, start, stop = occurrences[0]
    while stop - start < longest:
        left, n_left = _neighbour([text[start - 1 : start] for text, start, _ in occurrences])
        right, n_right = _neighbour([text[stop : stop + 1] for text, _, stop in occurrences])
        if max(n_left, n_right) < needed:
            break
        if n_right >= n_left:
            occurrences = [
                (text, start, stop + 1) for text, start, stop in occurrences if text[stop : stop + 1] == right
            ]
        else:
            occurrences = [
                (text, start - 1, stop) for text, start, stop in occurrences if text[start - 1 : start] == left
            ]
        text, start, stop = occurrences[0]
    return text[slice(*whole_letters(text, start, stop))]


def _whole_words(occurrences: Sequence[Occurrence]) -> str:
    """Return the words that stand most often where a term occurs; nothing where they do not come twice."""
    sample = occurrences[:: max(1, len(occurrences) // MAX_CUT)][:MAX_CUT]
    words = Counter(whole_word(*occurrence) for occurrence in sample)
    counts: Counter[str] = Counter()
    for word, count in words.items():
        counts[without_ending(word, words)] += count
    word, count = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return word if count > 1 or len(occurrences) == 1 else ""


def _neighbour(characters: Sequence[str]) -> tuple[str, int]:
    """Return the commonest neighbour that is a letter of a script without blanks, and how often it comes."""
    counts = Counter(character for character in characters if is_unspaced(character))
    return min(((sign, n) for sign, n in counts.items()), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
