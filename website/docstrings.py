"""Docstrings are written to be read as plain text: |x| is a length there, and n_clusters_ an attribute, not markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

literal = re.compile(r"(``.*?``|`[^`]*`_{0,2}|:\w+:`[^`]*`|\.\. \w+::.*)")
markup = re.compile(r"\||(?<=\w)_(?![\w`])")
RESERVED = frozenset({"fit", "predict", "transform", "score", "partial_fit", "inverse_transform"})


def escape_markup(lines: Iterable[str]) -> list[str]:
    """Return the lines with bars and closing underscores escaped, but for examples and literal text.

    >>> escape_markup(["The length |s|, see `labels_`; n_clusters_ rows.", ">>> a | b", "", "a | b"])
    ['The length \\\\|s\\\\|, see `labels_`; n_clusters\\\\_ rows.', '>>> a | b', '', 'a \\\\| b']
    """
    changed, in_example = [], False
    for line in lines:
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if in_example:
            changed.append(line)
            continue
        parts = literal.split(line)
        parts[::2] = [markup.sub(lambda found: "\\" + found[0], part) for part in parts[::2]]
        changed.append("".join(parts))
    return changed


def read_docstring(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring in place, after numpydoc has made them."""
    lines[:] = escape_markup(lines)


def skip_member(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn adds to every estimator for the routing of metadata."""
    routed = re.fullmatch(rf"set_({'|'.join(sorted(RESERVED))})_request|get_metadata_routing", name)
    return True if routed else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both for all docstrings."""
    app.connect("autodoc-process-docstring", read_docstring, priority=600)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
