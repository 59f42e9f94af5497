"""What the pages say of the repository itself: every path, link and module that they name exists."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import click

from doccluster.cli.main import commands
from tests.plain_words import stumbles

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "corpora").rglob("README.md")])
NAMES_FILES_SHORTLY = (
    "CONTRIBUTING.md",
    "docs/explanation/architecture.md",
    "docs/evidence/compiled-code.md",
    "docs/explanation/numerics.md",
)

quoted_path = re.compile(r"`((?:doccluster|tests|docs|corpora|experiments)/[^`\s]*)`")
quoted_module = re.compile(r"`((?!tests|experiments)(?:[\w-]+/)*[\w-]+\.py)`")
python_block = re.compile(r"^```py(?:thon|con)?$.*?^```$", re.MULTILINE | re.DOTALL)
link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
run_module = re.compile(r"python\s-m\s((?:doccluster|experiments|tests)[\w.]*)")


def missing_on(page):
    """The paths, links and modules that a page names and that do not exist."""
    text = page.read_text(encoding="utf-8")
    named = [path for path in quoted_path.findall(text) if "SOURCE" not in path]
    missing = [path for path in named if not any(ROOT.glob(path.rstrip("/")))]
    missing += [
        target for target in link.findall(text) if "://" not in target and not (page.parent / target).resolve().exists()
    ]
    return missing + [name for name in run_module.findall(text) if not can_be_run(name.rstrip("."))]


def can_be_run(module):
    """Whether `python -m` finds the module; a package needs a `__main__`."""
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{module}.__main__")
    return spec is not None


def test_every_path_link_and_module_of_a_page_exists():
    assert len(PAGES) > 40
    missing = {page.relative_to(ROOT).as_posix(): missing_on(page) for page in PAGES}
    assert {page: names for page, names in missing.items() if names} == {}


def test_a_program_that_is_gone_is_missing_and_so_is_a_package_without_a_main():
    assert can_be_run("experiments")
    assert can_be_run("experiments.quality.run")
    assert not can_be_run("experiments.quality")
    assert not can_be_run("experiments.gone")


def test_every_page_of_evidence_begins_with_what_its_tables_say():
    for page in (ROOT / "docs" / "evidence").glob("*.md"):
        title, summary, *_ = page.read_text(encoding="utf-8").split("\n\n")
        assert title.startswith("# "), page
        sentences = re.findall(r"[.:?](?=\s|$)", summary)
        assert 3 <= len(sentences) <= 9, (page.name, len(sentences))


def test_every_source_file_named_in_short_is_one_file():
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "doccluster").rglob("*.py")]
    for page in NAMES_FILES_SHORTLY:
        named = set(quoted_module.findall((ROOT / page).read_text(encoding="utf-8")))
        found = {name: [path for path in files if f"/{path}".endswith(f"/{name}")] for name in named}
        assert {name: paths for name, paths in found.items() if len(paths) != 1} == {}, page


def test_every_python_block_runs_or_says_why_it_cannot():
    blocks, silent = 0, []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for block in python_block.finditer(text):
            blocks += 1
            line_above = text[: block.start()].rstrip("\n").rpartition("\n")[2]
            if ">>> " not in block[0] and "not run: " not in line_above:
                silent.append((page.name, text.count("\n", 0, block.start()) + 1))
    assert silent == []
    assert blocks > 70


def test_the_changelog_of_a_version_stays_short() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = [part.splitlines() for part in text.split("\n## ")[1:]]
    assert versions
    assert {lines[0]: len(lines) for lines in versions if len(lines) > 90} == {}
    groups = {line for lines in versions for line in lines if line.startswith("### ")}
    assert groups <= {f"### {name}" for name in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}


def verb_of(words):
    """The command that the first words call; None where they call none."""
    verb = commands
    for word in words:
        if not isinstance(verb, click.Group):
            break
        verb = verb.get_command(click.Context(verb), word)
    return None if isinstance(verb, click.Group) else verb


def unknown_options(text):
    """The options on typed lines of a text that their verb does not have, and the number of lines looked at."""
    unknown, n_lines = [], 0
    for line in re.findall(r"doccluster ([a-z][^\n`<]*)", re.sub(r"\\\n\s*", " ", text)):
        words = re.split(r"\s(?:#|&&|\||>)", line)[0].split()
        verb = verb_of(words)
        if verb is not None:
            n_lines += 1
            known = {name for one in verb.params for name in (*one.opts, *one.secondary_opts)} | {"-h", "--help"}
            unknown += [(line, word) for word in words if re.fullmatch(r"--[a-z-]+|-[a-z]", word) and word not in known]
    return unknown, n_lines


def test_every_option_of_a_typed_command_is_one_of_its_verb():
    found = {page: unknown_options(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {page: unknown for page, (unknown, _) in found.items() if unknown} == {}
    assert sum(n_lines for _, n_lines in found.values()) > 100
    assert unknown_options("doccluster run x --n-init 3\ndoccluster stream poll x --follow") == (
        [("run x --n-init 3", "--n-init")],
        2,
    )


def test_the_list_of_phrases_finds_what_readers_stumbled_over(tmp_path):
    (tmp_path / "PAGE.md").write_text(
        "Nothing here.\nKeep at most so many terms.\nThere is no text.\n", encoding="utf-8"
    )
    assert [(str(path), line, phrase) for path, line, phrase, _ in stumbles(tmp_path)] == [("PAGE.md", 2, "so many ")]
