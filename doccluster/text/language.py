"""Which languages a corpus is written in, told by its function words; enough to choose stop lists, no more.

Function words are a third to a half of running text in the languages that have a list here, and a list rarely covers
a tenth of another language's text, so counting is all that is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from doccluster.text.stopwords import STOP_WORD_LANGUAGES, load_stop_words

MIN_COVERAGE = 0.15  # part of a text's words that must be on a language's list
MIN_SHARE = 0.05  # part of the texts a language must have to count

_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def guess_languages(texts: Sequence[str], *, n_sampled: int = 2000, n_characters: int = 3000) -> dict[str, float]:
    """Return the share of the texts in each language that has a stop list, largest first; rare languages are left out.

    Only up to `n_sampled` texts, evenly spaced, and the first `n_characters` of each are looked at.

    >>> guess_languages(["the price of oil is up", "der Preis ist in der Nacht gefallen", "the rain and the wind"])
    {'english': 0.6666666666666666, 'german': 0.3333333333333333}
    """
    step = max(1, len(texts) // n_sampled)
    sample = [text[:n_characters] for text in texts[::step]]
    languages_of_word = _languages_of_word()
    votes = Counter(filter(None, (_language(text, languages_of_word) for text in sample)))
    return {name: count / len(sample) for name, count in votes.most_common() if count >= MIN_SHARE * len(sample)}


def share_without_blanks(texts: Sequence[str], *, n_sampled: int = 2000, n_characters: int = 500) -> float:
    """Return the share of the letters that belong to scripts written without blanks (Chinese, Japanese, Thai, ...).

    >>> share_without_blanks(["東京", "ab"])
    0.5
    """
    step = max(1, len(texts) // n_sampled)
    letters = unspaced = 0
    for text in texts[::step]:
        beginning = text[:n_characters]
        letters += sum(map(str.isalpha, beginning))
        unspaced += len(_UNSPACED.findall(beginning))
    return min(1.0, unspaced / letters) if letters else 0.0


def guess_languages_of_terms(terms: Iterable[str], *, min_present: float = 0.4) -> list[str]:
    """Return the languages of a vocabulary whose stop words are still in it: those with `min_present` of their list."""
    present = {term.lower() for term in terms}
    shares = {name: len(load_stop_words(name) & present) / len(load_stop_words(name)) for name in STOP_WORD_LANGUAGES}
    return [name for name in sorted(shares, key=lambda name: -shares[name]) if shares[name] >= min_present]


def _language(text: str, languages_of_word: Mapping[str, tuple[str, ...]]) -> str | None:
    words = _WORD.findall(text.lower())
    hits: Counter[str] = Counter()
    for word in words:
        hits.update(languages_of_word.get(word, ()))
    if not hits:
        return None
    best, count = hits.most_common(1)[0]
    return best if count >= MIN_COVERAGE * len(words) else None


def _languages_of_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in STOP_WORD_LANGUAGES:
        for word in load_stop_words(name):
            found[word] = (*found.get(word, ()), name)
    return found
