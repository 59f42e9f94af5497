"""The site as it was built: what its search finds, and what a reader meets in a browser (`make check-site`)."""

from __future__ import annotations

import json
import os
import pathlib

import click
import pytest

from doccluster.cli.main import COMMANDS, commands
from doccluster.measures import list_measures
from tests.axe import axe_script, violations
from tests.conftest import ROOT
from website.public_names import public_names

if "DOCCLUSTER_SITE" not in os.environ:
    pytest.skip("the site is not built here (make check-site builds and tests it)", allow_module_level=True)

SITE = (ROOT / os.environ["DOCCLUSTER_SITE"]).resolve()
KINDS = (  # one page of each kind
    *("index.html", "learn.html", "tutorial.html", "how-to/cluster.html", "evidence/performance.html"),
    *("explanation/errata-of-the-papers.html", "reference/measures.html", "reference/measures/silhouette.html"),
    *("reference/cli/run.html", "reference/python.html", "reference/python/doccluster.SphericalKMeans.html"),
    *("gallery/index.html", "gallery/01_clusters_and_their_names.html", "search.html", "project/CHANGELOG.html"),
)


@pytest.fixture(scope="module")
def index():
    """What the search of the site looks things up in."""
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))


def pages_with(index, word):
    """Return the pages that a search for one word lists, as Sphinx stems and stores words."""
    stem = pytest.importorskip("snowballstemmer").stemmer("english").stemWord(word.lower())
    found = []
    for kind in ("terms", "titleterms"):
        places = index[kind].get(stem, [])
        found += [places] if isinstance(places, int) else places
    return {index["docnames"][place] for place in found}


def test_the_search_finds_every_measure_by_every_name_it_has(index):
    by_name = {record.name: record for record in list_measures()}
    for record in by_name.values():
        root = record
        while not root.is_counted:
            root = by_name[root.variant_of or root.alias_of]
        for name in (record.name, *record.also_called):
            assert f"reference/measures/{root.name}" in pages_with(index, name), name


def test_the_search_finds_every_option(index):
    declared = {(program, entry[4]) for program, entries in index["objects"].items() for entry in entries}
    context = click.Context(commands, info_name="doccluster")
    for verb in COMMANDS:
        for name, command in leaves(verb, commands.get_command(context, verb)):
            for option in (one for one in command.params if isinstance(one, click.Option)):
                for spelling in (*option.opts, *option.secondary_opts):
                    assert (f"doccluster-{name.replace(' ', '-')}", spelling) in declared


def leaves(name, command):
    yield name, command
    if isinstance(command, click.Group):
        for sub in command.commands:
            yield from leaves(f"{name} {sub}", command.commands[sub])


def test_every_public_name_has_a_page_that_the_search_knows(index):
    declared = {f"{module}.{entry[4]}" for module, entries in index["objects"].items() for entry in entries}
    for one in public_names():
        assert (SITE / "reference" / "python" / f"{one.path}.html").is_file()
        assert one.path in declared


def test_the_lists_for_machines_name_every_page():
    listed = (SITE / "sitemap.xml").read_text(encoding="utf-8")
    described = (SITE / "llms.txt").read_text(encoding="utf-8")
    for path in (*(ROOT / "docs").rglob("*.md"),):
        page = path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f"{page}</loc>" in listed
        assert f"]({page})" in described


@pytest.fixture
def visit(browser):
    """Return a function that opens a page of the site; `page.asked` is what it asked of other machines."""
    contexts = []

    def open_page(name, *, width=1400, dark=False, query=""):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(pathlib.Path(SITE / name).as_uri() + query)
        page.wait_for_load_state("load")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)], ids=["desk, light", "phone, dark"])
def test_a_page_of_each_kind_has_no_barrier_and_fits_its_window(visit, name, width, dark):
    script = axe_script()
    page = visit(name, width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page, script) == []
    assert [address for address in page.asked if not address.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("asked", "page_found"),
    [
        ("bcubed_f", "reference/measures/bcubed_f.html"),
        ("normalized_mutual_info_score", "reference/measures/nmi.html"),
        ("--fold-copies", "reference/cli/run.html"),
        ("SphericalKMeans", "reference/python/doccluster.SphericalKMeans.html"),
    ],
)
def test_a_reader_who_searches_finds_the_page(visit, asked, page_found):
    page = visit("search.html", query=f"?q={asked}")
    page.wait_for_selector("ul.search li a")
    links = [link.get_attribute("href").split("#")[0].split("?")[0] for link in page.locator("ul.search li a").all()]
    assert page_found in links[:5]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("explanation/quality.html#nested-levels", "evidence/quality.html#nested-levels"),
        ("explanation/performance-clustering.html", "evidence/performance.html"),
    ],
)
def test_an_address_that_a_page_once_had_leads_to_the_same_place_of_it(visit, old, new):
    page_name, _, place = old.partition("#")
    page = visit(page_name, query=f"#{place}" if place else "")
    page.wait_for_selector("article h1")
    assert page.url == (pathlib.Path(SITE) / new.partition("#")[0]).as_uri() + (f"#{place}" if place else "")
    assert not place or page.locator(f"#{place}").count() == 1


@pytest.mark.browser
def test_the_report_on_the_first_page_can_be_used_there(visit):
    page = visit("index.html")
    frame = page.frame_locator("iframe.live-report")
    frame.get_by_role("tab", name="Quality").click()
    assert frame.locator("#scores-title").is_visible()
