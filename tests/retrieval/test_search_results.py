"""Search results in groups: what belongs together, what fits no group, and inputs that are hard."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster import load_sample
from doccluster.base.validation import unit_rows
from doccluster.errors import InputError, NothingUsable
from doccluster.retrieval import group_rows
from doccluster.retrieval.grouping import OTHER, cluster_search_results
from doccluster.retrieval.searching import open_search, search
from doccluster.vectors.vectorize import choose_vectorizer

THINGS = {
    "cat": "large cat forest prey hunts spotted night river animal habitat",
    "car": "engine price dealer coupe saloon leather horsepower coventry motor warranty",
    "guitar": "fender strings neck pickup tremolo surf vintage fretboard amplifier chords",
}


def hits_of(seed, n_each, n_strange=0):
    """Return texts of eight words, each drawn from the words of one thing, and the thing of each (-1 for none)."""
    rng = np.random.default_rng(seed)
    texts, truth = [], []
    for number, words in enumerate(THINGS.values()):
        for _ in range(n_each):
            texts.append("Jaguar " + " ".join(rng.choice(words.split(), 8)))
            truth.append(number)
    for place in range(n_strange):
        texts.append("Jaguar " + " ".join(f"odd{place}word{letter}" for letter in "abcdefgh"))
        truth.append(OTHER)
    order = rng.permutation(len(texts))
    return [texts[place] for place in order], np.array(truth)[order]


def test_hits_on_one_thing_are_one_group_and_strange_ones_are_other():
    texts, truth = hits_of(0, 20, n_strange=4)
    found = cluster_search_results(texts, "jaguar")
    assert len(found.groups) == 3
    for group in found.groups:
        assert np.unique(truth[list(group.documents)]).size == 1
        assert "jaguar" not in group.label.lower()
        words = next(iter(THINGS.values())).split() + " ".join(THINGS.values()).split()
        assert set(group.label.lower().split(", ")) <= set(words)
    assert sorted(found.other) == np.flatnonzero(truth == OTHER).tolist()


def test_every_hit_is_in_one_place_and_the_shape_is_carrot2_s():
    texts, _ = hits_of(1, 10, n_strange=2)
    shape = cluster_search_results(texts, "jaguar").to_json()
    assert sorted(place for one in shape["clusters"] for place in one["documents"]) == list(range(len(texts)))
    assert all(set(one) == {"labels", "score", "documents", "clusters"} for one in shape["clusters"])
    assert shape["clusters"][-1]["labels"] == ["Other"]


def test_near_copies_are_folded_and_stay_with_the_first():
    texts, _ = hits_of(2, 10)
    found = cluster_search_results([*texts, texts[0], texts[0].upper()], "jaguar")
    assert found.copy_of == {30: 0, 31: 0}
    own = next(group for group in found.groups if 0 in group.documents)
    assert {30, 31} <= set(own.documents)
    alone = cluster_search_results(texts, "jaguar")
    assert [one.label for one in alone.groups] == [one.label for one in found.groups]  # copies weigh nothing


@pytest.mark.usefixtures("starts_threads")
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_threads_change_nothing(n_threads):
    texts, _ = hits_of(3, 12, n_strange=3)
    found = cluster_search_results(texts, "jaguar", n_threads=n_threads)
    assert found.to_json() == cluster_search_results(texts, "jaguar").to_json()


def test_no_more_groups_than_asked_for():
    texts, _ = hits_of(4, 10)
    found = cluster_search_results(texts, "jaguar", max_groups=2)
    assert len(found.groups) == 2
    assert len(found.other) >= 10


def test_hits_that_are_all_alike_are_grouped_by_what_differs():
    common, own = np.sqrt(0.45), np.sqrt(0.55)
    rows = sparse.csr_array(
        np.array([[common, *(own * (topic == row % 3) for topic in range(3))] for row in range(36)])
    )
    assert group_rows(rows).tolist() == [0, 1, 2] * 12
    assert group_rows(rows, cut_at=0.65).tolist() == [0] * 36


def test_the_words_of_the_query_stand_in_no_label():
    own = ("marriage couples licences", "insurance subsidies exchange", "ballots voters polls")
    texts = [f"{words} day{n}: the supreme court on {words}" for n in range(4) for words in own]
    labels = [group.label for group in cluster_search_results(texts, "supreme court").groups]
    assert len(labels) == 3
    assert not {"supreme", "court"} & set(" ".join(labels).lower().split())


def test_a_lower_cut_gives_finer_groups():
    texts, _ = hits_of(7, 15)
    of_cut = [
        len(cluster_search_results(texts, "jaguar", max_groups=45, cut_at=cut).groups) for cut in (0.1, 0.65, 1.0)
    ]
    assert of_cut[0] > of_cut[1] > of_cut[2] == 1
    with pytest.raises(InputError, match="cut_at=2"):
        cluster_search_results(texts, cut_at=2)


def test_a_single_hit_and_hits_of_the_query_alone_belong_nowhere():
    for texts in (["jaguar cars"], ["jaguar", "Jaguar!", "jaguar"], ["", "jaguar xk", ""]):
        found = cluster_search_results(texts, "jaguar")
        assert found.groups == ()
        assert found.other == tuple(range(len(texts)))


def test_all_hits_alike_are_one_of_a_kind():
    found = cluster_search_results(["the same words again and again"] * 5)
    assert found.copy_of == dict.fromkeys(range(1, 5), 0)


def test_what_cannot_be_grouped_is_one_sentence():
    with pytest.raises(NothingUsable, match="no hits"):
        cluster_search_results([])
    with pytest.raises(NothingUsable, match="no hit has a title or a snippet"):
        cluster_search_results([{"url": "https://example.org"}, {"id": "2"}])
    with pytest.raises(InputError, match="max_groups=0"):
        cluster_search_results(["one", "two"], max_groups=0)
    with pytest.raises(InputError, match="at most 10,000"):
        cluster_search_results(["one"] * 10_001)


def test_rows_without_terms_belong_nowhere():
    rows = sparse.csr_array(np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]]))
    assert group_rows(rows).tolist() == [0, 0, OTHER, 1, 1]


def test_documents_are_ranked_and_grouped():
    texts, truth = hits_of(5, 10)
    found = search("engine jaguar", texts, n_hits=12)
    assert len(found.hits) == 12
    best = [int(hit.id) - 1 for hit in found.hits]
    has_engine = ["engine" in texts[place] for place in best]
    assert has_engine == sorted(has_engine, reverse=True)  # engine is the rarer word
    assert truth[best[0]] == 1


def test_a_search_that_finds_nothing_is_one_sentence():
    texts, _ = hits_of(6, 5)
    with pytest.raises(InputError, match="the query is empty"):
        search(" ", texts)
    with pytest.raises(NothingUsable, match="no document has a word of the query 'copper'"):
        search("copper", texts)


@pytest.mark.real
def test_the_plain_list_of_ambient_has_the_published_search_lengths(real_corpora):
    from experiments.search_results.ambient import read_ambient
    from experiments.search_results.run import PUBLISHED, plain_list

    queries = read_ambient(real_corpora / "search_results_ambient")
    assert len(queries) == 44
    assert tuple(plain_list(queries).values()) == pytest.approx(PUBLISHED, abs=0.005)


def test_hits_far_from_one_another_are_cut_at_the_distance_of_the_docs_and_no_later():
    rng, n_topics = np.random.default_rng(1), 14
    rows = np.zeros((60, 20 * n_topics))
    for row in range(60):
        topic = row % n_topics
        rows[row, 20 * topic + rng.choice(20, 4, replace=False)] = 1
        rows[row, rng.choice(20 * n_topics, 2)] = 1
        if topic < 2:  # two topics that share words
            rows[row, 20 * (1 - topic) + rng.choice(20, 2)] = 1
    hits = unit_rows(sparse.csr_array(rows), warn=False)
    found = group_rows(hits)
    assert (found == group_rows(hits, cut_at=0.65)).all()
    assert len(set(found)) > len(set(group_rows(hits, cut_at=0.8)))


def test_words_that_say_nothing_of_clusters_are_found_all_the_same():
    corpus = load_sample()
    left_out = choose_vectorizer(corpus.texts, options={})[0].dropped_terms
    assert "days" in left_out
    assert open_search(corpus).rank("days").size
