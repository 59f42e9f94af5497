from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer as SklearnVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils import estimator_html_repr, get_tags

from doccluster.corpus import Corpus
from doccluster.errors import DocclusterWarning, InputError, NothingUsable, SchemaError
from doccluster.vectors import TfidfVectorizer, vectorize
from tests.conftest import stable_id

TEXTS = ["The elections were held.", "An election is held, voters elected.", "", "Voters vote: elections!"]


def test_stemming_puts_the_forms_of_a_word_into_one_column():
    vectorizer = TfidfVectorizer(stemming="english", stop_words="english", norm=None, use_idf=False)
    counts = vectorizer.fit_transform(TEXTS)
    assert vectorizer.get_feature_names_out().tolist() == ["elect", "held", "vote", "voter"]
    assert counts.toarray().tolist() == [[1, 1, 0, 0], [2, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]]
    assert vectorizer.document_frequency_.tolist() == [3, 2, 1, 2]


def test_the_state_of_an_older_version_is_read_unless_its_columns_are_those_of_a_hash():
    arrays, settings = TfidfVectorizer().fit(TEXTS).state()

    def of_older(n_features):
        return {**settings, "parameters": {**settings["parameters"], "n_features": n_features}}

    again = TfidfVectorizer.from_state(arrays, of_older(None))
    assert again.vocabulary_ == TfidfVectorizer().fit(TEXTS).vocabulary_
    with pytest.raises(SchemaError, match="by a hash"):
        TfidfVectorizer.from_state(arrays, of_older(11))


def test_terms_are_shown_in_their_commonest_written_form_and_the_first_of_equals():
    vectorizer = TfidfVectorizer(stemming="english").fit(["elected elections elections", "elected", "voters"])
    assert dict(zip(vectorizer.get_feature_names_out(), vectorizer.display_terms_, strict=True)) == {
        "elect": "elected",
        "voter": "voters",
    }


def test_without_stemming_terms_are_shown_as_they_are():
    vectorizer = TfidfVectorizer().fit(TEXTS)
    assert vectorizer.display_terms_.tolist() == vectorizer.get_feature_names_out().tolist()


def test_bigrams_of_stems_are_shown_as_written():
    vectorizer = TfidfVectorizer(stemming="english", ngram_range=(2, 2)).fit(
        ["running dogs", "running dogs", "run dog"]
    )
    assert vectorizer.get_feature_names_out().tolist() == ["run dog"]
    assert vectorizer.display_terms_.tolist() == ["running dogs"]


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_the_stop_words_that_were_removed_are_listed(ngram_range):
    vectorizer = TfidfVectorizer(stop_words="english", ngram_range=ngram_range).fit(TEXTS)
    assert vectorizer.stop_words_removed_ == ("an", "is", "the", "were")


def test_stop_words_that_the_tokenizer_cuts_are_told():
    with pytest.warns(DocclusterWarning, match="'don'"):
        TfidfVectorizer(stop_words=["don't"]).fit(TEXTS)


def test_missing_documents_are_empty_rows():
    matrix = TfidfVectorizer().fit_transform(["two cats", None, float("nan"), np.nan, pd.NA, pd.NaT, "", b"two dogs"])
    assert np.diff(matrix.indptr).tolist() == [2, 0, 0, 0, 0, 0, 0, 2]


def test_a_pandas_column_and_a_generator_are_read():
    expected = TfidfVectorizer().fit_transform(TEXTS).toarray()
    for documents in (pd.Series(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), iter(TEXTS), tuple(TEXTS)):
        np.testing.assert_array_equal(TfidfVectorizer().fit_transform(documents).toarray(), expected)


@pytest.mark.parametrize("method", ["fit", "fit_transform", "transform"])
def test_one_string_is_no_collection_of_documents(method):
    with pytest.raises(InputError, match="one string"):
        getattr(TfidfVectorizer().fit(TEXTS), method)("a text")


