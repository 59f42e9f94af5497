"""Run -> plain data -> one self-contained page; and figures for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

# loaded when used: how dates and numbers are worded needs no templates, and a report no matplotlib
_HOMES = {
    "InlineReport": "doccluster.results.views",
    "plots": "doccluster.report.plots",
    "write_report": "doccluster.report.html",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.report import plots as plots
    from doccluster.report.html import write_report as write_report
    from doccluster.results.views import InlineReport as InlineReport
