"""The page of `browse --serve`: clusters with a box to choose each, or the documents of one; no script runs in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from doccluster import __version__
from doccluster.report.page import page_part, page_templates

# nothing is loaded, and forms go back to where the page came from
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"


class ShownCluster(Protocol):
    """What a page says of a cluster."""

    @property
    def number(self) -> int:
        """From 1."""

    @property
    def size(self) -> int:
        """The number of documents."""

    @property
    def label(self) -> str:
        """Its words; empty without words."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Of central documents."""


def render_browse_page(
    cards: Sequence[ShownCluster],
    path: str,
    token: str,
    *,
    message: str = "",
    number: int = 0,
    first: int = 1,
    listed: Sequence[str] | None = None,
    following: int = 0,
) -> str:
    """Return the page of some clusters, or with `listed` that of the documents of one.

    Parameters
    ----------
    cards : sequence of clusters
    path : str
        What was done so far, in words.
    token : str
        What proves that a request comes from this page.
    message : str
        What went wrong with the last request.
    number, first, following : int
        The cluster whose documents are listed, the place of the first of them, and of the next one that is not shown (0
        if all are).
    listed : sequence of str, optional
        The names of documents.
    """
    return (
        page_templates()
        .get_template("browse.html")
        .render(
            cards=cards,
            n_documents=sum(card.size for card in cards),
            path=path,
            token=token,
            message=message,
            number=number,
            first=first,
            listed=listed,
            following=following,
            policy=POLICY,
            style=page_part("report.css"),
            version=__version__,
        )
    )
