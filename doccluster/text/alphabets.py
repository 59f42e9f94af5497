"""The letters each language with a stop list is written with, beyond the 26 of English or the base of its script.

A word with a letter its language does not have is evidence against that language; that tells Russian from Bulgarian or
Persian from Arabic, whose short function words are much the same. The letters are those of the standard orthographies
(Unicode CLDR, exemplar characters), with the accents that loanwords keep.
"""

from __future__ import annotations

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
