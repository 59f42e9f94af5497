"""The numbers printed in the books, to the digits printed; misprints are marked as such, with the right value."""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import pytest

import doccluster
from doccluster.geometry.partition import Partition
from doccluster.measures.contingency import ContingencyTable

GOLDEN = pathlib.Path(__file__).parent.parent / "golden"
IIR = json.loads((GOLDEN / "iir.json").read_text("utf-8"))
ZAKI = json.loads((GOLDEN / "zaki_meira_external.json").read_text("utf-8"))


def labels_of(table):
    """Labels of documents that have this contingency table, rows being clusters."""
    counts = np.array(table)
    rows, columns = np.nonzero(counts)
    return np.repeat(rows, counts[rows, columns]), np.repeat(columns, counts[rows, columns])


def digits(printed):
    return len(printed.partition(".")[2])


def truncated(value, printed):
    scale = 10 ** digits(printed)
    return math.floor(value * scale + 1e-9) / scale


def rounded(value, printed):
    return math.floor(value * 10 ** digits(printed) + 0.5) / 10 ** digits(printed)


def table_of(found, truth):
    return ContingencyTable.from_partitions(Partition.from_labels(found), Partition.from_labels(truth))


def pairs_of(found, truth):
    pairs = table_of(found, truth).pairs
    return {name: getattr(pairs, name) for name in ("together", "cluster_only", "class_only", "apart")}


@pytest.mark.parametrize("entry", IIR["figure_16_4"]["printed"], ids=lambda e: f"{e['measure']}={e['printed']}")
def test_figure_16_4_of_iir(entry):
    figure = IIR["figure_16_4"]
    ours = doccluster.score(entry["measure"], figure["labels"], truth=figure["truth"], **entry["parameters"])
    assert rounded(ours.value, entry["printed"]) == float(entry["printed"])


def test_pairs_and_majorities_of_figure_16_4_of_iir():
    figure = IIR["figure_16_4"]
    table = table_of(figure["labels"], figure["truth"])
    assert pairs_of(figure["labels"], figure["truth"]) == figure["pairs"]
    assert table.pairs.together + table.pairs.cluster_only == figure["pairs_in_clusters"]
    assert table.pairs.total == figure["pairs_in_all"] == IIR["slide_number_of_pairs"]["value"]
    majorities = {
        str(table.partition.names[cluster]): [table.truth.names[table.majority_class[cluster]], int(count)]
        for cluster, count in enumerate(table.largest_in_cluster)
    }
    assert majorities == figure["majority"]


def test_exercise_16_3_of_iir_doubling_every_document():
    figure, exercise = IIR["figure_16_4"], IIR["exercise_16_3"]

    def change(name, **parameters):
        once = doccluster.score(name, figure["labels"], truth=figure["truth"], **parameters).value
        twice = doccluster.score(name, figure["labels"] * 2, truth=figure["truth"] * 2, **parameters).value
        return twice - once

    for name in exercise["same"]:
        assert change(name) == pytest.approx(0, abs=1e-12), name
    for name, larger in exercise["larger"].items():
        assert change(name) == pytest.approx(larger, abs=1e-12), name
    assert change("pair_f", beta=5) == pytest.approx(exercise["larger_pair_f5"], abs=1e-12)


def test_mutual_information_of_the_slide_has_lost_a_digit():
    slide = IIR["slide_poultry_export"]
    word = np.repeat([1, 1, 0, 0], [slide["N11"], slide["N10"], slide["N01"], slide["N00"]])
    topic = np.repeat([1, 0, 1, 0], [slide["N11"], slide["N10"], slide["N01"], slide["N00"]])
    bits = doccluster.score("mutual_information", word, truth=topic, base=2).value
    assert bits == pytest.approx(slide["value_bits"], rel=1e-9)
    assert rounded(bits, slide["printed"]) != float(slide["printed"])
    assert rounded(bits, "0.0001105") == 0.0001105


PRINTED = [(side, entry) for side in ("good", "bad") for entry in ZAKI[side]["printed"]]


@pytest.mark.parametrize(
    ("side", "entry"), PRINTED, ids=[f"{side}-{e['place']}-{e['measure']}={e['printed']}" for side, e in PRINTED]
)
def test_examples_17_1_to_17_4_of_zaki_and_meira(side, entry):
    found, truth = labels_of(ZAKI[side]["table"])
    ours = getattr(doccluster.score(entry["measure"], found, truth=truth, **entry["parameters"]), entry["part"])
    ours = float(ours if "index" not in entry else ours[entry["index"]])
    if "status" in entry:
        assert truncated(ours, entry["printed"]) == float(entry["printed"]) != rounded(ours, entry["printed"])
    else:
        assert rounded(ours, entry["printed"]) == float(entry["printed"])


@pytest.mark.parametrize("side", ["good", "bad"])
def test_pairs_of_example_17_3_and_sizes_of_17_1(side):
    found, truth = labels_of(ZAKI[side]["table"])
    assert pairs_of(found, truth) == ZAKI[side]["pairs"]
    assert len(found) == ZAKI["n"] == ZAKI["misprints"][0]["value"]
    assert table_of(found, truth).pairs.total == 11175


def test_entropies_and_shares_of_examples_17_2_and_17_4():
    found, truth = labels_of(ZAKI["good"]["table"])
    table = table_of(found, truth)
    for ours, printed in (
        (table.class_entropy / math.log(2), ZAKI["good"]["entropies_in_bits"]["truth"]),
        (table.cluster_entropy / math.log(2), ZAKI["good"]["entropies_in_bits"]["found"]),
        ((table.pairs.together + table.pairs.class_only) / table.pairs.total, ZAKI["good"]["mu"]["truth"]),
        ((table.pairs.together + table.pairs.cluster_only) / table.pairs.total, ZAKI["good"]["mu"]["found"]),
    ):
        assert rounded(ours, printed) == float(printed)
