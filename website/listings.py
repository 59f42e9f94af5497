"""What machines read of the site: llms.txt for language models, sitemap.xml for search engines."""

from __future__ import annotations

import html
import pathlib
import re
from xml.sax.saxutils import escape

KINDS = (
    ("Learn", ("tutorial", "gallery/", "how-to/coming-from")),
    ("Do", ("how-to/",)),
    ("Understand", ("explanation/",)),
    ("Look up", ("reference/",)),
    ("Evidence", ("evidence/",)),
)
SKIPPED = ("genindex", "search", "py-modindex", "_static", "_modules", "newsroom-report", "gallery/sg_execution_times")

DOWNLOAD = "Go to the end"  # how Sphinx-Gallery begins a page

title = re.compile(r"<h1>(.*?)<a ", re.DOTALL)
paragraph = re.compile(r"<p>(.*?)</p>", re.DOTALL)


def write_listings(output: pathlib.Path, address: str) -> None:
    """Write llms.txt and sitemap.xml for the pages in the folder `output`, which will be found at `address`."""
    pages = [path.relative_to(output).as_posix() for path in sorted(output.rglob("*.html"))]
    pages = [page for page in pages if not page.startswith(SKIPPED)]
    (output / "llms.txt").write_text(llms_text(output, pages), encoding="utf-8", newline="\n")
    (output / "sitemap.xml").write_text(site_map(pages, address), encoding="utf-8", newline="\n")


def llms_text(output: pathlib.Path, pages: list[str]) -> str:
    """Return the list of pages by kind, each with its first sentence (the form of llmstxt.org)."""
    lines = [
        "# doccluster",
        "",
        "> Cluster text documents, and say how good the clustering is: sparse, exact, in bounded memory. A Python "
        "package and a command line; nothing leaves the machine.",
        "",
    ]
    left = [page for page in pages if page != "index.html"]
    for kind, beginnings in KINDS:
        mine = [page for page in left if page.startswith(beginnings)]
        left = [page for page in left if page not in mine]
        lines += [f"## {kind}", "", *(_line(output, page) for page in mine), ""]
    return "\n".join([*lines, "## Optional", "", *(_line(output, page) for page in left), ""])


def _line(output: pathlib.Path, page: str) -> str:
    text = (output / page).read_text(encoding="utf-8")
    body = text.partition('<article class="bd-article"')[2] or text
    name = _plain(found[1]) if (found := title.search(body)) else page
    first = next((text for text in map(_plain, paragraph.findall(body)) if not text.startswith(DOWNLOAD)), "")
    sentence = re.split(r"(?<=[.?!]) ", first)[0]
    return f"- [{name}]({page})" + (f": {sentence}" if sentence and sentence != name else "")


def _plain(fragment: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", fragment)).split())


def site_map(pages: list[str], address: str) -> str:
    """Return the list of addresses in the form of sitemaps.org."""
    lines = [f"  <url><loc>{escape(address + page.removesuffix('index.html'))}</loc></url>" for page in pages]
    head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return head + "\n".join(lines) + "\n</urlset>\n"
