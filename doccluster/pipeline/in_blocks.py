"""A run in blocks: reading, vectorizing and clustering where the documents do not all come into one process.

Texts and rows are files in a scratch folder; the stages run over their blocks, here one after another or on the workers
of a cluster. What follows (names, the report) reads the rows from disk, and is that of any run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.checksums import matrix_checksum
from doccluster.base.package import __version__
from doccluster.base.place import FilePlace
from doccluster.base.plain_values import format_size
from doccluster.base.validation import as_generator
from doccluster.clustering.k_means.spherical import SphericalFit, SphericalParameters
from doccluster.corpus.parts import FilesInParts
from doccluster.corpus.stored_texts import StoredTexts
from doccluster.distributed.block_clustering import Checkpoints, cluster_blocks
from doccluster.distributed.block_evidence import BlockEvidence, likely_copies
from doccluster.distributed.block_steps import blocks_of_table
from doccluster.distributed.text_vectors import learn_terms, write_rows
from doccluster.errors import Argument, InputError, NothingUsable
from doccluster.geometry import ClusterEvidence, Documents
from doccluster.geometry.partition import Partition
from doccluster.labeling import Placement, place_documents
from doccluster.pipeline.fit import Fit
from doccluster.pipeline.in_process import Prepared, Stages, letters_weight_of
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.sources import Source, SourceDocuments
from doccluster.pipeline.vectorizing import Vectorization
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import Letters, letters_vectorizer
from doccluster.vectors.meaning import trusted_weight
from doccluster.vectors.vectorize import choose_vectorizer

MAX_HELD = 50_000  # documents, as many as `-k auto` looks at
DECISIVE = ("n_clusters", "n_init", "max_iter", "tol")  # of the parameters: what labels depend on


class BlockStages(Stages):
    """Where the stages of a run in blocks run: in files, by threads or by the workers of a cluster."""

    place: FilePlace

    def __init__(
        self,
        place: FilePlace,
        settings: RunSettings,
        *,
        keep_bytes: int,
        announce: Callable[[str], None] | None = None,
        checkpoints: Checkpoints | None = None,
        **seed_and_progress: Any,
    ) -> None:
        super().__init__(settings, **seed_and_progress)
        self.place, self.keep_bytes, self.announce, self.checkpoints = place, keep_bytes, announce, checkpoints
        self._bytes_before, self._n_documents = (0, 0), 0

    def parted(self, source: Source) -> Source:
        """Return a matrix as it is, and files of documents to be read in parts.

        Raises InputError if it is something else.
        """
        if source.is_matrix:
            return source
        if source.files is None or source.matrices:
            raise InputError(
                "only files of documents can be divided into blocks",
                remedy=("give files or a folder, or leave out ", Argument("scheduler"), " and ", Argument("scratch")),
            )
        folder = self.place.folder / "texts"
        folder.mkdir()
        return Source(FilesInParts(source.files, folder, self.place.map))

    def vectorize(self, source: SourceDocuments) -> Prepared:
        """Return the documents that have terms, or a meaning to go by, as vectors in files.

        Raises NothingUsable if there is none.
        """
        self._n_documents, settings = len(source.documents), self.settings
        if source.corpus is None:
            prepared = super().vectorize(source)
            vectors = prepared.vectors.kept_in(self.place)
            return replace(prepared, vectors=vectors, vectorization=replace(prepared.vectorization, vectors=vectors))
        texts, meaning = source.corpus.texts, source.meaning
        assert isinstance(texts, StoredTexts)
        options: Mapping[str, Any] = settings.vectorizer or {}
        vectorizer, languages, writing = choose_vectorizer(
            texts, language=settings.language, options=options, n_threads=settings.n_threads
        )
        learn_terms(self.place, texts.blocks, vectorizer)
        keeps = None if meaning is None or settings.space == "words" else meaning.rows.any(axis=1)
        matrix, counts, places = write_rows(self.place, texts.blocks, vectorizer, keeps)
        if not places.size:
            raise NothingUsable(
                f"none of the {len(texts):,} document(s) has a term left: all rows are zero",
                remedy=("check the language and ", Argument("min_df")),
            )
        documents = source.documents.take(places)
        is_empty = np.ones(len(texts), np.bool_)
        is_empty[places] = False
        terms = vectorizer.get_feature_names_out()
        vectors = DocumentVectors(matrix, documents.ids, terms, vectorizer.display_terms_, counts)
        if meaning is not None:
            of_rows = meaning if places.size == len(texts) else meaning.take(places, self.place)
            n_words = vectors.mean_words * places.size / len(texts)
            weight = source.meaning_weight or trusted_weight(matrix, n_words, of_rows, self.n_threads)
            vectors = replace(vectors, meaning=replace(of_rows, weight=weight))
        return Prepared(
            source,
            Vectorization(vectors, vectorizer, languages, writing),
            documents,
            vectors,
            empty=source.documents.take(np.flatnonzero(is_empty)),
        )

    def with_letters(self, prepared: Prepared) -> DocumentVectors:
        """Return the vectors with letters beside the words, where these are short, in files."""
        vectors, corpus = prepared.vectors, prepared.source.corpus
        weight, lengths = letters_weight_of(prepared, self.settings)
        if not weight or corpus is None:
            return vectors
        assert isinstance(corpus.texts, StoredTexts)
        texts, vectorizer = corpus.texts.blocks, letters_vectorizer(lengths)
        try:
            learn_terms(self.place, texts, vectorizer)
        except NothingUsable:
            return vectors
        every = np.ones(len(corpus), np.bool_)
        rows, _, _ = write_rows(self.place, texts, vectorizer, every, name="letters")
        return vectors.with_letters(Letters(self.place.take(rows, prepared.documents.positions), weight))

    def holds_rows(self, n_documents: int) -> bool:
        """Return whether the rows of this many documents may be held in memory, for levels to be made of them."""
        return n_documents <= MAX_HELD

    def likely_copies(self, vectors: DocumentVectors) -> Integers | None:
        """Return the rows that may be near-copies of others, ascending; None of dense rows."""
        return likely_copies(self.place, vectors.matrix) if vectors.is_sparse else None

    def fit_spherical(self, documents: Documents, parameters: SphericalParameters) -> SphericalFit:
        """Return the best of the starts of spherical k-means, over blocks."""
        checkpoints = self.checkpoints
        if checkpoints is not None:
            decisive = {name: getattr(parameters, name) for name in DECISIVE}
            state = as_generator(parameters.random_state).bit_generator.state
            begins = parameters.init if isinstance(parameters.init, str) else None  # means follow from the rows
            key = matrix_checksum(documents.matrix, **decisive, init=begins, random=state, version=__version__)
            checkpoints = replace(checkpoints, key=key)
        blocks = blocks_of_table(self.place, documents.unit)
        return cluster_blocks(self.place, blocks, parameters, keep_bytes=self.keep_bytes, checkpoints=checkpoints)

    def evidence(self, vectors: DocumentVectors, partition: Partition) -> ClusterEvidence:
        """Return the evidence that measures need; that of csr rows is made where they lie."""
        if not vectors.is_sparse:
            return super().evidence(vectors, partition)
        how: dict[str, Any] = {"n_threads": self.n_threads, "progress": self.progress}
        return BlockEvidence(self.place, vectors.documents, partition, **how)

    def place_documents(self, vectors: DocumentVectors, fit: Fit) -> Placement:
        """Return how each document sits in its cluster."""
        return place_documents(vectors.documents, fit.partition, fit.centroids, place=self.place)

    def tell_stage(self, name: str, seconds: float) -> None:
        """Say in a line what a stage took: its rate, the workers, and the bytes that travelled in it."""
        sent, received = self.place.traffic.sent, self.place.traffic.received
        (sent_before, received_before), n_documents = self._bytes_before, self._n_documents
        self._bytes_before = sent, received
        if self.announce is None:
            return
        rate = f" ({n_documents / seconds:,.0f} documents a second)" if n_documents and seconds > 0 else ""
        moved = ""
        if sent or received:
            moved = f"; {format_size(sent - sent_before)} sent, {format_size(received - received_before)} came back"
        n_workers = self.place.n_workers
        at_a_time = "1 worker thread" if n_workers == 1 else f"{n_workers} worker threads"
        self.announce(f"{name}: {seconds:.1f} s{rate}, {at_a_time}{moved}")
