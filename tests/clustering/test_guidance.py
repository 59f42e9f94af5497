"""Clusters grown from words and examples, on documents whose topics are plain."""

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.guidance import MIN_COHERENCE, Guides, grow_clusters
from doccluster.clustering.mixtures.multinomial import settle_labels

N_TOPICS, N_WORDS, SIZE = 4, 12, 30  # each topic has 12 words of its own
NONE = np.empty(0, dtype=np.int64)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(3)
    table = np.zeros((N_TOPICS * SIZE, N_TOPICS * N_WORDS + 1))
    for topic in range(N_TOPICS):
        block = slice(topic * SIZE, (topic + 1) * SIZE)
        table[block, topic * N_WORDS : (topic + 1) * N_WORDS] = rng.poisson(0.8, (SIZE, N_WORDS))
        table[block, topic * N_WORDS] += rng.random(SIZE) < 0.7
        table[block, -1] = 1  # no row is empty
    return sparse.csr_array(table)


TRUTH = np.repeat(np.arange(N_TOPICS), SIZE)


def unit(counts):
    return sparse.csr_array(sparse.diags_array(1 / np.sqrt(counts.power(2).sum(axis=1))) @ counts)


def guides_of(n_terms, words=(), examples=None):
    """Return guides: a list of columns for each topic, and examples of each."""
    table = np.zeros((len(words), n_terms))
    for topic, columns in enumerate(words):
        table[topic, columns] = 1
    rows = sparse.csr_array(table)
    lengths = np.sqrt(np.asarray(rows.power(2).sum(axis=1)).ravel())
    queries = sparse.csr_array(sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ rows)
    n = len(words)
    return Guides(rows, queries, tuple(examples or [NONE] * n), (NONE,) * n)


def grow(counts, guides, labels=TRUTH, k=N_TOPICS):
    rows = unit(counts)
    return grow_clusters(rows, counts, rows, labels, k, guides)


def test_a_topic_takes_the_number_of_its_place_and_the_documents_with_its_words(counts):
    guides = guides_of(counts.shape[1], [[2 * N_WORDS, 2 * N_WORDS + 1], [0, 1]])
    grown = grow(counts, guides)
    assert (np.bincount(grown.labels[TRUTH == 2], minlength=4).argmax(), (grown.labels[TRUTH == 2] == 0).mean()) == (
        0,
        1.0,
    )
    assert (grown.labels[TRUTH == 0] == 1).all()
    assert grown.may_be_named.all()
    assert grown.topics[:2].tolist() == [0, 1]


def test_words_choose_a_start_where_the_free_partition_is_wrong(counts):
    rng = np.random.default_rng(0)
    at_random = rng.integers(0, N_TOPICS, TRUTH.size)
    words = [[topic * N_WORDS, topic * N_WORDS + 1, topic * N_WORDS + 2] for topic in range(N_TOPICS)]
    grown = grow(counts, guides_of(counts.shape[1], words), at_random)
    assert (grown.labels == TRUTH).mean() > 0.95


