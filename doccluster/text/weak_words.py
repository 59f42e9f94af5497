"""Words that name nothing, though they are not function words: verbs of saying, the calendar, numbers, shorthand."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import resources

from doccluster.text.stopwords import words_of_list

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
