"""A run in blocks: reading, vectorizing and clustering where the documents do not all come into one process.

Texts and rows are files in a scratch folder; the three stages run over their blocks, here one after another or on the
workers of a cluster. What follows (labels, scores, the report) reads the rows from disk, and is that of any run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from doccluster.base.blocks import row_blocks
from doccluster.base.executors import CsrFiles, Executor, InFiles, join_rows, opened
from doccluster.base.plain_values import checksum, format_size
from doccluster.base.progress import Progress
from doccluster.base.version import __version__
from doccluster.clustering.algorithms import QUALITIES, SPHERICAL
from doccluster.clustering.k_means.spherical import SphericalParameters, result_of
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, found_of
from doccluster.clustering.smoothed.document_spaces import taken_rows
from doccluster.corpus import Corpus
from doccluster.corpus.parts import FilesInParts
from doccluster.corpus.reading import as_paths
from doccluster.corpus.stored_texts import StoredTexts
from doccluster.distributed.block_clustering import cluster_blocks
from doccluster.distributed.block_evidence import BlockEvidence, place_in_blocks
from doccluster.distributed.checkpoints import Checkpoints
from doccluster.distributed.document_blocks import LAID_OUT, BlockDocuments
from doccluster.distributed.joined_rows import joined_rows, likely_copies
from doccluster.distributed.matrix_block import MatrixBlock, blocks_of_table, in_their_places
from doccluster.distributed.text_vectors import learn_terms, write_rows
from doccluster.errors import Argument, InputError, NothingUsable
from doccluster.geometry.partition import Partition
from doccluster.labeling import Placement
from doccluster.pipeline._cluster_count import ClusterCount
from doccluster.pipeline._fitting import FittedClusters, fit_of
from doccluster.pipeline._in_process import Stages, VectorizedDocuments, letters_weight_of, row_digests
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import with_meaning
from doccluster.pipeline.sources import SourceDocuments, is_matrix
from doccluster.pipeline.vectorizing import Vectorization
from doccluster.results.document_table import DocumentTable
from doccluster.results.encoded_rows import EncodedRows
from doccluster.vectors import DocumentVectors
from doccluster.vectors.letters import Letters, letters_vectorizer
from doccluster.vectors.meaning import Meaning, usual_weight
from doccluster.vectors.vectorize import choose_vectorizer


@dataclass
class BlockProgress:
    """What is known of a run: for the lines about its stages bytes sent and received and documents, and its blocks."""

    moved: tuple[int, int] = (0, 0)
    n_documents: int = 0
    n_terms: int = 0
    blocks: list[MatrixBlock] = field(default_factory=list)
    meaning: Meaning | None = None  # of the documents of the blocks; its rows stand for files
    letters: Letters | None = None  # likewise


@dataclass(frozen=True, kw_only=True)
class BlockStages(Stages):
    """Where the stages of a run in blocks run, and where their files lie."""

    executor: Executor
    folder: Path
    keep_bytes: int
    announce: Callable[[str], None] | None = None
    checkpoints: Checkpoints | None = None
    blocks_progress: BlockProgress = field(default_factory=BlockProgress)
    has_rows: ClassVar[bool] = False

    def parted(self, source: Any) -> FilesInParts:
        """Return a source as files that are read in parts. Raises InputError if it is not made of files."""
        paths = as_paths(source)
        if paths is None or any(is_matrix(path) for path in paths):
            raise InputError(
                "only files of documents can be divided into blocks",
                remedy=("give files or a folder, or leave out ", Argument("scheduler"), " and ", Argument("scratch")),
            )
        (self.folder / "texts").mkdir()
        return FilesInParts(paths, self.folder / "texts", self.executor.map)

    @property
    def tables(self) -> InFiles:
        """Where tables of all documents are made."""
        return InFiles(self.executor, self.folder)

    def with_meaning(
        self, source: SourceDocuments, settings: RunSettings, progress: Progress, encoded: EncodedRows
    ) -> SourceDocuments:
        """Return a source with the meaning that its run asks for, in files of the scratch folder."""
        return with_meaning(source, settings, progress, encoded, place=self.tables)

    def vectorize(self, source: SourceDocuments, settings: RunSettings) -> VectorizedDocuments:
        """Return the vectors of the documents that have terms, or a meaning to go by.

        Raises NothingUsable if there is none.
        """
        corpus = source.corpus
        assert isinstance(corpus, Corpus)
        self.blocks_progress.n_documents = len(corpus)
        assert isinstance(corpus.texts, StoredTexts)
        options: Mapping[str, Any] = settings.vectorizer or {}
        vectorizer, languages, writing = choose_vectorizer(
            corpus.texts, language=settings.language, options=options, n_threads=settings.n_threads
        )
        texts = corpus.texts.blocks
        counted, rows = self.folder / "counts", self.folder / "rows"
        counted.mkdir()
        rows.mkdir()
        learn_terms(self.executor, texts, vectorizer, counted)
        meaning = source.meaning
        keeps = None if meaning is None or settings.space == "words" else opened(meaning.rows).any(axis=1)
        blocks, places = write_rows(self.executor, texts, vectorizer, counted, rows, keeps)
        if not places.size:
            raise NothingUsable(
                f"none of the {len(corpus):,} document(s) has a term left: all rows are zero",
                remedy=("check the language and ", Argument("min_df")),
            )
        matrix, counts = joined_rows(blocks, self.folder)
        documents = source.documents.take(places)
        is_empty = np.ones(len(corpus), np.bool_)
        is_empty[places] = False
        empty = source.documents.take(np.flatnonzero(is_empty))
        terms = vectorizer.get_feature_names_out()
        vectors = DocumentVectors(matrix, documents.ids, terms, vectorizer.display_terms_, counts)
        if meaning is not None:
            if places.size < len(corpus):
                pieces, places_in_file = row_blocks(places.size, LAID_OUT), self.tables.keep(places)
                width = meaning.centre.size
                rows_left = self.tables.table(taken_rows, pieces, width, np.float32, meaning.rows, places_in_file)
                meaning = replace(meaning, rows=rows_left)
            n_words = vectors.mean_words * vectors.n_documents / len(corpus)
            meaning = replace(meaning, weight=source.meaning_weight or usual_weight(n_words))
            vectors = replace(vectors, meaning=replace(meaning, rows=opened(meaning.rows)))
            self.blocks_progress.meaning = meaning
        self.blocks_progress.blocks, self.blocks_progress.n_terms = blocks, vectors.n_terms
        return VectorizedDocuments(Vectorization(vectors, vectorizer, languages, writing), documents, vectors, empty)

    def with_letters(
        self, vectorized: VectorizedDocuments, source: SourceDocuments, settings: RunSettings
    ) -> DocumentVectors:
        """Return the vectors with letters beside the words, where these are short; their rows stand for files."""
        vectors, weight = vectorized.vectors, letters_weight_of(vectorized, settings)
        if not weight:
            return vectors
        assert source.corpus is not None
        assert isinstance(source.corpus.texts, StoredTexts)
        texts, vectorizer, positions = source.corpus.texts.blocks, letters_vectorizer(), vectorized.documents.positions
        counted, rows, joined = (self.folder / name for name in ("letter-counts", "letter-rows", "letters"))
        for folder in (counted, rows, joined):
            folder.mkdir()
        try:
            learn_terms(self.executor, texts, vectorizer, counted)
        except NothingUsable:
            return vectors
        every = np.ones(len(source.corpus), np.bool_)
        blocks, _ = write_rows(self.executor, texts, vectorizer, counted, rows, every)
        whole, pieces = (
            join_rows(joined, lambda: (block.matrix for block in blocks)),
            row_blocks(positions.size, LAID_OUT),
        )
        letters = Letters(self.tables.rows(taken_rows, pieces, whole, self.tables.keep(positions)), weight)
        self.blocks_progress.letters = letters
        return vectors.with_letters(replace(letters, rows=opened(letters.rows)))

    def likely_copies(self) -> npt.NDArray[np.int64]:
        """Return the rows that may be near-copies of others, ascending."""
        rows = CsrFiles(str(self.folder), self.blocks_progress.n_terms)
        return likely_copies(self.executor, self.blocks_progress.blocks, rows, self.folder)

    def cluster(
        self, vectors: DocumentVectors, documents: DocumentTable, settings: RunSettings, seed: int, progress: Progress
    ) -> tuple[FittedClusters, ClusterCount]:
        """Return the clusters of the rows, by the algorithms that work in blocks."""
        blocks = self.blocks_progress.blocks
        meaning = self.blocks_progress.meaning
        letters = self.blocks_progress.letters
        views = [None if view is None else view.rows for view in (meaning, letters)]
        of_blocks = ({"digests": digests} for digests in self.tables.map(block_digests, blocks, *views))
        digests = in_their_places(blocks, of_blocks)["digests"]
        order = np.argsort(digests, kind="stable")
        options = {name: value for name, value in (settings.clustering or {}).items() if value is not None}
        asked_for = (
            *(settings.algorithm, settings.n_clusters, sorted(options.items()), seed, __version__),
            *(settings.space, *(None if view is None else view.weight for view in (meaning, letters))),
        )
        key = checksum([repr(asked_for), digests.view(np.uint8).data])
        del digests
        how: dict[str, Any] = {
            "keep_bytes": self.keep_bytes,
            "checkpoints": self.checkpoints and self.checkpoints.of(key),
        }
        fit_settings: dict[str, Any] = {"n_clusters": settings.n_clusters, "random_state": seed, "progress": progress}
        rows, counts = (CsrFiles(str(self.folder), vectors.n_terms, values) for values in ("data", "counts"))
        documents_in_blocks = BlockDocuments(self.tables, blocks, rows, counts, meaning, order, letters)
        if meaning is not None and settings.space != "both":
            vectors.in_space(settings.space)  # raises where some have no meaning
            documents_in_blocks = replace(documents_in_blocks, meaning=None)
            if settings.space == "meaning":
                documents_in_blocks = replace(
                    documents_in_blocks, blocks=blocks_of_table(meaning.rows), rows=meaning.rows, counts=None
                )
        if settings.algorithm == SPHERICAL:
            table = (
                documents_in_blocks.blocks
                if documents_in_blocks.meaning is None
                else blocks_of_table(documents_in_blocks.side_by_side())
            )
            parameters = SphericalParameters(**fit_settings, **options)
            fit = partial(cluster_blocks, self.executor, table, parameters, scratch=self.folder, order=order, **how)
            result = result_of(fit)
            result = result if table is blocks else replace(result, centroids=None)
        else:
            quality = {algorithm: name for name, algorithm in QUALITIES.items()}[settings.algorithm]
            fit_settings |= {"quality": quality, "n_threads": self.n_threads, **options}
            result = found_of(documents_in_blocks.cluster(DocumentParameters(**fit_settings), **how))
        return fit_of(result, vectors.matrix), ClusterCount(int(settings.n_clusters))

    def evidence(self, vectors: DocumentVectors, partition: Partition, progress: Progress) -> BlockEvidence:
        """Return the evidence that measures need, made where the blocks are."""
        rows = CsrFiles(str(self.folder), vectors.n_terms)
        return BlockEvidence(
            self.executor,
            self.blocks_progress.blocks,
            rows,
            vectors.documents,
            partition,
            n_threads=self.n_threads,
            progress=progress,
        )

    def place(self, vectors: DocumentVectors, fit: FittedClusters) -> Placement:
        """Return how each document sits in its cluster."""
        return place_in_blocks(self.executor, self.blocks_progress.blocks, fit.partition, fit.centroids)

    def tell_stage(self, name: str, seconds: float) -> None:
        """Say in a line what a stage took: its rate, the workers, and the bytes that travelled in it."""
        sent, received = self.executor.bytes_sent, self.executor.bytes_received
        before, n_documents = self.blocks_progress.moved, self.blocks_progress.n_documents
        self.blocks_progress.moved = sent, received
        if self.announce is None:
            return
        rate = f" ({n_documents / seconds:,.0f} documents a second)" if n_documents and seconds > 0 else ""
        moved = ""
        if sent or received:
            moved = f"; {format_size(sent - before[0])} sent, {format_size(received - before[1])} came back"
        n_workers = self.executor.n_workers
        at_a_time = "1 worker thread" if n_workers == 1 else f"{n_workers} worker threads"
        self.announce(f"{name}: {seconds:.1f} s{rate}, {at_a_time}{moved}")


def block_digests(block: MatrixBlock, *views: Any) -> npt.NDArray[np.bytes_]:
    """Return a digest of each row, its counts, and its rows in further views, as `canonical_order` sorts them."""
    return row_digests(block.matrix, block.counts, *(None if view is None else view[block.places] for view in views))
