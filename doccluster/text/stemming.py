"""Written forms -> stems, by the stemmers of nltk, each distinct word once.

nltk takes seconds to import and is loaded only when a stemmer is asked for; nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable

from doccluster.errors import InputError
from doccluster.text.stopwords import STOP_WORD_LANGUAGES

Stemmer = Callable[[str], str]

STEMMING_LANGUAGES = (
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "porter",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
)

_NAME_OF_CODE = {code: name for name, code in STOP_WORD_LANGUAGES.items()} | {"nb": "norwegian", "nn": "norwegian"}


def check_stemming(stemming: str) -> str:
    """Return the name of the stemmer in lower case (``"en"`` is english), or raise InputError with the names."""
    name = stemming.lower() if isinstance(stemming, str) else stemming
    name = _NAME_OF_CODE.get(name, name) if isinstance(name, str) else name
    if name not in STEMMING_LANGUAGES:
        raise InputError(
            "is not known",
            argument="stemming",
            received=stemming,
            expected=f"one of {', '.join(STEMMING_LANGUAGES)}",
        )
    return str(name)


def build_stemmer(stemming: str) -> Stemmer:
    """Return the function word -> stem of a language (Snowball), or of "porter" (Porter's first algorithm).

    >>> stem = build_stemmer("english")
    >>> [stem(word) for word in ("elections", "elected", "electing")]
    ['elect', 'elect', 'elect']
    """
    name = check_stemming(stemming)
    from nltk.stem import snowball

    if name == "arabic":
        # The Arabic stemmer keeps flags from one word to the next; a new one for each word forgets them.
        return lambda word: str(snowball.ArabicStemmer().stem(word))
    stemmer = snowball.SnowballStemmer(name)
    return lambda word: str(stemmer.stem(word))