@pytest.mark.parametrize("documents", [7, None])
def test_what_cannot_be_iterated_is_refused(documents):
    with pytest.raises(InputError, match="iterable"):
        TfidfVectorizer().fit(documents)


def test_a_document_that_is_no_text_is_named():
    with pytest.raises(InputError, match="document 2 is int"):
        TfidfVectorizer().fit(["a", "b", 3])
    with pytest.raises(InputError, match="document 0 is not UTF-8"):
        TfidfVectorizer().fit([b"\xff\xfe"])


@pytest.mark.parametrize("documents", [[], ["", " "], ["a b c"], [None]])
def test_no_term_at_all_is_said_in_one_sentence(documents):
    with pytest.raises(NothingUsable, match="empty vocabulary"):
        TfidfVectorizer().fit(documents)


def test_pruning_every_term_is_said_in_one_sentence():
    with pytest.raises(NothingUsable, match="no terms remain"):
        TfidfVectorizer(min_df=4).fit(TEXTS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_df": -1}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"min_df": 3, "max_df": 2}, "fewer than"),
        ({"max_features": 0}, "max_features"),
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": 2}, "ngram_range"),
        ({"analyzer": "lines"}, "analyzer"),
        ({"norm": "max"}, "norm"),
        ({"dtype": np.int64}, "dtype"),
        ({"dtype": "nonsense"}, "dtype"),
        ({"strip_accents": "latin"}, "strip_accents"),
        ({"stemming": "klingon"}, "klingon"),
        ({"stemming": "english", "analyzer": "char"}, "analyzer"),
        ({"token_pattern": None}, "tokenizer"),
        ({"token_pattern": "("}, "regular expression"),
        ({"vocabulary": []}, "empty"),
        ({"vocabulary": ["a", "a"]}, "twice"),
        ({"vocabulary": {"a": 0, "b": 2}}, "repeated or missing"),
        ({"vocabulary": {"a": 0, "b": 0}}, "repeated or missing"),
        ({"vocabulary": {"a": "b"}}, "whole number"),
        ({"vocabulary": "word"}, "collection"),
        ({"stop_words": "klingon"}, "klingon"),
        ({"n_threads": 0}, "n_threads"),
        ({"analyzer": lambda document: [1]}, "must return a list of strings"),
    ],
    ids=stable_id,
)
def test_parameters_that_cannot_be_used_are_refused_in_one_sentence(parameters, message):
    with pytest.raises(InputError, match=message):
        TfidfVectorizer(**parameters).fit(TEXTS)


def test_a_vocabulary_in_upper_case_is_told():
    with pytest.warns(DocclusterWarning, match="upper case"):
        TfidfVectorizer(vocabulary=["Election"]).fit(TEXTS)


def test_transform_before_fit_is_refused():
    with pytest.raises(NotFittedError):
        TfidfVectorizer().transform(TEXTS)


def test_unknown_terms_are_left_out_and_rows_stay_in_place():
    vectorizer = TfidfVectorizer().fit(TEXTS)
    matrix = vectorizer.transform(["unheard words only", "held"])
    assert np.diff(matrix.indptr).tolist() == [0, 1]
    assert vectorizer.transform([]).shape == (0, matrix.shape[1])


def test_it_is_a_citizen_of_scikit_learn():
    vectorizer = TfidfVectorizer(stop_words="english", min_df=1, stemming="porter")
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    pipeline = make_pipeline(vectorizer, Normalizer()).fit(TEXTS)
    assert pipeline[:-1].get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()
    assert vectorizer.set_output(transform="default").transform(TEXTS).shape[0] == len(TEXTS)
    with pytest.raises(ValueError, match="sparse"):
        TfidfVectorizer().set_output(transform="pandas").fit_transform(TEXTS)
    assert vectorizer.set_params(min_df=2).min_df == 2
    with pytest.raises(ValueError, match="no parameter 'mindf'"):
        vectorizer.set_params(mindf=2)
    assert repr(vectorizer) == "TfidfVectorizer(stop_words='english', min_df=2, stemming='porter')"
    assert get_tags(vectorizer).input_tags.string
    assert "TfidfVectorizer" in estimator_html_repr(pipeline)
    assert "min_df" in vectorizer._repr_html_()
    assert not is_classifier(vectorizer)


