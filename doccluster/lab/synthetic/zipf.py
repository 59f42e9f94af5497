"""Documents of invented words with a truth at three levels: topic, story and near-duplicate.

Everything that the line from text to report meets is there: a Zipfian vocabulary, words that all topics use, documents
of very different length, stories that start, peak and fade in time, and copies with small edits. Documents are made in
blocks with a generator each, so any number of them takes the memory of a few blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Floats, Integers
from doccluster.base.blocks import map_blocks, row_blocks
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.clustering.mixtures.vmf_functions import block_generator, spawn_entropy
from doccluster.corpus.document import Corpus
from doccluster.errors import Argument, InputError
from doccluster.lab.synthetic.synthetic_vectors import check_number, check_share, seed_record

_MAX_WIDTHS = 12.0  # in units of the width: x exp(1 - x) is below 2e-4 of the peak from there on
_MAX_MOMENTS = 4096  # the period is cut into at most this many moments within which the choice does not change


@dataclass(frozen=True, eq=False, repr=False)
class Stories(ShortRepr):
    """The stories of a period of length 1.

    `starts`, `widths` of shape (n_stories,): a story is written about with intensity size * x exp(1 - x), x = (time -
    start) / width: it peaks one width after its start.
    """

    topics: Integers  # of shape (n_stories,): the topic of each story
    starts: Floats
    widths: Floats
    sizes: Floats  # of shape (n_stories,)

    @classmethod
    def draw(cls, n_stories: int, n_topics: int, generator: np.random.Generator) -> Stories:
        """Return stories spread over the period; the first `n_topics` have one topic each."""
        topics = np.concatenate([np.arange(n_topics), generator.integers(0, n_topics, n_stories - n_topics)])
        starts = generator.uniform(-0.05, 0.98, n_stories)
        starts[0] = -0.02  # something has begun when the period begins
        widths = 0.02 * np.exp(0.7 * generator.standard_normal(n_stories))
        sizes = np.exp(0.8 * generator.standard_normal(n_stories))
        return cls(topics.astype(np.int64), starts, widths, sizes)

    def intensities(self, time: float) -> tuple[Integers, Floats]:
        """Return the stories that are being written about at a time in [0, 1], and how much (sum 1)."""
        ages = (time - self.starts) / self.widths
        active = np.flatnonzero((ages > 0) & (ages < _MAX_WIDTHS))
        if not active.size:  # a gap: the story nearest to its peak
            return np.array([int(np.argmin(np.abs(ages - 1)))]), np.ones(1)
        weights = self.sizes[active] * ages[active] * np.exp(1 - ages[active])
        return active, weights / weights.sum()

    def choose(self, numbers: Integers, n_documents: int, uniforms: Floats) -> Integers:
        """Return the story of each document, given its number in order of time and a uniform number for each."""
        n_moments = min(n_documents, _MAX_MOMENTS)
        moments = numbers * n_moments // n_documents
        chosen = np.empty(numbers.size, dtype=np.int64)
        for moment in np.unique(moments):
            active, weights = self.intensities((moment + 0.5) / n_moments)
            here = moments == moment
            picked = np.searchsorted(np.cumsum(weights), uniforms[here], side="right")
            chosen[here] = active[np.minimum(picked, active.size - 1)]
        return chosen


Result = TypeVar("Result")

_BLOCK_DOCUMENTS = 512
_FLATTENING = 2.7  # of Zipf's law as Mandelbrot has it: p ~ 1 / (rank + 2.7)
_TOPIC_WORDS = 800
_STORY_WORDS = 30
_COMMONEST = 100  # ranks that no topic has as its own: they play the part of stop words
_LENGTHS = (12, 4000)  # words of a document
_SENTENCE = 14  # words of a sentence, on average
_EDITED = 0.04  # of the words of a near-duplicate
_TITLE_WORDS = 5
_EPOCH = np.datetime64("2024-01-01T00:00:00", "s")


@dataclass(frozen=True)
class ZipfDocument:
    """One synthetic document.

    Attributes
    ----------
    id, title, text, date : str
        The date is ISO 8601 text; documents come in order of time.
    topic, story : str
        The truth at two levels; a story belongs to one topic.
    copy_of : str
        The id of the document that this one repeats with small edits, or empty.
    """

    id: str
    title: str
    text: str
    date: str
    topic: str
    story: str
    copy_of: str


@dataclass(frozen=True, eq=False, repr=False)
class ZipfCorpus:
    """A synthetic corpus: vocabulary, topics and stories are drawn; documents are made on demand.

    Made by `plan_zipf`. `documents()` yields them in order of time, in constant memory.
    """

    n_documents: int
    _vocabulary: _Vocabulary
    _stories: Stories
    _settings: _Settings
    _entropy: tuple[int, ...]
    parameters: dict[str, object]

    def documents(self, *, n_threads: int | None = None) -> Iterator[ZipfDocument]:
        """Yield the documents; the same ones for any number of threads."""
        for block in self.blocks(n_threads=n_threads):
            yield from block

    def blocks(self, *, n_threads: int | None = None) -> Iterator[list[ZipfDocument]]:
        """Yield the documents in lists of at most 512."""
        return self.map_blocks(lambda block: block, n_threads=n_threads)

    def map_blocks(
        self, function: Callable[[list[ZipfDocument]], Result], *, n_threads: int | None = None
    ) -> Iterator[Result]:
        """Yield `function` of each list of at most 512 documents, in order; called in the threads that make them."""
        blocks = row_blocks(self.n_documents, _BLOCK_DOCUMENTS)
        return map_blocks(lambda rows: function(self._block(rows)), blocks, n_threads=n_threads)

    def to_corpus(self) -> Corpus:
        """Return all documents as a corpus with the label columns topic, story and copy_of."""
        documents = list(self.documents())
        columns = {name: [getattr(document, name) for document in documents] for name in ("title", "date")}
        empty = [""] * len(documents)
        labels = {
            name: tuple((value,) if (value := getattr(document, name)) else () for document in documents)
            for name in ("topic", "story", "copy_of")
        }
        return Corpus(
            ids=tuple(document.id for document in documents),
            texts=tuple(document.text for document in documents),
            labels=labels,
            metadata={**columns, "source": empty, "link": empty},
        )

    def _block(self, rows: slice) -> list[ZipfDocument]:
        generator = block_generator(self._entropy, rows.start // _BLOCK_DOCUMENTS)
        numbers = np.arange(rows.start, rows.stop)
        n = numbers.size
        stories = self._stories.choose(numbers, self.n_documents, generator.random(n))
        sources = _sources(n, self._settings.near_duplicates, generator)
        stories = stories[sources]  # a copy tells the story of what it copies
        topics = self._stories.topics[stories]
        lengths = self._settings.lengths(n, generator)
        tokens = self._vocabulary.draw_tokens(stories, topics, lengths, self._settings, generator)
        texts = np.split(tokens, np.cumsum(lengths)[:-1])
        for row in np.flatnonzero(sources != np.arange(n)):
            texts[row] = self._vocabulary.edited(texts[sources[row]], generator)
        titles = self._vocabulary.draw_story_words(stories, _TITLE_WORDS, generator)[sources]
        dates = self._dates(numbers, generator)
        contents = self._vocabulary.write(texts, generator)
        return [
            ZipfDocument(
                id=str(numbers[row] + 1),
                title=self._vocabulary.title(titles[row]),
                text=contents[row],
                date=dates[row],
                topic=f"topic-{topics[row] + 1}",
                story=f"story-{stories[row] + 1}",
                copy_of=str(numbers[sources[row]] + 1) if sources[row] != row else "",
            )
            for row in range(n)
        ]

    def _dates(self, numbers: Integers, generator: np.random.Generator) -> list[str]:
        """Return the moment of each document, in order: one somewhere in each n-th part of the period."""
        seconds = (numbers + generator.random(numbers.size)) / self.n_documents * self._settings.days * 86_400
        moments = _EPOCH + seconds.astype("timedelta64[s]")
        return [f"{moment}Z" for moment in np.datetime_as_string(moments, unit="s")]


@at_the_door
def plan_zipf(
    n_documents: int,
    *,
    n_topics: int = 20,
    n_stories: int | None = None,
    n_terms: int = 50_000,
    overlap: float = 0.2,
    background: float = 0.4,
    story_share: float = 0.3,
    median_length: int = 120,
    length_spread: float = 0.6,
    near_duplicates: float = 0.05,
    days: float = 365.0,
    random_state: RandomState = None,
) -> ZipfCorpus:
    """Return a corpus of invented words whose documents are made on demand.

    Parameters
    ----------
    n_documents : int
    n_topics : int
    n_stories : int, optional
        At least `n_topics`; by default one for 50 documents, at most 5000.
    n_terms : int
        The size of the vocabulary, at most a million words.
    overlap : float in [0, 1]
        The share of the topics' own words that all topics have in common: 0 keeps them apart, 1 makes them one.
    background : float in [0, 1]
        The share of words drawn from the whole vocabulary by Zipf's law, whatever the topic.
    story_share : float in [0, 1 - background]
        The share of words drawn from the 30 words of the story; the rest is from the topic.
    median_length, length_spread : int and float
        Lengths in words are log-normal with this median and this standard deviation of the logarithm.
    near_duplicates : float in [0, 1)
        The share of documents that repeat an earlier one with one word in 25 changed and a new date.
    days : float
        The length of the period, from the first of January 2024 on.
    random_state : None, int or numpy Generator

    Raises
    ------
    InputError
        If an argument is outside its range.

    Examples
    --------
    >>> corpus = plan_zipf(100, n_topics=3, random_state=0)
    >>> sum(1 for document in corpus.documents())
    100
    """
    n = check_positive_int(n_documents, "n_documents")
    k = check_positive_int(n_topics, "n_topics")
    if k > n:
        raise InputError(
            f"exceeds the {n} document(s)",
            argument="n_topics",
            received=k,
            remedy=("choose ", Argument("n_topics"), f" <= {n}"),
        )
    # about fifty documents for a story
    stories = max(k, min(n // 50, 5000)) if n_stories is None else check_positive_int(n_stories, "n_stories")
    if stories < k:
        raise InputError(
            ("is below ", Argument("n_topics", k)),
            argument="n_stories",
            received=stories,
            remedy="each topic has at least one story",
        )
    check_number(n_terms, "n_terms", 2 * (_COMMONEST + _TOPIC_WORDS), MAX_WORDS, "words")
    settings = _Settings(
        check_share(overlap, "overlap"),
        check_share(background, "background"),
        check_share(story_share, "story_share", highest=1.0 - check_share(background, "background")),
        check_positive_int(median_length, "median_length"),
        check_share(length_spread, "length_spread", highest=3.0),
        check_share(near_duplicates, "near_duplicates", highest=0.99),
        check_share(days, "days", lowest=1e-3, highest=100_000.0),
    )
    generator = as_generator(random_state)
    drawn_stories = Stories.draw(stories, k, generator)
    vocabulary = _Vocabulary.draw(n_terms, drawn_stories.topics, k, settings.overlap, generator)
    parameters = {
        "kind": "zipf",
        "n_documents": n,
        "n_topics": k,
        "n_stories": stories,
        "n_terms": n_terms,
        **asdict(settings),
        "random_state": seed_record(random_state),
    }
    return ZipfCorpus(n, vocabulary, drawn_stories, settings, spawn_entropy(generator), parameters)


@at_the_door
def make_zipf_corpus(n_documents: int, **options: Any) -> Corpus:
    """Return all documents of `plan_zipf`, which has the options, as a corpus in memory."""
    return plan_zipf(n_documents, **options).to_corpus()


@dataclass(frozen=True)
class _Settings:
    """Shares and lengths, checked."""

    overlap: float
    background: float
    story_share: float
    median_length: int
    length_spread: float
    near_duplicates: float
    days: float

    def lengths(self, n: int, generator: np.random.Generator) -> Integers:
        raw = self.median_length * np.exp(self.length_spread * generator.standard_normal(n))
        lengths: Integers = np.clip(raw, *_LENGTHS).astype(np.int64)
        return lengths


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    """The words, and which of them topics and stories prefer."""

    # of shape (4 * n_terms,): each word as it stands within a sentence, at its start, at its end, and as a sentence of
    # its own
    spellings: npt.NDArray[np.object_]
    n_terms: int
    topics: npt.NDArray[np.int32]  # of shape (n_topics, 800): word ranks, the preferred ones first
    stories: npt.NDArray[np.int32]
    word_edges: Floats
    topic_edges: Floats
    story_edges: Floats

    @classmethod
    def draw(
        cls, n_terms: int, story_topics: Integers, n_topics: int, overlap: float, generator: np.random.Generator
    ) -> _Vocabulary:
        words = invented_words(n_terms)
        capital = [word.capitalize() for word in words]
        spellings = words + capital + [f"{word}." for word in words] + [f"{word}." for word in capital]
        n_rarer = n_terms - _COMMONEST
        common = generator.choice(n_rarer, _TOPIC_WORDS, replace=False) + _COMMONEST
        is_common = generator.random(_TOPIC_WORDS) < overlap  # the same ranks for all topics: they share that mass
        topics = np.empty((n_topics, _TOPIC_WORDS), dtype=np.int32)
        for topic in range(n_topics):
            topic_words = generator.choice(n_rarer, _TOPIC_WORDS, replace=False) + _COMMONEST
            topics[topic] = np.where(is_common, common, topic_words)
        stories = np.empty((story_topics.size, _STORY_WORDS), dtype=np.int32)
        n_names = _STORY_WORDS // 3  # rare words that stand for names; the others are words of the topic
        for story, topic in enumerate(story_topics):
            names = generator.integers(n_terms // 2, n_terms, n_names)
            stories[story] = generator.permutation(
                np.concatenate([names, generator.choice(topics[topic], _STORY_WORDS - n_names, replace=False)])
            )
        edges = (_zipf_edges(n) for n in (n_terms, _TOPIC_WORDS, _STORY_WORDS))
        return cls(np.array(spellings, dtype=object), n_terms, topics, stories, *edges)

    def draw_tokens(
        self,
        stories: Integers,
        topics: Integers,
        lengths: Integers,
        settings: _Settings,
        generator: np.random.Generator,
    ) -> Integers:
        """Return the words of all documents, one after the other, as ranks."""
        document = np.repeat(np.arange(lengths.size), lengths)
        origin, place = generator.random(document.size), generator.random(document.size)
        tokens = np.searchsorted(self.word_edges, place, side="right").astype(np.int64)
        of_story = origin < settings.story_share
        of_topic = ~of_story & (origin >= settings.story_share + settings.background)
        positions = np.searchsorted(self.story_edges, place[of_story], side="right")
        tokens[of_story] = self.stories[stories[document[of_story]], positions]
        positions = np.searchsorted(self.topic_edges, place[of_topic], side="right")
        tokens[of_topic] = self.topics[topics[document[of_topic]], positions]
        return tokens

    def draw_story_words(self, stories: Integers, n_words: int, generator: np.random.Generator) -> Integers:
        positions = np.searchsorted(self.story_edges, generator.random((stories.size, n_words)), side="right")
        words: Integers = self.stories[stories[:, None], positions].astype(np.int64)
        return words

    def edited(self, tokens: Integers, generator: np.random.Generator) -> Integers:
        """Return a copy with one word in 25, and at least one, replaced by any word."""
        copy = tokens.copy()
        chosen = generator.random(copy.size) < _EDITED
        chosen[generator.integers(copy.size)] = True
        copy[chosen] = np.searchsorted(self.word_edges, generator.random(int(chosen.sum())), side="right")
        return copy

    def write(self, texts: list[Integers], generator: np.random.Generator) -> list[str]:
        """Return each document as sentences."""
        tokens = np.concatenate(texts)
        stops = np.cumsum([text.size for text in texts])
        ends = generator.random(tokens.size) < 1 / _SENTENCE
        ends[stops - 1] = True
        begins = np.concatenate([[True], ends[:-1]])
        words = self.spellings[tokens + self.n_terms * (begins + 2 * ends)].tolist()
        starts = [0, *stops[:-1].tolist()]
        return [" ".join(words[start:stop]) for start, stop in zip(starts, stops.tolist(), strict=True)]

    def title(self, tokens: Integers) -> str:
        return " ".join(self.spellings[tokens]).capitalize()


def _zipf_edges(n: int) -> Floats:
    """Return the upper ends of the intervals of [0, 1) that stand for the ranks."""
    edges: Floats = np.cumsum(1 / (np.arange(1, n + 1) + _FLATTENING))
    edges /= edges[-1]
    return edges[:-1]


def _sources(n: int, share: float, generator: np.random.Generator) -> Integers:
    """Return for each document of a block the one it is a copy of, itself for most; copies are of originals."""
    sources = np.arange(n)
    copies = generator.random(n) < share
    copies[0] = False
    originals = np.flatnonzero(~copies)
    rows = np.flatnonzero(copies)
    earlier = np.searchsorted(originals, rows)  # originals before each copy
    sources[rows] = originals[(generator.random(rows.size) * earlier).astype(np.int64)]
    return sources


_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_LAST_VOWELS = "aiou"
_FULL = tuple(c + v for c in _CONSONANTS for v in _VOWELS)
_LAST = tuple(c + v for c in _CONSONANTS for v in _LAST_VOWELS)
_STEP = 0.6180339887498949  # of a tier's length, made coprime: neighbouring ranks do not look alike
MAX_WORDS = 1_000_000


def invented_words(n_words: int) -> list[str]:
    """Return distinct words by rank, the first few thousand of two syllables, the others of three and more.

    >>> invented_words(3)
    ['baba', 'pogu', 'geno']
    """
    words: list[str] = []
    n_syllables = 2
    while len(words) < n_words:
        length = len(_FULL) ** (n_syllables - 1) * len(_LAST)
        step = _coprime_step(length)
        words.extend(_word(rank * step % length, n_syllables) for rank in range(min(length, n_words - len(words))))
        n_syllables += 1
    return words


def _word(code: int, n_syllables: int) -> str:
    code, last = divmod(code, len(_LAST))
    syllables = [_LAST[last]]
    for _ in range(n_syllables - 1):
        code, next_one = divmod(code, len(_FULL))
        syllables.append(_FULL[next_one])
    return "".join(reversed(syllables))


def _coprime_step(length: int) -> int:
    """Return a step near the golden section of `length` without 2, 5 and 7, the primes of all lengths."""
    step = int(length * _STEP)
    while any(step % prime == 0 for prime in (2, 5, 7)):
        step += 1
    return step
