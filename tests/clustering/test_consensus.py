"""Consensus of runs and its stability, beside dense definitions and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from doccluster.clustering.consensus.ensemble import Ensemble
from doccluster.clustering.consensus.joining import consensus_labels
from doccluster.clustering.consensus.label_stability import measure_stability, movements
from doccluster.errors import InputError


@pytest.fixture
def truth():
    return np.random.default_rng(4).integers(4, size=120)


@pytest.fixture
def runs(truth):
    """Seven runs of different numbers of clusters, each wrong for other documents; one of them mostly noise."""
    rng = np.random.default_rng(5)
    found = []
    for k in (4, 4, 5, 3, 4, 6):
        renamed = rng.permutation(max(k, 4))[truth] % k
        found.append(np.where(rng.random(120) < 0.25, rng.integers(k, size=120), renamed))
    return [*found, np.where(rng.random(120) < 0.5, -1, truth)]


def test_the_cosine_of_two_rows_of_memberships_is_their_co_association(runs):
    ensemble = Ensemble.from_labels(runs[:6])
    rows = ensemble.memberships.toarray()
    whole = np.mean([np.equal.outer(run, run) for run in ensemble.labels], axis=0)
    assert rows @ rows.T / 6 == pytest.approx(whole, abs=1e-12)


def test_a_consensus_is_nearer_to_the_truth_than_any_run(runs, truth):
    found = consensus_labels(runs, 4, random_state=0)
    best = max(normalized_mutual_info_score(truth, run) for run in runs)
    assert normalized_mutual_info_score(truth, found) > best + 0.1


@pytest.mark.usefixtures("starts_threads")
def test_threads_and_the_names_of_clusters_change_no_consensus(runs):
    named = [[f"cluster {label}" if label != -1 else -1 for label in run] for run in runs]
    found = [consensus_labels(runs, 4, random_state=1, n_threads=n) for n in (1, 3)]
    assert np.array_equal(*found)
    assert adjusted_rand_score(found[0], consensus_labels(named, 4, random_state=1)) == 1


def test_runs_of_scikit_learn_can_be_joined():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(centre, 0.3, size=(40, 2)) for centre in ([0, 0], [3, 0], [0, 3])])
    runs = [KMeans(3, n_init=1, random_state=seed).fit(points).labels_ for seed in range(4)]
    runs.append(DBSCAN(eps=0.5).fit(points).labels_)
    found = consensus_labels(runs, 3, random_state=0)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 40), found) == 1


def naive_stability(labels, runs):
    """Loops over documents and runs: where most of the cluster of the run lies, and the best Jaccard coefficient."""
    n, k = len(labels), max(labels) + 1
    places = np.full((len(runs), n), -1)
    jaccard = np.zeros((len(runs), k))
    for r, run in enumerate(runs):
        for cluster in set(run) - {-1}:
            members = np.flatnonzero(np.asarray(run) == cluster)
            places[r, members] = np.bincount(labels[members], minlength=k).argmax()
            for own in range(k):
                mine = set(np.flatnonzero(labels == own))
                both = mine & set(members)
                jaccard[r, own] = max(jaccard[r, own], len(both) / len(mine | set(members)))
    known = (places >= 0).sum(axis=0)
    own = (places == labels).sum(axis=0)
    others, shares = np.full(n, -1), np.zeros(n)
    for i in range(n):
        votes = np.bincount(places[:, i][places[:, i] >= 0], minlength=k)
        votes[labels[i]] = 0
        if votes.any():
            others[i], shares[i] = votes.argmax(), votes.max() / known[i]
    with np.errstate(invalid="ignore"):
        return own / known, jaccard.mean(axis=0), others, shares


def test_stability_is_what_loops_over_documents_and_runs_find(runs, truth):
    runs = [run.copy() for run in runs]
    for run in runs:
        run[5] = -1  # a document without any cluster
    found = measure_stability(truth, runs)
    documents, clusters, others, shares = naive_stability(truth, runs)
    assert found.documents == pytest.approx(documents, nan_ok=True)
    assert np.isnan(found.documents[5])
    assert found.clusters == pytest.approx(clusters)
    assert np.array_equal(found.others, others)
    assert found.other_shares == pytest.approx(shares)
    assert found.n_runs == 7


def test_equal_runs_are_wholly_stable(truth):
    found = measure_stability(truth, [truth, 3 - truth, truth])
    assert (found.documents == 1).all()
    assert (found.clusters == 1).all()
    assert (found.others == -1).all()
    assert movements(truth, found) == ()


def test_clusters_without_documents_have_no_stability(truth):
    found = measure_stability(np.where(truth == 1, 2, truth) + 1, [truth], n_clusters=6)
    assert np.isnan(found.clusters).tolist() == [True, False, True, False, False, True]
    moved = measure_stability([0, 0, 0, 4, 4], [[0, 0, 1, 1, 1]], n_clusters=5)
    assert moved.others.tolist() == [-1, -1, 4, -1, -1]


def test_movements_name_the_documents_that_change_between_two_clusters():
    labels = [0] * 5 + [1] * 5 + [2] * 5
    one, two = list(labels), list(labels)
    one[3] = one[4] = 1
    two[4], two[5], two[14] = 1, 0, 1
    found = movements(labels, measure_stability(labels, [one, two, labels, labels]))
    assert [(each.clusters, each.documents) for each in found] == [((0, 1), (3, 4, 5)), ((1, 2), (14,))]
    assert found[0].share == pytest.approx((0.25 + 0.5 + 0.25) / 3)
    assert found[1].share == 0.25


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ([], {}, "runs is empty"),
        ([[0, 1], [0, 1, 1]], {}, r"runs\[1\] has 3 labels and runs\[0\] has 2"),
        ([[0, 1]], {"n_clusters": 3}, "n_clusters=3 exceeds"),
    ],
)
def test_what_cannot_be_joined_is_refused(runs, options, message):
    with pytest.raises(InputError, match=message):
        consensus_labels(runs, **{"n_clusters": 2, **options})


def test_stability_refuses_labels_of_another_length():
    with pytest.raises(InputError, match="labels has 2 labels"):
        measure_stability([0, 1], [[0, 1, 1]])
