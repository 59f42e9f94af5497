"""Every public name has an example, and `make check` runs it."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from website.public_names import EXAMPLES, PACKAGES, public_names, read_examples


def test_every_public_name_has_an_example_that_uses_it():
    without = [one.path for one in public_names() if ">>> " not in one.example]
    assert without == [], "an example is missing: in the docstring, or in website/examples"
    for one in public_names():
        if one.name in read_examples(one.package)[1]:
            made_by = one.kind in ("class", "data")  # a result is shown by what returns it
            assert made_by or re.search(rf"\b{one.name}\b", one.example), one.path


def test_the_files_of_examples_are_of_public_names_and_are_run_by_make_check():
    names = {one.path for one in public_names()}
    for path in EXAMPLES.glob("*.md"):
        assert path.stem in PACKAGES
        assert {f"{path.stem}.{name}" for name in read_examples(path.stem)[1]} <= names
    rules = (ROOT / "Makefile").read_text(encoding="utf-8").split("\n\n")
    check, recipe = (next(rule for rule in rules if rule.startswith(name)) for name in ("check:", "doctests:"))
    assert "doctests" in check.split("\n")[-1]
    assert "--doctest-glob=*.md" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "website/examples" in recipe
