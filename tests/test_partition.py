"""Labels become a partition: any hashables, plain arrays by the short way, and the same result by both."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from tests.conftest import examples


@settings(max_examples=examples(80))
@given(
    st.one_of(
        st.lists(st.integers(-5, 5), min_size=1, max_size=12),
        st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=12),
        st.lists(st.booleans(), min_size=1, max_size=12),
        st.lists(st.text("abcü", max_size=3), min_size=1, max_size=12),
    )
)
def test_an_array_gives_the_same_partition_as_the_list_of_its_labels(labels):
    by_list = Partition.from_labels(labels)
    for values in (np.array(labels), pd.Series(labels)):
        by_array = Partition.from_labels(values)
        assert np.array_equal(by_array.labels, by_list.labels)
        assert by_array.names == by_list.names
        assert [type(name) for name in by_array.names] == [type(name) for name in by_list.names]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_every_integer_type_is_read_without_overflow(dtype):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    partition = Partition.from_labels(np.array([most, least, most], dtype))
    assert partition.names == (int(least), int(most))
    assert partition.labels.tolist() == [1, 0, 1]


def test_gaps_in_numbers_are_no_empty_clusters():
    partition = Partition.from_labels(np.array([100, -1, 7, 7]))
    assert partition.names == (-1, 7, 100)
    assert partition.sizes.tolist() == [1, 2, 1]
    assert partition.members(1).tolist() == [2, 3]
    assert partition.labels.tolist() == [2, 0, 1, 1]


def test_labels_that_cannot_be_compared_keep_their_order_of_appearance():
    assert Partition.from_labels(["x", 1, "x"]).names == ("x", 1)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels_are_refused(missing):
    with pytest.raises(InputError, match="missing values"):
        Partition.from_labels(["a", missing])


def test_no_labels_and_unhashable_labels_are_refused():
    for labels in ([], np.array([], np.int64)):
        with pytest.raises(InputError, match="is empty"):
            Partition.from_labels(labels)
    with pytest.raises(InputError, match="cannot be hashed"):
        Partition.from_labels([{}, {}])
    with pytest.raises(InputError, match="not a sequence"):
        Partition.from_labels(7)


@pytest.mark.parametrize("labels", [{"a": 0, "b": 1}, {0, 1}, frozenset({0, 1})])
def test_what_has_no_order_of_documents_is_refused(labels):
    with pytest.raises(InputError, match=r"not a sequence; give one label per document, in order"):
        Partition.from_labels(labels)


def test_a_frame_of_one_column_is_its_column_and_a_wider_one_is_refused():
    assert Partition.from_labels(pd.DataFrame({"x": [7, -1, 7]})).labels.tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="2 dimensions"):
        Partition.from_labels(pd.DataFrame({"x": [7, -1], "y": [1, 2]}))


def test_masked_labels_are_missing():
    labels = np.ma.masked_array([0, 1, 1], mask=[False, False, True])
    with pytest.raises(InputError, match="missing values"):
        Partition.from_labels(labels)
    assert Partition.from_labels(labels[:2]).labels.tolist() == [0, 1]


@pytest.mark.parametrize("copied", [lambda one: one, copy.copy, copy.deepcopy])
def test_a_partition_cannot_be_changed_in_place(copied):
    given = np.array([1, 0, 1, 2])
    partition = copied(Partition(given, ("a", "b", "c")))
    given[:] = 0
    counted = {"labels": partition.labels, "sizes": partition.sizes, "members": partition.members(1)}
    for name, array in counted.items():
        before = array.copy()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2
        assert array.tolist() == before.tolist(), name
    assert partition.labels.tolist() == [1, 0, 1, 2]
    assert partition.sizes.tolist() == [1, 2, 1]
    assert partition.members(1).tolist() == [0, 2]
