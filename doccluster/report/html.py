"""Plain data -> one page: a file that asks nothing of the network, and in which no document can run anything."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from doccluster import __version__
from doccluster.errors import InputError
from doccluster.record import Run
from doccluster.report.figures import figures_of
from doccluster.report.summary import summarize
from doccluster.report.wording import counted, decimal, visible


def write_report(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the report of a run as one self-contained page, and return its path; the same run gives the same bytes.

    Parameters
    ----------
    run : Run
        Just made, or read by `load_run`.
    path : str or path
        The file to write; an existing one is replaced.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    page = render_report(run)
    target = Path(path)
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"the report cannot be written to {target}: {reason}", remedy="name a file in a folder that exists"
        ) from error
    return target


def render_report(run: Run) -> str:
    """Return the page that `write_report` writes."""
    summary = summarize(run)
    return (
        _environment()
        .get_template("report.html")
        .render(
            summary=summary,
            figures=figures_of(run, summary),
            style=_part("report.css"),
            script=_part("report.js"),
            version=__version__,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("doccluster.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(decimal=decimal, counted=counted)
    return environment


def _finalize(value: Any) -> Any:
    """Return what is put into the page for a value: whatever it comes from, no character that acts unseen."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _part(name: str) -> Markup:
    # our own files, so they need no escaping
    return Markup((files("doccluster.report") / "templates" / name).read_text(encoding="utf-8"))
