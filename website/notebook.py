"""A notebook as a page: its cells are run, and each shows what a notebook would show of its last value."""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import json
import pathlib
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "docs" / "first-look.ipynb"


class Cell(NamedTuple):
    """A cell after it was run: its source, what it printed, and its last value (None where it has none)."""

    is_code: bool
    source: str
    printed: str
    value: Any


def run_cells(path: pathlib.Path = NOTEBOOK) -> list[Cell]:
    """Return the cells of a notebook, run one after another in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            cells.append(Cell(False, source, "", None))
            continue
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(tree, str(path), "exec"), names)
            value = None if last is None else eval(compile(ast.Expression(last.value), str(path), "eval"), names)
        cells.append(Cell(True, source, printed.getvalue(), value))
    return cells


def shown(value: Any) -> str:
    """Return a value as a notebook shows it, in HTML."""
    if hasattr(value, "_repr_png_"):
        data = base64.b64encode(value._repr_png_()).decode()
        title = next((axes.get_title(loc="left") or axes.get_title() for axes in value.axes), "")
        return f'<img alt="{html.escape(title or "figure")}" src="data:image/png;base64,{data}">'
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    return ""


def notebook_pages() -> dict[str, str]:
    """Return the page of the notebook."""
    parts = []
    for cell in run_cells():
        if not cell.is_code:
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        drawn = shown(cell.value)
        if cell.printed or (cell.value is not None and not drawn):
            text = cell.printed + ("" if cell.value is None or drawn else repr(cell.value))
            parts.append(f"```text\n{text.rstrip()}\n```")
        if drawn:
            parts.append(f'```{{raw}} html\n<div class="notebook-output">{drawn}</div>\n```')
    return {"first-look.md": "\n\n".join(parts) + "\n"}
