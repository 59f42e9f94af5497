"""What is known of a parameter: its range in words, and the values that it takes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

import pytest

from doccluster.base.parameter_fields import Parameter, called_with, parameter, part_of, with_section
from doccluster.errors import InputError


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


@dataclass(frozen=True)
class Asked:
    n_words: int = parameter(3, "How many words.", low=1)


@pytest.mark.parametrize("sections", [[], ["Returns"], ["Returns", "Raises"]])
@pytest.mark.parametrize("has_own", [False, True])
def test_parameters_stand_in_their_section_before_all_others(sections, has_own):
    text = "Say what it does.\n"
    for name in ["Parameters"] * has_own + sections:
        text += f"\n{name}\n{'-' * len(name)}\nwords of {name}\n"
    lines = with_section(text, Asked).splitlines()
    named = [lines[place - 1] for place, line in enumerate(lines) if line and set(line) == {"-"}]
    assert named == ["Parameters", *sections]
    place = lines.index("n_words : int, default 3")
    assert lines.index("Parameters") < place < min([lines.index(one) for one in sections], default=len(lines))
    assert not has_own or lines.index("words of Parameters") < place


@dataclass(frozen=True, kw_only=True)
class Rig:
    n_masts: int = parameter(2, "How many masts.", low=1)


@dataclass(frozen=True, kw_only=True)
class Voyage(Rig):
    source: object = field(kw_only=False)
    n_days: int = 7


@called_with(Voyage)
def sail(source: object, arguments: Voyage) -> tuple[object, Voyage]:
    """Return what it got."""
    return source, arguments


def test_a_function_is_called_with_the_fields_of_a_dataclass():
    source, arguments = sail("ship", n_masts=3)
    assert (source, arguments.source, arguments.n_masts, arguments.n_days) == ("ship", "ship", 3, 7)
    assert sail(source="ship")[1].n_masts == 2
    assert str(inspect.signature(sail)).startswith("(source: 'object', *, n_masts: 'int' = 2, n_days: 'int' = 7) ->")
    assert part_of(arguments, Rig) == Rig(n_masts=3)
    with pytest.raises(TypeError, match="n_oars"):
        sail("ship", n_oars=2)
