"""Pages at the addresses that pages of the site once had: each leads to the same place of the page that has it now."""

from __future__ import annotations

import pathlib
import posixpath

MOVED = {  # from a page that was, to the one that has its sections now
    "explanation/compiled-code": "evidence/compiled-code",
    "explanation/dependencies": "evidence/dependencies",
    "explanation/performance": "evidence/performance",
    "explanation/performance-clustering": "evidence/performance",
    "explanation/performance-other": "evidence/performance",
    "explanation/quality": "evidence/quality",
    "explanation/reproduction": "evidence/reproduction",
    "explanation/retrieval": "evidence/retrieval",
}
# a browser that runs no script leads to the top of the page
LEADING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>
<meta name="robots" content="noindex"><link rel="canonical" href="{target}">
<script>location.replace("{target}" + location.hash);</script>
<noscript><meta http-equiv="refresh" content="0; url={target}"></noscript></head>
<body><p>This page is now <a href="{target}">{target}</a>.</p></body></html>
"""


def write_moved(output: pathlib.Path) -> None:
    """Write a page that leads on at each address that a page once had; what is in the way raises FileExistsError."""
    for old, new in MOVED.items():
        path = output / f"{old}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        target = posixpath.relpath(f"{new}.html", posixpath.dirname(old))
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(LEADING.format(target=target))
