"""Where the stages of a run take place: in this process, unless a class of its own says otherwise.

Documents are clustered in the order of their content, so that the order of the input decides nothing: seeds are drawn
by place, sums are rounded in their order and ties go to the lowest place. Documents with equal rows are as good as each
other wherever they stand. Without a number of clusters, a run makes topics, or subtopics of dated documents.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers, Matrix, is_sparse
from doccluster.base.blocks import entry_blocks, row_blocks
from doccluster.base.packed_strings import CodedColumn
from doccluster.base.place import Place
from doccluster.base.progress import Progress
from doccluster.clustering.algorithms import QUALITIES, Algorithm, get_algorithm
from doccluster.clustering.k_means.spherical import FitSpherical
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, smooth_documents
from doccluster.clustering.task import ClusteringTask, SmoothedRows
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, InputError, MemoryLimitError
from doccluster.geometry import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.labeling import Placement, place_documents
from doccluster.pipeline._fitting import FittedClusters, centroids_of, fit_clusters, in_input_order, is_dated
from doccluster.pipeline.naming import describe_texts
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import EncodedRows, with_meaning
from doccluster.pipeline.sources import SourceDocuments, split_empty
from doccluster.pipeline.vectorizing import Vectorization
from doccluster.results.document_table import DocumentTable
from doccluster.results.overview import outlets_of
from doccluster.selection import Recommendation, choose_k
from doccluster.selection.recommendation import MAX_DOCUMENTS
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import OF_WORDS, Lengths, letters_of
from doccluster.vectors.vectorize import letters_weight

DIGEST_BYTES = 16
BLOCK_ROWS = 2**13  # of documents in files, whose digests are made at a time
N_OTHERS = 2_000  # evenly spaced documents from which the largest cluster of a level is told
MAX_FOR_FINER = 8_000  # documents in which subtopics are found of clusters whose number was given
MIN_SHARE_SEEN = 0.9  # where fewer of the documents are in a cluster of a level, it was made of a sample
MAX_CHARACTERS = 300_000  # of the beginnings of texts in which phrases are looked for
SMOOTHING = ("n_components", "n_neighbors", "mixing", "max_memory")  # options that change what is smoothed


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """How many clusters, and what was learned on the way."""

    k: int
    choice: Recommendation | None = None  # where the data were asked
    smoothed: SmoothedRows | None = None
    reason: str | None = None  # a sentence, where it is the number of stories

    def reordered(self, order: Integers) -> ClusterCount:
        """Return the number for rows ``order`` of an input as that of the input, without the smoothed rows."""
        choice = None if self.choice is None else self.choice.reordered(order)
        return replace(self, choice=choice, smoothed=None)

    @property
    def why(self) -> str | None:
        """Why this number, in a sentence; None where it was given."""
        if self.choice is None:
            return self.reason
        sentence = f"Chosen from the data: {self.choice.sentence}."
        if self.choice.k is None:
            sentence += " All documents are one cluster; give a number to divide them anyway."
        return sentence


def count_clusters(
    settings: RunSettings,
    vectors: DocumentVectors,
    documents: DocumentTable,
    seed: int,
    progress: Progress,
    place: Place | None = None,
) -> ClusterCount:
    """Return the number of clusters that was given, or what the data say; `place` is where the vectors lie."""
    if not isinstance(settings.n_clusters, str):
        return ClusterCount(settings.n_clusters)
    smooths = settings.algorithm == QUALITIES["default"]
    options, names = settings.clustering or {}, SMOOTHING if smooths else ("max_memory",)
    # stories have a rule of their own; where it does not apply, subtopics are nearest to them
    try:
        choice, smoothed = recommended(
            vectors,
            documents,
            granularity="subtopics" if settings.granularity == "stories" else settings.granularity,
            smoothing={name: options[name] for name in names if options.get(name) is not None},
            seed=seed,
            n_threads=settings.n_threads,
            progress=progress,
            place=place,
        )
    except MemoryLimitError as error:
        if smooths:
            raise
        raise MemoryLimitError(
            "is too little to find the number of clusters",
            argument="max_memory",
            received=options["max_memory"],
            remedy=("give more, or ", Argument("n_clusters")),
        ) from error
    return ClusterCount(1 if choice.k is None else choice.k, choice, smoothed if smooths else None)


def recommended(
    vectors: DocumentVectors,
    documents: DocumentTable,
    *,
    granularity: str | None = None,
    ks: Iterable[int] | None = None,
    max_documents: int | None = None,
    smoothing: dict[str, Any] | None = None,
    seed: int,
    n_threads: int | None,
    progress: Progress,
    place: Place | None = None,
) -> tuple[Recommendation, SmoothedRows | None]:
    """Return the number of clusters that the data suggest, and the rows as they were smoothed for it.

    None come back where only a sample was looked at, or rows cannot be smoothed.
    """
    rows, counts = vectors.documents.unit, vectors.counts
    smoothed = None
    # where all documents are looked at, their smoothed rows serve the clustering too
    if rows.shape[0] <= min(MAX_DOCUMENTS, max_documents or MAX_DOCUMENTS):
        common: dict[str, Any] = {"random_state": seed, "n_threads": n_threads, "progress": progress}
        parameters = DocumentParameters(n_clusters=1, **common, **(smoothing or {}))
        smoothed = smooth_documents(
            rows,
            counts,
            parameters,
            meaning=vectors.meaning,
            letters=vectors.letters,
            term_factors=vectors.term_factors,
            place=place,
        )
    choice = choose_k(
        vectors.documents,
        counts=counts,
        granularity=granularity,
        subtopics_because=reason_for_subtopics(documents),
        ks=ks,
        max_documents=max_documents,
        meaning=vectors.meaning,
        letters=vectors.letters,
        smoothed=smoothed,
        random_state=seed,
        n_threads=n_threads,
        progress=progress,
    )
    return choice, smoothed


def with_examples(
    choice: Recommendation,
    vectorization: Vectorization,
    vectors: DocumentVectors,
    texts: Sequence[str] | None,
    documents: DocumentTable,
    *,
    unwanted: Collection[str] = frozenset(),
) -> Recommendation:
    """Return the answer with the name of the largest cluster of each level, so that one sees what a number means."""
    if choice.k is None or vectors.terms is None:
        return choice
    examples = {}
    for name, labels in choice.levels.items():
        sizes = np.bincount(labels[labels >= 0])
        is_outside = labels != sizes.argmax()
        places = np.flatnonzero(~is_outside | (np.arange(labels.size) % max(1, labels.size // N_OTHERS) == 0))
        largest = describe_texts(
            vectorization,
            vectors.take(places),
            Partition.from_labels(is_outside[places].astype(np.int64)),
            None if texts is None else PickedTexts(texts, places),
            [documents.titles[row] for row in places.tolist()],
            unwanted=unwanted,
            max_characters=MAX_CHARACTERS,
            n_documents=0,
        )[0]
        if largest.label_terms:
            share_seen = sizes.sum() / labels.size
            examples[name] = largest.label, round(sizes.max() / (share_seen if share_seen < MIN_SHARE_SEEN else 1))
    return replace(choice, examples=examples)


def reason_for_subtopics(documents: DocumentTable) -> str | None:
    """Return why subtopics are what one wants to see of these documents, None where one would rather see topics.

    Documents of different days, perhaps of several outlets, are about much that is small.
    """
    if not is_dated(documents):
        return None
    outlets = outlets_of(documents)
    names = {outlets.values[code] for code in np.unique(outlets.codes)} if isinstance(outlets, CodedColumn) else outlets
    n_outlets = len(set(filter(None, names)))
    origin = f" and come from {n_outlets:,} outlets" if n_outlets > 1 else ""
    return f"because the documents are dated{origin}"


def canonical_order(matrix: Matrix, *further: object) -> Integers:
    """Return the rows ordered by a digest of their content, equal ones by that of their rows in others (None for none).

    What is equal in both keeps the order of the input.

    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> shuffled = np.array([2, 0, 1])
    >>> bool(np.array_equal(rows[canonical_order(rows)], rows[shuffled][canonical_order(rows[shuffled])]))
    True
    """
    return np.argsort(row_digests(matrix, *further), kind="stable")


def order_of(vectors: DocumentVectors, place: Place | None = None) -> Integers:
    """Return the order of documents by their words, then counts, then meaning, then letters.

    `place` is where they lie.
    """
    meaning, letters = (None if view is None else view.rows for view in (vectors.meaning, vectors.letters))
    if place is None or not place.is_on_disk:
        return canonical_order(vectors.matrix, vectors.counts, meaning, letters)
    blocks, views = row_blocks(vectors.n_documents, BLOCK_ROWS), (vectors.counts, meaning, letters)
    return np.argsort(np.concatenate(list(place.map(block_digests, blocks, vectors.matrix, *views))), kind="stable")


def block_digests(block: slice, *matrices: Matrix | None) -> npt.NDArray[np.bytes_]:
    """Return the digests of some rows."""
    return row_digests(*(None if matrix is None else matrix[block] for matrix in matrices))


def row_digests(matrix: Matrix, *further: object) -> npt.NDArray[np.bytes_]:
    """Return a digest of the content of each row, and behind it those of its rows in other matrices (None for none).

    It is the same for whichever form and place the row has; array of shape (n_rows,), of 16 bytes for each matrix.
    """
    digests_by_matrix = [
        b"".join(map(_digest, _contents(one_matrix))) for one_matrix in (matrix, *further) if one_matrix is not None
    ]
    parts = [np.frombuffer(digests, np.uint8).reshape(-1, DIGEST_BYTES) for digests in digests_by_matrix]
    together = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return together.view(f"S{together.shape[1]}").ravel()


def _contents(matrix: Matrix) -> Iterator[bytes]:
    if not is_sparse(matrix):
        yield from (np.ascontiguousarray(row).tobytes() for row in np.asarray(matrix))
        return
    for rows in entry_blocks(matrix.indptr):
        starts = matrix.indptr[rows.start : rows.stop + 1]
        columns = matrix.indices[starts[0] : starts[-1]].astype(np.int64)
        data = matrix.data[starts[0] : starts[-1]]
        for first, end in itertools.pairwise((starts - starts[0]).tolist()):
            yield columns[first:end].tobytes() + data[first:end].tobytes()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True, eq=False)
class VectorizedDocuments:
    """The documents that have terms, how they became vectors, these, and the documents without terms."""

    vectorization: Vectorization
    documents: DocumentTable
    vectors: DocumentVectors
    empty: DocumentTable


class Stages:
    """Where the stages of a run take place, in the order of the methods: here in the threads of this process."""

    place: Place

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads, self.place = n_threads, Place(n_threads)

    def holds_rows(self, n_documents: int) -> bool:
        """Return whether the rows of this many documents may be held in memory, for levels to be made of them."""
        return True

    def parted(self, source: object) -> object:
        """Return a source as it is read here."""
        return source

    def with_meaning(
        self, source: SourceDocuments, settings: RunSettings, progress: Progress, encoded: EncodedRows
    ) -> SourceDocuments:
        """Return a source with the meaning that its run asks for."""
        return with_meaning(source, settings, progress, encoded, place=self.place)

    def vectorize(self, source: SourceDocuments, settings: RunSettings) -> VectorizedDocuments:
        """Return the vectors of the documents that have terms, or a meaning to go by."""
        vectorization = source.vectorize(
            language=settings.language, options=settings.vectorizer, n_threads=self.n_threads
        )
        documents, empty, vectors = split_empty(source.documents, vectorization.vectors, space=settings.space)
        return VectorizedDocuments(vectorization, documents, vectors, empty)

    def with_letters(
        self, vectorized: VectorizedDocuments, source: SourceDocuments, settings: RunSettings
    ) -> DocumentVectors:
        """Return the vectors with letters beside the words, where these are short."""
        vectors, (weight, lengths) = vectorized.vectors, letters_weight_of(vectorized, settings)
        if not weight or source.corpus is None:
            return vectors
        letters = letters_of(source.corpus.texts, weight, lengths, n_threads=self.n_threads)
        return vectors.with_letters(letters and letters.take(vectorized.documents.positions))

    def likely_copies(self, vectors: DocumentVectors) -> Integers | None:
        """Return the rows that may be near-copies of others, ascending; None where all are looked at."""
        return None

    def cluster(
        self,
        vectors: DocumentVectors,
        documents: DocumentTable,
        settings: RunSettings,
        seed: int,
        progress: Progress,
        *,
        rows: Integers | None = None,
    ) -> tuple[FittedClusters, ClusterCount]:
        """Return the clusters that the algorithm finds, and their number, given or chosen.

        `rows` are those that are clustered; all by default.
        """
        with self.place.for_a_while() as place:
            chosen = vectors if rows is None else vectors.take(rows, place)
            order = order_of(chosen, place)
            fitted = chosen.take(order, place)
            algorithm = get_algorithm(settings.algorithm)
            clustered = fitted.in_space(settings.space)
            count = count_clusters(settings, clustered, documents, seed, progress, place)
            if clustered.meaning is not None and not algorithm.takes_meaning:
                clustered = side_by_side(clustered, algorithm, place)
            task = ClusteringTask(
                clustered.documents,
                clustered.counts,
                count.k,
                seed,
                settings.clustering or {},
                self.n_threads,
                progress,
                meaning=clustered.meaning,
                letters=clustered.letters,
                smoothed=count.smoothed,
                start=None if count.choice is None else count.choice.labels,
                term_factors=clustered.term_factors,
                place=place,
                fit_spherical=self.fit_spherical,
            )
            fit = fit_clusters(algorithm, task)
            # clusters of other rows are kept by the words of their documents
            if task.documents is not fitted.documents:
                fit = replace(fit, centroids=centroids_of(fitted.matrix, fit.partition), rule=None)
            if not self.holds_rows(order.size):
                fit = replace(fit, points=None)
            fit = in_input_order(fit, order)
        return fit, count.reordered(order)

    def finer(
        self,
        vectors: DocumentVectors,
        documents: DocumentTable,
        settings: RunSettings,
        seed: int,
        progress: Progress,
    ) -> Recommendation | None:
        """Return subtopics of a sample for clusters whose number was given; None where the data have no topics."""
        with self.place.for_a_while() as place:
            order = order_of(vectors, place)
            choice, _ = recommended(
                vectors.take(order, place).in_space(settings.space),
                documents,
                granularity="topics",
                max_documents=MAX_FOR_FINER,
                seed=seed,
                n_threads=self.n_threads,
                progress=progress,
                place=place,
            )
        return choice.reordered(order) if choice.k is not None and choice.granularity == "topics" else None

    fit_spherical: FitSpherical | None = None

    def evidence(self, vectors: DocumentVectors, partition: Partition, progress: Progress) -> ClusterEvidence:
        """Return the evidence that labels and measures need."""
        return ClusterEvidence(vectors.documents, partition, n_threads=self.n_threads, progress=progress)

    def place_documents(self, vectors: DocumentVectors, fit: FittedClusters) -> Placement:
        """Return how each document sits in its cluster."""
        return place_documents(vectors.documents, fit.partition, fit.centroids, n_threads=self.n_threads)

    def tell_stage(self, name: str, seconds: float) -> None:
        """Say what a stage took that is over, where a person should know; here the run writes it down."""


def letters_weight_of(vectorized: VectorizedDocuments, settings: RunSettings) -> tuple[float, Lengths]:
    """Return how much letters count in a run, 0 for not at all, and how long their runs are."""
    if settings.letters is False or not settings.takes_letters:
        return 0.0, OF_WORDS
    made = vectorized.vectorization
    if made.vectorizer is None:
        if settings.letters:
            raise InputError("a matrix has no letters", remedy=("leave out ", Argument("letters", True)))
        return 0.0, OF_WORDS
    return letters_weight(vectorized.vectors, made.vectorizer, made.writing, wanted=settings.letters)


def side_by_side(vectors: DocumentVectors, algorithm: Algorithm, place: Place) -> DocumentVectors:
    """Return words and meaning as one row for each document, for an algorithm that knows of one space only.

    Raises InputError if the algorithm works on counts of words.
    """
    if algorithm.needs == "counts":
        raise InputError(
            "works on counts of words, and meaning has none",
            argument="algorithm",
            received=algorithm.name,
            remedy=("give another, or ", Argument("space", "words")),
        )
    assert vectors.meaning is not None  # who calls has looked
    return DocumentVectors(vectors.meaning.beside(vectors.documents.unit, place), vectors.ids)
