"""Every weighting against its formula, written out for one entry at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from doccluster.errors import InputError
from doccluster.vectors import TfidfVectorizer
from doccluster.vectors.weighting import Weighting, parse_weighting, weigh_rows

TEXTS = ["aa aa aa bb", "bb cc", "aa cc cc dd dd dd dd ee", "aa", ""]
COUNTS = np.array([[3, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 2, 4, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]])

CODES = [term + collection + norm for term in "nlabL" for collection in "ntp" for norm in "nc"]


def naive_weights(code):
    n_documents = len(COUNTS)
    weights = np.zeros(COUNTS.shape)
    for row, counts in enumerate(COUNTS):
        present = [count for count in counts if count]
        for column, count in enumerate(counts):
            if not count:
                continue
            df = sum(other[column] > 0 for other in COUNTS)
            term = {
                "n": count,
                "l": 1 + math.log(count),
                "a": 0.5 + 0.5 * count / max(present),
                "b": 1,
                "L": (1 + math.log(count)) / (1 + math.log(sum(present) / len(present))),
            }[code[0]]
            odds = (n_documents - df) / df
            collection = {
                "n": 1,
                "t": math.log(n_documents / df),
                "p": max(0, math.log(odds)) if odds > 0 else 0,
            }[code[1]]
            weights[row, column] = term * collection
        length = math.sqrt(sum(weights[row] ** 2))
        if code[2] == "c" and length:
            weights[row] /= length
    return weights


@pytest.mark.parametrize("code", CODES)
def test_smart_codes_follow_their_formulas(code):
    found = TfidfVectorizer(weighting=code, dtype=np.float64).fit_transform(TEXTS)
    np.testing.assert_allclose(found.toarray(), naive_weights(code), rtol=1e-13, atol=1e-15)


def test_bm25_follows_its_formula():
    k1, b = 1.5, 0.6
    mean_length = COUNTS.sum() / len(COUNTS)
    expected = np.zeros(COUNTS.shape)
    for row, counts in enumerate(COUNTS):
        for column, count in enumerate(counts):
            df = sum(other[column] > 0 for other in COUNTS)
            idf = math.log(1 + (len(COUNTS) - df + 0.5) / (df + 0.5))
            expected[row, column] = idf * count * (k1 + 1) / (count + k1 * (1 - b + b * counts.sum() / mean_length))
    found = TfidfVectorizer(weighting="bm25", k1=k1, b=b, norm=None, dtype=np.float64).fit_transform(TEXTS)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13)
    unit = TfidfVectorizer(weighting="bm25").fit_transform(TEXTS)
    np.testing.assert_allclose(np.sqrt(unit.multiply(unit).sum(axis=1)), [1, 1, 1, 1, 0], rtol=1e-6)


def test_tfidf_is_the_name_of_the_default():
    texts = TEXTS[:4]
    named = TfidfVectorizer(weighting="tfidf").fit_transform(texts)
    np.testing.assert_array_equal(named.toarray(), TfidfVectorizer().fit_transform(texts).toarray())


@pytest.mark.parametrize("code", ["", "lt", "ltcc", "xtc", "lxc", "ltu", "TFIDF", 7])
def test_an_unknown_code_is_refused(code):
    with pytest.raises(InputError, match="SMART"):
        parse_weighting(code)


@pytest.mark.parametrize("switch", [{"use_idf": False}, {"smooth_idf": False}, {"sublinear_tf": True}])
def test_a_code_and_a_switch_contradict_each_other(switch):
    with pytest.raises(InputError, match="replaces"):
        TfidfVectorizer(weighting="ltc", **switch).fit(TEXTS)


@pytest.mark.parametrize("parameters", [{"k1": -1}, {"b": 1.5}])
def test_parameters_of_bm25_are_checked(parameters):
    with pytest.raises(InputError, match="BM25"):
        TfidfVectorizer(weighting="bm25", **parameters).fit_transform(TEXTS)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("factor_type", [np.float32, np.float64])
@pytest.mark.parametrize("norm", ["l1", "l2", None])
def test_factors_and_indices_of_any_type_give_the_same_rows(index_type, factor_type, norm):
    matrix = sparse.csr_array(COUNTS.astype(np.float32))
    matrix.indices, matrix.indptr = matrix.indices.astype(index_type), matrix.indptr.astype(index_type)
    factors = np.array([1.5, 0.25, 2.0, 1.0, 3.0], dtype=factor_type)  # exact in both types
    expected = COUNTS * factors.astype(np.float64)
    if norm is not None:
        length = np.linalg.norm(expected, ord=1 if norm == "l1" else 2, axis=1, keepdims=True)
        expected /= np.where(length == 0, 1, length)
    weigh_rows(matrix, factors, weighting=Weighting(norm=norm))
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=2e-7)  # one rounding to float32
