"""The pages with console blocks show what their commands print."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.console_blocks import pattern_of, typed_in, wrong_in

PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "```console\n$" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page, tmp_path):
    assert wrong_in(page, tmp_path) == []


def test_the_tutorial_is_such_a_page():
    assert ROOT / "docs" / "tutorial.md" in PAGES


def test_other_lines_than_shown_are_seen():
    ((command, shown),) = typed_in("text\n```console\n$ doccluster x\na  ... c\n...\nd\n```\n")
    assert (command, shown) == ("doccluster x", ["a  ... c", "...", "d"])
    assert pattern_of(shown).fullmatch("a b c\nany\nlines\nd\n")
    assert pattern_of(shown).fullmatch("a b c\nd\n")
    assert not pattern_of(shown).fullmatch("a b c\nd\nmore\n")
    assert not pattern_of(shown).fullmatch("a b\nd\n")
