"""A vectorizer of another library makes the vectors of a run, or is refused before a text is read."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler, normalize

import doccluster
from doccluster.errors import InputError

TEXTS = [
    f"{who} {does} {what} {where}"
    for who, does, what, where in (
        ("The boats", "land", "herring", "at the pier"),
        ("The crew", "sells", "herring", "in the harbour"),
        ("The baker", "puts", "dough", "into the oven"),
        ("An oven", "bakes", "bread of dough", "in the bakery"),
    )
] * 3


class Unread:
    """A source that must not be read."""

    def __iter__(self):
        raise AssertionError("a text was read")


class FirstLetters(CountVectorizer):
    """A vectorizer of one's own: the first four letters of each word."""

    def build_analyzer(self):
        analyze = super().build_analyzer()
        return lambda text: [word[:4] for word in analyze(text)]


class Lengths(BaseEstimator, TransformerMixin):
    """A vectorizer that scikit-learn's tags say nothing of: how many words of each length a text has."""

    def fit(self, texts, y=None):
        self.longest_ = max(len(word) for text in texts for word in text.split())
        return self

    def transform(self, texts):
        rows = np.zeros((len(texts), self.longest_))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[min(len(word), self.longest_) - 1] += 1
        return rows

    def get_feature_names_out(self, input_features=None):
        return np.array([f"letters {n}" for n in range(1, self.longest_ + 1)], dtype=object)


class Cleaner(BaseEstimator, TransformerMixin):
    """A step before a vectorizer, without names."""

    def fit(self, texts, y=None):
        return self

    def transform(self, texts):
        return [text.replace("herring", "cod") for text in texts]


USED = {
    "counts": CountVectorizer(),
    "counts without stop words": CountVectorizer(stop_words="english", min_df=2, ngram_range=(1, 2)),
    "characters": CountVectorizer(analyzer="char_wb", ngram_range=(3, 3)),
    "tf-idf": TfidfVectorizer(sublinear_tf=True, norm="l1"),
    "a tokenizer of one's own": CountVectorizer(tokenizer=str.split, token_pattern=None),
    "a subclass": FirstLetters(),
    "a pipeline": make_pipeline(CountVectorizer(), TfidfTransformer()),
    "a union": make_union(CountVectorizer(), FirstLetters()),
    "one without tags": Lengths(),
}


@pytest.mark.parametrize("vectorizer", USED.values(), ids=USED)
def test_a_run_has_the_rows_of_the_vectorizer_made_unit_and_its_terms(vectorizer):
    run = doccluster.run(TEXTS, n_clusters=2, quality="fast", vectorizer=vectorizer)
    theirs = clone(vectorizer).fit(TEXTS)
    expected = normalize(theirs.transform(TEXTS))
    dense = [rows.toarray() if sparse.issparse(rows) else rows for rows in (expected, run.vectors.matrix)]
    np.testing.assert_allclose(*dense, atol=1e-6)
    assert list(run.vectors.terms) == list(theirs.get_feature_names_out())
    assert not hasattr(vectorizer, "vocabulary_")  # the one that was given is as it was
    assert list(run.predict(TEXTS)) == list(run.partition.labels)


@pytest.mark.parametrize("first", [Cleaner(), FunctionTransformer(Cleaner().transform), "passthrough"])
def test_the_first_steps_of_a_pipeline_may_clean_texts_without_names(first):
    pipeline = make_pipeline(first, CountVectorizer())
    expected = pipeline.fit_transform(TEXTS).shape[1]
    run = doccluster.run(TEXTS, n_clusters=2, quality="fast", vectorizer=pipeline)
    assert run.vectors.n_terms == doccluster.vectorize(TEXTS, pipeline).n_terms == expected
    assert ("herring" in run.vectors.terms) == (first == "passthrough")


