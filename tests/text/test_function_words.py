from __future__ import annotations

import numpy as np
import pytest

from doccluster.errors import InputError
from doccluster.text.language import ALPHABETS, STOP_WORD_LANGUAGES, FunctionWords, load_stop_words, survey_writing
from doccluster.vectors import TfidfVectorizer

GERMAN = "Es war die erste Nacht in der Stadt, und die Leute sind nicht froh über das Fest."
ENGLISH = "They die in the war of the roses, and the old fest was not a happy one."
RUSSIAN = "Вот что было в городе, и это не то, о чём мы все говорили."
BULGARIAN = "Това е градът, който не сме виждали, и в него има много хора, които са тук."
CHINESE = "市长今天开放新的地铁线"
MIXED = [GERMAN, ENGLISH, RUSSIAN, CHINESE, "", "die war"]
LISTS = "english,german,russian"


@pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)
def test_every_list_is_written_with_the_letters_of_its_language(language):
    letters = {letter for word in load_stop_words(language) for letter in word if letter.isalpha()}
    assert letters <= ALPHABETS[language]


def test_each_document_loses_the_function_words_of_its_own_language_alone():
    vectorizer = TfidfVectorizer(analyzer="script", stop_words=LISTS)
    matrix = vectorizer.fit_transform(MIXED)
    names = vectorizer.get_feature_names_out()
    terms = [set(names[matrix[[row]].indices]) for row in range(len(MIXED))]
    assert not terms[0] & {"war", "die", "und", "nicht"}
    assert {"nacht", "stadt", "fest"} <= terms[0]
    assert {"war", "die", "roses", "fest"} <= terms[1]
    assert not terms[1] & {"the", "and", "was"}
    assert not terms[2] & {"что", "это", "не"}
    assert {"war", "die", "the", "что"} <= set(vectorizer.stop_words_removed_)


def test_new_documents_are_treated_like_the_fitted_ones():
    vectorizer = TfidfVectorizer(analyzer="script", stop_words=LISTS)
    fitted = vectorizer.fit_transform(MIXED)
    again = TfidfVectorizer.from_state(*vectorizer.state())
    for transformed in (vectorizer.transform(MIXED), again.transform(MIXED)):
        assert np.array_equal(transformed.toarray(), fitted.toarray())
    few = TfidfVectorizer(analyzer="script", stop_words=LISTS, min_df=2)
    assert np.array_equal(few.fit_transform(MIXED).toarray(), few.transform(MIXED).toarray())


def test_counts_words_and_pairs_of_words_leave_the_same_words_out():
    single = TfidfVectorizer(analyzer="script", stop_words=LISTS).fit(MIXED)
    pairs = TfidfVectorizer(analyzer="script", stop_words=LISTS, ngram_range=(1, 2)).fit(MIXED)
    assert [term for term in pairs.get_feature_names_out() if " " not in term] == list(single.get_feature_names_out())
    assert pairs.stop_words_removed_ == single.stop_words_removed_


def test_stemming_leaves_the_same_words_out():
    stemmed = TfidfVectorizer(analyzer="script", stop_words=LISTS, stemming="english").fit(MIXED)
    assert {"rose", "die", "war"} <= set(stemmed.vocabulary_)
    assert "the" not in stemmed.vocabulary_


def test_many_documents_lose_the_same_words_as_one_by_one():
    """More entries than are looked at in one block, and texts of one language between those of another."""
    texts = [*[GERMAN] * 9_000, *[ENGLISH, GERMAN] * 6_000, ""]
    vectorizer = TfidfVectorizer(stop_words="english,german")
    matrix = vectorizer.fit_transform(texts)
    terms = vectorizer.get_feature_names_out()
    german, english = set(terms[matrix[[0]].indices]), set(terms[matrix[[9_000]].indices])
    assert german == {"erste", "nacht", "stadt", "leute", "froh", "fest"}
    assert "die" in english
    lengths = np.diff(matrix.indptr)
    assert set(lengths[:9_000]) == {len(german)}
    assert set(lengths[9_000:-1:2]) == {len(english)}
    assert lengths[-1] == 0


def test_an_unknown_language_among_several_is_refused():
    with pytest.raises(InputError, match="klingon"):
        TfidfVectorizer(stop_words="english,klingon").fit(["one"])


def test_letters_tell_languages_whose_function_words_are_alike():
    words = FunctionWords(list(STOP_WORD_LANGUAGES), preprocess=str.lower, tokenize=str.split)
    for text, name in ((RUSSIAN, "russian"), (BULGARIAN, "bulgarian")):
        tokens = text.lower().replace(",", "").replace(".", "").split()
        assert words.leave_out(tokens) == load_stop_words(name)


def test_a_rare_language_is_found_among_thousands_of_documents():
    texts = [f"{ENGLISH} {number}" for number in range(2_000)]
    texts[100:103] = [GERMAN, GERMAN + " Ja.", GERMAN + " Nein."]
    assert list(survey_writing(texts).languages) == ["english", "german"]
    texts[100:102] = [ENGLISH, ENGLISH]
    assert list(survey_writing(texts).languages) == ["english"]


def test_scripts_are_told_with_their_shares():
    writing = survey_writing([ENGLISH, GERMAN, CHINESE, "สวัสดีชาวโลก"])
    assert writing.scripts == {"Chinese characters": 0.25, "Thai": 0.25}
    assert writing.scripts_told() == "Chinese characters 25 %, Thai 25 %"
    assert writing.languages_told() == "English 25 %, German 25 %, unknown 50 %"


@pytest.mark.real
def test_titles_in_english_alone_are_taken_for_no_other_language(real_corpora):
    """Short titles share words like "to", "in" and "do" with Czech, Dutch and Danish."""
    path = real_corpora / "stackoverflow_titles" / "rawText" / "title_StackOverflow.txt"
    assert list(survey_writing(path.read_text(encoding="utf-8").split("\n")).languages) == ["english"]


def test_a_language_without_a_list_is_not_taken_for_one_with_a_few_of_its_words():
    rng = np.random.default_rng(4)
    syllables = [f"{consonant}{vowel}" for consonant in "bdgkmrst" for vowel in "aiu"]
    content = ["".join(rng.choice(syllables, 3)) for _ in range(400)]
    few = ["de", "la", "que", "ba", "ta", "mu"]  # three of them Spanish words
    texts = [" ".join([*rng.choice(few, 4), *rng.choice(content, 9)]) for _ in range(200)]
    votes, on_list = FunctionWords(["spanish"], preprocess=str.lower, tokenize=str.split).tables(few)
    assert on_list.sum() == 3
    assert votes.max() > 0
    assert survey_writing(texts).languages == {}
