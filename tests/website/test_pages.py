"""The pages of the site that are made from the registry and the commands, before Sphinx reads them."""

from __future__ import annotations

import re

import click
import pytest

from doccluster.cli.main import COMMANDS, commands
from doccluster.measures import list_measures
from tests.conftest import ROOT
from website.command_pages import command_pages
from website.formulas import formula_lines
from website.gather import NO_PAGES, site_text
from website.questions import WITH_CLASSES, WITHOUT_CLASSES


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        ("P = TP / (TP + FP)", r"P = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}}"),
        ("(1/n) sum_ij n_ij^2 / n_i", r"\frac{1}{n} \sum_{ij} \frac{n_{ij}^{2}}{n_{i}}"),
        ("I(C,T) / sqrt(H(C) H(T))", r"\frac{I\left(C , T\right)}{\sqrt{H\left(C\right) H\left(T\right)}}"),
        ("sum_i (n_i/n) H(T|C_i)", r"\sum_{i} \frac{n_{i}}{n} H\left(T \mid C_{i}\right)"),
        ("sum_k sum_{x in C_k} x.c_k", r"\sum_{k} \sum_{x \in C_{k}} x \cdot c_{k}"),
        ("((n - k)/(k - 1)) tr S_B / tr S_W",
         r"\frac{n - k}{k - 1} \frac{\operatorname{tr} S_{B}}{\operatorname{tr} S_{W}}"),
        ("(W/n)^2 - |x - mu_k|^2", r"\left(\frac{W}{n}\right)^{2} - \left|x - \mu_{k}\right|^{2}"),
        ("min_{j != own} |x - mu_j|", r"\min_{j \ne \mathrm{own}} \left|x - \mu_{j}\right|"),
        ("(s+ - s-)/(s+ + s-)", r"\frac{s^{+} - s^{-}}{s^{+} + s^{-}}"),
    ],
)  # fmt: skip
def test_a_formula_is_typeset_as_a_person_would_write_it(formula, latex):
    assert [[(run.is_words, run.text) for run in line] for line in formula_lines(formula)] == [[(False, latex)]]


def test_words_of_a_formula_stay_words():
    lines = formula_lines("S = max over one-to-one maps of sum_j n_ij (a class without a cluster adds 0); the mean")
    assert [run.text for run in lines[0] if run.is_words] == [
        "max over one-to-one maps of", "(a class without a cluster adds", ")",
    ]  # fmt: skip
    assert [run.text for run in lines[1]] == ["the mean"]


def test_the_formula_of_every_measure_keeps_its_words_and_closes_what_it_opens():
    for record in list_measures():
        for run in (run for line in formula_lines(record.formula) for run in line):
            if run.is_words:
                assert not re.search(r"[\\{}^]", run.text), record.name
            else:
                assert run.text.count("{") == run.text.count("}"), record.name
                assert run.text.count(r"\left") == run.text.count(r"\right"), record.name
                named = set(re.findall(r"\\mathrm\{([a-z]{4,})\}", run.text))
                assert named <= {"average", "match", "same", "cumsum"}, record.name  # and no word of English


def test_the_table_of_questions_names_measures_that_exist_and_leaves_out_no_family():
    asked = {name for question in (*WITH_CLASSES, *WITHOUT_CLASSES) for name in question.measures}
    records = {record.name: record for record in list_measures()}
    assert asked <= set(records)
    assert {records[name].family for name in asked} == {"external", "internal", "intrinsic", "topic"}


def test_every_option_of_every_verb_is_declared_on_its_page():
    pages = command_pages()
    context = click.Context(commands, info_name="doccluster")
    for verb in COMMANDS:
        page = pages[f"reference/cli/{verb}.md"]
        parts = page.split("```{program} doccluster ")
        for name, command in _leaves(verb, commands.get_command(context, verb)):
            part = next(part for part in parts if part.startswith(f"{name}\n"))
            declared = " ".join(re.findall(r"^:::\{option\} (.*)$", part, re.MULTILINE)).replace(",", " ").split()
            options = {name for one in command.params if isinstance(one, click.Option) for name in one.opts}
            assert options <= set(declared)
            assert not re.search(r"^\| `-", part, re.MULTILINE)  # no option is left as a line of a table


def _leaves(name, command):
    yield name, command
    if isinstance(command, click.Group):
        for sub in command.commands:
            yield from _leaves(f"{name} {sub}", command.commands[sub])


def test_links_of_a_page_lead_to_the_pages_of_the_site(tmp_path):
    page = ROOT / "docs" / "how-to" / "choose-k.md"
    text = "[a](../reference/measures.md#nmi) [b](../reference/cli.md#choose-k) [c](../../CONTRIBUTING.md) [d](#here)"
    assert site_text(text, page, tmp_path) == (
        "[a](../reference/measures/nmi.md) [b](../reference/cli/choose-k.md) [c](../project/CONTRIBUTING.md) [d](#here)"
    )


def test_every_page_of_the_docs_has_its_place_in_a_table_of_contents():
    contents = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "website" / "pages").rglob("*.md"))
    pages = set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs" / name for name in NO_PAGES}
    for path in sorted(pages):
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix().removeprefix("reference/")
        assert re.search(rf"^(.*<)?{re.escape(name)}>?$", contents, re.MULTILINE), f"{name} is in no table of contents"


def test_code_of_another_tool_and_ours_stand_side_by_side_without_the_last_empty_line(tmp_path):
    text = (
        "<!-- there: R -->\n```r\nx\n```\n<!-- here: doccluster -->\n```python\n>>> 1 + 1\n2\n\n```\n<!-- end -->\n"
        "\n```\nplain\n```\n"
    )
    shown = site_text(text, ROOT / "docs" / "how-to" / "coming-from-r.md", tmp_path)
    assert shown == (
        "::::{grid} 1 1 2 2\n:::{grid-item}\n**R**\n```r\nx\n```\n:::\n:::{grid-item}\n**doccluster**\n"
        "```pycon\n>>> 1 + 1\n2\n```\n:::\n::::\n\n```\nplain\n```\n"
    )