@pytest.mark.parametrize("part", ["preprocessor", "tokenizer", "analyzer"])
def test_a_subclass_of_ours_is_used_whole_with_the_functions_that_it_builds(part, tmp_path):
    def build(self):
        return (lambda text: text[:12]) if part == "preprocessor" else str.split

    def subclass_of(kind):
        def with_another_default(self, min_df=3, ngram_range=(1, 2)):
            kind.__init__(self, min_df=min_df, ngram_range=ngram_range)

        return type("Own", (kind,), {"__init__": with_another_default, f"build_{part}": build})

    own, expected = subclass_of(doccluster.TfidfVectorizer)(), subclass_of(TfidfVectorizer)().fit(TEXTS)
    assert list(own.fit(TEXTS).get_feature_names_out()) == list(expected.get_feature_names_out())
    run = doccluster.run(TEXTS, n_clusters=2, quality="fast", vectorizer=own)
    assert run.vectors.n_terms == len(expected.vocabulary_)
    again = doccluster.run(TEXTS, n_clusters=2, quality="fast", vectorizer=run.vectorizer)
    assert list(again.predict(TEXTS)) == list(run.predict(TEXTS))
    with pytest.raises(InputError, match="cannot be written"):
        doccluster.run(Unread(), vectorizer=own, output=tmp_path / "out")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_a_matrix_of_scikit_learn_with_its_terms_is_judged_by_labels_whatever_its_class(kind):
    vectorizer, labels = TfidfVectorizer(), [0, 0, 1, 1] * 3
    matrix = vectorizer.fit_transform(TEXTS).asformat(kind)
    vectors = doccluster.DocumentVectors(matrix, ids=range(12), terms=vectorizer.get_feature_names_out())
    run = doccluster.run(vectors, labels=labels, language="english")
    assert doccluster.score("nmi", run, truth=labels).value == 1
    expected = doccluster.score("silhouette", labels, vectors=matrix).value
    assert run.evaluation["silhouette"].value == pytest.approx(expected)


def test_the_terms_of_a_vectorizer_name_the_clusters():
    run = doccluster.run(TEXTS, n_clusters=2, vectorizer=FirstLetters())
    words = {word for cluster in run.clusters for word in cluster.label.replace(",", "").split()}
    assert words <= set(run.vectors.terms)
    assert words & {"herr", "doug", "oven"}
    assert words & set(doccluster.explain(run, 0).lines[0].replace(",", "").split())
    assert doccluster.assign(run, ["No herring"])["unknown"].tolist() == [0.5]


def test_a_run_whose_vectorizer_counts_is_searched_and_one_with_weights_alone_is_not():
    counted = doccluster.run(TEXTS, n_clusters=2, vectorizer=FirstLetters())
    assert {hit.id for hit in doccluster.search("herring", counted).hits} <= {"1", "2", "5", "6", "9", "10"}
    weighed = doccluster.run(TEXTS, n_clusters=2, vectorizer=USED["a pipeline"])
    with pytest.raises(InputError, match="made weights and no counts"):
        doccluster.search("herring", weighed)


REFUSED = {
    "clusters rows": [KMeans(), doccluster.SphericalKMeans(2), make_pipeline(CountVectorizer(), KMeans(2))],
    "has no names for its columns": [
        HashingVectorizer(),
        FeatureHasher(),
        make_pipeline(HashingVectorizer(), TfidfTransformer()),
        make_union(CountVectorizer(), HashingVectorizer()),
    ],
    "makes no rows of these texts": [
        TfidfTransformer(),
        TruncatedSVD(),
        StandardScaler(),
        DictVectorizer(),
        make_pipeline(StandardScaler(), TruncatedSVD()),
    ],
    "is not a vectorizer": [DBSCAN(), "tf-idf", 5, str.split],
    "is a class": [CountVectorizer, KMeans],
    "reads files itself": [CountVectorizer(input="filename")],
}


@pytest.mark.parametrize("problem", REFUSED)
def test_what_makes_no_named_rows_of_texts_is_refused_before_a_text_is_read(problem):
    for vectorizer in REFUSED[problem]:
        with pytest.raises(InputError, match=problem):
            doccluster.run(Unread(), vectorizer=vectorizer)
        with pytest.raises(InputError, match=problem):
            doccluster.choose_k(Unread(), vectorizer=vectorizer)