def test_its_parameters_can_be_searched_and_its_rows_stand_beside_others():
    search = GridSearchCV(
        make_pipeline(TfidfVectorizer(), LogisticRegression()), {"tfidfvectorizer__min_df": [1, 2]}, cv=2
    ).fit(TEXTS * 2, [0, 1] * len(TEXTS))
    assert search.best_params_["tfidfvectorizer__min_df"] in (1, 2)
    columns = ColumnTransformer([("text", TfidfVectorizer(), "text"), ("few", TfidfVectorizer(max_features=2), "text")])
    rows = columns.fit_transform(pd.DataFrame({"text": TEXTS}))
    assert rows.shape == (len(TEXTS), len(TfidfVectorizer().fit(TEXTS).vocabulary_) + 2)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"stemming": "english", "stop_words": "english", "ngram_range": (1, 2)},
        {"stop_words": {"held", "an"}, "max_df": 0.9, "dtype": np.float64, "weighting": "bm25"},
        {"vocabulary": ["held", "voters"], "use_idf": False},
    ],
    ids=stable_id,
)
def test_a_saved_vectorizer_gives_the_same_rows(parameters):
    vectorizer = TfidfVectorizer(**parameters)
    expected = vectorizer.fit_transform(TEXTS)
    arrays, settings = vectorizer.state()
    assert all(array.dtype.kind in "uif" for array in arrays.values())
    back = TfidfVectorizer.from_state(arrays, json.loads(json.dumps(settings)))
    np.testing.assert_array_equal(back.transform(TEXTS).toarray(), expected.toarray())
    assert back.display_terms_.tolist() == vectorizer.display_terms_.tolist()
    assert back.stop_words_removed_ == vectorizer.stop_words_removed_
    refitted = clone(back).fit_transform(TEXTS)
    np.testing.assert_array_equal(refitted.toarray(), expected.toarray())


def test_a_function_cannot_be_saved():
    with pytest.raises(InputError, match="tokenizer is a function"):
        TfidfVectorizer(tokenizer=str.split).fit(TEXTS).state()


def test_damaged_and_newer_states_are_refused():
    arrays, settings = TfidfVectorizer().fit(TEXTS).state()
    with pytest.raises(SchemaError, match="schema 99"):
        TfidfVectorizer.from_state(arrays, {**settings, "schema": 99})
    with pytest.raises(SchemaError, match="differ in length"):
        TfidfVectorizer.from_state({**arrays, "idf": arrays["idf"][:-1]}, settings)
    with pytest.raises(SchemaError, match="incomplete"):
        TfidfVectorizer.from_state({}, settings)


def test_fitting_in_batches_is_fitting_at_once():
    parameters = {"stemming": "english", "stop_words": "english", "min_df": 2, "weighting": "bm25"}
    whole = TfidfVectorizer(**parameters).fit(TEXTS * 2)
    parts = TfidfVectorizer(**parameters).fit_batches([TEXTS, TEXTS[:1], TEXTS[1:]])
    assert parts.vocabulary_ == whole.vocabulary_
    assert parts.display_terms_.tolist() == whole.display_terms_.tolist()
    assert parts.stop_words_removed_ == whole.stop_words_removed_
    np.testing.assert_array_equal(parts.transform(TEXTS).toarray(), whole.transform(TEXTS).toarray())


def test_a_refit_without_idf_forgets_the_idf():
    vectorizer = TfidfVectorizer().fit(TEXTS)
    vectorizer.set_params(use_idf=False).fit(TEXTS)
    assert not hasattr(vectorizer, "idf_")


