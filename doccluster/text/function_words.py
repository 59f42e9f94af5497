"""The stop lists of several languages together: which language a document is in, recognised by its function words.

Function words are a third to a half of running text in the languages that have a list here, so counting them is all
that is needed; a word on several lists says less, and a word with a letter its language does not have is evidence
against that language: that tells Russian from Bulgarian or Persian from Arabic. The letters are those of the standard
orthographies (Unicode CLDR, exemplar characters), with the accents that loanwords keep. Votes are whole numbers, so
that a sum does not depend on its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from operator import and_

import numpy as np
import numpy.typing as npt

from doccluster.text.stopwords import resolve_stop_words

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_LETTERS = {
    "czech": _LATIN + "áčďéěíňóřšťúůýž",
    "danish": _LATIN + "æøåéü",
    "dutch": _LATIN + "áéíóúàèëïöüĳ",
    "english": _LATIN + "éèêëïöôàçñ",
    "finnish": _LATIN + "äöåšž",
    "french": _LATIN + "àâæçéèêëîïôœùûüÿ",
    "german": _LATIN + "äöüßé",
    "hungarian": _LATIN + "áéíóöőúüű",
    "indonesian": _LATIN + "é",
    "italian": _LATIN + "àèéìíîòóùú",
    "norwegian": _LATIN + "æøåàéèêóòôü",
    "polish": _LATIN + "ąćęłńóśźż",
    "portuguese": _LATIN + "áâãàçéêíóôõúü",
    "romanian": _LATIN + "ăâîșțşţ",
    "spanish": _LATIN + "áéíñóúü",
    "swedish": _LATIN + "åäöéàü",
    "turkish": _LATIN.translate(str.maketrans("", "", "qwx")) + "çğıöşüâîû\u0307",
    "greek": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊΐϋΰ",
    "bulgarian": "абвгдежзийклмнопрстуфхцчшщъьюяѝ",
    "russian": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "ukrainian": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "persian": "اآبپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیءأئؤۀة",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئىةـ",
}
ALPHABETS = {language: frozenset(letters) for language, letters in _LETTERS.items()}
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
    ) -> None:
        self.languages = tuple(languages)
        self.lists = tuple(resolve_stop_words(name, preprocess=preprocess, tokenize=tokenize) for name in languages)
        self._shared = Counter(word for words in self.lists for word in words)
        self._languages_with = _LanguagesWith(self.languages)
        self._votes_of_others = cache(self._without_lists)

    def votes(self, word: str) -> Sequence[int]:
        """Return how a word speaks for each language: above 0 on its list, below 0 where it has a foreign letter."""
        known = reduce(and_, map(self._languages_with.__getitem__, word.lower()), -1)
        others = self._votes_of_others(known)
        if word not in self._shared:
            return others
        vote = FULL_VOTE // self._shared[word]
        return [vote if word in words else other for words, other in zip(self.lists, others, strict=True)]

    def tables(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Return the votes of words, and whether each is on each list: arrays of shape (n_words, n_languages)."""
        shape = (len(words), len(self.languages))
        votes = np.array([self.votes(word) for word in words], dtype=np.int32).reshape(shape)
        on_list: npt.NDArray[np.bool_] = np.greater(votes, 0).reshape(shape)
        return votes, on_list

    def leave_out(self, tokens: Iterable[str]) -> frozenset[str]:
        """Return the stop list of the language that most of the distinct tokens speak for."""
        votes, _ = self.tables(list(set(tokens)))
        return self.lists[int(votes.sum(axis=0).argmax())]

    def _without_lists(self, known: int) -> list[int]:
        return [0 if known >> place & 1 else _FOREIGN_VOTE for place in range(len(self.languages))]


class _LanguagesWith(dict[str, int]):
    """For each character the languages that are written with it, as the bits of a number."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._alphabets = [ALPHABETS[name] for name in languages]

    def __missing__(self, character: str) -> int:
        places = enumerate(self._alphabets)
        known = sum(1 << place for place, letters in places if character in letters) if character.isalpha() else -1
        self[character] = known
        return known
