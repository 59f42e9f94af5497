"""Write the folder, feed and outline forms of the newsroom sample from articles.jsonl, the one form that is edited.

Run from anywhere: ``python corpora/samples/newsroom/build.py``. The same input gives the same bytes.
"""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).resolve().parent

# The folder form carries the small troubles of real dumps; the texts stay the same.
ENCODINGS = {"eco-005": "cp1252", "cul-004": "utf-16", "tec-003": "utf-8-sig", "sci-006": "utf-16-be-bom"}
MESS = {
    "economy/unsent-draft.txt": b"",
    "science/blank-lines.txt": b"\n\n   \n\t\n",
    "sport/scoreboard.txt": bytes(range(256)) * 4,
}
FEEDS = {
    "Port Ellery Courier": ("port-ellery-courier.xml", "rss2"),
    "Northgate Wire": ("northgate-wire.atom", "atom"),
    "Tessen Valley Record": ("tessen-valley-record.rdf", "rss1"),
    "Coastline Today": ("coastline-today.xml", "rss2"),
}


def read_articles(path: Path = HERE / "articles.jsonl") -> list[dict[str, str]]:
    """Return the articles in the order of the file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_folder(articles: list[dict[str, str]], folder: Path) -> None:
    """Write one text file per article below its topic: the title, an empty line, the text; and the messy files."""
    for article in articles:
        path = folder / article["topic"] / f"{article['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(f"{article['title']}\n\n{article['text']}\n", ENCODINGS.get(article["id"], "utf-8")))
    for name, content in MESS.items():
        (folder / name).write_bytes(content)


def encode(text: str, encoding: str) -> bytes:
    """Return the bytes of `text`; every utf-16 form is written with its mark."""
    if encoding == "utf-16-be-bom":
        return b"\xfe\xff" + text.encode("utf-16-be")
    if encoding == "utf-16":
        return b"\xff\xfe" + text.encode("utf-16-le")
    return text.encode(encoding)


def write_feeds(articles: list[dict[str, str]], folder: Path) -> None:
    """Write one feed per source in its own format, newest first, and an outline that lists the feeds."""
    folder.mkdir(parents=True, exist_ok=True)
    for source, (name, kind) in FEEDS.items():
        own = sorted((a for a in articles if a["source"] == source), key=lambda a: (a["date"], a["id"]), reverse=True)
        (folder / name).write_text({"rss2": rss2, "rss1": rss1, "atom": atom}[kind](source, own), encoding="utf-8")
    outlines = "\n".join(
        f'    <outline type="rss" text={quoteattr(source)} xmlUrl={quoteattr(name)}/>'
        for source, (name, _) in FEEDS.items()
    )
    (folder / "feeds.opml").write_text(
        f'<?xml version="1.0" encoding="utf-8"?>\n<opml version="2.0">\n  <head><title>Newsroom sample</title></head>\n'
        f"  <body>\n{outlines}\n  </body>\n</opml>\n",
        encoding="utf-8",
    )


def html(article: dict[str, str]) -> str:
    """Return the text as the paragraphs of HTML that feeds carry, escaped for XML."""
    return escape("".join(f"<p>{escape(part)}</p>" for part in article["text"].split("\n\n")))


def rss2(source: str, articles: list[dict[str, str]]) -> str:
    """Return an RSS 2.0 feed."""
    items = "\n".join(
        f"    <item>\n      <title>{escape(a['title'])}</title>\n      <link>{escape(a['link'])}</link>\n"
        f'      <guid isPermaLink="false">{a["id"]}</guid>\n'
        f"      <pubDate>{format_datetime(datetime.fromisoformat(a['date']))}</pubDate>\n"
        f"      <category>{a['topic']}</category>\n      <description>{html(a)}</description>\n    </item>"
        for a in articles
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0">\n'
        f"  <channel>\n    <title>{escape(source)}</title>\n"
        f"    <link>https://example.org/</link>\n    <description>A sample feed</description>\n{items}\n"
        "  </channel>\n</rss>\n"
    )


def rss1(source: str, articles: list[dict[str, str]]) -> str:
    """Return an RSS 1.0 (RDF) feed."""
    listed = "\n".join(f"        <rdf:li rdf:resource={quoteattr(a['link'])}/>" for a in articles)
    items = "\n".join(
        f"  <item rdf:about={quoteattr(a['link'])}>\n    <title>{escape(a['title'])}</title>\n"
        f"    <link>{escape(a['link'])}</link>\n    <dc:identifier>{a['id']}</dc:identifier>\n"
        f"    <dc:date>{a['date']}</dc:date>\n    <dc:subject>{a['topic']}</dc:subject>\n"
        f"    <description>{html(a)}</description>\n  </item>"
        for a in articles
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"\n'
        '    xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'  <channel rdf:about="https://example.org/">\n    <title>{escape(source)}</title>\n'
        "    <link>https://example.org/</link>\n    <description>A sample feed</description>\n"
        f"    <items>\n      <rdf:Seq>\n{listed}\n      </rdf:Seq>\n    </items>\n  </channel>\n{items}\n</rdf:RDF>\n"
    )


def atom(source: str, articles: list[dict[str, str]]) -> str:
    """Return an Atom 1.0 feed."""
    entries = "\n".join(
        f"  <entry>\n    <title>{escape(a['title'])}</title>\n    <link href={quoteattr(a['link'])}/>\n"
        f'    <id>{a["id"]}</id>\n    <updated>{a["date"]}</updated>\n    <category term="{a["topic"]}"/>\n'
        f'    <content type="html">{html(a)}</content>\n  </entry>'
        for a in articles
    )
    newest = articles[0]["date"]
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"  <title>{escape(source)}</title>\n  <id>https://example.org/{FEEDS[source][0]}</id>\n"
        f"  <updated>{newest}</updated>\n{entries}\n</feed>\n"
    )


def build(target: Path = HERE) -> None:
    """Write the derived forms below `target`."""
    articles = read_articles()
    for name in ("folder", "feeds"):
        shutil.rmtree(target / name, ignore_errors=True)
    write_folder(articles, target / "folder")
    write_feeds(articles, target / "feeds")


if __name__ == "__main__":
    build()
