"""The changes between two partitions as a page without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from doccluster import __version__
from doccluster.report.page import page_part, page_templates
from doccluster.report.wording import one_line

MOST_ROWS = 2000


class ChangeRow(Protocol):
    """What a row of the page is made from."""

    @property
    def kind(self) -> str: ...
    @property
    def before(self) -> Sequence[str]: ...
    @property
    def after(self) -> Sequence[str]: ...
    @property
    def n_before(self) -> int: ...
    @property
    def n_after(self) -> int: ...
    @property
    def n_shared(self) -> int: ...
    @property
    def label_before(self) -> str: ...
    @property
    def label_after(self) -> str: ...


class Changes(Protocol):
    """What the page is made from."""

    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...
    @property
    def changes(self) -> Sequence[ChangeRow]: ...
    @property
    def n_before(self) -> int: ...
    @property
    def n_after(self) -> int: ...
    @property
    def n_common(self) -> int: ...
    @property
    def edited(self) -> Sequence[str]: ...

    def counts(self) -> Mapping[str, int]: ...


def render_changes(found: Changes) -> str:
    """Return the page as HTML."""
    told = [one for one in found.changes if one.kind != "stayed"]
    rows = [
        {
            "kind": one.kind,
            "label": one_line(one.label_after or one.label_before) or "+".join((*one.after, *one.before)),
            "before": one_line(one.label_before) if one.label_before != one.label_after and one.label_after else "",
            "n_before": one.n_before,
            "n_after": one.n_after,
            "n_shared": one.n_shared,
        }
        for one in told[:MOST_ROWS]
    ]
    template = page_templates().get_template("changes.html")
    return template.render(
        found=found,
        counts=found.counts(),
        rows=rows,
        n_more=len(told) - len(rows),
        style=page_part("report.css"),
        version=__version__,
    )
