"""Terms that are spread evenly over documents of all kinds: as defined, and left out of vectors by default."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from doccluster import read_corpus, run
from doccluster.vectors import TfidfVectorizer, vectorize
from doccluster.vectors.vectorize import LIKE_ANY, choose_vectorizer, even_terms

SUBJECTS = [[f"{letter}{vowel}{letter}urk" for vowel in "aeiou"] for letter in "bdfgklmprv"]
EVERYWHERE = ("writes", "edu", "sent")


def texts_of(n_documents, rng):
    """Return texts of ten subjects, with words that half of all texts have."""
    return [
        " ".join([*rng.choice(SUBJECTS[place % 10], 4), *(word for word in EVERYWHERE if rng.random() < 0.5)])
        for place in range(n_documents)
    ]


def mean_cosine(rows, members, column):
    """Return the mean of the cosines of pairs of members, of what they have beside one column."""
    beside = rows.copy()
    if column is not None:
        beside[:, column] = 0.0
    return np.mean([beside[one] @ beside[other] for one, other in itertools.combinations(members, 2)])


def test_a_term_is_even_as_defined_by_all_pairs_of_documents():
    rng = np.random.default_rng(5)
    of_kinds = np.where(np.arange(15) // 5 == np.arange(3)[:, None], 0.8, 0.02)
    rates = np.hstack([of_kinds, np.full((3, 3), 0.4)])[np.arange(120) % 3]
    rare = np.arange(120)[:, None] // 10 == np.arange(12)
    has = np.hstack([rng.random((120, 18)) < rates, rare]).astype(float)
    frequency = has.sum(axis=0)
    rows = has * np.log(120 / frequency)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    of_all = mean_cosine(rows, range(120), None)
    ratios = [mean_cosine(rows, np.flatnonzero(has[:, column]), column) / of_all for column in range(30)]
    expected = (frequency >= 20) & (np.array(ratios) <= LIKE_ANY)
    assert 0 < expected.sum() < (frequency >= 20).sum()
    counts = sparse.csr_array(has * rng.integers(1, 5, size=has.shape))
    assert even_terms(counts).tolist() == expected.tolist()


def test_words_of_all_subjects_get_no_column_and_words_of_one_do():
    texts = texts_of(300, np.random.default_rng(0))
    vectorizer, _, _ = choose_vectorizer(texts, options={})
    assert set(vectorizer.dropped_terms) == set(EVERYWHERE)
    assert set(vectorize(texts).terms) == set(itertools.chain.from_iterable(SUBJECTS))


def test_of_few_documents_no_word_is_dropped():
    texts = texts_of(99, np.random.default_rng(0))
    assert choose_vectorizer(texts, options={})[0].dropped_terms == ()


def test_no_word_is_dropped_where_documents_would_have_nothing_left():
    texts = [*texts_of(300, np.random.default_rng(0)), *(["edu writes"] * 10)]
    assert choose_vectorizer(texts, options={})[0].dropped_terms == ()


def test_of_documents_of_one_kind_no_word_is_dropped():
    """Any two share as much as any others: the rule would drop all but a few of the words that half of them have."""
    rng = np.random.default_rng(3)
    common, rare = [f"word{place}" for place in range(60)], [f"rare{place}" for place in range(400)]
    texts = [" ".join([*rng.choice(common, 20, replace=False), *rng.choice(rare, 3)]) for _ in range(300)]
    assert choose_vectorizer(texts, options={})[0].dropped_terms == ()
    counts = TfidfVectorizer(min_df=2).fit_counts(texts)
    assert not even_terms(counts).any()


def test_the_share_of_all_words_that_occur_evenly_is_said():
    texts = texts_of(300, np.random.default_rng(0))
    lines = run(texts, n_clusters=10, measures=[], report=False).parameters["resolved"]["analysis"]
    words = [word for text in texts for word in text.split()]
    share = sum(word in EVERYWHERE for word in words) / len(words)
    assert lines["dropped"] == f"3 words that occur evenly ({100 * share:.0f} % of all words): edu, sent, writes"


@pytest.mark.parametrize("option", [{"language": "none"}, {"options": {"dropped_terms": []}}])
def test_words_stay_where_you_say_so(option):
    texts = texts_of(300, np.random.default_rng(0))
    assert not list(choose_vectorizer(texts, **{"options": {}, **option})[0].dropped_terms)


def test_all_forms_of_a_dropped_word_go():
    texts = ["the boats sailed", "a boat sails", "boating on the lake", "a lake"]
    assert "boat" in vectorize(texts, language="english").terms
    assert set(vectorize(texts, language="english", dropped_terms=["boating"]).terms) == {"sail", "lake"}


def words_with_endings(n_texts=60, seed=0):
    """Texts in no known language: 90 roots of five letters, each with any of 20 endings."""
    rng = np.random.default_rng(seed)
    letters = list("aeioukptsnml")
    roots, endings = (["".join(rng.choice(letters, size)) for _ in range(n)] for size, n in ((5, 90), (3, 20)))
    words = np.char.add(rng.choice(roots, (n_texts, 8)), rng.choice(endings, (n_texts, 8)))
    return list(map(" ".join, words.tolist()))


def test_words_with_many_endings_are_cut_and_shown_whole():
    texts = words_with_endings()
    vectors = vectorize(texts)
    assert {len(term) for term in vectors.terms} == {5}
    assert {len(term) for term in vectors.display_terms} == {8}
    assert choose_vectorizer(texts[:20], options={})[0].stemming is None  # too few to say
    short_words = [" ".join(word[:4] for word in text.split()) for text in texts]
    assert choose_vectorizer(short_words, options={})[0].stemming is None
    few_words = [" ".join(texts[row % 3].split()) for row in range(60)]
    assert choose_vectorizer(few_words, options={})[0].stemming is None
    assert choose_vectorizer([*texts, *[ENGLISH] * 60], options={})[0].stemming == "english"
    # where cutting does better than the stemmer of the language
    assert choose_vectorizer([GERMAN] * 30, options={})[0].stemming == "five-letters"
    assert choose_vectorizer([GERMAN] * 30, language="de", options={})[0].stemming == "five-letters"
    assert choose_vectorizer([GERMAN] * 30, options={"stemming": "german"})[0].stemming == "german"


def test_words_with_digits_are_not_cut():
    terms = vectorize(["article12345 elections", "article12399 election"], stemming="five-letters").terms
    assert terms.tolist() == ["article12345", "article12399", "elect"]


ENGLISH = "the people of the town have been waiting for a road and a bridge that they were told of in the spring"
GERMAN = "die Leute der Stadt haben auf eine Strasse und auf die Bruecke gewartet, von der man ihnen im Mai erzaehlte"


def test_words_are_stemmed_by_the_language_nearly_all_texts_are_in():
    chosen = {
        name: choose_vectorizer(texts, options=options)[0].stemming
        for name, texts, options in (
            ("one language", [ENGLISH] * 30, {}),
            ("nearly all", [ENGLISH] * 57 + [GERMAN] * 3, {}),
            ("two languages", [ENGLISH] * 20 + [GERMAN] * 10, {}),
            ("not wanted", [ENGLISH] * 30, {"stemming": "none"}),
            ("an analyzer of one's own", [ENGLISH] * 30, {"analyzer": "char"}),
        )
    }
    assert chosen == {
        "one language": "english",
        "nearly all": "english",
        "two languages": None,
        "not wanted": None,
        "an analyzer of one's own": None,
    }
    assert choose_vectorizer([ENGLISH] * 30, language="nl", options={})[0].stemming == "dutch"
    assert choose_vectorizer([ENGLISH] * 30, language=["de", "en"], options={})[0].stemming is None
    assert choose_vectorizer([ENGLISH] * 30, language="none", options={})[0].stemming is None


@pytest.mark.filterwarnings("ignore:the character references")
def test_vectorize_of_a_corpus_makes_the_vectors_of_a_run():
    texts = [f"{text} &amp; more &#39;words&#39; {number}" for number, text in enumerate(words_with_endings())]
    made, vectors = run(texts, n_clusters=3, report=False, measures=[]).vectors, vectorize(read_corpus(texts))
    assert made.terms.tolist() == vectors.terms.tolist()
    assert np.array_equal(made.matrix.data, vectors.matrix.data)
    assert np.array_equal(made.counts.data, vectors.counts.data)
