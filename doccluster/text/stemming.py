"""Written forms -> stems, by the stemmers of nltk, each distinct word once.

nltk is loaded only when a stemmer is asked for; nothing is downloaded.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from doccluster.base.validation import check_choice
from doccluster.text.stopwords import language_name

Stemmer = Callable[[str], str]

STEMMING_LANGUAGES = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "hungarian"),
    *("italian", "norwegian", "porter", "portuguese", "romanian", "russian", "spanish", "swedish"),
)

OTHER_PARTS = ("sklearn", "scipy.stats", "pandas")  # what nltk has for other things than stems, and can do without


def check_stemming(stemming: str) -> str:
    """Return the name of the stemmer in lower case (``"en"`` is english), or raise InputError with the names."""
    return check_choice(language_name(stemming), STEMMING_LANGUAGES, "stemming")


def import_stemmers(*, hidden: Iterable[str] = ()) -> Any:
    """Return nltk's module of stemmers, imported without the packages that are `hidden`, unless they are loaded.

    nltk imports scikit-learn and much more for its other parts where it finds them, and does without where it does not.
    Those parts then lack them for as long as the process lives, so hide packages only in a process of your own.

    Examples
    --------
    >>> import_stemmers().SnowballStemmer("english").stem("elections")
    'elect'
    """
    absent = [name for name in hidden if name not in sys.modules]
    for name in absent:
        sys.modules[name] = None  # type: ignore[assignment]  # Python then says that there is no such module
    try:
        return importlib.import_module("nltk.stem.snowball")
    finally:
        for name in absent:
            del sys.modules[name]


def build_stemmer(stemming: str) -> Stemmer:
    """Return the function word -> stem of a language (Snowball), or of "porter" (Porter's first algorithm).

    >>> stem = build_stemmer("english")
    >>> [stem(word) for word in ("elections", "elected", "electing")]
    ['elect', 'elect', 'elect']
    """
    name = check_stemming(stemming)
    snowball = import_stemmers()
    if name == "arabic":
        # The Arabic stemmer keeps flags from one word to the next; a new one for each word forgets them.
        return lambda word: str(snowball.ArabicStemmer().stem(word))
    stemmer = snowball.SnowballStemmer(name)
    return lambda word: str(stemmer.stem(word))
