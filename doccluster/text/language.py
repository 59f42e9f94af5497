"""Which languages a corpus is written in, recognised by its function words; and words to leave out: stop lists.

Function words are a third to a half of running text in the languages that have a list here, so counting them is all
that is needed; a word on several lists says less, and a word with a letter its language does not have is evidence
against that language: that tells Russian from Bulgarian or Persian from Arabic. The letters are those of the standard
orthographies (Unicode CLDR, exemplar characters), with the accents that loanwords keep. Votes are whole numbers, so
that a sum does not depend on its order.

Function words of languages without a list are learned: they stand in every part of what is said. A word of content
comes with its subject; a function word is spread evenly. In a long text it is in many of its passages. Short texts are
compared with one another: of those in its language, which share their commonest words, many have it.

The lists hold only articles, pronouns, prepositions, conjunctions, auxiliaries, particles and the commonest adverbs of
place, time and degree: a word that can be what a document is about is never on them. They are cut into tokens by the
same rules as the text, so that the parts of "don't" are met in the form the tokenizer gives them.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from operator import and_
from string import ascii_lowercase
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import CsrArray, Flags, Integers
from doccluster.errors import InputError
from doccluster.text.letter_forms import both_spellings, lowered
from doccluster.text.scripts import is_unspaced, scripts_without_blanks, separate_scripts, tokenize_separated

_TABLE = tomllib.loads(resources.files("doccluster.text").joinpath("languages.toml").read_text("utf-8"))
# Each list by its file's name, with the ISO 639-1 code that also names it.
STOP_WORD_LANGUAGES: dict[str, str] = {name: language["code"] for name, language in _TABLE.items()}
ALPHABETS = {name: frozenset(language["letters"].replace("a-z", ascii_lowercase)) for name, language in _TABLE.items()}
_NAME_OF_CODE = {code: name for name, code in STOP_WORD_LANGUAGES.items()} | {"nb": "norwegian", "nn": "norwegian"}


def language_name(language: object) -> Any:
    """Return the English name of a language in lower case, also where its code is given; anything but text as it is."""
    name = language.lower() if isinstance(language, str) else language
    return _NAME_OF_CODE.get(name, name) if isinstance(name, str) else name


@cache
def load_stop_words(language: str) -> frozenset[str]:
    """Return the shipped stop words of a language, named in English or by its two-letter code.

    >>> sorted(load_stop_words("english") & {"the", "because", "system", "computer", "bill", "fire"})
    ['because', 'the']
    """
    name = language_name(language)
    if name not in STOP_WORD_LANGUAGES:
        raise InputError(
            "is not a language with a list",
            argument="stop_words",
            received=language,
            expected=f"a list of words or one of {', '.join(STOP_WORD_LANGUAGES)}",
        )
    return words_of_list(resources.files("doccluster.text").joinpath("stopword_lists", f"{name}.txt"))


def words_of_list(path: Traversable) -> frozenset[str]:
    """Return the words of a file of the package; lines that begin with # are none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def choose_languages(language: str | Sequence[str]) -> tuple[str, ...]:
    """Return the languages that are named, none for "none". Raises InputError if a named language has no stop list."""
    if language == "none":
        return ()
    names = language if isinstance(language, list | tuple | set) else [language]
    languages: list[Any] = [language_name(name) if isinstance(name, str) else name for name in names]
    for name in languages:
        if name not in STOP_WORD_LANGUAGES:
            raise InputError(
                "is not known",
                argument="language",
                received=name,
                remedy=f"give auto, none, or one of {', '.join(STOP_WORD_LANGUAGES)}",
            )
    return tuple(dict.fromkeys(languages))


def languages_named(stop_words: object) -> tuple[str, ...]:
    """Return the languages a parameter names, with commas between them; none when it is not a string.

    >>> languages_named("english, de"), languages_named(["the"])
    (('english', 'german'), ())
    """
    if not isinstance(stop_words, str):
        return ()
    return tuple(dict.fromkeys(language_name(name.strip()) for name in stop_words.split(",")))


