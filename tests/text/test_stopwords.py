from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import doccluster.text.language as stopwords
from doccluster.errors import InputError
from doccluster.text.language import STOP_WORD_LANGUAGES, load_stop_words, resolve_stop_words
from doccluster.text.tokens import build_preprocessor, build_tokenizer

LISTS = Path(stopwords.__file__).parent / "stopword_lists"
CONTENT_WORDS = {
    "english": "system computer bill fire mine past interest world state states news year time people first two new",
    "french": "or point personne fait monde état gouvernement an ans jour",
    "german": "welt staat jahr jahre mensch menschen zeit regierung",
    "spanish": "mundo estado estados gobierno año años día tiempo",
    "italian": "stato stati ora mondo governo anno anni",
    "portuguese": "mundo governo ano anos dia logo",
    "dutch": "weg wees wereld jaar regering",
    "russian": "мир год года время правительство",
}


@pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)
def test_every_list_is_short_lower_case_and_in_composed_unicode(language):
    words = load_stop_words(language)
    assert 100 <= len(words) <= 400
    for word in words:
        assert word == word.lower()
        assert word == unicodedata.normalize("NFC", word)
        assert not re.search(r"\d", word)


def test_every_file_belongs_to_a_language_and_the_other_way_round():
    assert {path.stem for path in LISTS.glob("*.txt")} == set(STOP_WORD_LANGUAGES)


@pytest.mark.parametrize("language", CONTENT_WORDS)
def test_lists_hold_no_word_a_document_can_be_about(language):
    assert not load_stop_words(language) & set(CONTENT_WORDS[language].split())


def test_a_language_is_known_by_its_code_too():
    assert load_stop_words("DE") == load_stop_words("german")


def test_an_unknown_language_is_refused_with_the_names_there_are():
    with pytest.raises(InputError, match=r"'klingon'.*english"):
        load_stop_words("klingon")


def test_shipped_lists_are_cut_like_the_text():
    prepare = build_preprocessor(lowercase=True, strip_accents="unicode", preprocessor=None)
    french = resolve_stop_words("french", preprocess=prepare, tokenize=build_tokenizer(r"\w\w+"))
    assert {"etre", "meme", "qu", "quelqu", "un"} <= french
    assert not french & {"être", "l", "qu'", "même"}


def test_own_words_are_taken_as_they_are():
    prepare = build_preprocessor(lowercase=True, strip_accents=None, preprocessor=None)
    assert resolve_stop_words(["Don't"], preprocess=prepare, tokenize=build_tokenizer(r"\w+")) == {"Don't"}


def test_own_words_must_be_words():
    with pytest.raises(InputError, match="7"):
        resolve_stop_words(["a", 7], preprocess=str.lower, tokenize=str.split)  # type: ignore[list-item]


def test_lists_cover_about_half_of_running_text_of_their_language(real_corpora):
    """A list in the wrong language, or a broken one, would cover next to nothing of the declaration of human rights."""
    import zipfile

    names = {
        "english": "English-Latin1",
        "german": "German_Deutsch-Latin1",
        "french": "French_Francais-Latin1",
        "spanish": "Spanish-Latin1",
        "italian": "Italian-Latin1",
        "portuguese": "Portuguese_Portugues-Latin1",
        "dutch": "Dutch_Nederlands-Latin1",
        "danish": "Danish_Dansk-Latin1",
        "swedish": "Swedish_Svenska-Latin1",
        "norwegian": "Norwegian-Latin1",
        "finnish": "Finnish_Suomi-Latin1",
        "hungarian": "Hungarian_Magyar-UTF8",
        "romanian": "Romanian_Romana-Latin2",
        "polish": "Polish-Latin2",
        "czech": "Czech-UTF8",
        "russian": "Russian-UTF8",
        "ukrainian": "Ukrainian-UTF8",
        "bulgarian": "Bulgarian_Balgarski-UTF8",
        "greek": "Greek_Ellinika-UTF8",
        "turkish": "Turkish_Turkce-UTF8",
        "arabic": "Arabic_Alarabia-Arabic",
        "indonesian": "Indonesian-Latin1",
        "persian": "Farsi_Persian-UTF8",
    }
    encodings = {"Latin1": "latin-1", "Latin2": "iso8859-2", "UTF8": "utf-8", "Arabic": "cp1256"}
    shares = {}
    with zipfile.ZipFile(real_corpora / "languages_encodings" / "udhr.zip") as archive:
        for language, name in names.items():
            text = archive.read(f"udhr/{name}").decode(encodings[name.rsplit("-", 1)[1]], "replace").lower()
            tokens = re.findall(r"\w+", text)
            stop = resolve_stop_words(language, preprocess=str.lower, tokenize=build_tokenizer(r"\w+"))
            shares[language] = sum(token in stop for token in tokens) / len(tokens)
    low = {language: round(share, 2) for language, share in shares.items() if not 0.12 <= share <= 0.65}
    assert not low, low


def test_stemmers_and_lists_load_no_nltk_until_asked():
    code = (
        "import sys; from doccluster.vectors import TfidfVectorizer; TfidfVectorizer(stop_words='english').fit(['one "
        "cat sat']); print('nltk' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
