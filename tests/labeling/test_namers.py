"""What a namer gets, and which answers can be names."""

from __future__ import annotations

import json

import pytest

from doccluster.labeling import NamingRequest
from doccluster.labeling.profiles import MAX_NAME_LETTERS, ClusterDescription, LabelTerm, Term, name_problem, plain_name


def described(n_terms):
    terms = tuple(Term(f"word{i}", i, 0.1, 2) for i in range(n_terms))
    candidates = (LabelTerm("rye", 0.5, 0.9), LabelTerm("rye bread", 0.4, 0.8))
    return ClusterDescription(3, 7, "rye, bread", terms, terms[::-1], label_terms=candidates)


def test_a_request_is_the_description_with_texts_and_the_names_around_it():
    request = NamingRequest.of(
        described(12), level="topic", titles=("Bake it longer",), parent="Food", siblings=("Tea",)
    )
    assert isinstance(request, ClusterDescription)
    assert (request.cluster, request.size, request.label) == (3, 7, "rye, bread")
    content = json.loads(json.dumps(request.content()))
    assert content["terms"] == [f"word{i}" for i in range(10)]
    assert content["apart"][0] == "word11"
    assert content["phrases"] == ["rye bread"]
    assert (content["titles"], content["excerpts"]) == (["Bake it longer"], [])
    assert (content["level"], content["parent"], content["siblings"]) == ("topic", "Food", ["Tea"])
    assert "label" not in content, "what a cluster is called now is no part of what is asked, or names would ask anew"


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Rye prices", "Rye prices"),
        ("  Rye prices.\n", "Rye prices"),
        ('"Rye prices"', "Rye prices"),
        ("**“Rye prices.”**", "Rye prices"),
        ("`Rye`", "Rye"),
        ("U.S. attorneys.", "U.S. attorneys."),
        ("The baker's rye", "The baker's rye"),
        ('"Rye" and "wheat"', 'Rye" and "wheat'),
        ("Cafe\u0301", "Café"),
        ('"', ""),
        ("", ""),
    ],
)
def test_what_models_put_around_a_name_is_taken_off(answer, name):
    assert plain_name(answer) == name


@pytest.mark.parametrize(
    "name",
    ["Rye prices", "R&D in 2026", "C# and F#", "Größe: 5", "東京の地下鉄", "می\u200cخواهم", "x" * MAX_NAME_LETTERS],
)
def test_names_that_can_be_used(name):
    assert name_problem(name) == ""


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is empty"),
        ("Rye\nprices", "has more than one line"),
        ("Rye\u2028prices", "has more than one line"),
        ("Rye \x1b[2Jprices", "has control characters"),
        ("Rye \u202eprices", "has control characters"),
        ("Rye\u200bprices", "has control characters"),
        ("x" * (MAX_NAME_LETTERS + 1), "has more than 60 characters"),
        ("<script>alert(1)</script>", "has markup or an address"),
        ("Rye &#60;b", "has markup or an address"),
        ("Rye &lt;b", "has markup or an address"),
        ("# Rye", "has markup or an address"),
        ("Rye *prices*", "has markup or an address"),
        ("[Rye](x)", "has markup or an address"),
        ("{{ rye }}", "has markup or an address"),
        ("Buy at https://rye.example", "has markup or an address"),
        ("Buy at www.rye.example", "has markup or an address"),
        ("2026", "has no letters"),
        ("FOOD", "is the name of another cluster"),
        ("tea", "is the name of another cluster"),
    ],
)
def test_names_that_cannot_be_used_say_why(name, problem):
    assert name_problem(name, ["Food", "Tea", "Coffee"]) == problem