def resolve_stop_words(
    stop_words: str | Iterable[str] | None,
    *,
    preprocess: Callable[[str], str],
    tokenize: Callable[[str], Sequence[str]],
) -> frozenset[str]:
    """Return the tokens to leave out: a shipped list is cut like the text, the caller's words are taken as they are."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        words = load_stop_words(stop_words)
        return frozenset(token for word in words for token in tokenize(preprocess(word)))
    stop_set = frozenset(stop_words)
    strange = next((word for word in stop_set if not isinstance(word, str)), None)
    if strange is not None:
        raise InputError(f"stop_words holds {strange!r}, which is not a word", remedy="give a list of strings")
    return stop_set


_ONLY_BEGIN = {"english": frozenset(["first", "second", "third", "fourth", "fifth"])}
# What may stand inside a phrase of these languages, between two words of content. Others have one word of any kind.
_LINKS = {
    "english": "of for and in on",
    "german": "von der des für und",
    "french": "de du des la le les et d l",
    "spanish": "de del la las los el y",
    "italian": "di del della dei delle e",
    "portuguese": "de do da dos das e",
    "dutch": "van de der en het",
}
_LIKE_ADVERBS = "family supply reply ally bully rally italy assembly monopoly july anomaly belly jelly lily fly"
_NO_ADVERBS = frozenset(_LIKE_ADVERBS.split())


def weak_words(languages: Collection[str]) -> frozenset[str]:
    """Return the words (lower case) of some languages that name nothing, empty for languages without a list.

    >>> sorted(weak_words(["english"]) & {"said", "vs", "march", "oil"})
    ['march', 'said', 'vs']
    """
    return frozenset().union(*map(_listed, languages))


def words_that_only_begin(languages: Collection[str]) -> frozenset[str]:
    """Return words that can begin a phrase, such as "first", and name nothing at its end."""
    return frozenset().union(*(_ONLY_BEGIN.get(language, frozenset()) for language in languages))


def weak_alone(languages: Collection[str]) -> frozenset[str]:
    """Return words that name something at the end of a phrase only: "drug problem"."""
    return frozenset().union(*(_listed(f"{language}-alone") for language in languages))


@cache
def _listed(name: str) -> frozenset[str]:
    path = resources.files("doccluster.text").joinpath("weak_word_lists", f"{name}.txt")
    return words_of_list(path) if path.is_file() else frozenset()


def linking_words(languages: Collection[str]) -> frozenset[str] | None:
    """Return the function words that may stand inside a phrase; None where a language has no list of them."""
    if not languages or any(language not in _LINKS for language in languages):
        return None
    return frozenset(word for language in languages for word in _LINKS[language].split())


def is_adverb(word: str) -> bool:
    """Return whether an English word looks like an adverb.

    >>> is_adverb("recently"), is_adverb("family"), is_adverb("oil")
    (True, False, False)
    """
    return word.endswith("ly") and len(word) > 4 and word not in _NO_ADVERBS


FULL_VOTE = 60  # of a word that is on one list only; a word on n lists has an n-th of it for each
_FOREIGN_VOTE = -18


class FunctionWords:
    """Function words of several languages, in the form the tokenizer gives them.

    Examples
    --------
    >>> words = FunctionWords(["english", "german"], preprocess=str.lower, tokenize=str.split)
    >>> sorted(words.leave_out("es war die erste nacht in der stadt".split()) & {"war", "die"})
    ['die', 'war']
    >>> sorted(words.leave_out("they die in the war of the roses".split()) & {"war", "die"})
    []
    """

    def __init__(
        self,
        languages: Sequence[str],
        *,
        preprocess: Callable[[str], str],
        tokenize: Callable[[str], Sequence[str]],
        kept: frozenset[str] = frozenset(),
    ) -> None:
        self.languages, self.kept = tuple(languages), kept
        self.lists = tuple(resolve_stop_words(name, preprocess=preprocess, tokenize=tokenize) for name in languages)
        self._shared = Counter(word for words in self.lists for word in words)
        alphabets, places = [ALPHABETS[name] for name in languages], range(len(languages))
        # the languages that are written with a character, as the bits of a number
        self._languages_with = cache(
            lambda character: (
                sum(1 << place for place in places if character in alphabets[place]) if character.isalpha() else -1
            )
        )
        self._votes_of_others = cache(lambda bits: [0 if bits >> place & 1 else _FOREIGN_VOTE for place in places])

    def votes(self, word: str) -> Sequence[int]:
        """Return how a word speaks for each language: above 0 on its list, below 0 where it has a foreign letter."""
        languages = reduce(and_, map(self._languages_with, word.lower()), -1)
        foreign_votes = self._votes_of_others(languages)
        if word not in self._shared:
            return foreign_votes
        vote = FULL_VOTE // self._shared[word]
        return [vote if word in words else foreign for words, foreign in zip(self.lists, foreign_votes, strict=True)]

    def tables(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int32], Flags]:
        """Return the votes of words, and whether each is on each list: arrays of shape (n_words, n_languages)."""
        shape = (len(words), len(self.languages))
        votes = np.array([self.votes(word) for word in words], dtype=np.int32).reshape(shape)
        on_list: Flags = np.greater(votes, 0).reshape(shape)
        on_list[[word in self.kept for word in words]] = False
        return votes, on_list

    def leave_out(self, tokens: Iterable[str]) -> frozenset[str]:
        """Return the stop list of the language that most of the distinct tokens speak for."""
        votes, _ = self.tables(list(set(tokens)))
        return self.lists[int(votes.sum(axis=0).argmax())] - self.kept


SURE_COVERAGE = 0.1  # part of a text's distinct words that must be on its language's list to be sure of it,
COVERAGE = 0.08  # and to belong to a language that is surely there
ENOUGH_TEXTS = 3  # a language counts when this many texts are surely in it,
ENOUGH_SHARE = 0.05  # or this part of a small corpus,
ENOUGH_WORDS = 12  # and when they use this many words of its list, or two for each text, or texts that repeat
ENOUGH_OF_WORDS = 0.25  # each other have this share of their distinct words on it,
MAX_ALIKE = 0.25  # of which no few make up the most: the chance that two of them are the same word
FEW_WORDS = 30  # say nothing of that
N_SURVEYED, SURVEYED_CHARACTERS = 2500, 1000  # texts, and characters at the beginning of each
MIN_PRESENT = 0.4  # of a list whose words are still in a vocabulary
MIN_TOLD = 0.0005
MAX_TOLD = 6  # languages that are named, with their shares

_WORD = re.compile(r"[^\W\d_]{2,}")  # shorter ones are letters of abbreviations too


@dataclass(frozen=True)
class Writing:
    """How the texts of a corpus are written."""

    languages: Mapping[str, float]  # those with a stop list, and the share of the texts in each, largest first
    # scripts without blanks between words (and Hangul), and the share of the texts with letters of them
    scripts: Mapping[str, float]
    has_letters: float = 1.0  # the share of the texts with letters of any script
    even_share: float = 0.0  # of all words: those that occur evenly, once they are known

    def languages_told(self) -> str:
        """Return a sentence with the languages and their shares, and the share of texts of unknown language.

        >>> Writing({"english": 0.7, "french": 0.2}, {}).languages_told()
        'English 70 %, French 20 %, unknown 10 %'
        """
        if not self.languages:
            return "unknown"
        shown = list(self.languages.items())[:MAX_TOLD]
        phrases = [f"{name.title()} {_percent(share)}" for name, share in shown]
        share_of_others = sum(self.languages.values()) - sum(share for _, share in shown)
        if len(self.languages) > MAX_TOLD:
            n_others = len(self.languages) - MAX_TOLD
            phrases.append(f"{n_others} other{'s' if n_others > 1 else ''} {_percent(share_of_others)}")
        unknown = 1 - sum(self.languages.values())
        return ", ".join([*phrases, f"unknown {_percent(unknown)}"] if unknown > MIN_TOLD else phrases)

    def scripts_told(self) -> str:
        """Return the scripts without blanks in words, with the shares of the texts that use them."""
        return ", ".join(f"{name} {_percent(share)}" for name, share in self.scripts.items() if share > MIN_TOLD)


def survey_writing(texts: Sequence[str]) -> Writing:
    """Return the languages and the scripts of a corpus, from evenly spaced texts and the beginning of each.

    A language counts when three texts (or one in twenty of a small corpus) are surely in it. Together they must use
    many words of the list: texts of a language without one have a few short words of some other.
    """
    step = -(-len(texts) // N_SURVEYED) or 1
    sample = [text[:SURVEYED_CHARACTERS] for text in texts[::step]]
    counts = _languages(sample), Counter(name for text in sample for name in scripts_without_blanks(text))
    languages, scripts = ({name: n / len(sample) for name, n in counter.most_common()} for counter in counts)
    n_with_letters = sum(any(map(str.isalpha, text)) for text in sample)
    return Writing(languages, scripts, n_with_letters / max(len(sample), 1))


def is_running_text(texts: Sequence[str]) -> bool:
    """Return whether texts have the function words of some language, with a list or without: ten words are a tenth.

    Of 380 languages the ten commonest words make .14 of a text and more, of key words .06 to .08.
    """
    sample = texts[:: -(-len(texts) // N_SURVEYED) or 1]
    counts = Counter(word for text in sample for word in _WORD.findall(text[:SURVEYED_CHARACTERS].lower()))
    return sum(count for _, count in counts.most_common(10)) >= 0.1 * counts.total() > 0


def guess_languages_of_terms(terms: Iterable[str]) -> list[str]:
    """Return the languages of a vocabulary whose stop words are still in it."""
    present = {term.lower() for term in terms}
    shares = {name: len(load_stop_words(name) & present) / len(load_stop_words(name)) for name in STOP_WORD_LANGUAGES}
    return [name for name in sorted(shares, key=lambda name: -shares[name]) if shares[name] >= MIN_PRESENT]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1f} %"


def _languages(texts: Sequence[str]) -> Counter[str]:
    """Return the number of texts in each language that is certain."""
    names = list(STOP_WORD_LANGUAGES)
    total, hits, sizes, has, on_list = _votes(texts, _all_function_words())
    rows = np.arange(len(texts))
    best = total.argmax(axis=1)
    leads = total[rows, best] - np.partition(total, -2, axis=1)[:, -2]
    hits_of_best = hits[rows, best]
    sure = (leads >= FULL_VOTE) & (hits_of_best >= 2) & (hits_of_best >= SURE_COVERAGE * sizes)
    counts = np.bincount(best[sure], minlength=len(names))
    enough = (counts >= ENOUGH_TEXTS) | ((ENOUGH_SHARE * len(texts) <= counts) & (len(texts) > 0))
    languages = [
        place
        for place in np.argsort(-counts, kind="stable").tolist()
        if enough[place] and _uses_list(has[sure & (best == place)], on_list[:, place])
    ]
    if not languages:
        return Counter()
    # texts that are in none of these for sure go to the one that leads among them
    nearest = np.array(languages)[total[:, languages].argmax(axis=1)]
    hits_of_best = hits[rows, nearest]
    belongs = (total[rows, nearest] > 0) & (hits_of_best >= 1) & (hits_of_best >= COVERAGE * sizes)
    return Counter(names[place] for place in nearest[belongs].tolist())


@cache
def _all_function_words() -> FunctionWords:
    """Return the lists of all languages; to cut them into tokens takes longer than to survey a few texts."""
    return FunctionWords(list(STOP_WORD_LANGUAGES), preprocess=both_spellings, tokenize=_WORD.findall)


def _uses_list(has: CsrArray, is_listed: Flags) -> bool:
    """Return whether texts use much of a list: has is 1 where a text has a word, is_listed says which are on it."""
    texts_with = np.asarray(has.sum(axis=0), dtype=np.int64)
    n_distinct = np.count_nonzero(texts_with)
    listed = texts_with[is_listed]
    n_listed, total = np.count_nonzero(listed), int(listed.sum())
    is_varied = total < FEW_WORDS or int((listed * (listed - 1)).sum()) <= MAX_ALIKE * total * (total - 1)
    is_much = n_listed >= min(ENOUGH_WORDS, 2 * has.shape[0]) or n_listed >= ENOUGH_OF_WORDS * n_distinct
    return bool(is_varied and is_much)


def _votes(texts: Sequence[str], function_words: FunctionWords) -> tuple[Integers, Integers, Integers, CsrArray, Flags]:
    """Return votes by text and language, and words on its list; how many words texts have, and which; words by list."""
    places: dict[str, int] = {}
    words_of = [[places.setdefault(word, len(places)) for word in set(_WORD.findall(lowered(text)))] for text in texts]
    votes, on_list = function_words.tables(list(places))
    sizes = np.fromiter(map(len, words_of), dtype=np.int64, count=len(texts))
    columns = np.fromiter(chain.from_iterable(words_of), dtype=np.int64, count=int(sizes.sum()))
    values = np.ones(columns.size, dtype=np.int64)
    has = sparse.csr_array((values, columns, np.concatenate([[0], np.cumsum(sizes)])), shape=(len(texts), len(places)))
    return has @ votes.astype(np.int64), has @ on_list.astype(np.int64), sizes, has, on_list


N_SAMPLED = 2_000
LOOKED_AT = 5_000  # characters of a text
MIN_WORDS = 8  # of a text that says something of its language
LISTED = 0.1  # of the words of a text on one list: it is in that language; short texts with half of it may be
PASSAGE = 25  # words
MIN_PASSAGES = 8  # of a long text
MIN_TEXTS = 15  # short ones that have a word
MAX_BESIDE = 10  # words that come with a word in half of its short texts: a subject has more
MAX_WORDS = 5_000  # the commonest of short texts
SPREAD = 0.25  # of the passages, or of the short texts of its language


def learned_function_words(texts: Sequence[str], lists: Sequence[Collection[str]]) -> frozenset[str]:
    """Return the function words (lower case) of the texts that are in none of the languages with a list.

    Scripts without blanks between words are left aside.

    Examples
    --------
    >>> text = " ".join(f"omu{one}{other} mu obu{other}{one} na kwa" for one in "bdgklmn" for other in "bdgklmn")
    >>> sorted(learned_function_words([text], [{"the", "of"}]))
    ['kwa', 'mu', 'na']
    """
    long: list[list[str]] = []
    short: list[list[str]] = []
    times_listed: Counter[str] = Counter()
    for text in texts[:: max(1, len(texts) // N_SAMPLED)]:
        pieces = tokenize_separated(separate_scripts(text[:LOOKED_AT].lower()))
        words = [word for word in pieces if not is_unspaced(word)]
        n_listed = max((sum(word in listed for word in words) for listed in lists), default=0)
        if n_listed >= LISTED * len(words):
            times_listed.update(set(words))
        elif len(words) >= PASSAGE * MIN_PASSAGES:
            long.append(words)
        elif len(words) >= MIN_WORDS and n_listed <= LISTED * len(words) / 2:
            short.append(words)
    function_words = _of_long_texts(long) | _of_short_texts(short)
    unlisted = Counter(chain.from_iterable(map(set, chain(long, short))))
    return frozenset(word for word in function_words if word.isalpha() and unlisted[word] > times_listed[word])


def _of_long_texts(texts: Sequence[list[str]]) -> set[str]:
    """Return the words in many passages of a quarter of the texts that have them; of a tenth if very short."""
    having: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for words in texts:
        passages = [set(words[start : start + PASSAGE]) for start in range(0, len(words), PASSAGE)]
        counts = Counter(chain.from_iterable(passages))
        having.update(counts.keys())
        spread.update(word for word, count in counts.items() if count >= SPREAD * len(passages))
    return {word for word, count in spread.items() if count >= having[word] / (10 if len(word) <= 2 else 4)}


def _of_short_texts(texts: Sequence[list[str]]) -> set[str]:
    """Return the words that many texts have of those in which the commonest word beside them is."""
    counts = Counter(chain.from_iterable(map(set, texts)))
    names = [word for word, count in counts.most_common(MAX_WORDS) if count >= MIN_TEXTS]
    if not names:
        return set()
    column = {word: place for place, word in enumerate(names)}
    places = [sorted(column[word] for word in set(words) if word in column) for words in texts]
    edges = np.cumsum([0, *map(len, places)])
    has = sparse.csr_array((np.ones(edges[-1]), np.fromiter(chain.from_iterable(places), np.int64), edges))
    both = sparse.csr_array(has.T @ has)
    times = both.diagonal()
    rows = np.repeat(np.arange(times.size), np.diff(both.indptr))
    beside = both.data >= times[rows] / 2
    commonest = np.zeros(times.size)
    np.maximum.at(commonest, rows[beside], times[both.indices[beside]])
    n_beside = np.bincount(rows[beside], minlength=times.size) - 1
    is_spread = (times >= SPREAD * commonest) & (n_beside <= MAX_BESIDE)
    return {names[place] for place in np.flatnonzero(is_spread).tolist()}
