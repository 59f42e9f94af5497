"""What the pages say of the repository itself: every path, link and module that they name exists."""

from __future__ import annotations

import importlib.util
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "corpora").rglob("README.md")])
NAMES_FILES_SHORTLY = (
    "CONTRIBUTING.md",
    "docs/explanation/architecture.md",
    "docs/explanation/compiled-code.md",
    "docs/explanation/numerics.md",
)

quoted_path = re.compile(r"`((?:doccluster|tests|docs|corpora|experiments)/[^`\s]*)`")
quoted_module = re.compile(r"`((?!tests|experiments)(?:[\w-]+/)*[\w-]+\.py)`")
link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
run_module = re.compile(r"python -m ((?:doccluster|experiments|tests)[\w.]*)")


def missing_on(page):
    """The paths, links and modules that a page names and that do not exist."""
    text = page.read_text(encoding="utf-8")
    named = [path for path in quoted_path.findall(text) if "SOURCE" not in path]
    missing = [path for path in named if not any(ROOT.glob(path.rstrip("/")))]
    missing += [
        target for target in link.findall(text) if "://" not in target and not (page.parent / target).resolve().exists()
    ]
    return missing + [name for name in run_module.findall(text) if importlib.util.find_spec(name.rstrip(".")) is None]


def test_every_path_link_and_module_of_a_page_exists():
    assert len(PAGES) > 40
    missing = {page.relative_to(ROOT).as_posix(): missing_on(page) for page in PAGES}
    assert {page: names for page, names in missing.items() if names} == {}


def test_every_source_file_named_in_short_is_one_file():
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "doccluster").rglob("*.py")]
    for page in NAMES_FILES_SHORTLY:
        named = set(quoted_module.findall((ROOT / page).read_text(encoding="utf-8")))
        found = {name: [path for path in files if f"/{path}".endswith(f"/{name}")] for name in named}
        assert {name: paths for name, paths in found.items() if len(paths) != 1} == {}, page


def test_the_changelog_of_a_version_stays_short() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = [part.splitlines() for part in text.split("\n## ")[1:]]
    assert versions
    assert {lines[0]: len(lines) for lines in versions if len(lines) > 60} == {}
    groups = {line for lines in versions for line in lines if line.startswith("### ")}
    assert groups <= {f"### {name}" for name in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}
