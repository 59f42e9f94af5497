"""What every page is made with: templates that escape all text, and one way to write a page to a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from doccluster.errors import InputError
from doccluster.file_names import usable_path
from doccluster.markup import visible
from doccluster.report.wording import counted, decimal, safe_link


@cache
def page_templates() -> Environment:
    """Return the templates of pages; what they put in is escaped, and undefined names are errors."""
    environment = Environment(
        loader=PackageLoader("doccluster.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(decimal=decimal, counted=counted, safe_link=safe_link)
    return environment


def _finalize(value: Any) -> Any:
    """Return the text of a value for the page, without control characters."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def page_part(name: str) -> Markup:
    """Return a style sheet or script of the package, which needs no escaping."""
    return Markup((files("doccluster.report") / "templates" / name).read_text(encoding="utf-8"))


def page_style(*names: str) -> Markup:
    """Return style sheets of the package as one."""
    return Markup("\n").join(page_part(f"{name}.css") for name in names)


def page_script(names: Sequence[str]) -> Markup:
    """Return scripts of the package as one, which leaves no name behind in the page."""
    parts = "\n".join(page_part(f"scripts/{name}.js") for name in names)
    return Markup(f'(() => {{\n"use strict";\n{parts}}})();\n')


def write_page(page: str, path: str | os.PathLike[str], *, what: str) -> Path:
    """Write a page and return its path; `what` names it in the error.

    Raises InputError if the file cannot be written.
    """
    target = usable_path(path)
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"the {what} cannot be written to {target}: {reason}", remedy="name a file in a folder that exists"
        ) from error
    return target
