"""Where the stages of a run take place: in this process, unless a class of its own says otherwise.

Documents are clustered in the order of their content, so that the order of the input decides nothing: seeds are drawn
by place, sums are rounded in their order and ties go to the lowest place. Documents with equal rows are as good as each
other wherever they stand.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers, Matrix, is_sparse
from doccluster.base.blocks import entry_blocks, row_blocks
from doccluster.base.place import Place
from doccluster.base.progress import Progress, StageClock, silent
from doccluster.clustering.algorithms import Algorithm, get_algorithm
from doccluster.clustering.k_means.spherical import FitSpherical
from doccluster.clustering.task import ClusteringTask
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, InputError
from doccluster.geometry import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.labeling import Placement, place_documents
from doccluster.measures import Evaluation, evaluate
from doccluster.measures.judging import PAIRWISE_SECONDS
from doccluster.pipeline._apart import Apart
from doccluster.pipeline.cluster_count import count_clusters, recommended
from doccluster.pipeline.copies import find_first_copies
from doccluster.pipeline.fit import Fit, centroids_of, fit_clusters
from doccluster.pipeline.foreign_labels import with_labels
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import EncodedRows, read_documents, with_meaning
from doccluster.pipeline.sources import Source, SourceDocuments, split_empty
from doccluster.pipeline.vectorizing import Vectorization, has_many_documents
from doccluster.results.document_table import DocumentTable
from doccluster.results.shares import judge_documents
from doccluster.selection import Recommendation
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import OF_WORDS, Lengths, letters_of
from doccluster.vectors.vectorize import letters_weight

DIGEST_BYTES = 16
BLOCK_ROWS = 2**13  # of documents in files, whose digests are made at a time
MAX_FOR_FINER = 8_000  # documents in which subtopics are found of clusters whose number was given


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
    """Return the order of documents, which lie in a place, by their words, then counts, then meaning, then letters."""
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
class Prepared:
    """The documents of a source that have terms, as vectors, and what else of the source a run needs."""

    source: SourceDocuments  # all documents, as they were read
    vectorization: Vectorization  # how they became vectors
    documents: DocumentTable
    vectors: DocumentVectors
    empty: DocumentTable  # the documents without terms
    copy_of: Integers | None = None  # the first near-copy of each document, where that was looked for
    apart: Apart | None = None  # which terms of authors are weighed down

    @property
    def texts(self) -> PickedTexts | None:
        """The texts of the documents; None of a matrix."""
        corpus = self.source.corpus
        return None if corpus is None else PickedTexts(corpus.texts, self.documents.positions)


class Stages:
    """Where the stages of a run take place, in the order of the methods: here in the threads of this process."""

    place: Place

    def __init__(self, settings: RunSettings, *, seed: int = 0, progress: Progress = silent) -> None:
        self.settings, self.seed, self.progress = settings, seed, progress
        self.n_threads, self.place = settings.n_threads, Place(settings.n_threads)

    def holds_rows(self, n_documents: int) -> bool:
        """Return whether the rows of this many documents may be held in memory, for levels to be made of them."""
        return True

    def prepare(
        self,
        source: object,
        *,
        clock: StageClock | None = None,
        encoded: EncodedRows | None = None,
        wants_texts: bool = False,
        finds_copies: bool = False,
    ) -> Prepared:
        """Return a source as vectors: read, encoded where the settings ask for a meaning, vectorized.

        `clock` times the three stages. `encoded`: rows of texts that are not encoded again. `finds_copies`: whether the
        first near-copy of each document is looked for.
        """
        settings, stage = self.settings, (lambda name: nullcontext()) if clock is None else clock.stage
        with stage("read"):
            source = self.parted(source if isinstance(source, Source) else Source(source, settings.reader))
            documents = read_documents(source, settings, self.progress, wants_texts=wants_texts)
            if settings.labels is not None:
                documents = with_labels(documents, settings.labels)
        if settings.has_meaning:
            with stage("encode"):
                documents = with_meaning(documents, settings, self.progress, encoded, place=self.place)
        with stage("vectorize"):
            prepared = self.vectorize(documents)
            if finds_copies:
                likely = self.likely_copies(prepared.vectors)
                copy_of = find_first_copies(prepared.vectors, prepared.documents, documents.corpus, likely)
                prepared = replace(prepared, copy_of=copy_of)
        return prepared

    def parted(self, source: Source) -> Source:
        """Return a source as it is read here."""
        return source

    def vectorize(self, source: SourceDocuments) -> Prepared:
        """Return the documents that have terms, or a meaning to go by, as vectors."""
        settings = self.settings
        vectorization = source.vectorize(
            language=settings.language, options=settings.vectorizer, n_threads=self.n_threads
        )
        documents, empty, vectors = split_empty(source.documents, vectorization.vectors, space=settings.space)
        return Prepared(source, vectorization, documents, vectors, empty)

    def with_letters(self, prepared: Prepared) -> DocumentVectors:
        """Return the vectors with letters beside the words, where these are short."""
        vectors, corpus = prepared.vectors, prepared.source.corpus
        weight, lengths = letters_weight_of(prepared, self.settings)
        if not weight or corpus is None:
            return vectors
        document_of = corpus.source_rows.document_of
        shared = document_of if has_many_documents(document_of) else None
        letters = letters_of(corpus.texts, weight, lengths, document_of=shared, n_threads=self.n_threads)
        return vectors.with_letters(letters and letters.take(prepared.documents.positions))

    def likely_copies(self, vectors: DocumentVectors) -> Integers | None:
        """Return the rows that may be near-copies of others, ascending; None where all are looked at."""
        return None

    def cluster(
        self,
        vectors: DocumentVectors,
        documents: DocumentTable,
        *,
        rows: Integers | None = None,
        **other_settings: Any,
    ) -> Fit:
        """Return the clusters that the algorithm finds in all or some rows, of a number that is given or chosen."""
        settings, seed, progress = replace(self.settings, **other_settings), self.seed, self.progress
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
                clustered,
                count.k,
                seed,
                settings.clustering or {},
                self.n_threads,
                progress,
                smoothed=count.smoothed,
                start=None if count.choice is None else count.choice.labels,
                place=place,
                fit_spherical=self.fit_spherical,
            )
            fit = fit_clusters(algorithm, task)
            # clusters of other rows are kept by the words of their documents
            if clustered.documents is not fitted.documents:
                fit = replace(fit, centroids=centroids_of(fitted.matrix, fit.partition), rule=None)
            if not self.holds_rows(order.size):
                fit = replace(fit, points=None)
            fit = replace(fit, n_asked=count.k, choice=count.choice, letters=vectors.letters)
            return fit.in_input_order(order)

    def finer(self, vectors: DocumentVectors, documents: DocumentTable) -> Recommendation | None:
        """Return subtopics of a sample for clusters whose number was given; None where the data have none."""
        with self.place.for_a_while() as place:
            order = order_of(vectors, place)
            choice, _ = recommended(
                vectors.take(order, place).in_space(self.settings.space),
                documents,
                granularity="subtopics",
                only=True,
                max_documents=MAX_FOR_FINER,
                seed=self.seed,
                n_threads=self.n_threads,
                progress=self.progress,
                place=place,
            )
        # beneath clusters of any number, which are then the topics
        return None if choice.k is None else replace(choice.reordered(order), granularity="topics")

    fit_spherical: FitSpherical | None = None

    def evidence(self, vectors: DocumentVectors, partition: Partition) -> ClusterEvidence:
        """Return the evidence that labels and measures need."""
        return ClusterEvidence(vectors.documents, partition, n_threads=self.n_threads, progress=self.progress)

    def place_documents(self, vectors: DocumentVectors, fit: Fit) -> Placement:
        """Return how each document sits in its cluster."""
        return place_documents(vectors.documents, fit.partition, fit.centroids, n_threads=self.n_threads)

    def judge(self, evidence: ClusterEvidence, documents: DocumentTable) -> Evaluation:
        """Return the scores of the clusters, by the classes too where there are such."""
        settings = self.settings
        if settings.parts is not None:
            return judge_documents(documents, settings.truth_columns, evidence.partition, **self._judging(evidence))
        return evaluate(
            evidence.partition,
            truth={column: list(map(list, documents.labels[column])) for column in settings.truth_columns} or None,
            **self._judging(evidence),
        )

    def _judging(self, evidence: ClusterEvidence) -> dict[str, Any]:
        """Return by what and how clusters are judged, as `evaluate` takes it."""
        return {
            "evidence": evidence,
            "measures": self.settings.measures,
            "pairwise_seconds": PAIRWISE_SECONDS if self.settings.measures is not None else 0.0,
            "n_threads": self.settings.n_threads,
            "progress": self.progress,
        }

    def tell_stage(self, name: str, seconds: float) -> None:
        """Say what a stage took that is over, where a person should know; here the run writes it down."""


def letters_weight_of(prepared: Prepared, settings: RunSettings) -> tuple[float, Lengths]:
    """Return how much letters count in a run, 0 for not at all, and how long their runs are."""
    if settings.letters is False or not settings.takes_letters:
        return 0.0, OF_WORDS
    made = prepared.vectorization
    if made.vectorizer is None:
        if settings.letters:
            raise InputError("a matrix has no letters", remedy=("leave out ", Argument("letters", True)))
        return 0.0, OF_WORDS
    return letters_weight(prepared.vectors, made.vectorizer, made.writing, wanted=settings.letters)


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
