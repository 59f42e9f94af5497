"""Function words to leave out: short lists shipped with the package, or the caller's own.

The lists hold only articles, pronouns, prepositions, conjunctions, auxiliaries, particles and the commonest adverbs of
place, time and degree: a word that can be what a document is about is never on them. They are cut into tokens by the
same rules as the text, so that the parts of "don't" are met in the form the tokenizer gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from doccluster.errors import InputError

# Each list by its file's name, with the ISO 639-1 code that also names it.
STOP_WORD_LANGUAGES = {
    "arabic": "ar",
    "bulgarian": "bg",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "hungarian": "hu",
    "indonesian": "id",
    "italian": "it",
    "norwegian": "no",
    "persian": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
    "turkish": "tr",
    "ukrainian": "uk",
}
_NAME_OF_CODE = {code: name for name, code in STOP_WORD_LANGUAGES.items()} | {"nb": "norwegian", "nn": "norwegian"}


def language_name(language: Any) -> Any:
    """Return the English name of a language in lower case, also where its code is given; what is no text as it is."""
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
    found = [language_name(name) for name in ([language] if isinstance(language, str) else language)]
    for name in found:
        if name not in STOP_WORD_LANGUAGES:
            raise InputError(
                "is not known",
                argument="language",
                received=name,
                remedy=f"give auto, none, or one of {', '.join(STOP_WORD_LANGUAGES)}",
            )
    return tuple(dict.fromkeys(found))


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
    given = frozenset(stop_words)
    strange = next((word for word in given if not isinstance(word, str)), None)
    if strange is not None:
        raise InputError(f"stop_words holds {strange!r}, which is not a word", remedy="give a list of strings")
    return given
