"""A recipe keeps the labels of its version, and what a run was asked for goes before it."""

from __future__ import annotations

import json

import pytest

import doccluster
from doccluster.clustering.algorithms import ALGORITHMS
from doccluster.errors import InputError
from doccluster.pipeline.recipes import RECIPES
from tests.conftest import ROOT
from tests.golden.recipes import KEPT, labels_of

TINY = ROOT / "corpora" / "samples" / "tiny"


@pytest.mark.parametrize("version", RECIPES)
def test_the_labels_of_a_recipe_stay_those_of_its_version(version):
    assert labels_of(version) == json.loads(KEPT.read_text(encoding="utf-8"))[version]


def test_the_recipe_and_its_values_are_in_the_record_and_a_repetition_has_them(tmp_path):
    run = doccluster.run(TINY, n_clusters=3, compatible="1.0", output=tmp_path / "run", report=False)
    parameters = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["parameters"]
    assert parameters["compatible"] == "1.0"
    assert parameters["algorithm"] == "smoothed"
    assert parameters["clustering"]["n_neighbors"] == 10
    assert doccluster.load_run(tmp_path / "run").partition.labels.tolist() == run.partition.labels.tolist()


def test_what_is_asked_goes_before_the_recipe():
    run = doccluster.run(TINY, n_clusters=3, compatible="1.0", clustering={"n_init": 2})
    assert run.parameters["clustering"]["n_init"] == 2
    assert run.parameters["clustering"]["n_neighbors"] == 10
    other = doccluster.run(TINY, n_clusters=3, compatible="1.0", algorithm="spherical-k-means")
    assert other.parameters["clustering"] is None


def test_every_value_of_a_recipe_is_an_option_of_its_algorithm():
    for recipe in RECIPES.values():
        for name, values in recipe["clustering"].items():
            assert set(values) <= set(ALGORITHMS[name].options)


def test_a_version_without_a_recipe_is_refused():
    with pytest.raises(InputError, match=r"compatible='0.1' has no recipe.*one of 1.0"):
        doccluster.run(TINY, n_clusters=3, compatible="0.1")


def test_a_ready_matrix_takes_a_recipe_too():
    vectors = doccluster.vectorize(doccluster.read_corpus(TINY))
    assert doccluster.run(vectors.matrix, n_clusters=3, compatible="1.0").n_clusters == 3


def test_the_newest_recipe_holds_the_defaults_of_today():
    """Where a default changes after a release, a new recipe has to say so; before it the recipe follows."""
    newest = list(RECIPES.values())[-1]
    for name, values in newest["clustering"].items():
        assert values == {option: ALGORITHMS[name].options[option].default for option in values}
