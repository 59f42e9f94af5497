"""Browsing a collection without a query: scatter it into clusters, gather some of them, scatter again.

Scatter/Gather (Cutting, Karger, Pedersen and Tukey 1992, doi:10.1145/133160.133214). Up to 5,000 documents are
scattered by spherical k-means. Of more, a sample of 5,000 is, and all are assigned to its centroids in two passes. That
is their Buckshot with k-means in place of agglomeration, which leaves most documents of texts in one cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Integers, Matrix, SingleFloats
from doccluster.base.plain_values import cut
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import check_positive_int
from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.errors import InputError, NothingUsable
from doccluster.geometry import as_documents
from doccluster.geometry.partition import Partition
from doccluster.labeling.placement import rows_that_fit_none
from doccluster.pipeline.in_process import Stages
from doccluster.pipeline.naming import N_READ, describe_texts, in_written_forms, vectorized_of
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import meaning_of_queries
from doccluster.pipeline.vectorizing import Vectorization
from doccluster.results.document_table import DocumentTable
from doccluster.results.record import Run
from doccluster.results.run_folder import is_run_folder, load_run
from doccluster.results.tree import Node
from doccluster.retrieval.hits import OTHER_LABEL
from doccluster.retrieval.ranking import best_documents, joined_ranks
from doccluster.vectors import DocumentVectors, TfidfVectorizer

N_CLUSTERS = 10
N_TITLES = 3
LEAST = 2  # documents of a cluster, on average
N_FOUND = 1_000  # documents of a search that are gathered, the best ones
N_DESCRIBED = 5_000  # documents, evenly spaced, of which the labels and titles of a scatter are made
MAX_PHRASE_CHARACTERS = 300_000  # of their beginnings, in which phrases are looked for

FULL_UP_TO = 5_000
N_STARTS = 3
N_PASSES = 2


@dataclass(frozen=True, eq=False)
class Card:
    """One cluster as it is shown; the last may be Other, the documents that fit no cluster, without titles."""

    number: int  # from 1
    members: Integers
    label: str
    titles: tuple[str, ...]  # of central documents
    node: Node | None = None  # the cluster of a run that it is

    @property
    def size(self) -> int:
        """The number of documents."""
        return int(self.members.size)

    @property
    def name(self) -> str:
        """What the cluster of a run is called in commands, such as "section:3"; empty for a scattered one."""
        return "" if self.node is None else f"{self.node.level}:{self.node.cluster.cluster}"


@dataclass(frozen=True, eq=False)
class _View:
    step: str
    cards: tuple[Card, ...]


class Browser:
    """A collection that is scattered and gathered.

    Parameters
    ----------
    documents : DocumentTable
        Row for row.
    vectorizer : TfidfVectorizer, optional
        What turns the words of a search into terms; without it there is no search.
    languages : sequence of str
        Of the texts: their function words name no cluster.
    run : Run, optional
        Whose documents these are: its tree is what is shown first, if it has sections (or topics) above its clusters.
    n_clusters : int
        Clusters of a scatter.
    seed : int
        The same seed gives the same clusters.
    n_threads : int, optional
        Changes no result.
    cosines : function, optional
        Returns the cosine of each document to what a query means, by which a search then ranks too.

    Examples
    --------
    >>> texts = ["rye bread oven", "bread oven flour", "herring boats", "boats in the harbour", "harbour herring"]
    >>> browser = open_browser(texts, n_clusters=2)
    >>> [(card.number, card.size) for card in browser.cards]
    [(1, 3), (2, 2)]
    >>> browser.gather([2])
    >>> sum(card.size for card in browser.cards)
    2
    """

    def __init__(
        self,
        vectors: DocumentVectors,
        documents: DocumentTable,
        *,
        vectorizer: TfidfVectorizer | None = None,
        languages: Sequence[str] = (),
        run: Run | None = None,
        n_clusters: int = N_CLUSTERS,
        seed: int = 0,
        n_threads: int | None = None,
        cosines: Callable[[str], SingleFloats] | None = None,
    ) -> None:
        check_positive_int(n_clusters, "n_clusters")
        self.vectors, self.documents = vectors, documents
        self.n_clusters, self.seed = n_clusters, seed
        self._rows = sparse.csr_array(vectors.documents.unit)
        # by words and meaning where there are both; checked once, not at every step
        self._unit = as_documents(self._rows if vectors.meaning is None else vectors.meaning.beside(self._rows))
        self._how, self._n_threads = Vectorization(vectors, vectorizer, tuple(languages)), n_threads
        self._run, self._cosines = run, cosines
        if run is not None and run.around.coarser:
            cards = self._of_run(run)
        else:
            cards = self._scattered(np.arange(self._rows.shape[0]))
        self._views = [_View("", cards)]

    def __repr__(self) -> str:
        return cut(f"Browser({self.n_documents:,} documents in {len(self.cards)} clusters: {self.path})")

    @property
    def cards(self) -> tuple[Card, ...]:
        """The clusters that are shown, the largest first, and Other last."""
        return self._views[-1].cards

    @property
    def n_documents(self) -> int:
        """How many documents are gathered."""
        return sum(card.size for card in self.cards)

    @property
    def path(self) -> str:
        """The steps from the whole collection to these clusters, as they are typed."""
        return " > ".join(view.step for view in self._views[1:]) or "everything"

    def open(self, number: int) -> None:
        """Show the parts of a cluster of the tree of a run, and of any other cluster its documents scattered.

        Raises InputError if there is no such cluster.
        """
        card = self.card(number)
        node = card.node
        while node is not None and len(node.children) == 1:  # a part that is all of it shows nothing new
            node = node.children[0]
        parts = () if node is None else node.children
        cards = self._cards_of(parts) if parts else self._scattered(card.members)
        self._views.append(_View(f"open {number}", cards))

    def gather(self, numbers: Sequence[int]) -> None:
        """Put the documents of some clusters together, and scatter them.

        Raises InputError if no cluster is named, or one that is not shown.
        """
        chosen = tuple(dict.fromkeys(numbers))
        if not chosen:
            raise InputError("no cluster was named", remedy=f"give numbers from 1 to {len(self.cards)}")
        cards = [self.card(number) for number in chosen]
        members = np.sort(np.concatenate([card.members for card in cards]))
        self._views.append(_View(f"gather {' '.join(map(str, chosen))}", self._scattered(members)))

    def search(self, words: str) -> None:
        """Gather the documents among those shown that fit some words best, at most 1,000, and scatter them.

        Raises InputError if there are no words, or the collection is a matrix without words. Raises NothingUsable if
        none of the documents has one of the words.
        """
        if not words.strip():
            raise InputError("the query is empty", remedy="give the words to search for")
        if self._how.vectorizer is None:
            raise InputError("the collection is a matrix without texts", remedy="gather clusters instead")
        members = np.sort(np.concatenate([card.members for card in self.cards]))
        row = sparse.csr_array(self._how.vectorizer.transform([words]))
        query = np.zeros(self._rows.shape[1])
        query[row.indices] = row.data
        scores = (self._rows @ query)[members]
        if self._cosines is not None:
            rankings = (best_documents(both) for both in (scores, self._cosines(words)[members]))
            scores = joined_ranks(*rankings, n_documents=members.size)
        best = best_documents(scores, N_FOUND)
        if best.size == 0:
            raise NothingUsable(
                f"none of the {members.size:,} documents has a word of {words[:80]!r}; try other words."
            )
        self._views.append(_View(f"search {words}", self._scattered(np.sort(members[best]))))

    def back(self) -> None:
        """Take back the last step. Raises InputError if nothing was done."""
        if len(self._views) == 1:
            raise InputError("this is the whole collection", remedy="there is no step to take back")
        self._views.pop()

    def card(self, number: int) -> Card:
        """Return the cluster of a number. Raises InputError if there is none."""
        if not 1 <= number <= len(self.cards):
            raise InputError(f"there is no cluster {number}", remedy=f"give numbers from 1 to {len(self.cards)}")
        return self.cards[number - 1]

    def _of_run(self, run: Run) -> tuple[Card, ...]:
        """Return the clusters of the coarsest level of a run, and last Other where there is such."""
        cards = self._cards_of(run.tree)
        if not run.n_other:
            return cards
        assert run.is_other is not None
        return (*cards, Card(len(cards) + 1, np.flatnonzero(run.is_other), OTHER_LABEL, ()))

    def _cards_of(self, nodes: Sequence[Node]) -> tuple[Card, ...]:
        assert self._run is not None
        level = next(level for level in self._run.levels if level.name == nodes[0].level)
        is_shown = self._run.shown_labels < self._run.n_clusters
        cards = []
        for number, node in enumerate(nodes, 1):
            cluster = node.cluster
            titles = tuple(self.documents.name(shown.row) for shown in cluster.representatives[:N_TITLES])
            members = np.flatnonzero((level.labels == cluster.cluster) & is_shown)
            cards.append(Card(number, members, cluster.label, titles, node))
        return tuple(cards)

    def _scattered(self, members: Integers) -> tuple[Card, ...]:
        k = min(self.n_clusters, max(1, members.size // LEAST))  # a few documents are few clusters
        clusters = scatter(self._unit, members, k, random_state=self.seed, n_threads=self._n_threads)
        labels = np.empty(self._rows.shape[0], dtype=np.int64)
        for number, cluster in enumerate(clusters):
            labels[cluster] = number
        rows = self._unit if members.size == labels.size else self._unit.take(members)
        fits_none = rows_that_fit_none(rows, labels[members], n_threads=self._n_threads)
        labels[members[fits_none]] = len(clusters)
        *clusters, unplaced = (members[labels[members] == number] for number in range(len(clusters) + 1))
        cards = self._described(sorted(clusters, key=lambda members: -members.size))
        return (*cards, Card(len(cards) + 1, unplaced, OTHER_LABEL, ())) if unplaced.size else cards

    def _described(self, clusters: list[Integers]) -> tuple[Card, ...]:
        """Return the cards of clusters, described by evenly spaced documents of each."""
        # texts of all documents would be read at every step: a label is as good from some thousands
        total = sum(members.size for members in clusters)
        share = min(1.0, N_DESCRIBED / total)
        counts = [min(members.size, max(N_TITLES, round(share * members.size))) for members in clusters]
        parts = [members[np.arange(n) * members.size // n] for members, n in zip(clusters, counts, strict=True)]
        rows = np.concatenate(parts)
        partition = Partition(np.repeat(np.arange(len(parts)), [part.size for part in parts]), tuple(range(len(parts))))
        vectors = self.vectors.take(rows)
        described = describe_texts(
            self._how,
            vectors,
            partition,
            [self.documents.excerpts[row] for row in rows.tolist()],
            [self.documents.titles[row] for row in rows.tolist()],
            max_characters=MAX_PHRASE_CHARACTERS,
            n_documents=N_TITLES,
            n_threads=self._n_threads,
        )
        labels = ["" if vectors.terms is None else description.label for description in described]
        titles = [
            tuple(self.documents.name(int(rows[representative.row])) for representative in description.representatives)
            for description in described
        ]
        return tuple(
            Card(number, members, label, central)
            for number, (members, label, central) in enumerate(zip(clusters, labels, titles, strict=True), 1)
        )


def open_browser(
    source: Any,
    *,
    n_clusters: int = N_CLUSTERS,
    seed: int = 0,
    language: str | Sequence[str] = "auto",
    reader: Mapping[str, object] | None = None,
    encoder: object = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Browser:
    """Return a browser of a run's documents, or of any source that `run_pipeline` reads.

    `source`: of a run the vectors are taken as they are, with the meaning of its documents where they were clustered by
    it, and its tree is shown first; documents are read and vectorized. `n_clusters`, `seed`, `n_threads`: as for
    `Browser`. `language`, `reader`: as for `run_pipeline`; of documents only. `encoder`: that of a run, by which a
    search finds documents by their meaning too; without it a search goes by words alone.
    """
    settings: dict[str, Any] = {"n_clusters": n_clusters, "seed": seed, "n_threads": n_threads}
    if isinstance(source, Run) or is_run_folder(source):
        run = load_run(source)
        how = vectorized_of(run)
        settings |= {"vectorizer": how.vectorizer, "languages": how.languages, "run": run}
        vectors = run.vectors.in_space("words") if run.parameters.get("space") == "words" else run.vectors
        cosines = None if encoder is None else meaning_of_queries(run, encoder)
        return Browser(vectors, run.documents, cosines=cosines, **settings)
    if encoder is not None:
        raise InputError("embeds queries in a run", argument="encoder", remedy="give the folder of a run made with it")
    how_read = RunSettings(reader=reader, language=language, n_threads=n_threads)
    prepared = Stages(how_read, progress=progress).prepare(source)
    vectors, how, corpus = prepared.vectors, prepared.vectorization, prepared.source.corpus
    if corpus is not None:
        vectors = in_written_forms(how, vectors, corpus.texts[:: max(1, len(corpus.texts) // N_READ)])
    return Browser(vectors, prepared.documents, vectorizer=how.vectorizer, languages=how.languages, **settings)


def scatter(
    rows: Matrix,
    members: npt.ArrayLike | None = None,
    n_clusters: int = 10,
    *,
    random_state: int = 0,
    n_threads: int | None = None,
) -> list[Integers]:
    """Return some documents in clusters, the largest first; the same seed gives the same clusters.

    Parameters
    ----------
    rows : Documents or a csr array of shape (n_documents, n_terms), unit rows
        Documents without terms come into the first cluster.
    members : int array, optional
        The documents to cluster, all by default.
    n_clusters : int
        The most; fewer if there are fewer documents with terms.
    random_state : int
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    list of int64 arrays
        The documents of each cluster, ascending.

    Raises
    ------
    InputError
        If there is no document.

    Examples
    --------
    >>> rows = sparse.csr_array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [1, 0, 0]])
    >>> [own.tolist() for own in scatter(rows, [0, 1, 2], 2)]
    [[0, 1], [2]]
    """
    check_positive_int(n_clusters, "n_clusters")
    rows = as_documents(rows, name="rows").matrix
    chosen = np.arange(rows.shape[0]) if members is None else np.unique(np.asarray(members, dtype=np.int64))
    if chosen.size == 0:
        raise InputError("there is no document to scatter; choose at least one cluster.")
    chosen_rows = rows if chosen.size == rows.shape[0] else rows[chosen]
    parameters = SphericalParameters(n_clusters, n_init=N_STARTS, random_state=random_state, n_threads=n_threads)
    labels = _labels(sparse.csr_array(chosen_rows), n_clusters, parameters)
    clusters = (chosen[labels == label] for label in range(int(labels.max()) + 1))
    return sorted(
        (members for members in clusters if members.size), key=lambda members: (-members.size, int(members[0]))
    )


def _labels(rows: sparse.csr_array, n_clusters: int, parameters: SphericalParameters) -> Integers:
    """Return the cluster of each row, of many by way of a sample; those without terms are in cluster 0."""
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    k = min(n_clusters, filled.size)
    if k < 2:
        return labels
    if filled.size < rows.shape[0]:
        rows = sparse.csr_array(rows[filled])
    settings = replace(parameters, n_clusters=k)
    if filled.size <= FULL_UP_TO:
        labels[filled] = spherical_k_means(rows, settings).labels
        return labels
    sample = np.sort(np.random.default_rng(parameters.random_state).choice(filled.size, FULL_UP_TO, replace=False))
    centroids = spherical_k_means(sparse.csr_array(rows[sample]), settings).centroids
    passes = replace(settings, n_clusters=centroids.shape[0], init=centroids, max_iter=N_PASSES, tol=0)
    labels[filled] = spherical_k_means(rows, passes).labels
    return labels
