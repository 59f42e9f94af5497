"""An error carries what it says as data, and its sentence is made of that."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from doccluster.clustering import SphericalKMeans
from doccluster.errors import (
    Argument,
    DocclusterWarning,
    InputError,
    MissingDependency,
    NothingUsable,
    listed_arguments,
    shown,
    worded,
)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"problem": "the file is empty"}, "the file is empty"),
        ({"problem": "the file is empty", "remedy": "write it again"}, "the file is empty; write it again."),
        ({"argument": "tol", "received": -1, "expected": "a number >= 0"}, "tol=-1 is not a number >= 0."),
        (
            {"problem": "is not a share", "argument": "tol", "received": -1, "expected": "a number >= 0"},
            "tol=-1 is not a share; give a number >= 0.",
        ),
        (
            {"problem": "has shape (3,)", "argument": "init", "expected": "shape (2,)", "remedy": "leave it out"},
            "init has shape (3,), expected shape (2,); leave it out.",
        ),
        ({"problem": "there is no x", "remedy": "did you mean y?"}, "there is no x; did you mean y?"),
        ({"argument": "sample", "received": None, "expected": "a number"}, "sample=None is not a number."),
    ],
)
def test_the_sentence_is_made_of_the_fields(fields, sentence):
    assert str(InputError(**fields)) == sentence


def test_an_error_of_the_library_carries_what_was_received_and_what_was_expected():
    with pytest.raises(InputError, match=r"^n_clusters=12 exceeds") as raised:
        SphericalKMeans(n_clusters=12).fit(np.eye(5))
    error = raised.value
    assert (error.argument, error.received) == ("n_clusters", 12)
    assert worded(error.remedy) == "choose n_clusters <= 5"
    with pytest.raises(InputError) as raised:
        SphericalKMeans(n_clusters=2, tol=-1.0).fit(np.eye(5))
    assert (raised.value.argument, raised.value.received, raised.value.problem) == ("tol", -1.0, "is out of range")
    assert worded(raised.value.remedy) == "give tol >= 0"


def test_spelling_changes_the_name_of_arguments_and_nothing_else():
    error = InputError(
        ("needs ", Argument("max_df", 3)), argument="min_df", received=2, remedy=("raise ", Argument("max_df"))
    )
    error.spell(lambda argument: argument.name.upper())
    assert str(error) == "MIN_DF needs MAX_DF; raise MAX_DF."
    assert (error.argument, error.received) == ("min_df", 2)


@pytest.mark.parametrize("kind", [InputError, NothingUsable, MissingDependency])
def test_errors_and_warnings_are_copied_as_they_are(kind):
    error = kind("is odd", argument="k", received=None, expected="an even number")
    again = copy.copy(error)
    assert str(again) == str(error) == "k=None is odd; give an even number."
    assert (again.argument, again.received, again.expected) == ("k", None, "an even number")
    bare = copy.copy(kind("is odd", argument="k"))
    assert str(bare) == "k is odd."
    again.spell(lambda argument: f"-{argument.name}")
    assert str(again) == "-k is odd; give an even number."
    warning = copy.copy(DocclusterWarning("give ", Argument("encoding")))
    assert str(warning) == "give encoding"


def test_a_long_value_is_cut_and_stays_on_one_line():
    assert len(shown("x" * 10_000)) < 100
    assert len(shown(np.zeros((100, 100)))) < 100
    assert "\n" not in shown(np.zeros((3, 3)))
    assert shown("short") == "'short'"


def test_listed_arguments_have_commas_between_them():
    assert worded(listed_arguments(["a"])) == "a"
    assert worded(listed_arguments(["a", "b", "c"]), lambda argument: f"--{argument.name}") == "--a, --b, --c"


LONG = "/shared/" + "n" * 65_000 + "/table.csv"


@pytest.mark.parametrize(
    "words",
    [
        {"problem": f"{LONG} does not exist", "remedy": "give another"},
        {"problem": f"its columns are {', '.join(f'column {number}' for number in range(9000))}", "remedy": "name one"},
        {"problem": ("no " * 9000, Argument("k")), "remedy": ("give ", Argument("k", LONG), " or another")},
    ],
)
def test_a_sentence_fits_on_a_screen_and_still_says_what_to_do(words):
    error = InputError(**words)
    for spelling in (str, lambda argument: f"--{argument.name} {LONG}"):
        error.spell(spelling)
        assert len(str(error)) <= 1_000
        assert str(error).endswith(("; give another.", "; name one.", " or another."))
    assert len(str(DocclusterWarning(*words["problem"]))) <= 1_000


def test_a_path_of_usual_length_is_whole():
    path = "/".join(["folder"] * 60)
    assert path in str(InputError(f"{path} does not exist"))