def test_vectorize_keeps_empty_documents_and_lists_them():
    corpus = Corpus(ids=("a", "b", "c", "d"), texts=tuple(TEXTS))
    vectors = vectorize(corpus, stop_words="english", stemming="english")
    assert vectors.ids == corpus.ids
    assert vectors.empty_ids == ("c",)
    assert vectors.matrix.shape == (4, len(vectors.terms))
    assert vectors.display_terms is not None
    assert set(vectors.display_terms) >= {"held", "voters"}


def test_vectorize_uses_a_fitted_vectorizer_as_it_is():
    vectorizer = TfidfVectorizer().fit(TEXTS)
    vectors = vectorize(["an election", "nothing known"], vectorizer)
    assert vectors.n_terms == len(vectorizer.vocabulary_)
    assert vectors.empty_ids == ("2",)
    fresh = TfidfVectorizer(norm=None)
    assert vectorize(TEXTS, fresh).matrix.shape[1] == len(fresh.vocabulary_)
    np.testing.assert_allclose(vectorize(["held held election"], fresh).matrix.power(2).sum(), 1, rtol=1e-6)


def test_vectorize_refuses_options_it_does_not_know():
    with pytest.raises(InputError, match="n_gram"):
        vectorize(TEXTS, n_gram=2)
    with pytest.raises(InputError, match="min_df"):
        vectorize(TEXTS, TfidfVectorizer(), min_df=2)


def test_several_callers_at_once_do_not_disturb_one_another():
    from concurrent.futures import ThreadPoolExecutor

    corpora = [[f"word{caller} shared text{number} naïve" for number in range(300)] for caller in range(6)]
    expected = [TfidfVectorizer(n_threads=1).fit_transform(corpus).toarray() for corpus in corpora]
    with ThreadPoolExecutor(6) as callers:
        found = list(callers.map(lambda corpus: TfidfVectorizer(n_threads=2).fit_transform(corpus).toarray(), corpora))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
