"""What is known of a parameter: its range in words, and the values that it takes."""

from __future__ import annotations

import pytest

from doccluster.errors import InputError
from doccluster.parameter_fields import Parameter


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (Parameter("", 1, low=1), ">= 1"),
        (Parameter("", 0.5, above=0, high=1), "above 0 and <= 1"),
        (Parameter("", 0.5, low=0, below=1), ">= 0 and below 1"),
        (Parameter("", "auto", choices=("auto", "none"), low=2), "'auto', 'none' or a number >= 2"),
    ],
)
def test_the_range_is_said_in_words(known, says):
    assert known.range == says


@pytest.mark.parametrize(
    ("known", "good", "bad"),
    [
        (Parameter("", None, low=1), [None, 1, 7], [0, "x"]),
        (Parameter("", 1, low=1), [1, 7], [None, 0, 1.5]),
        (Parameter("", 0.5, above=0.0, below=1.0), [0.1, 0.9], [None, 0.0, 1.0]),
        (Parameter("", "auto", choices=("auto", "none"), low=2), ["auto", "none", 2], ["no", 1, None]),
        (Parameter("", "auto", choices=("auto", "none")), ["auto"], ["no", 1, None]),
        (Parameter("", default=True), [True, False], [1, None, "yes"]),
    ],
)
def test_a_value_outside_is_refused_by_name(known, good, bad):
    for value in good:
        known.check_value("n", value)
    for value in bad:
        with pytest.raises(InputError, match=r"\bn\b"):
            known.check_value("n", value)
