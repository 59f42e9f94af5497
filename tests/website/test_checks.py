"""What is checked of built pages, and the lists that are made of them, on pages made for that."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from website.checks import broken_links, remote_parts
from website.listings import llms_text, site_map
from website.moved import MOVED, write_moved


def test_links_to_missing_files_and_places_are_reported(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#here">b</a><a href="#top?cluster=3">c</a><a href="https://example.org">x</a>'
    )
    (tmp_path / "b.html").write_text(
        '<p id="here">B</p><a href="a.html#gone">a</a><img src="no.png"><a href="c.html">c</a>'
    )
    assert list(broken_links(tmp_path)) == [
        "b.html: a.html#gone leads to no place of that page",
        "b.html: c.html leads to no file",
        "b.html: no.png leads to no file",
    ]


def test_what_a_browser_would_fetch_from_elsewhere_is_reported_and_plain_links_are_not(tmp_path):
    (tmp_path / "a.html").write_text(
        '<script src="https://cdn.example/x.js"></script><link rel="stylesheet" href="//cdn.example/x.css">'
        '<link rel="canonical" href="https://example.org/"><a href="https://example.org">x</a><img src="_static/a.png">'
    )
    (tmp_path / "s.css").write_text(
        "/* url(https://no.example/a) */ @font-face { src: url('https://fonts.example/f.woff'); }"
    )
    assert sorted(remote_parts(tmp_path)) == [
        "a.html loads //cdn.example/x.css",
        "a.html loads https://cdn.example/x.js",
        "s.css loads https://fonts.example/f.woff",
    ]


def test_the_list_for_language_models_says_the_first_sentence_of_each_page_by_kind(tmp_path):
    pages = {
        "how-to/cite.html": "<h1>Cite<a href='#c'>#</a></h1><p>Print what to cite: as BibTeX. More follows.</p>",
        "gallery/01.html": "<h1>Map<a href='#m'>#</a></h1><p><a>Go to the end</a> to download.</p><p>Look at it.</p>",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    listed = llms_text(tmp_path, sorted(pages))
    assert "## Learn\n\n- [Map](gallery/01.html): Look at it.\n" in listed
    assert "## Do\n\n- [Cite](how-to/cite.html): Print what to cite: as BibTeX.\n" in listed


def test_the_map_of_the_site_has_whole_addresses():
    listed = site_map(["index.html", "a&b.html"], "https://example.org/site/")
    assert "<loc>https://example.org/site/</loc>" in listed
    assert "<loc>https://example.org/site/a&amp;b.html</loc>" in listed


def test_an_address_that_a_page_once_had_leads_to_where_it_is_now(tmp_path):
    for page in {*MOVED.values()}:
        assert (ROOT / "docs" / f"{page}.md").is_file()
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / f"{page}.html").write_text("<h1>A</h1>")
    write_moved(tmp_path)
    for page in MOVED:
        assert not (ROOT / "docs" / f"{page}.md").exists()
        assert (tmp_path / f"{page}.html").is_file()
    assert list(broken_links(tmp_path)) == []
    old = (tmp_path / "explanation" / "performance-other.html").read_text(encoding="utf-8")
    assert 'location.replace("../evidence/performance.html" + location.hash)' in old
    assert '<a href="../evidence/performance.html">' in old
    with pytest.raises(FileExistsError):  # a page of the site is never put over
        write_moved(tmp_path)
