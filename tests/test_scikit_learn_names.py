"""scikit-learn's names of metrics are understood wherever a measure is named, and measures are scorers there."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from sklearn import metrics
from sklearn.cluster import DBSCAN, KMeans
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import doccluster
from doccluster import SphericalKMeans, TfidfVectorizer, evaluate, get_measure, score
from doccluster.errors import InputError
from doccluster.measures import list_measures, make_scorer

RNG = np.random.default_rng(3)
FOUND, TRUTH = RNG.integers(0, 4, size=60), RNG.integers(0, 5, size=60)
ROWS = RNG.normal(size=(60, 6)) + FOUND[:, None]

EXTERNAL = (
    *("normalized_mutual_info_score", "adjusted_mutual_info_score", "mutual_info_score", "adjusted_rand_score"),
    *("rand_score", "fowlkes_mallows_score", "homogeneity_score", "completeness_score", "v_measure_score"),
)
INTERNAL = ("silhouette_score", "davies_bouldin_score", "calinski_harabasz_score")


@pytest.mark.parametrize("name", EXTERNAL)
def test_external_names_mean_what_they_mean_there(name):
    assert score(name, FOUND, truth=TRUTH).value == pytest.approx(getattr(metrics, name)(TRUTH, FOUND), abs=1e-12)


@pytest.mark.parametrize("name", INTERNAL)
def test_internal_names_mean_what_they_mean_there_under_the_euclidean_metric(name):
    ours = score(name, FOUND, vectors=ROWS, metric="euclidean").value
    assert ours == pytest.approx(getattr(metrics, name)(ROWS, FOUND), rel=1e-9)


def test_other_names_are_no_measures_of_their_own_and_find_their_scores():
    assert get_measure("fmi") is get_measure("fowlkes_mallows")
    assert not {"fmi", *EXTERNAL, *INTERNAL} & {record.name for record in list_measures()}
    judged = evaluate(FOUND, truth=TRUTH, measures={"normalized_mutual_info_score": {"average": "max"}, "fmi": {}})
    assert [each.name for each in judged] == ["nmi", "fowlkes_mallows"]
    assert (
        judged["normalized_mutual_info_score"].value
        == judged["nmi"].value
        == score("nmi_max", FOUND, truth=TRUTH).value
    )
    assert "fmi" in judged
    with pytest.raises(InputError, match="did you mean adjusted_rand_score"):
        get_measure("adjusted_rand_scor")


def test_every_other_name_is_on_the_page_of_measures():
    page = (pathlib.Path(__file__).parents[1] / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for record in list_measures() for name in record.also_called)


def topics(n=40):
    words = [f"word{topic}{letter}" for topic in range(4) for letter in "abcdef"]
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 4
    return [" ".join(rng.choice(words[6 * t : 6 * t + 6], size=5)) for t in truth], truth


def test_a_grid_search_over_texts_chooses_by_a_measure_without_truth():
    texts, truth = topics()
    clusterer = make_pipeline(TfidfVectorizer(min_df=1), SphericalKMeans(n_init=5, random_state=0))
    grid = {"sphericalkmeans__n_clusters": [2, 4]}
    search = GridSearchCV(clusterer, grid, scoring=make_scorer("silhouette"), cv=3, error_score="raise").fit(texts)
    assert search.best_params_ == {"sphericalkmeans__n_clusters": 4}
    four = clusterer.set_params(sphericalkmeans__n_clusters=4)
    matched = cross_val_score(four, texts, truth, scoring=make_scorer("adjusted_rand_score"))
    assert matched.shape == (5,)
    assert matched.mean() > 0.9


def test_a_scorer_is_larger_where_the_clustering_is_better_and_takes_what_the_measure_takes():
    fitted = KMeans(4, n_init=1, random_state=0).fit(ROWS)
    labels = fitted.predict(ROWS)
    lower = make_scorer("davies_bouldin_score", metric="euclidean")
    assert lower(fitted, ROWS) == pytest.approx(-metrics.davies_bouldin_score(ROWS, labels))
    assert (
        make_scorer("bcubed_f", beta=2.0)(fitted, ROWS, TRUTH) == score("bcubed_f", labels, truth=TRUTH, beta=2.0).value
    )
    assert doccluster.make_scorer is make_scorer


def test_wrong_use_of_scorers_is_one_sentence():
    with pytest.raises(InputError, match="no direction of"):
        make_scorer(next(record.name for record in list_measures() if record.direction == "none"))
    with pytest.raises(InputError, match="has no parameter depth"):
        make_scorer("nmi", depth=3)
    with pytest.raises(InputError, match="y is None"):
        make_scorer("nmi")(KMeans(2, n_init=1).fit(ROWS), ROWS)
    with pytest.raises(InputError, match="give a clusterer with predict"):
        make_scorer("silhouette")(DBSCAN().fit(ROWS), ROWS[:10])
