"""The registry is the test list: what every measure must have, and the laws that every external measure must obey."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import operator
import pathlib
import pkgutil
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import doccluster
import tests.oracles
from doccluster.geometry.partition import Partition
from doccluster.measures import get_measure, list_measures
from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.registry import get_measures
from tests.conftest import examples
from tests.oracles import external

EVERY = [record.name for record in list_measures()]
EXTERNAL = [record.name for record in list_measures(family="external")]
ORACLE_MODULES = [module.name for module in pkgutil.iter_modules(tests.oracles.__path__)]

EXAMPLES = settings(max_examples=examples(25))
FEW_EXAMPLES = settings(max_examples=8)

# the best value is not that of identical partitions: Strehl's NMI of unbalanced classes, values less their own chance
NOT_BEST_AT_IDENTITY = {"nmi_strehl", "divergence_from_random_baseline"}
# of several equally good maps one is taken, by the order of the classes
DEPENDS_ON_MAP = {name for name in EXTERNAL if name.startswith(("macro", "micro"))}
# duplicating every document leaves shares alone but changes pairs, chance and log n
CHANGED_BY_DUPLICATES = {
    *("van_dongen_raw", "vi_over_log_n", "mirkin_raw", "nccg", "nccg_std"),
    *("divergence_from_random_baseline", "ami", "ami_arithmetic", "ami_geometric", "ami_min", "ami_max"),
    *(
        name
        for name in EXTERNAL
        if get_measure(name).function.__module__.endswith("pair_counting") and name != "mirkin"
    ),
}


def labels(max_documents: int = 7, max_groups: int = 4):
    size = st.integers(1, max_documents)
    group = st.integers(0, max_groups - 1)
    return size.flatmap(lambda n: st.tuples(*[st.lists(group, min_size=n, max_size=n)] * 2))


def value(name, found, truth, **parameters):
    return doccluster.score(name, found, truth=truth, **parameters).value


def same(a, b, tolerance=1e-12):
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, abs=tolerance, rel=tolerance)


def examples_for(name):
    return FEW_EXAMPLES if name == "divergence_from_random_baseline" else EXAMPLES


def several_maps(found, truth):
    """Whether clusters may be named after classes in several equally good ways."""
    table = ContingencyTable.from_partitions(Partition.from_labels(found), Partition.from_labels(truth))
    ranked = [sorted(zip(row, -table.class_sizes, strict=True)) for row in table.counts.toarray()]
    return not table.is_matching_unique or any(len(row) > 1 and row[-1] == row[-2] for row in ranked)


# --- what every measure must have -------------------------------------------------------------------------------------


def test_measure_has_an_oracle_a_citation_and_a_line_of_documentation():
    oracles = [importlib.import_module(f"tests.oracles.{module}").ORACLES for module in ORACLE_MODULES]
    for name, record in zip(EVERY, map(get_measure, EVERY), strict=True):
        assert any(name in each for each in oracles), f"{name} has no oracle in tests/oracles"
        assert re.search(r"\d|\b[IVX]+\.", record.source), f"{name} cites no year, equation or section"
        for field in (record.title, record.formula, record.range, record.meaning, record.edges):
            assert field.strip(), name
            assert not field.endswith(" "), name
        function = inspect.unwrap(record.function)
        assert inspect.getdoc(function), f"the function of {name} has no docstring"


def test_no_oracle_is_left_over():
    for module in ORACLE_MODULES:
        unknown = set(importlib.import_module(f"tests.oracles.{module}").ORACLES) - set(EVERY)
        assert not unknown, f"tests/oracles/{module}.py has oracles of unknown measures {sorted(unknown)}"


@pytest.mark.parametrize("names", [["silhou" * 3000], ["silhou" * 3000, "nothing"]])
def test_a_name_that_is_none_is_told_in_short(names):
    with pytest.raises(doccluster.errors.InputError, match=r"there is no measure 'silhou.*…'") as raised:
        get_measures(names)
    assert len(str(raised.value)) < 300


def test_names_of_records_refer_to_records():
    for name, record in zip(EVERY, map(get_measure, EVERY), strict=True):
        assert not (record.variant_of and record.alias_of), name
        for other in (record.variant_of, record.alias_of, record.swapped):
            assert other is None or get_measure(other) is not None, name
        if record.swapped:
            assert get_measure(record.swapped).swapped == name
        base = record.variant_of or record.alias_of
        assert base != name
        assert record.is_counted == (base is None), name
        assert set(record.parts) <= {"per_cluster", "per_class", "per_document", "per_pair"}, name
        assert record.direction in {"higher", "lower", "none"}, name


def test_measures_are_counted_as_specified():
    counted = [record.family for record in list_measures(counted=True)]
    assert counted.count("external") == 44
    assert counted.count("internal") + counted.count("intrinsic") == 39
    assert counted.count("topic") == 5


def test_documentation_lists_every_measure():
    page = (pathlib.Path(__file__).parent.parent / "docs" / "reference" / "measures.md").read_text("utf-8")
    missing = [name for name in EVERY if f"`{name}`" not in page]
    assert not missing


# --- the laws of external measures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXTERNAL)
def test_external_measure_equals_its_naive_definition(name):
    oracle = external.ORACLES[name]

    @examples_for(name)
    @given(labels(5 if name == "divergence_from_random_baseline" else 7))
    def check(pair):
        found, truth = pair
        assume(name not in DEPENDS_ON_MAP or not several_maps(found, truth))
        assert same(value(name, found, truth), oracle(found, truth)), (found, truth)

    check()


@pytest.mark.parametrize("name", EXTERNAL)
def test_external_measure_keeps_the_laws(name):
    record = get_measure(name)
    (least, most), is_better = record.bounds, {"higher": operator.ge, "lower": operator.le}.get(record.direction)

    @examples_for(name)
    @given(labels(8, 5), st.randoms(use_true_random=False))
    def check(pair, random):
        found, truth = pair
        score = value(name, found, truth)
        if not math.isnan(score):
            assert least is None or score >= least - 1e-12
            assert most is None or score <= most + 1e-12
            if is_better and name not in NOT_BEST_AT_IDENTITY:
                best = value(name, truth, truth)
                assert math.isnan(best) or is_better(best, score) or same(best, score), "identical ones are not best"
        if record.swapped:
            assert same(score, value(record.swapped, truth, found)), "swapping does not do what is declared"
        if name in DEPENDS_ON_MAP and several_maps(found, truth):
            return
        names, order = ["zebra", "ant", "Ünï", "m", "7"], list(range(len(found)))
        random.shuffle(names)
        random.shuffle(order)
        renamed = [names[found[i]] for i in order], np.array([names[truth[i]] for i in order])
        assert same(value(name, *renamed), score), "names or the order matter"
        if name not in CHANGED_BY_DUPLICATES:
            assert same(value(name, found * 2, truth * 2), score), "duplicates matter"

    check()


def test_labels_of_any_kind_are_names():
    found, truth = [0, 0, 1, 2], [(0, "a"), (1, "b"), (1, "b"), (0, "a")]
    assert value("nmi", found, truth) == value("nmi", ["x", "x", "y", "z"], [0.5, 7, 7, 0.5])


@pytest.mark.parametrize("name", EXTERNAL)
def test_parts_of_external_measures_have_the_declared_shapes(name):
    found, truth = [0, 0, 1, 1, 2, 2, 2], ["a", "a", "a", "b", "b", "a", "b"]
    ours = doccluster.score(name, found, truth=truth)
    shapes = {"per_cluster": (3,), "per_class": (2,), "per_document": (7,), "per_pair": (3, 2)}
    given_parts = {part for part in shapes if getattr(ours, part) is not None}
    assert given_parts == set(get_measure(name).parts)
    for part in given_parts:
        assert getattr(ours, part).shape == shapes[part]


@pytest.mark.parametrize("name", EXTERNAL)
def test_unknown_parameter_is_refused_with_those_there_are(name):
    with pytest.raises(doccluster.errors.InputError, match="no parameter wrong"):
        doccluster.score(name, [0, 1], truth=[0, 1], wrong=1)


@EXAMPLES
@given(labels(9, 5))
def test_merging_clusters_cannot_raise_purity_and_splitting_cannot_lower_it(pair):
    found, truth = pair
    merged = [min(c, 1) for c in found]
    split = [(c, i % 2) for i, c in enumerate(found)]
    scores = [value("purity", labels, truth) for labels in (merged, found, split)]
    assert scores == sorted(scores)


@EXAMPLES
@given(labels(9, 5))
def test_averages_of_nmi_are_ordered(pair):
    found, truth = pair
    scores = [value(f"nmi_{average}", found, truth) for average in ("min", "geometric", "arithmetic", "max", "joint")]
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(scores))
