"""What the README shows is what the commands print, and what it links to is there."""

from __future__ import annotations

import re

from click.testing import CliRunner

from doccluster.cli.main import commands
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_demo_prints_what_the_readme_shows(tmp_path, monkeypatch):
    command, *shown = README.split("<!-- demo output")[1].split("```")[1].strip("\n").split("\n")
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(commands, command.removeprefix("$ doccluster ").split(), catch_exceptions=False).output

    def words(line):  # without times, and without the widths of columns
        return re.sub(r"─+", "─", re.sub(r"\d+\.\d s$", "s", " ".join(line.split())))

    lines = [words(line) for line in printed.split("\n")]
    missing = [line for line in map(words, shown) if line != "..." and line not in lines]
    assert missing == []


def test_the_makefile_makes_the_demo_of_the_readme():
    recipe = re.search(r"^demo:.*\n\t(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    shown = re.search(r"^\$ (doccluster .*)$", README, re.MULTILINE)[1]
    assert recipe.removeprefix("$(BIN)/").removesuffix(" --output demo") == shown


def test_the_readme_shows_on_an_index_what_it_shows_here():
    """An index has no files beside the README: every link and picture has a whole address, of a file that exists."""
    inline = re.findall(r"\]\(([^)\s]+)\)", README)
    defined = dict(re.findall(r"^\[(\w+)\]: (\S+)$", README, re.MULTILINE))
    used = {name.lower() for name in re.findall(r"\[(\w+)\](?![(:\[])", README.split("\n[promises]:")[0])}
    assert used == set(defined)
    assert len(defined) > 10
    for address in (*inline, *defined.values()):
        assert address.startswith("https://")
        path = re.sub(
            r"^https://(github.com|raw.githubusercontent.com)/doccluster/doccluster/(blob/)?main/", "", address
        )
        assert path == "https://doccluster.github.io/doccluster/" or (ROOT / path).is_file(), address


def test_every_link_leads_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
