"""`TfidfVectorizer` beside scikit-learn's: term for term and value for value, on written, real and made-up texts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from doccluster.text import counting
from doccluster.text.analysis import analysis_of
from doccluster.vectors import TfidfVectorizer
from doccluster.vectors.term_counts import count_terms
from tests.conftest import examples, stable_id
from tests.vectors.peer import PeerVectorizer, assert_same_as_peer, reuters_texts, udhr_texts


@pytest.fixture(autouse=True, scope="module")
def compiled_loops():
    """Let the compiled loops count few texts too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "FEW_CHARACTERS", -1)
        yield


WRITTEN = [
    "The election was held; voters elected 12 members.",
    "An Election is held: VOTERS elected_nobody — déjà vu, Übergröße, naïve ﬁne ™ K",
    "",
    "x y z",
    "ЁЖИК в тумане, ёжик ТУМАН. ΟΔΟΣ ὈΔΥΣΣΕΎΣ ΣΑΣ",
    "東京都に住む人々 and 3 metro-lines; İstanbul ıssız DŽ ǆ",
    "a" * 15 + " " + "a" * 16 + " " + "a" * 17 + " " + "a" * 16 + "B " + "a" * 16 + "c",
    "don't can't won't  tabs\tand\nlines\r\n\x00zero\x85next\u2028line",
    "voters voters voters election",
    "\ud800 lone surrogate \udfff",
]
PARAMETERS = [
    {},
    {"lowercase": False},
    {"token_pattern": r"\w+"},
    {"token_pattern": r"(?u)\b\w{3,}\b"},
    {"token_pattern": r"[a-z]+"},
    {"token_pattern": r"\b([a-z])\w+\b"},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"strip_accents": lambda text: text.replace("e", "")},
    {"preprocessor": lambda text: text.swapcase()},
    {"tokenizer": str.split, "token_pattern": None},
    {"analyzer": str.split},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (2, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"ngram_range": (1, 2), "stop_words": ["the", "is"]},
    {"stop_words": ["the", "was", "an", "held"]},
    {"min_df": 2},
    {"max_df": 4},
    {"min_df": 0.15, "max_df": 0.25},
    {"max_features": 5},
    {"max_features": 7, "binary": True},
    {"vocabulary": ["voters", "election", "absent", "туман"]},
    {"vocabulary": {"voters": 1, "election": 0}},
    {"vocabulary": {"zebra", "voters", "élan"}},
    {"binary": True},
    {"norm": "l1"},
    {"norm": None},
    {"use_idf": False},
    {"smooth_idf": False},
    {"sublinear_tf": True},
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=stable_id)
def test_written_texts_give_what_scikit_learn_gives(parameters, dtype):
    assert_same_as_peer(WRITTEN * 3, dtype=dtype, **parameters)


@pytest.mark.real
@pytest.mark.parametrize(
    "parameters",
    [{}, {"min_df": 3, "max_df": 0.4, "sublinear_tf": True}, {"max_features": 2000}, {"strip_accents": "unicode"}],
    ids=stable_id,
)
def test_reuters_gives_what_scikit_learn_gives(real_corpora, parameters):
    texts = reuters_texts(real_corpora / "reuters21578", n_files=2 if parameters else 6)
    assert len(texts) == (2000 if parameters else 6000)
    assert_same_as_peer(texts, **parameters)


@pytest.mark.real
def test_reuters_bigrams_give_what_scikit_learn_gives(real_corpora):
    texts = reuters_texts(real_corpora / "reuters21578", n_files=2)
    assert_same_as_peer(texts, ngram_range=(1, 2), stop_words=["the", "of", "said"], min_df=2)


@pytest.mark.real
@pytest.mark.parametrize("parameters", [{}, {"dtype": np.float64, "max_features": 300}], ids=stable_id)
def test_short_titles_give_what_scikit_learn_gives(real_corpora, parameters):
    path = real_corpora / "stackoverflow_titles" / "rawText" / "title_StackOverflow.txt"
    titles = path.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(titles) == 20000
    assert_same_as_peer(titles, **parameters)


@pytest.mark.real
@pytest.mark.parametrize("parameters", [{}, {"lowercase": False}, {"token_pattern": r"\w+"}], ids=stable_id)
def test_hundreds_of_languages_give_what_scikit_learn_gives(real_corpora, parameters):
    texts = udhr_texts(real_corpora / "languages_encodings" / "udhr2.zip")
    assert len(texts) > 300
    matrix = assert_same_as_peer(texts[::4] if parameters else texts, dtype=np.float64, **parameters)
    assert matrix.shape[1] > (30_000 if parameters else 100_000)