def test_a_vectorizer_that_cannot_be_copied_is_refused_in_a_sentence():
    vectorizer = FirstLetters()
    vectorizer.vocabulary = (word for word in ["herring"])  # which a copy cannot hold
    with pytest.raises(InputError, match="cannot be copied"):
        doccluster.run(Unread(), vectorizer=vectorizer)


def test_vectorize_refuses_what_has_no_names_and_makes_unit_rows_of_counts():
    with pytest.raises(InputError, match="has no names"):
        doccluster.vectorize(TEXTS, HashingVectorizer())
    vectors = doccluster.vectorize(TEXTS, CountVectorizer())
    np.testing.assert_allclose(vectors.documents.squared_norms, 1)


@pytest.mark.parametrize("name", ["counts without stop words", "tf-idf"])
def test_the_vectorizers_of_scikit_learn_are_written_by_their_parameters(name, tmp_path):
    source, folder = tmp_path / "texts.txt", tmp_path / "run"
    source.write_text("\n".join(TEXTS))
    run = doccluster.run(source, n_clusters=2, vectorizer=USED[name], output=folder)
    assert doccluster.rerun(folder).same_labels
    loaded = doccluster.load_run(folder)
    assert list(loaded.vectors.terms) == list(clone(USED[name]).fit(TEXTS).get_feature_names_out())
    assert list(loaded.predict(TEXTS)) == list(run.partition.labels)


@pytest.mark.parametrize(
    ("vectorizer", "problem"),
    [
        ({"tokenizer": str.split}, "has a function as tokenizer"),
        (doccluster.TfidfVectorizer(preprocessor=str.lower), "has a function as preprocessor"),
        (CountVectorizer(strip_accents=str.lower), "has a function as strip_accents"),
        ({"analyzer": list}, "has a function as analyzer"),
        (FirstLetters(), "is a FirstLetters"),
        ({"token_pattern": r"(\w+)+!"}, "might never finish"),
    ],
    ids=["tokenizer", "preprocessor", "strip_accents", "analyzer", "another library", "pattern"],
)
def test_what_no_record_can_hold_is_refused_before_the_run(vectorizer, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        doccluster.run(Unread(), vectorizer=vectorizer, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_numbers_and_arrays_of_numpy_are_written_too(tmp_path):
    vectorizer = doccluster.TfidfVectorizer(min_df=np.int64(2), dtype=np.float64, stop_words=np.array(["the"]))
    run = doccluster.run(TEXTS, n_clusters=2, vectorizer=vectorizer, output=tmp_path / "run")
    written = doccluster.load_run(tmp_path / "run").parameters["vectorizer"]
    assert written == {"min_df": 2, "dtype": "float64", "stop_words": ["the"]}
    assert run.vectors.matrix.dtype == np.float64


def test_a_note_says_what_a_run_adds_to_our_own_vectorizer():
    given = doccluster.run(TEXTS, n_clusters=2, vectorizer=doccluster.TfidfVectorizer(min_df=1))
    (note,) = [note for note in given.notes if "TfidfVectorizer" in note]
    assert "analyzer='script'" in note
    assert "vectorize(corpus, vectorizer)" in note
    for other in ({"min_df": 1}, CountVectorizer()):
        run = doccluster.run(TEXTS, n_clusters=2, vectorizer=other)
        assert not any("TfidfVectorizer" in note for note in run.notes)


def test_blocks_and_matrices_refuse_a_vectorizer_that_is_used_whole(tmp_path):
    source = tmp_path / "texts.txt"
    source.write_text("\n".join(TEXTS))
    with pytest.raises(InputError, match="counts no texts in blocks"):
        doccluster.run(source, n_clusters=2, vectorizer=FirstLetters(), scratch=tmp_path / "blocks")
    for vectorizer in (FirstLetters(), CountVectorizer()):
        with pytest.raises(InputError, match="the source is a matrix"):
            doccluster.run(np.eye(6), n_clusters=2, vectorizer=vectorizer)
