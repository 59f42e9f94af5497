"""Formulas as MathML, made while the site is built: no script, and one font, which comes with the site."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.display import progress_message
from sphinx.writers.html5 import HTML5Translator

FONT = "stix-two-math.woff"
CHARACTERS = {*map(chr, range(0x20, 0x7F)), *"∑∈≤≥≠∩−·…√′∣|‖⁡×"} | {chr(one) for one in range(0x391, 0x3CA)}
ITALIC = {chr(one) for one in range(0x1D434, 0x1D468)} | {"ℎ"} | {chr(one) for one in range(0x1D6E2, 0x1D71C)}


def inline_math(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula inside a line."""
    _write(writer, node.astext(), as_block=False)


def math_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    _write(writer, node.astext(), as_block=True)


def _write(writer: HTML5Translator, formula: str, *, as_block: bool) -> None:
    display = formula.startswith(r"\displaystyle ")
    mathml = tex2mathml(formula.removeprefix(r"\displaystyle "), as_block=as_block)
    if display:
        mathml = mathml.replace("<math ", '<math displaystyle="true" ', 1)
    writer.body.append(
        f'<div class="math" tabindex="0" role="group" aria-label="formula">{mathml}</div>' if as_block else mathml
    )
    raise nodes.SkipNode


def write_font(app: Sphinx, error: Exception | None) -> None:
    """Write the characters that formulas use of STIX Two Math (SIL Open Font License), which comes with ziamath."""
    if error is not None or app.builder.format != "html":
        return
    found = importlib.util.find_spec("ziamath")
    if found is None or found.origin is None:
        raise ExtensionError(
            "ziamath, with the font of formulas, is not installed; `make site` installs the group docs"
        )
    source = pathlib.Path(found.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    with progress_message("writing the font of formulas"):
        options = subset.Options(flavor="woff", layout_features=["*"], notdef_outline=True)
        font = subset.load_font(str(source), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(sorted(CHARACTERS | ITALIC)))
        subsetter.subset(font)
        target = pathlib.Path(app.outdir) / "_static" / FONT
        subset.save_font(font, str(target), options)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (inline_math, None), (math_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
