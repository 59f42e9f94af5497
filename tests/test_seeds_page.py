"""The page of the systems of the source texts: 103 rows, whose commands exist and whose Python runs."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

from tests.test_docs import ROOT, unknown_options, verb_of

PAGE = (ROOT / "docs" / "reference" / "seeds.md").read_text(encoding="utf-8")
ROWS = {int(number): line for line, number in re.findall(r"^(\| (\d+) \| .*)$", PAGE, re.MULTILINE)}


def code_of(line):
    """What stands in the last cell of a row as code."""
    return re.findall(r"`([^`]+)`", line.rstrip(" |").rpartition(" | ")[2])


@pytest.fixture(scope="module")
def names():
    """What the block of the page defines."""
    defined = {}
    example = doctest.DocTestParser().get_doctest(PAGE, defined, "seeds.md", None, 0)
    assert doctest.DocTestRunner().run(example, clear_globs=False).failed == 0
    return example.globs


def test_every_row_has_a_command_or_says_why_there_is_none():
    assert sorted(ROWS) == list(range(1, 104))
    without = {number for number, line in ROWS.items() if not code_of(line)}
    assert without == {57, 58, 97}  # two have that of the row above, one is no system
    assert ROWS[57].endswith("the same command |")
    assert ROWS[97].endswith("no system |")


def test_every_typed_command_is_a_verb_with_these_options():
    typed = [code for line in ROWS.values() for code in code_of(line) if code.startswith("doccluster ")]
    assert len(typed) > 25
    for command in typed:
        assert verb_of(command.split()[1:]) is not None, command
        assert unknown_options(f"{command}\n")[0] == []


def test_every_expression_runs_and_gives_something(names):
    for number, line in ROWS.items():
        for code in code_of(line):
            if code.startswith("doccluster ") or code == "plots.document_map":
                continue
            value = eval(code, names)
            assert value is not None, number
            if isinstance(value, float | int | np.number):
                assert np.isfinite(value), (number, code)


def test_printed_values_of_the_page_s_points_come_out(names):
    """Figure 16.4: NMI .36, Rand .68, F5 .46."""
    for number, value in {2: 0.36, 3: 0.68, 4: 0.46}.items():
        assert eval(code_of(ROWS[number])[0], names) == pytest.approx(value, abs=0.005)


def test_the_paper_cites_what_the_bibliography_has_and_its_figures_are_those_of_the_evidence():
    paper = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{(\w+)", (ROOT / "docs/reference/references.bib").read_text("utf-8"), re.MULTILINE))
    cited = set(re.findall(r"@(\w+)", paper))
    assert len(cited) >= 8
    assert cited <= known
    evidence = (ROOT / "docs/evidence/reproduction.md").read_text(encoding="utf-8")
    n_numbers, n_right = re.search(r"of (\d+) numbers and claims (\d+) come out", paper).groups()
    assert f"Of {n_numbers} printed numbers and claims of five sources {n_right} come out" in evidence