def test_a_topic_that_is_a_small_part_of_a_cluster_leaves_it_to_the_others(counts):
    """A free cluster holds class 1 and a few documents of class 0, class 2 is two clusters: one of these is given up.

    Class 1 has words in common with class 3, to which it would go if its cluster were given up.
    """
    table = counts.toarray()
    shared = table[:, N_WORDS : N_WORDS + 6] + table[:, 3 * N_WORDS : 3 * N_WORDS + 6]
    with_shared = sparse.csr_array(np.hstack([table, shared]))
    rows = np.concatenate([np.arange(8), np.arange(SIZE, N_TOPICS * SIZE)])  # of class 0 only eight
    free = np.where(TRUTH == 0, 1, TRUTH)
    free[2 * SIZE : 2 * SIZE + SIZE // 2] = 0
    grown = grow(with_shared[rows], guides_of(with_shared.shape[1], [[0, 1, 2]]), free[rows])
    pairs = set(zip(grown.labels.tolist(), TRUTH[rows].tolist(), strict=True))
    assert len(pairs) == N_TOPICS
    assert (0, 0) in pairs


def test_a_topic_of_two_clusters_takes_the_place_of_both(counts):
    """The examples are all of two free clusters; with three topics beside there would be nothing left of the second."""
    examples = [np.arange(2 * SIZE)]
    grown = grow(counts, guides_of(counts.shape[1], [[]], examples))
    assert grown.topics.size == N_TOPICS - 1
    assert (grown.labels[: 2 * SIZE] == 0).all()
    assert not (grown.labels[2 * SIZE :] == 0).any()


def test_the_documents_with_a_word_are_counted(counts):
    words = [[0], [N_WORDS, N_WORDS + 1]]
    grown = grow(counts, guides_of(counts.shape[1], words))
    dense = counts.toarray()
    assert grown.n_with_words.tolist() == [int((dense[:, columns] > 0).any(axis=1).sum()) for columns in words]
    own = dense[grown.labels == 1][:, words[1]]
    assert grown.share_with_words[1] == pytest.approx((own > 0).any(axis=1).mean())


def test_words_of_several_topics_do_not_pull(counts):
    mixed = [[0, N_WORDS, 2 * N_WORDS]]
    grown = grow(counts, guides_of(counts.shape[1], mixed))
    assert grown.coherence[0] < MIN_COHERENCE
    free = settle_labels(counts, TRUTH, N_TOPICS).labels
    same = (grown.labels[:, None] == grown.labels) == (free[:, None] == free)
    assert same.mean() > 0.99


def test_examples_stay_where_they_were_put(counts):
    examples = [np.array([0, 1, 35]), np.array([70])]
    grown = grow(counts, guides_of(counts.shape[1], [[], []], examples))
    assert grown.labels[[0, 1, 35]].tolist() == [0, 0, 0]
    assert grown.labels[70] == 1
    assert np.isnan(grown.share_with_words).all()
    assert grown.may_be_named.all()


def test_a_part_of_a_topic_is_told_by_its_words(counts):
    """Topics 0 and 1 share three words; the topic of these words is grown in one of them, and the other is a part."""
    table = counts.toarray()
    shared = table[:, :3] + table[:, N_WORDS : N_WORDS + 3]
    with_shared = sparse.csr_array(np.hstack([table, shared]))
    words = [[table.shape[1] + place for place in range(3)]]
    grown = grow(with_shared, guides_of(with_shared.shape[1], words))
    of_topic = grown.topics[grown.labels] == 0
    assert np.unique(grown.labels[of_topic]).size == 2
    assert of_topic[TRUTH < 2].all()
    assert not of_topic[TRUTH >= 2].any()


def test_one_of_several_words_makes_no_part(counts):
    """Class 1 has the first word of class 0 in half of its documents, and none of the others."""
    table = counts.toarray()
    table[SIZE : SIZE + SIZE // 2, 0] += 1
    grown = grow(sparse.csr_array(table), guides_of(counts.shape[1], [[0, 1, 2]]))
    assert grown.topics.tolist() == [0, -1, -1, -1]


def test_a_part_of_a_topic_of_examples_is_near_its_anchor(counts):
    """Class 1 uses the words of class 0 and few of its own; the topic has examples of class 0 alone."""
    table = counts.toarray()
    table[SIZE : 2 * SIZE, :N_WORDS] = 2 * table[:SIZE, :N_WORDS]
    grown = grow(sparse.csr_array(table), guides_of(counts.shape[1], [[]], [np.arange(SIZE // 2)]))
    assert grown.topics.tolist() == [0, 0, -1, -1]


def test_a_word_of_no_document_gives_no_name_and_changes_nothing(counts):
    wider = sparse.csr_array(sparse.hstack([counts, sparse.csr_array((counts.shape[0], 1))]))
    grown = grow(wider, guides_of(wider.shape[1], [[wider.shape[1] - 1]]))
    assert not grown.may_be_named[0]
    assert grown.n_with_words[0] == 0
    assert np.unique(grown.labels).size == N_TOPICS


def test_without_counts_nothing_is_settled(counts):
    rows = unit(counts)
    grown = grow_clusters(rows, None, rows, TRUTH, N_TOPICS, guides_of(counts.shape[1], [[0, 1]]))
    assert grown.mixture is None
    assert (grown.labels[TRUTH == 0] == 0).all()


def test_an_anchor_counts_as_a_mean_cluster_while_centroids_move(counts):
    """The labels are those of the centroids that follow from them by the definition, and not those without a pull."""
    rng = np.random.default_rng(5)
    noisy = sparse.csr_array(counts.toarray() + rng.poisson(1.2, counts.shape))
    rows = unit(noisy).toarray()
    grown = grow_clusters(unit(noisy), None, unit(noisy), TRUTH, N_TOPICS, guides_of(counts.shape[1], [[0]]))
    cosines = rows[:, 0]
    first = np.argsort(-cosines, kind="stable")[:20]
    anchor = cosines[first] @ rows[first]
    anchor /= np.linalg.norm(anchor)

    def labels_by_definition(pull):
        sums = np.array([rows[grown.labels == cluster].sum(axis=0) for cluster in range(N_TOPICS)])
        sums[0] += pull * TRUTH.size / N_TOPICS * anchor
        return (rows @ (sums / np.linalg.norm(sums, axis=1, keepdims=True)).T).argmax(axis=1)

    np.testing.assert_array_equal(grown.labels, labels_by_definition(1.0))
    assert (grown.labels != labels_by_definition(0.0)).any()
