"""Words to leave out: function words, by short lists shipped with the package or your own; and words that name nothing.

The lists of function words hold only articles, pronouns, prepositions, conjunctions, auxiliaries, particles and the
commonest adverbs of place, time and degree: a word that can be what a document is about is never on them. They are cut
into tokens by the same rules as the text, so that the parts of "don't" are met in the form the tokenizer gives them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from string import ascii_lowercase
from typing import Any

from doccluster.errors import InputError

_TABLE = tomllib.loads(resources.files("doccluster.text").joinpath("languages.toml").read_text("utf-8"))
# Each list by its file's name, with the ISO 639-1 code that also names it.
STOP_WORD_LANGUAGES: dict[str, str] = {name: language["code"] for name, language in _TABLE.items()}
ALPHABETS = {name: frozenset(language["letters"].replace("a-z", ascii_lowercase)) for name, language in _TABLE.items()}
_NAME_OF_CODE = {code: name for name, code in STOP_WORD_LANGUAGES.items()} | {"nb": "norwegian", "nn": "norwegian"}


def language_name(language: Any) -> Any:
    """Return the English name of a language in lower case, also where its code is given; anything but text as it is."""
    name = language.lower() if isinstance(language, str) else language
    return _NAME_OF_CODE.get(name, name) if isinstance(name, str) else name


@cache
def load_stop_words(language: str) -> frozenset[str]:
    """Return the shipped stop words of a language, named in English or by its two-letter code.

    Raises InputError if there is no list for the language; the message names those there are.

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
    """Return the set of tokens to leave out.

    A shipped list (named by its language) is cut like the text; the caller's own words are taken as they are, as
    scikit-learn takes them.
    """
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
