"""The fourth stage: what the clusters are about, in words as they are written in the texts."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Labels
from doccluster.base.progress import LOOPS
from doccluster.base.worker_processes import begin
from doccluster.corpus.mail import begins_with_head, split_headers, strip_footer, strip_quotes
from doccluster.corpus.stored_texts import PickedTexts, text_lengths
from doccluster.geometry import ClusterEvidence
from doccluster.geometry.partition import Partition
from doccluster.labeling import ClusterDescription, Placement, describe_clusters
from doccluster.labeling.label_phrases import LabelPhrases, TitleCounts, count_label_phrases
from doccluster.labeling.label_terms import label_levels
from doccluster.pipeline.fit import Fit
from doccluster.pipeline.guiding import with_names_of_topics
from doccluster.pipeline.in_process import Prepared, Stages
from doccluster.pipeline.nested_levels import LabelsOfLevels
from doccluster.pipeline.vectorizing import Vectorization
from doccluster.results.overview import outlets_of
from doccluster.results.record import Run
from doccluster.results.tree import Levels, TreeLevel
from doccluster.text.analysis import analysis_of
from doccluster.text.boilerplate import boilerplate_words
from doccluster.text.language import (
    MIN_WORDS,
    STOP_WORD_LANGUAGES,
    learned_function_words,
    load_stop_words,
    survey_writing,
)
from doccluster.text.running_text import count_forms, written_forms
from doccluster.vectors import DocumentVectors

MAX_CHARACTERS = 4_000_000  # of text that is read again for the way its words are written
PER_DOCUMENT = 4_000
MAX_PHRASE_CHARACTERS = 2_000_000
ALL_LISTED = 0.98  # of the texts in languages with a list of function words
N_READ = 1_000  # texts, evenly spaced, that tell how words are written where there are no clusters yet
N_MESSAGES = 2_000  # evenly spaced, in which the words of their writers are told
QUOTING = (">", "|", ":", "}")
MAX_TITLES = 50_000  # of more, about as many evenly spaced ones are read
_WORD = re.compile(r"\w+")


class NamedClusters(NamedTuple):
    """What the clusters are about, those of the levels around them, and the vectors with terms as they are written."""

    clusters: tuple[ClusterDescription, ...]
    levels: Levels
    vectors: DocumentVectors
    notes: tuple[str, ...]  # in sentences, which levels are left out


def name_clusters(
    fit: Fit,
    prepared: Prepared,
    evidence: ClusterEvidence,
    placement: Placement,
    levels_around: Callable[[], LabelsOfLevels],
    stages: Stages,
) -> NamedClusters:
    """Describe each cluster, and those of the levels around them, with the names of the topics that are known.

    The vectorizer learns the commonest written forms of the terms too, so that later labels show the same words.
    `levels_around`: waits for those levels, which are looked for while the clusters themselves are described.
    Documents that are shown as Other stand for no cluster, and do not count in its size.
    """
    how, vectors, texts, partition = prepared.vectorization, prepared.vectors, prepared.texts, fit.partition
    # a title is of a document, which its parts share
    titles = prepared.documents.titles if stages.settings.parts is None else ("",) * len(prepared.documents)
    outlets = outlets_of(prepared.documents)
    central = () if texts is None else PickedTexts(texts, _most_central(partition, placement, texts))
    # counted while phrases are looked for
    written_vectors = written_forms_begun(how, vectors, central, n_documents=vectors.n_documents)
    unwanted = unwanted_words(how, texts, prepared.copy_of)
    phrases = phrases_of(how, vectors, partition, texts, titles, how.function_words.union(unwanted))
    vectors = written_vectors()

    def level(name: str, labels: Labels, phrases: LabelPhrases | None = None, **evidence: Any) -> TreeLevel:
        of_level = Partition(labels, tuple(range(int(labels.max()) + 1)))
        options: dict[str, Any] = {"unwanted": unwanted, "outlets": outlets, "phrases": phrases, **evidence}
        described = describe_texts(how, vectors, of_level, texts, titles, **options)
        return TreeLevel(name, labels, tuple(without_other(described, of_level, fit.is_other)))

    shown = level("", partition.labels, phrases, placement=placement, evidence=evidence)
    around = levels_around()
    shown = replace(shown, name=around.shown)
    # names of the levels above are made of the same phrases, added up
    coarser = []
    for name, labels in around.coarser.items():
        groups = shown.parents_on(TreeLevel(name, labels, ()))
        coarser.append(level(name, labels, None if phrases is None else phrases.of_groups(groups)))
    finer = [level(name, labels) for name, labels in around.finer.items()]
    every, levels, clusters = [*coarser, shown, *finer], Levels(), shown.clusters
    if len(every) > 1:
        parents = [fine.parents_on(coarse) for coarse, fine in itertools.pairwise(every)]
        labeled = label_levels([tree_level.clusters for tree_level in every], parents)
        every = [replace(tree_level, clusters=named) for tree_level, named in zip(every, labeled, strict=True)]
        place = len(coarser)
        levels = Levels(shown.name, tuple(every[:place]), tuple(every[place + 1 :]))
        clusters = every[place].clusters
    if fit.topic_of is not None:
        levels, clusters = with_names_of_topics(fit, stages.settings.topics, levels, clusters)
    return NamedClusters(clusters, levels, vectors, around.notes)


def unwanted_words(
    vectorization: Vectorization, texts: Sequence[str] | None, copy_of: npt.NDArray[np.int64] | None
) -> frozenset[str]:
    """Return the words that name nothing: boilerplate, writers, function words of languages without a list."""
    if texts is None or vectorization.vectorizer is None:
        return frozenset()
    once = texts if copy_of is None else PickedTexts(texts, np.unique(copy_of))
    unwanted = boilerplate_words(once) | words_of_writers(once)
    if vectorization.writing is None or sum(vectorization.writing.languages.values()) >= ALL_LISTED:
        return vectorization.as_you_say(unwanted)
    telling = PickedTexts(once, np.flatnonzero(text_lengths(once) >= 2 * MIN_WORDS))  # a word or two tell no language
    languages = survey_writing(telling).languages if vectorization.languages else ()
    lists = [load_stop_words(name) for name in {*vectorization.languages, *languages}]
    return vectorization.as_you_say(unwanted.union(learned_function_words(telling, lists), *lists))


def words_of_writers(texts: Sequence[str]) -> frozenset[str]:
    """Return the words (lower case) that most messages have only where they say who wrote them.

    That is in their headers but the subject, in lines that name a quoted writer, and in their signatures.

    >>> head = "From: writer@mill.example\\nSubject: Rye bread\\n\\n"
    >>> sorted(words_of_writers([head + "Bake it longer.\\n\\n-- \\nAda Writer, The Mill"]))
    ['ada', 'example', 'from', 'mill', 'subject', 'the', 'writer']
    """
    n_own: Counter[str] = Counter()
    n_elsewhere: Counter[str] = Counter()
    for text in texts[:: max(1, len(texts) // N_MESSAGES)]:
        if not begins_with_head(text[:PER_DOCUMENT]):
            continue
        headers, body = split_headers(text)
        unquoted = strip_quotes(body)
        message = strip_footer(unquoted)
        unquoted_lines = set(unquoted.split("\n"))
        attributions = [
            line for line in body.split("\n") if line.lstrip()[:1] not in QUOTING and line not in unquoted_lines
        ]
        writers = " ".join([text[: len(text) - len(body)], unquoted[len(message) :], *attributions])
        words = _words_in(f"{headers.get('subject', '')} {message}")
        n_own.update(words)
        n_elsewhere.update(_words_in(writers) - words)
    return frozenset(word for word, count in n_elsewhere.items() if count > n_own[word])


def _words_in(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def without_other(
    described: Sequence[ClusterDescription], partition: Partition, is_other: npt.NDArray[np.bool_] | None
) -> list[ClusterDescription]:
    """Describe clusters without the documents that are shown as Other."""
    if is_other is None:
        return list(described)
    sizes = np.bincount(partition.labels[~is_other], minlength=partition.n_clusters).tolist()
    return [
        replace(
            description,
            size=sizes[description.cluster],
            representatives=tuple(shown for shown in description.representatives if not is_other[shown.row]),
            borderline=tuple(near for near in description.borderline if not is_other[near.row]),
        )
        for description in described
    ]


def describe_texts(
    vectorization: Vectorization,
    vectors: DocumentVectors,
    partition: Partition,
    texts: Sequence[str] | None,
    titles: Sequence[str] | None = None,
    *,
    unwanted: Collection[str] = frozenset(),
    phrases: LabelPhrases | None = None,
    max_characters: int = MAX_PHRASE_CHARACTERS,
    **options: Any,
) -> list[ClusterDescription]:
    """Describe clusters of texts, by phrases that may be counted already: for runs, searches and browsers alike."""
    words = vectorization.function_words.union(unwanted)
    if phrases is None:
        phrases = phrases_of(vectorization, vectors, partition, texts, titles, words, max_characters)
    in_titles = title_counts(vectorization, partition, titles)
    return describe_clusters(
        vectors,
        partition,
        texts=texts,
        titles=titles,
        phrases=phrases,
        in_titles=in_titles,
        function_words=words,
        **options,
    )


def vectorized_of(run: Run) -> Vectorization:
    """Return how the texts of a run became terms."""
    resolved = run.parameters.get("resolved")
    languages = resolved.get("languages") if isinstance(resolved, Mapping) else None
    languages_with_list = [name for name in languages or () if isinstance(name, str) and name in STOP_WORD_LANGUAGES]
    return Vectorization(run.vectors, run.vectorizer, tuple(languages_with_list))


def phrases_of(
    vectorization: Vectorization,
    vectors: DocumentVectors,
    partition: Partition,
    texts: Sequence[str] | None,
    titles: Sequence[str] | None,
    unwanted: Collection[str],
    max_characters: int = MAX_PHRASE_CHARACTERS,
) -> LabelPhrases | None:
    """Return the phrases that may name clusters; None where terms are not words, or phrases already."""
    chosen = vectorization.vectorizer
    if chosen is None or texts is None or vectors.terms is None:
        return None
    if chosen.analyzer not in ("word", "script") or tuple(chosen.ngram_range)[1] > 1:
        return None
    # words of a phrase are found in the matrix by their terms; stems have many words
    column = {term: place for place, term in enumerate(vectors.terms.tolist())}
    term_of = analysis_of(chosen).term_of

    def column_of(word: str) -> int | None:
        term = term_of(word)
        return None if term is None else column.get(term)

    return count_label_phrases(
        texts,
        partition,
        column_of,
        titles=titles,
        function_words=unwanted,
        languages=vectorization.languages,
        prepare=chosen.build_preprocessor(),
        max_characters=max_characters,
    )


def title_counts(
    vectorization: Vectorization, partition: Partition, titles: Sequence[str] | None
) -> TitleCounts | None:
    """Return how many titles of each cluster have each term; None where less than half of the documents have one."""
    if titles is None or vectorization.vectorizer is None:
        return None
    rows = np.arange(len(titles))
    if rows.size > MAX_TITLES:
        rows = rows[:: rows.size // MAX_TITLES]
    sample = [titles[row] for row in rows.tolist()]
    if 2 * sum(map(bool, sample)) < len(sample):
        return None
    return TitleCounts.of_titles(
        sample, vectorization.vectorizer.transform_counts, partition.labels[rows], partition.n_clusters
    )


def in_written_forms(vectorization: Vectorization, vectors: DocumentVectors, texts: Iterable[str]) -> DocumentVectors:
    """Return the vectors with their terms as they are most often written in `texts`; the vectorizer learns it too."""
    return written_forms_begun(vectorization, vectors, texts, n_documents=0)()


def written_forms_begun(
    vectorization: Vectorization, vectors: DocumentVectors, texts: Iterable[str], *, n_documents: int
) -> Callable[[], DocumentVectors]:
    """Begin to count how terms are written; return what waits for that and returns what `in_written_forms` does."""
    chosen = vectorization.vectorizer
    if chosen is None or callable(chosen.analyzer) or chosen.analyzer.startswith("char"):
        return lambda: vectors
    beginnings = [text[:PER_DOCUMENT] for text in LOOPS.over(texts)]
    counts = begin(count_forms, beginnings, n_documents=n_documents)

    def written() -> DocumentVectors:
        prepare = chosen.build_preprocessor()
        forms = np.array(written_forms(chosen.display_terms_.tolist(), counts(), prepare=prepare), dtype=object)
        chosen.display_terms_ = forms
        return vectors.shown_as(forms)

    return written


def _most_central(partition: Partition, placed: Placement, texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the rows nearest to their centroids, as many of each cluster, up to `MAX_CHARACTERS`."""
    by_nearness = np.lexsort((-placed.similarity, partition.labels))
    rank = np.empty(by_nearness.size, dtype=np.int64)
    rank[by_nearness] = np.arange(by_nearness.size) - np.repeat(
        np.cumsum(partition.sizes) - partition.sizes, partition.sizes
    )
    order = np.lexsort((partition.labels, rank))
    lengths = np.minimum(text_lengths(texts), PER_DOCUMENT)[order]
    central: npt.NDArray[np.int64] = order[: int(np.searchsorted(np.cumsum(lengths), MAX_CHARACTERS)) + 1]
    return central
