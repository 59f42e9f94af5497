"""Choosing k by stable levels: right where the truth is known, and silent where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.base.progress import silent
from doccluster.clustering.smoothed import document_clusters
from doccluster.clustering.smoothed.document_clusters import DocumentParameters, DocumentWork
from doccluster.clustering.smoothed.document_spaces import shared_term_rows
from doccluster.errors import InputError, NothingUsable
from doccluster.lab._null_models import sample_null
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.selection import choose_k, levels, recommendation
from doccluster.selection.levels import Level, subtopics_among, sure_from, topics_among
from doccluster.selection.recommendation import recommend
from doccluster.synthetic import make_sparse_vmf, make_vmf_mixture, make_zipf_corpus
from doccluster.vectors.document_vectors import as_vectors


@pytest.fixture(scope="module")
def ten():
    return make_sparse_vmf(300, 10_000, 10, mean_resultant_length=0.35, random_state=3).vectors.matrix


@pytest.mark.parametrize("k", [2, 12])
def test_a_known_number_of_directions_is_found(k):
    points = make_vmf_mixture(30 * k + 100, 100, k, kappa=100, random_state=1).vectors.matrix
    assert choose_k(points, random_state=0).k == pytest.approx(k, rel=0.2)


def test_a_known_number_of_many_small_clusters_is_found():
    options = {"mean_resultant_length": 0.7, "terms_per_document": 30, "random_state": 1}
    points = make_sparse_vmf(600, 40_000, 100, **options).vectors.matrix
    assert choose_k(points, random_state=0).k == pytest.approx(100, rel=0.2)


def directions_within_directions(*, n_topics, n_subtopics, size):
    """Return unit rows around subtopics, which lie around topics."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(n_topics, 60))
    subtopics = np.repeat(topics, n_subtopics, axis=0) + 0.8 * rng.normal(size=(n_topics * n_subtopics, 60))
    rows = np.repeat(subtopics, size, axis=0) + 0.4 * rng.normal(size=(n_topics * n_subtopics * size, 60))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_both_of_two_planted_levels_are_told():
    rows = directions_within_directions(n_topics=5, n_subtopics=6, size=9)
    found = choose_k(rows, granularity="topics", random_state=0)
    assert (found.topics, found.subtopics, found.k) == (5, 30, 5)
    assert found.sentence == "5 topics, as you asked; also 30 subtopics (--granularity subtopics)"
    assert found.numbers == {"topics": 5, "subtopics": 30}
    assert len(set(found.labels.tolist())) == 5
    free = choose_k(rows, random_state=0)
    assert (free.granularity, free.k) == ("subtopics", 30)
    assert "random parts of the documents have nearly the same ones" in free.sentence