def test_a_forked_child_can_vectorize_after_its_parent_did(copies):
    code = """
import os, sys, warnings
warnings.simplefilter("error")
from doccluster.vectors import TfidfVectorizer
texts = ["two cats", "one dog"] * 50
expected = TfidfVectorizer(n_threads=2).fit_transform(texts)
child = os.fork()
if child == 0:
    found = TfidfVectorizer(n_threads=2).fit_transform(texts)
    os._exit(0 if (found != expected).nnz == 0 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert copies.run(code).returncode == 0


FUNCTIONS = ("build_analyzer", "build_tokenizer", "build_preprocessor")


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"lowercase": False},
        {"strip_accents": "unicode"},
        {"preprocessor": str.upper},
        {"stop_words": ["the", "is"], "ngram_range": (1, 2)},
        {"stop_words": ["the", "is"]},
        {"tokenizer": str.split, "token_pattern": None},
        {"analyzer": str.split},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
    ],
    ids=stable_id,
)
def test_the_functions_that_libraries_ask_for_do_what_those_of_scikit_learn_do(parameters):
    texts = ["The élections WERE held, the end.", "An election is held", "x yz voters"]
    ours, theirs = TfidfVectorizer(**parameters).fit(texts), SklearnVectorizer(**parameters).fit(texts)
    for name in FUNCTIONS:
        for text in texts:
            assert list(getattr(ours, name)()(text)) == list(getattr(theirs, name)()(text)), name
    assert ours.get_stop_words() == theirs.get_stop_words()
    assert ours.decode("élan".encode()) == theirs.decode("élan".encode()) == "élan"
    rows = theirs.transform(texts)
    for given in (rows, rows.toarray(), rows.tocsc(), ours.transform(texts)):
        pairs = zip(ours.inverse_transform(given), theirs.inverse_transform(rows), strict=True)
        assert all(sorted(terms) == sorted(expected) for terms, expected in pairs)


def test_the_analyzer_stems_and_leaves_out_the_words_of_each_language():
    vectorizer = TfidfVectorizer(analyzer="script", stemming="english", stop_words="english,german")
    analyze = vectorizer.build_analyzer()
    assert analyze("The elections of the 東京都") == ["elect", "東京", "京都"]
    assert vectorizer.build_tokenizer()("the 東京都") == ["the", "東京", "京都"]
    assert {"the", "und"} <= vectorizer.get_stop_words()
    assert TfidfVectorizer().get_stop_words() is None


def test_rows_of_another_width_have_no_terms_here():
    vectorizer = TfidfVectorizer().fit(["wheat rye"])
    with pytest.raises(InputError, match="X has 3 columns; give 2"):
        vectorizer.inverse_transform(np.eye(3))
    rows = sparse.csr_array(([1.0, 0.0], [0, 1], [0, 2]), shape=(1, 2))  # a zero that is stored
    assert [list(terms) for terms in vectorizer.inverse_transform(rows)] == [["rye"]]


@pytest.mark.parametrize("interface", ["spmatrix", "config"])
def test_rows_are_a_matrix_for_libraries_that_take_no_arrays(interface):
    texts = ["herring boats", "boats of herring", "rye bread"]
    vectorizer = TfidfVectorizer(use_idf=False, norm=None, sparse_interface=interface)
    for rows in (vectorizer.fit_transform(texts), vectorizer.transform(texts)):
        assert type(rows) is sparse.csr_matrix  # compiled code of UMAP knows no other
        weighted = rows * sparse.diags(np.ones(rows.shape[1]))  # as the c-TF-IDF of BERTopic multiplies
        assert (weighted != CountVectorizer().fit_transform(texts)).nnz == 0
    assert type(TfidfVectorizer().fit_transform(texts)) is sparse.csr_array


def test_config_follows_the_setting_of_scikit_learn():
    vectorizer = TfidfVectorizer(sparse_interface="config")
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn before 1.9")
    with sklearn.config_context(sparse_interface="sparray"):
        assert type(vectorizer.fit_transform(["rye bread"])) is sparse.csr_array


def test_another_word_for_the_class_of_rows_is_refused_and_the_usual_one_is_not_written():
    with pytest.raises(InputError, match="sparse_interface='dense' is not known"):
        TfidfVectorizer(sparse_interface="dense").fit(["rye bread"])
    for interface, written in (("sparray", None), ("spmatrix", "spmatrix")):
        vectorizer = TfidfVectorizer(sparse_interface=interface).fit(["rye bread"])
        arrays, settings = vectorizer.state()
        assert settings["parameters"].get("sparse_interface") == written
        assert TfidfVectorizer.from_state(arrays, settings).sparse_interface == interface


TOKENS = [["boats", "land", "herring"], ("dough", "in", "oven"), None, np.array(["boats"])]


@pytest.mark.parametrize(
    "parameters",
    [
        {"analyzer": list},
        {"tokenizer": list, "preprocessor": lambda tokens: tokens, "token_pattern": None},
        {"tokenizer": list, "lowercase": False, "token_pattern": None, "ngram_range": (1, 2)},
    ],
    ids=["analyzer", "preprocessor", "nothing before the tokenizer"],
)
def test_lists_of_tokens_go_to_a_function_that_takes_them_as_in_scikit_learn(parameters):
    theirs = SklearnVectorizer(**parameters, dtype=np.float32).fit_transform([tokens or [] for tokens in TOKENS[:3]])
    ours = TfidfVectorizer(**parameters).fit_transform(TOKENS[:3])
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-6)
    assert vectorize(TOKENS, TfidfVectorizer(**parameters)).n_documents == 4


@pytest.mark.parametrize("parameters", [{}, {"tokenizer": list, "token_pattern": None}, {"analyzer": "char"}])
def test_lists_of_tokens_are_refused_where_a_text_is_lowered_first(parameters):
    with pytest.raises(InputError, match=r"document 0 is list.*give an analyzer that takes them"):
        TfidfVectorizer(**parameters).fit_transform(TOKENS)
