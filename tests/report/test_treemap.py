"""A treemap fills its rectangle, each size has its area, and no two of them overlap."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doccluster.report.still_map import squarified


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=25), st.integers(1, 900), st.integers(1, 900))
def test_boxes_fill_the_rectangle_with_their_areas_and_do_not_overlap(sizes, width, height):
    sizes = sorted(sizes, reverse=True)
    boxes = squarified(sizes, width, height)
    for box, size in zip(boxes, sizes, strict=True):
        assert box.width * box.height == pytest.approx(size * width * height / sum(sizes))
        assert min(box.x, box.y) >= 0
        assert box.x + box.width <= width * (1 + 1e-9)
        assert box.y + box.height <= height * (1 + 1e-9)
    for one, other in combinations(boxes, 2):
        across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert across <= 1e-9 * width or down <= 1e-9 * height
