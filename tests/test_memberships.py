"""How much documents belong to clusters, against the formula of the mixture written out here."""

import csv

import numpy as np
import pytest
from scipy.special import softmax

import doccluster

N_CLUSTERS = 6
CHEAP = {"levels": "none", "report": False}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memberships") / "run"
    return doccluster.run(doccluster.load_sample(), n_clusters=N_CLUSTERS, output=folder, **CHEAP), folder


def posteriors(counts, labels):
    """Return the probability of each cluster: half of a term's share is that in the collection, at most 200 terms."""
    rows = counts.toarray().astype(float)
    rows *= np.minimum(1, 200 / rows.sum(axis=1, keepdims=True))
    background = rows.sum(axis=0) / rows.sum()
    scores = []
    for cluster in range(labels.max() + 1):
        own_share = rows[labels == cluster].sum(axis=0) / rows[labels == cluster].sum()
        scores.append(rows @ np.log(0.5 * own_share + 0.5 * background) + np.log(np.mean(labels == cluster)))
    return softmax(np.array(scores).T, axis=1)


def test_memberships_are_the_posteriors_of_the_mixture(finished):
    run, _ = finished
    expected = posteriors(run.vectors.counts, run.partition.labels)
    expected[expected < np.sort(expected, axis=1)[:, [-3]]] = 0
    np.testing.assert_allclose(run.memberships.toarray(), expected, rtol=1e-6, atol=1e-9)
    assert (np.diff(run.memberships.indptr) == 3).all()


def test_assignments_hold_the_three_largest_in_order(finished):
    run, folder = finished
    with (folder / "assignments.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    expected = run.memberships.toarray()
    for row, document in zip(rows, expected[np.argsort(run.documents.positions)], strict=True):
        shares = [float(row[f"membership_{place}"]) for place in (1, 2, 3)]
        clusters = [int(row[f"cluster_{place}"]) for place in (1, 2, 3)]
        assert shares == sorted(shares, reverse=True)
        np.testing.assert_allclose(document[clusters], shares, atol=5e-7)


def test_a_run_read_again_has_the_same_memberships(finished):
    run, folder = finished
    assert abs(doccluster.load_run(folder).memberships - run.memberships).max() == 0


def test_memberships_of_merged_clusters_add_up(finished):
    run, _ = finished
    merged = run.merge(0, 1)
    number = merged.partition.labels[run.partition.labels == 0][0]
    both = posteriors(run.vectors.counts, run.partition.labels)[:, :2].sum(axis=1)
    of_merged = merged.memberships.toarray()[:, number]
    is_kept = of_merged > 0
    assert is_kept.sum() > run.n_documents / 2
    np.testing.assert_allclose(of_merged[is_kept], both[is_kept], rtol=1e-6)


def test_counts_of_a_run_apart_from_a_column_are_whole_in_its_folder(tmp_path):
    run = doccluster.run(doccluster.load_sample(), n_clusters=4, apart_from="story", output=tmp_path / "run", **CHEAP)
    again = doccluster.load_run(tmp_path / "run")
    plain = doccluster.run(doccluster.load_sample(), n_clusters=4, **CHEAP)
    assert run.vectors.term_factors.min() < 1
    np.testing.assert_array_equal(again.vectors.counts.toarray(), plain.vectors.counts.toarray())
    assert abs(again.memberships - run.memberships).max() == 0


@pytest.mark.parametrize("algorithm", ["vmf", "multinomial-mixture"])
def test_other_mixtures_give_memberships_too(algorithm):
    run = doccluster.run(doccluster.load_sample(), n_clusters=4, algorithm=algorithm, **CHEAP)
    np.testing.assert_array_equal(run.memberships.argmax(axis=1), run.partition.labels)


def test_without_a_mixture_there_are_none(tmp_path):
    for algorithm in ("spherical-k-means", "k-means"):
        made = {"algorithm": algorithm, "output": tmp_path / algorithm}
        assert doccluster.run(doccluster.load_sample(), n_clusters=4, **made, **CHEAP).memberships is None
    assert ",,,,,," in (tmp_path / "k-means" / "assignments.csv").read_text(encoding="utf-8").splitlines()[1]
