"""What a report may hold beyond what it always holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReportOptions:
    """What goes into a report.

    Attributes
    ----------
    with_map : bool or None
        Whether it has the map of documents; None: where there are at most 50,000 of them.
    with_texts : bool
        Whether it holds the whole text of each document, to be read in the page.
    """

    with_map: bool | None = None
    with_texts: bool = False