anything = st.text(st.characters(exclude_categories=[]), max_size=60)
WORDS = ["the", "cat", "Cat", "naïve", "STRASSE", "straße", "東京", "東", "x", "_", "__", "12", "ΣΑΣ", "ﬁ", "İ", "ǅ"]
wordy = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@settings(max_examples=examples(150))
@given(st.lists(anything | wordy, min_size=1, max_size=6), st.sampled_from([r"(?u)\b\w\w+\b", r"\w+", r"\w{3,}"]))
def test_any_text_is_cut_as_the_regular_expression_cuts_it(documents, pattern):
    analysis = TfidfVectorizer(token_pattern=pattern)
    expected = {token for document in documents for token in re.findall(pattern, document.lower())}
    assume(expected)
    analysis.fit(documents)
    assert set(analysis.vocabulary_) == expected


@settings(max_examples=examples(60))
@given(
    st.lists(anything | wordy, min_size=2, max_size=6),
    st.sampled_from(["word", "char", "char_wb"]),
    st.sampled_from([None, "unicode", "ascii"]),
    st.booleans(),
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
)
def test_any_text_gives_what_scikit_learn_gives(documents, analyzer, strip_accents, lowercase, ngram_range):
    parameters = {
        "analyzer": analyzer,
        "strip_accents": strip_accents,
        "lowercase": lowercase,
        "ngram_range": ngram_range,
    }
    try:
        PeerVectorizer(**parameters).fit(documents)
    except ValueError:  # no term at all
        with pytest.raises(ValueError, match="empty vocabulary"):
            TfidfVectorizer(**parameters).fit(documents)
        return
    assert_same_as_peer(documents, dtype=np.float64, **parameters)


@settings(max_examples=examples(100))
@given(
    st.lists(anything | wordy, min_size=1, max_size=6),
    st.sampled_from([{}, {"analyzer": "script"}, {"token_pattern": r"\w+"}, {"lowercase": False}]),
)
def test_few_texts_are_counted_by_python_as_by_the_compiled_loop(documents, parameters):
    analysis = analysis_of(TfidfVectorizer(**parameters))
    compiled = count_terms([*documents, "x"], analysis, n_threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "FEW_CHARACTERS", 2**17)
        patch.setattr(counting, "find_words", None)
        by_python = count_terms([*documents, "x"], analysis, n_threads=1)
    assert by_python.terms == compiled.terms
    for name in ("data", "indices", "indptr"):
        expected = getattr(compiled.rows, name)
        np.testing.assert_array_equal(getattr(by_python.rows, name), expected, strict=True)


@settings(max_examples=examples(40))
@given(st.lists(st.text("abcdefgh", min_size=14, max_size=20), min_size=2, max_size=40))
def test_long_tokens_that_share_a_beginning_stay_apart(tokens):
    documents = [" ".join(tokens), "aaaaaaaaaaaaaaaaaaaa " + " ".join("aaaaaaaaaaaaaaaa" + token for token in tokens)]
    analysis = TfidfVectorizer()
    assert set(analysis.fit(documents).vocabulary_) == {token for document in documents for token in document.split()}


def test_tokens_of_one_hash_are_told_apart_by_their_bytes(monkeypatch):
    """With two slots to begin with, every search meets other tokens first, and the tables grow many times."""
    words = [f"token{number:05d}" + "x" * (number % 23) for number in range(3000)]
    expected = TfidfVectorizer(n_threads=1).fit_transform([" ".join(words), " ".join(words[::2])])
    plain = counting.RunCounter.__init__
    monkeypatch.setattr(counting.RunCounter, "__init__", lambda self, analysis: plain(self, analysis, capacity=1))
    tiny = TfidfVectorizer(n_threads=1)
    found = tiny.fit_transform([" ".join(words), " ".join(words[::2])])
    assert tiny.get_feature_names_out().tolist() == sorted(words)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("block_characters", [1, 64, 4096])
def test_threads_and_blocks_change_nothing(monkeypatch, n_threads, block_characters):
    generator = np.random.default_rng(3)
    words = np.array([f"w{number}é" if number % 9 == 0 else f"w{number}" for number in range(400)])
    documents = [" ".join(words[generator.zipf(1.5, size=30) % 400]) for _ in range(300)]
    parameters = {"min_df": 2, "stop_words": ["w1"], "max_features": 150}
    expected = TfidfVectorizer(n_threads=1, **parameters).fit(documents)
    matrix = expected.transform(documents)
    monkeypatch.setattr(counting, "BLOCK_CHARACTERS", block_characters)
    vectorizer = TfidfVectorizer(n_threads=n_threads, **parameters)
    found = vectorizer.fit_transform(documents)
    assert vectorizer.vocabulary_ == expected.vocabulary_
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(matrix, name))
