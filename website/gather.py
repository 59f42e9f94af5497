"""Gather what Sphinx reads in one folder: the Markdown of docs/, the pages of the site, and the generated ones.

The files of docs/ stay as they are, readable on a code host; what a site needs in other words is changed on the way:
links to files outside docs/ lead to copies, those to a measure or a verb to its own page.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
from collections.abc import Callable

from doccluster.cli.main import COMMANDS
from website.api_pages import api_pages
from website.command_pages import command_pages
from website.measure_pages import measure_pages
from website.notebook import NOTEBOOK, notebook_pages
from website.sample import sample_pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
REPLACED = ("reference/measures.md", "reference/cli.md")  # the site has a page for each measure and each verb
NO_PAGES = ("paper.md",)  # for a journal
PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md")
GENERATED: tuple[Callable[[], dict[str, str]], ...] = (
    *(measure_pages, command_pages, api_pages, sample_pages, notebook_pages),
)

link = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)?(#[^)\s]*)?\)")


def gather(sources: pathlib.Path) -> None:
    """Write all sources of the site to the folder `sources`, which is made anew."""
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir(parents=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        target = path.relative_to(ROOT / "docs")
        if path.is_dir() or path == NOTEBOOK or target.as_posix() in (*REPLACED, *NO_PAGES):
            continue
        if path.suffix == ".md":
            write(sources / target, site_text(path.read_text(encoding="utf-8"), path, sources))
        else:
            copy(path, sources / target)
    for name in PROJECT:
        write(sources / "project" / name, site_text((ROOT / name).read_text(encoding="utf-8"), ROOT / name, sources))
    for path in sorted((HERE / "pages").rglob("*.md")):
        copy(path, sources / path.relative_to(HERE / "pages"))
    for pages in GENERATED:
        for name, text in pages().items():
            write(sources / name, text)
    copy(HERE / "conf.py", sources / "conf.py")
    shutil.copytree(HERE / "static", sources / "_static")
    shutil.copytree(HERE / "gallery", sources / "gallery-scripts", ignore=shutil.ignore_patterns("__pycache__"))
    # a script is run in its own folder; this makes the paths of samples those of a reader at the root of a checkout
    shutil.copytree(ROOT / "corpora" / "samples", sources / "gallery-scripts" / "corpora" / "samples")


def site_text(text: str, page: pathlib.Path, sources: pathlib.Path) -> str:
    """Return the text of a page of the repository as the site shows it."""
    text = side_by_side(text)
    # doctest wants an empty line at the end of an example, a reader does not
    text = re.sub(r"(^```python\n>>>(?:(?!```).*\n)*?)\n```$", r"\1```", text, flags=re.MULTILINE)
    text = text.replace("```python\n>>>", "```pycon\n>>>")
    text = re.sub(r"^```$\n(\$ )?doccluster ", r"```sh\n\1doccluster ", text, flags=re.MULTILINE)
    return link.sub(lambda found: _site_link(found, page, sources), text)


def side_by_side(text: str) -> str:
    """Return the text with the code of another tool and ours in two columns where comments mark them."""
    text = re.sub(r"^<!-- there: (.*) -->$", r"::::{grid} 1 1 2 2\n:::{grid-item}\n**\1**", text, flags=re.MULTILINE)
    text = re.sub(r"^<!-- here: (.*) -->$", r":::\n:::{grid-item}\n**\1**", text, flags=re.MULTILINE)
    return re.sub(r"^<!-- end -->$", ":::\n::::", text, flags=re.MULTILINE)


def _site_link(found: re.Match[str], page: pathlib.Path, sources: pathlib.Path) -> str:
    opening, target, anchor = found[1], found[2], found[3] or ""
    if target is None or "://" in target:
        return found[0]
    path = (page.parent / target).resolve()
    docs = ROOT / "docs"
    place = path.relative_to(docs) if path.is_relative_to(docs) else pathlib.Path("project") / path.relative_to(ROOT)
    if place.as_posix() == "reference/measures.md" and anchor:
        place, anchor = pathlib.Path("reference/measures") / f"{anchor[1:]}.md", ""
    elif place.as_posix() == "reference/cli.md" and anchor:
        verb = next(verb for verb in COMMANDS if f"{anchor[1:]}-".startswith(f"{verb}-"))
        place, anchor = pathlib.Path("reference/cli") / f"{verb}.md", ""
    elif not path.is_relative_to(docs) and path.is_file() and path.name not in PROJECT:
        copy(path, sources / place)
    home = page.relative_to(docs) if page.is_relative_to(docs) else pathlib.Path("project") / page.relative_to(ROOT)
    return f"{opening}{pathlib.PurePath(os.path.relpath(place, home.parent)).as_posix()}{anchor})"


def write(path: pathlib.Path, text: str) -> None:
    """Write a text file and the folders it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def copy(path: pathlib.Path, target: pathlib.Path) -> None:
    """Copy a file and make the folders it goes to."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
