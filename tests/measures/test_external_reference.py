"""Every external reference value, through `doccluster.score`, by the names in tests/golden/oracle_names.json."""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import pytest

import doccluster
from doccluster.geometry.partition import Partition
from doccluster.measures import get_measure
from doccluster.measures.contingency import ContingencyTable
from tests.measures.test_chance import divergence_from_random_baseline

NAMES = json.loads((pathlib.Path(__file__).parent.parent / "golden" / "oracle_names.json").read_text("utf-8"))
STRUCTURAL = {"tp", "fp", "fn", "tn", "entropy_true", "entropy_pred", "expected_mi", "hungarian_unique"}


def plain(value):
    """The values of a reference entry: numbers, with the words for those that JSON cannot hold."""
    return np.asarray(value, dtype=object).astype(np.float64)


def cases(oracle):
    """All label pairs with external reference values: name, found, truth, values."""
    for case in json.loads((oracle / "small_cases.json").read_text("utf-8"))["cases"]:
        yield case["name"], case["labels"], case["truth"], case["external"]
    hand = json.loads((oracle / "hand_example.json").read_text("utf-8"))
    yield "hand", hand["labels"], hand["truth"], hand["external"]
    iir = json.loads((oracle / "iir.json").read_text("utf-8"))
    for name in ("fig_16_4", "exercise_16_3_doubled"):
        yield name, iir[name]["labels"], iir[name]["truth"], iir[name]["value"]
    iris = json.loads((oracle / "zaki_iris.json").read_text("utf-8"))
    for name in ("good", "bad"):
        yield name, iris[f"labels_{name}"], iris["truth"], iris["values"][name]["external"]
    for case in json.loads((oracle / "extra_cases.json").read_text("utf-8"))["external"]:
        yield case["name"], case["labels"], case["truth"], case["values"]


def test_every_reference_value_is_reproduced_through_score(oracle):
    compared, wrong = 0, []
    for case, found, truth, values in cases(oracle):
        unique = values.get("hungarian_unique", True)
        for key, expected in values.items():
            if key in STRUCTURAL or (key.startswith("macro") and key.endswith("hungarian") and not unique):
                continue
            entry = NAMES[key]
            ours = doccluster.score(entry["measure"], found, truth=truth, **entry["parameters"])
            got = np.asarray(getattr(ours, entry["part"]), np.float64)
            compared += 1
            if got.shape != plain(expected).shape or not np.allclose(
                got, plain(expected), rtol=0, atol=1e-12 * max(1.0, np.nanmax(np.abs(plain(expected)))), equal_nan=True
            ):
                wrong.append((case, key, expected, got.tolist()))
    assert not wrong
    assert compared > 1200


def test_structural_values_are_those_of_the_contingency_table(oracle):
    for _, found, truth, values in cases(oracle):
        table = ContingencyTable.from_partitions(Partition.from_labels(found), Partition.from_labels(truth))
        pairs = table.pairs
        ours = {
            "tp": pairs.together,
            "fp": pairs.cluster_only,
            "fn": pairs.class_only,
            "tn": pairs.apart,
            "entropy_true": table.class_entropy,
            "entropy_pred": table.cluster_entropy,
            "expected_mi": table.expected_mutual_information,
            "hungarian_unique": table.is_matching_unique,
        }
        for key in STRUCTURAL & set(values):
            assert ours[key] == pytest.approx(values[key], abs=1e-12), key


def test_iris_tables_and_their_entropies_in_bits(oracle):
    iris = json.loads((oracle / "zaki_iris.json").read_text("utf-8"))
    for name in ("good", "bad"):
        found, values = iris[f"labels_{name}"], iris["values"][name]
        partitions = Partition.from_labels(found), Partition.from_labels(iris["truth"])
        table = ContingencyTable.from_partitions(*partitions)
        assert table.counts.toarray().tolist() == values["contingency"]
        assert table.class_entropy / math.log(2) == pytest.approx(values["entropy_true_bits"], abs=1e-12)
        assert table.cluster_entropy / math.log(2) == pytest.approx(values["entropy_pred_bits"], abs=1e-12)
        for key in ("cluster_entropies_bits", "mutual_information_bits"):
            entry = NAMES[key]
            ours = doccluster.score(entry["measure"], found, truth=iris["truth"], **entry["parameters"])
            np.testing.assert_allclose(getattr(ours, entry["part"]), values[key], atol=1e-12)


def test_exact_random_baselines(oracle):
    for case in json.loads((oracle / "extra_cases.json").read_text("utf-8"))["random_baseline"]:
        for key, expected in case["values"].items():
            entry = NAMES[key]
            ours = divergence_from_random_baseline(
                entry["measure"], case["labels"], case["truth"], **entry["parameters"]
            )
            assert ours.value == pytest.approx(expected["divergence"], abs=1e-12), (case["name"], key)
            assert ours.standard_error == 0.0


def test_miscellaneous_baselines_and_gains(oracle):
    misc = json.loads((oracle / "relative_and_misc.json").read_text("utf-8"))
    baseline = misc["random_baseline"]
    for key in ("purity", "strehl_entropy", "mi"):
        name = NAMES[key]["measure"]
        value = doccluster.score(name, baseline["labels"], truth=baseline["truth"]).value
        divergence = divergence_from_random_baseline(name, baseline["labels"], baseline["truth"]).value
        assert value == pytest.approx(baseline[key], abs=1e-12)
        assert value - divergence == pytest.approx(baseline[f"{key}_expected"], abs=1e-12)
    for counts, expected in misc["nccg"].items():
        per_cluster = json.loads(counts)
        found = [cluster for cluster, count in enumerate(per_cluster) for _ in range(count)]
        ours = doccluster.score("nccg", found, truth=["topic"] * len(found)).value
        assert ours == pytest.approx(float(expected), abs=1e-12, nan_ok=True)


def test_mutual_information_of_a_word_and_a_class_in_reuters(oracle):
    slide = json.loads((oracle / "iir.json").read_text("utf-8"))["slide_poultry_mi"]
    n11, n10, n01, n00 = (slide[key] for key in ("N11", "N10", "N01", "N00"))
    word = np.repeat([1, 1, 0, 0], [n11, n10, n01, n00])
    topic = np.repeat([1, 0, 1, 0], [n11, n10, n01, n00])
    bits = doccluster.score("mutual_information", word, truth=topic, base=2).value
    assert bits == pytest.approx(slide["value_bits"], rel=1e-9)


def test_every_mapped_key_names_a_measure_that_takes_its_parameters():
    for key, entry in NAMES.items():
        record = get_measure(entry["measure"])
        own = {name: value for name, value in entry["parameters"].items() if name != "metric"}
        record.check_parameters(own)
        assert entry["part"] == "value" or entry["part"] in record.parts, key
