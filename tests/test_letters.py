"""Letters beside words: short texts whose words vary gain by them, and nothing else changes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer as TheirVectorizer
from sklearn.metrics import normalized_mutual_info_score

from doccluster import DocumentClustering, assign, compare, load_run, rerun, run, vectorize
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.errors import InputError, MemoryLimitError
from doccluster.selection import choose_k
from doccluster.vectors.letters import FULL_UP_TO, FULL_WEIGHT, NONE_FROM, letters_of, usual_weight

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
SETTINGS = {"n_clusters": 4, "report": False, "language": "none", "measures": [], "levels": "none"}


def texts_with_endings(n=400, n_words=3, seed=0):
    """Texts of four subjects whose words have one of twelve roots, and any of 24 endings."""
    rng = np.random.default_rng(seed)
    roots = rng.permutation([a + b + c for a, b, c in rng.choice(SYLLABLES, (48, 3))]).reshape(4, 12)
    endings = np.array([a + b for a, b in rng.choice(SYLLABLES, (24, 2))])
    subjects = rng.integers(4, size=n)
    texts = [
        " ".join(np.char.add(rng.choice(roots[subject], n_words), rng.choice(endings, n_words))) for subject in subjects
    ]
    return texts, subjects


@pytest.fixture(scope="module")
def varied():
    return texts_with_endings()


def agreement(subjects, made):
    return normalized_mutual_info_score(subjects, made.labels_)


def test_words_that_vary_meet_by_their_letters(varied):
    texts, subjects = varied
    with_letters, without = run(texts, **SETTINGS), run(texts, letters=False, **SETTINGS)
    assert agreement(subjects, with_letters) > agreement(subjects, without) + 0.2
    assert any(note.startswith("Parts of words counted beside words (") for note in with_letters.notes)
    assert not any("Parts of words" in note for note in without.notes)
    resolved = [made.parameters["resolved"]["letters"] for made in (with_letters, without)]
    assert resolved == [FULL_WEIGHT, None]
    # what is kept and shown is of the words
    assert with_letters.vectors.letters is None
    assert np.array_equal(with_letters.vectors.matrix.indices, without.vectors.matrix.indices)


def test_the_rows_are_those_of_scikit_learn(varied):
    texts, _ = varied
    theirs = TheirVectorizer(analyzer="char_wb", ngram_range=(4, 4), min_df=2, use_idf=False, norm=None)
    counts = theirs.fit_transform(texts).tocsr()
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    counts.data = (1 + np.log(counts.data)) * np.log(len(texts) / df)[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    rows = letters_of(texts, 1.0).rows
    assert rows.shape == counts.shape
    np.testing.assert_allclose(rows.toarray(), counts.toarray() / np.maximum(lengths, 1e-9)[:, None], atol=1e-6)


def test_letters_fade_out_with_length():
    lengths = np.linspace(1, 60, 2000)
    weights = np.array([usual_weight(length) for length in lengths])
    assert weights[lengths <= FULL_UP_TO].min() == FULL_WEIGHT
    assert weights[lengths >= NONE_FROM].max() == 0
    assert np.all(np.diff(weights) <= 0)
    assert np.abs(np.diff(weights)).max() < 0.01  # no jump


def test_documents_without_words_leave_the_weight_of_letters_as_it_is():
    texts, _ = texts_with_endings(n=60, n_words=27)
    alone, among_empty_ones = (vectorize(some, language="none").letters for some in (texts, texts + [""] * 39))
    assert 0 < alone.weight < FULL_WEIGHT
    assert among_empty_ones.weight == pytest.approx(alone.weight)


def test_long_texts_and_few_texts_are_clustered_as_before():
    long_texts, _ = texts_with_endings(n=60, n_words=80)
    few_texts, _ = texts_with_endings(n=30)
    for texts in (long_texts, few_texts):
        automatic, without = run(texts, **SETTINGS), run(texts, letters=False, **SETTINGS)
        assert np.array_equal(automatic.labels_, without.labels_)
        assert automatic.notes == without.notes
        assert vectorize(texts, language="none").letters is None
    assert run(few_texts, letters=True, **SETTINGS).parameters["resolved"]["letters"] == FULL_WEIGHT


def test_scripts_without_blanks_are_left_out_but_those_of_east_asia():
    thai = [f"การเลือกตั้งครั้งที่ {number} ในกรุงเทพ" for number in range(60)]
    assert vectorize(thai).letters is None
    assert vectorize(thai, letters=True).letters is not None
    assert vectorize([f"서울에서 {number}번째 선거가 열렸다" for number in range(60)]).letters is not None
    japanese = [f"東京の{place}で選挙" for place in "山川海空森林" for _ in range(10)]
    theirs = TheirVectorizer(analyzer="char_wb", ngram_range=(2, 3), min_df=2).fit(japanese)
    assert vectorize(japanese).letters.rows.shape == (60, len(theirs.vocabulary_))


def test_runs_with_letters_are_repeated_and_older_ones_without(varied, tmp_path):
    texts, _ = varied
    pd.DataFrame({"text": texts}).to_csv(tmp_path / "short.csv", index=False)
    made = run(tmp_path / "short.csv", output=tmp_path / "out", **SETTINGS)
    assert rerun(tmp_path / "out").same_labels
    again = assign(tmp_path / "out", texts)["cluster"].to_numpy(float)
    has_words = ~np.isnan(again)
    assert normalized_mutual_info_score(again[has_words], made.labels_[has_words]) > 0.9
    assert load_run(tmp_path / "out").parameters["letters"] is None
    # 1.0.0rc1 wrote no such setting
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    del record["parameters"]["letters"]
    (tmp_path / "out" / "run.json").write_text(json.dumps(record))
    older = rerun(tmp_path / "out")
    assert older.run.parameters["resolved"]["letters"] is None
    assert np.array_equal(older.run.labels_, run(texts, letters=False, **SETTINGS).labels_)


def test_blocks_give_the_same_labels(varied, tmp_path):
    texts, _ = varied
    path = tmp_path / "short.csv"
    pd.DataFrame({"text": [*texts[:200], "1", *texts[200:]]}).to_csv(path, index=False)  # one has no word
    here, in_blocks = run(path, **SETTINGS), run(path, scratch=tmp_path, **SETTINGS)
    assert here.parameters["resolved"]["letters"] == in_blocks.parameters["resolved"]["letters"] == FULL_WEIGHT
    assert np.array_equal(here.labels_, in_blocks.labels_)


def test_the_order_of_documents_changes_nothing(varied):
    texts, _ = varied
    order = np.random.default_rng(1).permutation(len(texts))
    here, shuffled = run(texts, **SETTINGS), run([texts[row] for row in order], **SETTINGS)
    assert normalized_mutual_info_score(here.labels_[order], shuffled.labels_) == pytest.approx(1)


def test_the_estimator_takes_the_letters_of_vectorize(varied):
    texts, subjects = varied
    vectors = vectorize(texts, language="none")
    assert vectors.letters.weight == FULL_WEIGHT
    model = DocumentClustering(4, random_state=0)
    words = normalized_mutual_info_score(subjects, model.fit_predict(vectors.counts))
    both = model.fit_predict(vectors.counts, letters=vectors.letters)
    assert normalized_mutual_info_score(subjects, both) > words + 0.2
    assert np.array_equal(model.fit_predict(vectors.counts, letters=vectors.letters.rows), both)
    with pytest.raises(InputError, match="has 399 rows for 400 documents"):
        model.fit(vectors.counts, letters=vectors.letters.rows[:399])
    levels = [
        choose_k(vectors.matrix, counts=vectors.counts, letters=letters, random_state=0).columns["agreement"]
        for letters in (None, vectors.letters)
    ]
    assert levels[1].max() > levels[0].max() + 0.1


def test_a_comparison_finds_the_clusters_of_a_run(varied, tmp_path):
    texts, subjects = varied
    pd.DataFrame({"text": texts, "kind": [f"kind {n}" for n in subjects]}).to_csv(tmp_path / "short.csv", index=False)
    settings = {"seeds": 2, "measures": ["nmi"], "language": "none", "n_threads": 1}
    made = compare(tmp_path / "short.csv", truth="kind", algorithms=["smoothed", "settled"], **settings)
    assert made.failures.empty
    values = made.runs.query("measure == 'nmi'").set_index(["algorithm", "seed"])["value"]
    for quality, algorithm in (("default", "smoothed"), ("fast", "settled")):
        for seed in range(2):
            labels = run(tmp_path / "short.csv", quality=quality, random_state=seed, **SETTINGS).labels_
            has_words = labels >= 0
            same_measure = normalized_mutual_info_score(subjects[has_words], labels[has_words])
            assert values[algorithm, seed] == pytest.approx(same_measure)
    assert values["smoothed"].min() > values["settled"].max() + 0.2


def test_memory_for_letters_is_planned(varied):
    vectors = vectorize(varied[0], language="none")
    words_alone = DocumentParameters(n_clusters=4, max_memory="14M", random_state=0)
    DocumentWork(vectors.with_letters(None), words_alone).run()
    with pytest.raises(MemoryLimitError, match="is too little to smooth the rows"):
        DocumentWork(vectors, words_alone).run()


def test_what_goes_another_way_refuses_letters(varied):
    texts, _ = varied
    for other_way in ({"algorithm": "spherical-k-means"}, {"embeddings": np.eye(len(texts))}, {"quality": "fast"}):
        with pytest.raises(InputError, match="count beside words that are smoothed"):
            run(texts, letters=True, **{**SETTINGS, **other_way})
    with pytest.raises(InputError, match="a matrix has no letters"):
        run(vectorize(texts).counts, letters=True, **SETTINGS)


@pytest.mark.parametrize("n_documents", [5, 50])
def test_one_short_text_many_times_is_one_cluster(n_documents):
    made = run(["a short text about ferries"] * n_documents, report=False)
    assert made.n_clusters == 1
    assert made.partition.labels.tolist() == [0] * n_documents
