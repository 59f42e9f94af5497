"""Run -> plain data -> one self-contained page; every figure of the package is drawn here."""

from doccluster.report.html import render_report, write_report

__all__ = ["render_report", "write_report"]