def test_three_levels_are_sections_topics_and_subtopics(monkeypatch):
    rows, every = directions_within_directions(n_topics=5, n_subtopics=6, size=9), np.arange(270)
    three = [Level(2.0**n, every * k // 270, 0.7 if k == 5 else 0.9) for n, k in enumerate((5, 20, 60))]
    monkeypatch.setattr(
        recommendation, "find_both", lambda *_, **__: {"topics": (three[:2], every), "subtopics": (three[2:], every)}
    )
    for name, k in (("sections", 5), ("topics", 20), ("subtopics", 60)):
        found = choose_k(rows, granularity=name, random_state=0)
        assert (found.sections, found.topics, found.subtopics, found.k) == (5, 20, 60, k)
        assert len(set(found.labels.tolist())) == k
        assert found.table["chosen"].tolist() == ["sections", "topics", "subtopics"]
    also = "also 5 sections (--granularity sections) and 20 topics (--granularity topics)"
    assert found.sentence == f"60 subtopics, as you asked; {also}"


@pytest.mark.parametrize("n_topics", [None, 90])
def test_topics_in_the_middle_leave_what_is_shown_as_it_is(monkeypatch, n_topics):
    rows, every = directions_within_directions(n_topics=5, n_subtopics=6, size=20), np.arange(600)
    broad = [Level(2.0**n, every * k // 600, 0.7) for n, k in enumerate((8, 24))]
    if n_topics is not None:
        broad.append(Level(8.0, every * n_topics // 600, 0.75))
    fine = [Level(16.0, every * 200 // 600, 0.6)]
    monkeypatch.setattr(
        recommendation, "find_both", lambda *_, **__: {"topics": (broad, every), "subtopics": (fine, every)}
    )
    found = choose_k(rows, random_state=0)
    assert found.numbers == {"sections": 8, "topics": 24, "subtopics": 200}
    assert (found.granularity, found.k) == ("sections", 8)
    assert found.table["chosen"].tolist() == ["sections", "topics", *[""] * (len(broad) - 2), "subtopics"]
    assert choose_k(rows, granularity="topics", random_state=0).k == 24


def test_texts_of_planted_stories_are_subtopics():
    corpus = make_zipf_corpus(1000, n_topics=5, n_stories=20, random_state=1)
    vectors = vectorize_texts(corpus, language="none", options={}, n_threads=1).vectors
    found = choose_k(vectors.matrix, counts=vectors.counts, random_state=0)
    assert found.subtopics == pytest.approx(20, rel=0.2)
    assert (found.granularity, found.k) == ("subtopics", found.subtopics)


def test_a_reason_for_stories_is_told_and_gives_way_to_what_was_asked():
    points = directions_within_directions(n_topics=5, n_subtopics=6, size=9)
    dated = choose_k(points, subtopics_because="because they are dated", random_state=0)
    assert dated.k == dated.subtopics
    assert dated.sentence.startswith(f"{dated.k} subtopics, because they are dated; also ")
    asked = choose_k(points, granularity="topics", subtopics_because="because they are dated", random_state=0)
    assert asked.k == asked.topics


@pytest.mark.parametrize("model", ["deal", "permute"])
def test_terms_dealt_anew_have_no_structure(ten, model):
    drawn = sample_null(ten, model=model, random_state=np.random.default_rng(4))
    found = choose_k(drawn, random_state=0)
    assert found.k is None
    assert found.labels is None
    assert found.sentence.startswith("no structure beyond chance")


def test_uniform_directions_have_no_structure():
    points = np.random.default_rng(0).normal(size=(400, 30))
    assert choose_k(points, random_state=0).k is None


@pytest.mark.usefixtures("starts_threads")
def test_the_answer_and_its_figures_do_not_depend_on_the_number_of_threads(ten):
    one, three = (choose_k(ten, random_state=5, n_threads=n) for n in (1, 3))
    assert one.table.equals(three.table)
    assert one.sentence == three.sentence
    assert one.k == 10


def test_rows_smoothed_before_give_an_answer_too(ten):
    smoothed = DocumentWork(as_vectors(ten), DocumentParameters(n_clusters=1, random_state=0)).smooth()
    assert smoothed is not None
    assert choose_k(ten, smoothed=smoothed, random_state=0).k == 10


def recommended_alone(rows, granularity):
    settings = {"subtopics_because": None, "ks": None, "max_documents": None, "smoothed": None, "n_threads": None}
    rng = np.random.default_rng(0)
    return recommend(as_vectors(rows), granularity=granularity, only=True, rng=rng, progress=silent, **settings)


@pytest.mark.parametrize("shape", [(5, 6, 9), (3, 1, 60), (8, 8, 10)])
def test_a_level_is_the_same_where_no_other_is_looked_for(shape):
    n_topics, n_subtopics, size = shape
    rows = directions_within_directions(n_topics=n_topics, n_subtopics=n_subtopics, size=size)
    both = choose_k(rows, granularity="topics", random_state=0)
    topics, subtopics = (recommended_alone(rows, name) for name in ("topics", "subtopics"))
    assert topics.numbers.keys() - {"sections"} == {"topics"}
    assert (topics.k, topics.sections, subtopics.k) == (both.k, both.sections, both.subtopics)
    assert np.array_equal(topics.levels["topics"], both.levels["topics"])
    assert np.array_equal(subtopics.levels["subtopics"], both.levels["subtopics"])
    assert set(subtopics.table["as"]) == {"subtopics"}


@pytest.mark.parametrize(("n_middle", "is_sure"), [(15, True), (27, False)])
def test_subtopics_are_looked_for_only_where_they_decide_which_topics_are_shown(monkeypatch, n_middle, is_sure):
    rows, every = directions_within_directions(n_topics=5, n_subtopics=6, size=9), np.arange(270)
    topics = [Level(2.0**n, every * k // 270, 0.7 if k == 5 else 0.9) for n, k in enumerate((5, n_middle))]
    levels_of_start, looked_for = levels._usual, []

    def usual(start, n_nodes, choose):
        looked_for.append(choose)
        return topics if choose is topics_among else levels_of_start(start, n_nodes, choose)

    monkeypatch.setattr(levels, "_usual", usual)
    found = recommended_alone(rows, "topics")
    assert looked_for == ([topics_among] if is_sure else [topics_among, subtopics_among])
    assert found.numbers == ({"sections": 5, "topics": n_middle} if is_sure else {"topics": 5})


def test_only_numbers_that_were_asked_for_are_recommended(ten):
    found = choose_k(ten, ks=[3, 4], random_state=0)
    assert found.k == 4
    assert found.has_structure
    assert found.unlimited == 10
    assert found.labels is None
    assert "the best of your numbers; without them 10" in found.sentence


def test_terms_that_are_weighed_down_are_so_in_a_sample(monkeypatch):
    """Counts that hold factors are no whole numbers: without these their logarithms would be below 0."""
    corpus, lowest = make_zipf_corpus(200, n_topics=3, random_state=1), []

    def weighed(counts, *given, **how):
        found = shared_term_rows(counts, *given, **how)
        lowest.append(found.rows.data.min())
        return found

    monkeypatch.setattr(document_clusters, "shared_term_rows", weighed)
    vectors = vectorize_texts(corpus, language="none", options={}, n_threads=1).vectors
    vectors = vectors.weighed_down(np.where(np.arange(vectors.n_terms) % 2, 0.2, 1.0))
    recommend(
        vectors,
        granularity=None,
        subtopics_because=None,
        ks=None,
        max_documents=100,
        smoothed=None,
        rng=np.random.default_rng(0),
        n_threads=1,
        progress=silent,
    )
    assert min(lowest) >= 0


def test_a_sample_bounds_the_work_and_is_told(ten):
    found = choose_k(ten, max_documents=200, random_state=0)
    assert (found.n_looked_at, found.n_documents) == (200, 300)
    assert (found.labels < 0).sum() >= 100
    assert found.k == pytest.approx(10, rel=0.2)
    assert "judged on 200 of 300 documents" in found.sentence


def test_what_cannot_be_used_is_refused(ten):
    with pytest.raises(InputError, match="too few"):
        choose_k(np.eye(3))
    with pytest.raises(InputError, match="give 'sections', 'topics' or 'subtopics'"):
        choose_k(ten, granularity="themes")
    with pytest.raises(InputError, match="give numbers from 1 to 300"):
        choose_k(ten, ks=[301])
    with pytest.raises(InputError, match="max_documents"):
        choose_k(ten, max_documents=0)
    with pytest.raises(InputError, match=r"counts.* another shape"):
        choose_k(ten, counts=ten[:5])


def test_four_documents_are_answered():
    assert choose_k(np.eye(4), random_state=0).k is None


def test_copies_are_no_clusters_of_their_own_and_wide_indices_change_nothing():
    rows = make_sparse_vmf(5, 500, 5, random_state=0).vectors.matrix
    copies = sparse.csr_array(sparse.vstack([rows] * 8))
    found = choose_k(copies, granularity="topics", random_state=0)
    assert 2 <= found.k <= 5
    wide = sparse.csr_array(copies.shape, dtype=copies.dtype)
    wide.data = copies.data
    wide.indices, wide.indptr = copies.indices.astype(np.int64), copies.indptr.astype(np.int64)
    assert choose_k(wide, granularity="topics", random_state=0).table.equals(found.table)


def test_a_document_alone_in_its_community_is_in_no_cluster():
    level = Level(1.0, np.array([0, 1, 1, 2, 3, 3]), 1.0)
    nodes = np.array([5, -1, 0, 1, 2, 3, 4])
    assert recommendation.spread(level, nodes, 7).tolist() == [1, -1, -1, 0, 0, -1, 1]


@pytest.mark.parametrize(
    ("agreements", "chosen", "reason"),
    [
        ((0.55, 0.8, 0.6), "topics", "random parts"),  # topics come back, sections do not
        ((0.55, 0.75, 0.6), "sections", "the broadest ones"),
        ((0.45, 0.7, 0.6), "sections", "the broadest ones"),
    ],
)
def test_topics_that_come_back_are_shown_before_weaker_sections(agreements, chosen, reason):
    levels = {
        name: Level(1.0, np.repeat(np.arange(k), 600 // k), agreement)
        for name, k, agreement in zip(("sections", "topics", "subtopics"), (10, 60, 200), agreements, strict=True)
    }
    topics_first = agreements[1] >= sure_from(levels["sections"], levels["topics"])
    name, why = recommendation._shown(None, None, levels, topics_first=topics_first)
    assert name == chosen
    assert reason in why
    assert recommendation._shown(None, "because they are dated", levels, topics_first=True)[0] == "subtopics"
    assert recommendation._shown("sections", None, levels, topics_first=True)[0] == "sections"


def test_without_the_level_that_was_asked_for_the_broadest_is_shown_and_said():
    levels = {name: Level(1.0, np.repeat(np.arange(k), 60 // k), 0.99) for name, k in (("sections", 3), ("topics", 12))}
    shown = recommendation._shown("subtopics", None, levels, topics_first=False)
    assert shown == ("sections", "because no subtopics are stable")
    two_levels = recommendation._shown(None, None, levels, topics_first=False)
    assert two_levels == ("sections", "the broader ones")
    assert recommendation._shown(None, "because they are dated", levels, topics_first=False)[0] == "sections"


def test_weak_words_are_said(monkeypatch):
    matrix = np.repeat(np.eye(3), 20, axis=0).repeat(10, axis=1) * (np.random.default_rng(0).random((60, 30)) < 0.5)
    assert "words hold little" not in choose_k(matrix, random_state=0).sentence
    monkeypatch.setattr(recommendation, "SURE_SUBTOPICS", 1.1)
    monkeypatch.setattr(recommendation, "WEAK", 1.1)  # as if nothing came back
    told = choose_k(matrix, random_state=0)
    assert told.k == 3
    assert "few and broad, since the words hold little; an encoder (--encoder) would help most" in told.sentence
    assert "words hold little" not in choose_k(matrix, granularity="topics", random_state=0).sentence


def test_rows_without_values_are_refused():
    for rows in (sparse.csr_array((18, 12)), np.zeros((18, 12))):
        with pytest.raises(NothingUsable, match="no row with a non-zero value"):
            choose_k(rows, random_state=0)
