"""Search results on a page: groups on the left, their hits on the right; no script runs in it."""

from __future__ import annotations

import os
from pathlib import Path

from doccluster import __version__
from doccluster.report.page import page_part, page_templates, write_page
from doccluster.retrieval import GroupedHits
from doccluster.retrieval.hits import OTHER_LABEL


def write_search_page(found: GroupedHits, path: str | os.PathLike[str]) -> Path:
    """Write grouped search results as one self-contained page, and return its path.

    Raises InputError if the file cannot be written.
    """
    return write_page(render_search_page(found), path, what="page")


def render_search_page(found: GroupedHits) -> str:
    """Return the page that `write_search_page` writes."""
    groups = [(group.label, group.documents) for group in found.groups]
    if found.other:
        groups.append((OTHER_LABEL, found.other))
    copies = dict.fromkeys(found.copy_of.values(), 0)
    for first in found.copy_of.values():
        copies[first] += 1
    return (
        page_templates()
        .get_template("search.html")
        .render(
            query=found.query,
            hits=found.hits,
            groups=groups,
            n_groups=len(found.groups),
            copy_of=found.copy_of,
            copies=copies,
            bm25_places=found.bm25_places,
            style=page_part("report.css") + page_part("search.css"),
            version=__version__,
        )
    )
