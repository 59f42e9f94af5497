"""Search: documents ranked for a query by BM25 and by their neighbours, in groups with labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Flags, Floats, Integers
from doccluster.base.named_places import Announce
from doccluster.base.parameter_fields import described_by
from doccluster.base.paths import write_page
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import check_positive_int
from doccluster.errors import Argument, InputError, NothingUsable
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import meaning_of_queries
from doccluster.pipeline.sources import read_source
from doccluster.report.page import page_part, rendered
from doccluster.results.document_table import DocumentTable
from doccluster.results.record import Run
from doccluster.results.run_folder import is_run_folder, load_run
from doccluster.results.tree import TreeLevel, place_of_cluster
from doccluster.retrieval.grouping import MAX_GROUPS, cluster_search_results, vectorize_short_texts
from doccluster.retrieval.hits import GroupedHits, SearchHit
from doccluster.retrieval.ranking import N_RERANKED, Bm25Index, best_documents, joined_ranks, rerank

N_HITS = 100
RANKINGS = ("neighbours", "bm25", "meaning")

RankedBy = Literal["neighbours", "bm25", "meaning"]


@dataclass(frozen=True, eq=False, repr=False)
class SearchIndex(ShortRepr):
    """Documents that can be searched again and again; `open_search` makes it."""

    documents: DocumentTable
    bm25: Bm25Index  # row for row
    rows: Any  # doccluster.geometry.Documents: unit rows, by which documents are neighbours
    # returns the cosine of each document to what a query means; of a run with an encoder
    cosines: Callable[[str], npt.NDArray[Any]] | None = None
    meaning: npt.NDArray[np.float32] | None = None  # of a run that was clustered by it: unit rows, which group hits too
    levels: tuple[TreeLevel, ...] = ()  # of a run, the coarsest first
    n_shown: int = 0  # how many of them there are down to the clusters that the run shows
    is_searched: Flags | None = None  # all where it is None
    document_of: Integers | None = None  # of each part, of a run in parts; of a document its best part is found alone

    def within(self, cluster: int | str) -> SearchIndex:
        """Return the documents of one cluster of a run ready to be searched: "section:3", or the number of a cluster.

        Raises InputError if there is none, or the documents are not those of a run.
        """
        place = place_of_cluster(self.levels, self.n_shown - 1, str(cluster))
        if place is None:
            remedy = "give a number, or section:3 for a cluster of another level, as `explain` lists them"
            if not self.levels:
                remedy = "search in the folder of a run"
            raise InputError(f"there is no cluster {str(cluster)[:80]!r} to search in", remedy=remedy)
        return replace(self, is_searched=self.levels[place[0]].labels == place[1])

    def rank(self, query: str, n_hits: int | None = None, *, ranked_by: RankedBy = "neighbours") -> Integers:
        """Return the documents for a query, best first.

        Raises InputError if the query is empty, or the ranking is not known. Raises NothingUsable if no document has a
        word of the query.

        `n_hits`: the most hits. `ranked_by`: with neighbours, the 1,000 best by BM25 (or `n_hits`, if that is more) are
        ranked again by `doccluster.retrieval.rerank`. With meaning, that ranking and the one by the cosines to what the
        query means are joined by reciprocal ranks; documents without a word of the query can be found too.
        """
        return self._ranked(query, self._scores(query, ranked_by), n_hits, ranked_by)

    def search(
        self,
        query: str,
        *,
        n_hits: int = N_HITS,
        max_groups: int = MAX_GROUPS,
        ranked_by: RankedBy = "neighbours",
        language: str | Sequence[str] = "auto",
    ) -> GroupedHits:
        """Return the best documents for a query in groups, as `search` does."""
        check_positive_int(n_hits, "n_hits")
        scores = self._scores(query, ranked_by)
        best = self._ranked(query, scores, n_hits, ranked_by)
        place = {row: place for place, row in enumerate(best_documents(scores, max(N_RERANKED, n_hits)).tolist())}
        hits = [_as_hit(self.documents, row) for row in best.tolist()]
        meaning = None if self.meaning is None else self.meaning[best]
        groups = cluster_search_results(hits, query, max_groups=max_groups, language=language, meaning=meaning)
        paths = zip(*(level.labels_of(best) for level in self.levels[: self.n_shown]), strict=True)
        return replace(groups, bm25_places=tuple(place.get(row) for row in best.tolist()), paths=tuple(paths))

    def _scores(self, query: str, ranked_by: str) -> npt.NDArray[np.float64]:
        """Return the scores by BM25, zeros where no document has a word of the query and meaning may find some."""
        if ranked_by not in RANKINGS:
            raise InputError(f"ranked_by={ranked_by!r} is not known; choose one of {', '.join(RANKINGS)}.")
        try:
            scores = self._of_searched(self.bm25.scores(query))
            if ranked_by != "meaning" and not scores.any():
                raise NothingUsable(f"no document there has a word of the query {query[:80]!r}; try other words.")
            return scores
        except NothingUsable as error:
            if ranked_by == "meaning":
                return np.zeros(len(self.documents))
            if self.cosines is None:  # documents, not a run
                raise
            problem = str(error).removesuffix(".")
            raise NothingUsable(
                f"{problem}, or search the documents themselves: a run leaves some words out."
            ) from None

    def _ranked(self, query: str, scores: npt.NDArray[np.float64], n_hits: int | None, ranked_by: str) -> Integers:
        if self.document_of is None:
            return self._ranked_rows(query, scores, n_hits, ranked_by)
        rows = self._ranked_rows(query, scores, None, ranked_by)
        best = np.unique(self.document_of[rows], return_index=True)[1]
        return rows[np.sort(best)][:n_hits]

    def _ranked_rows(self, query: str, scores: npt.NDArray[np.float64], n_hits: int | None, ranked_by: str) -> Integers:
        if ranked_by == "bm25":
            return best_documents(scores, n_hits)
        n_ranked = max(N_RERANKED, n_hits or 0)
        by_words = rerank(scores, self.rows, n_reranked=n_ranked, n_threads=1)
        if ranked_by == "neighbours":
            return by_words[:n_hits]
        if self.cosines is None:
            raise InputError("the documents have no meaning", remedy="search in the folder of a run with an encoder")
        by_meaning = best_documents(self._of_searched(self.cosines(query)), n_ranked)
        return best_documents(joined_ranks(by_words, by_meaning, n_documents=scores.size), n_hits)

    def _of_searched(self, scores: Floats) -> Floats:
        return scores if self.is_searched is None else np.where(self.is_searched, scores, 0.0)


@described_by(RunSettings)
def search(
    query: str,
    source: object,
    *,
    n_hits: int = N_HITS,
    max_groups: int = MAX_GROUPS,
    ranked_by: RankedBy = "neighbours",
    within: int | str | None = None,
    language: str | Sequence[str] = "auto",
    reader: Mapping[str, object] | None = None,
    encoder: object = None,
    n_threads: int | None = None,
    announce: Announce | None = None,
    progress: Progress = silent,
) -> GroupedHits:
    """Return the documents that fit a query best, in groups.

    Parameters
    ----------
    query : str
    source : Corpus, path, sequence of paths, table, iterable of texts, or a Run or its folder
        As for `open_search`, which saves reading the source again for each query. The two may change places.
    n_hits : int
        How many of the best documents are grouped.
    ranked_by : {'neighbours', 'bm25', 'meaning'}
        As for `SearchIndex.rank`; `bm25_places` of what is returned has the places by BM25 alone.
    within : int or str, optional
        The cluster of a run whose documents alone are searched: its number, or "section:3" for one of another level.
    max_groups : int
        As for `cluster_search_results`.
    encoder, announce : optional
        As for `open_search`; an encoder goes with ``ranked_by="meaning"``.

    Raises
    ------
    InputError
        If the query is empty, the source is a matrix, which has no texts, or there is no such cluster.
    NothingUsable
        If no document has a word of the query.
    """
    check_positive_int(n_hits, "n_hits")
    if isinstance(source, str):
        is_path = [isinstance(path, str) and os.path.exists(path) for path in (query, source)]  # noqa: PTH110  never raises
        if not isinstance(query, str) or is_path == [True, False]:
            query, source = source, query  # as people write who think of the documents first
    if not isinstance(query, str):
        problem = f"is a {type(query).__name__}"
        raise InputError(problem, argument="query", expected="the words to search for, as one text")
    if not query.strip():
        raise InputError("the query is empty; give the words to search for.")
    if encoder is not None and ranked_by != "meaning":
        problem = "is for the meaning of a query"
        raise InputError(problem, argument="encoder", remedy=("give ", Argument("ranked_by", "meaning"), " too"))
    index = open_search(
        source,
        language=language,
        reader=reader,
        encoder=encoder,
        n_threads=n_threads,
        announce=announce,
        progress=progress,
    )
    index = index if within is None else index.within(within)
    progress("search", 0)
    return index.search(query, n_hits=n_hits, max_groups=max_groups, ranked_by=ranked_by, language=language)


@described_by(RunSettings)
def open_search(
    source: Any,
    *,
    language: str | Sequence[str] = "auto",
    reader: Mapping[str, object] | None = None,
    encoder: object = None,
    n_threads: int | None = None,
    announce: Announce | None = None,
    progress: Progress = silent,
) -> SearchIndex:
    """Return documents ready to be searched.

    Raises InputError if the source is a matrix, or a run of one. Raises NothingUsable if no document has a term.

    Parameters
    ----------
    source : Corpus, path, sequence of paths, table, iterable of texts, or a Run or its folder
        Of a run its counts of terms are searched, and nothing is read again: a word that the run left out, because one
        document alone has it, is not found. `language` and `reader` are for documents only.
    encoder : str or object, optional
        Of a run: what embeds a query, in place of the encoder that the run names. One that may run code, or lies on
        another machine, has to be named here.
    announce : callable, optional
        Called with a sentence before the folder of an encoder that the run names is read.
    """
    progress("read", 0)
    if isinstance(source, Run) or is_run_folder(source):
        return _of_run(source, encoder, announce)
    if encoder is not None:
        raise InputError("embeds queries in a run", argument="encoder", remedy="give the folder of a run made with it")
    documents_read = read_source(source, reader=dict(reader or {}), progress=progress)
    if documents_read.corpus is None:
        raise InputError("the source is a matrix, which has no texts to search in; give the documents themselves.")
    progress("vectorize", 0)
    both = zip(documents_read.corpus.column("title"), documents_read.corpus.texts, strict=True)
    texts = [text if text.startswith(title) else f"{title}\n{text}" for title, text in both]
    vectorization = vectorize_short_texts(texts, language, n_threads, min_df=1, dropped_terms=())  # all are found
    if vectorization is None or vectorization.vectorizer is None:
        raise NothingUsable("no document has a term to be found by; check the language.")
    bm25 = Bm25Index.from_counts(vectorization.vectors.counts, vectorization.vectorizer)
    return SearchIndex(documents_read.documents, bm25, vectorization.vectors.documents)


def _of_run(folder: Run | str | Path, encoder: object, announce: Announce | None) -> SearchIndex:
    run = load_run(folder)
    if run.vectorizer is None or run.vectors.counts is None:
        raise InputError(
            "the run is of vectors without texts, so there are no words to search for (or its vectorizer made weights "
            "and no counts); give a run of documents, or the documents themselves."
        )
    # the encoder is read when it is first needed
    asking = cache(lambda: meaning_of_queries(run, encoder, announce=announce))
    return SearchIndex(
        run.documents,
        Bm25Index.from_counts(run.vectors.counts, run.vectorizer),
        run.vectors.documents,
        lambda query: asking()(query),
        None if run.by_meaning is None or run.vectors.meaning is None else run.vectors.meaning.rows,
        run.levels,
        len(run.around.coarser) + 1,
        document_of=None if run.parts is None else run.document_of,
    )


def _as_hit(documents: DocumentTable, row: int) -> SearchHit:
    title = documents.titles[row]
    snippet = documents.excerpts[row].removeprefix(title).strip()
    return SearchHit(title=title, snippet=snippet, url=documents.links[row], id=documents.ids[row])


def write_search_page(result: GroupedHits, path: str | os.PathLike[str]) -> Path:
    """Write grouped search results as one self-contained page, groups on the left, and return its path.

    Raises InputError if the file cannot be written.
    """
    page = rendered(
        "search.html",
        query=result.query,
        hits=result.hits,
        groups=result.named_groups,
        n_groups=len(result.groups),
        copy_of=result.copy_of,
        copies=Counter(result.copy_of.values()),
        bm25_places=result.bm25_places,
        paths=result.paths,
        style=page_part("report.css") + page_part("search.css"),
    )
    return write_page(page, path, what="page")
