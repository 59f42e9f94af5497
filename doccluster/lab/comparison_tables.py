"""A table of a comparison as it stands in a paper: LaTeX or Markdown, with the best values in bold."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from doccluster.base.text_table import in_one_line, latex_escaped, latex_table

if TYPE_CHECKING:
    import pandas as pd

UNITS = {"seconds": "s"}
STAR = "*"
P_VALUES = ("p", "p_holm", "p_nemenyi", "friedman_p")
TITLES = {"p_holm": "p (Holm)", "p_nemenyi": "p (Nemenyi)", "friedman_p": "p (Friedman)"}
OF_NAMES = ("corpus", "measure", "first", "second")  # columns of names, which come first


@dataclass(frozen=True)
class PaperTable:
    """Cells as plain text, the first `n_names` columns of which are names; places (row, column) in bold, and a note."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_names: int
    bold: Container[tuple[int, int]] = ()
    note: str = ""

    def latex(self) -> str:
        """Return the table in LaTeX (package booktabs), the note as a comment."""
        cells = [
            [_in_latex(cell, is_bold=(row, column) in self.bold) for column, cell in enumerate(line)]
            for row, line in enumerate(self.rows)
        ]
        alignment = "l" * self.n_names + "r" * (len(self.columns) - self.n_names)
        return latex_table(self.columns, cells, alignment=alignment) + (f"% {self.note}\n" if self.note else "")

    def markdown(self) -> str:
        """Return the table in Markdown, the note below it."""
        rule = ["---"] * self.n_names + ["---:"] * (len(self.columns) - self.n_names)
        lines = [[_in_markdown(name) for name in self.columns], rule]
        for row, line in enumerate(self.rows):
            cells = [_in_markdown(cell) for cell in line]
            lines.append([f"**{cell}**" if (row, column) in self.bold else cell for column, cell in enumerate(cells)])
        text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        return f"{text}\n{self.note}\n" if self.note else text


def table_of(
    frame: pd.DataFrame, best: pd.DataFrame | None = None, note: str = "", names_kept: Sequence[str] = ()
) -> PaperTable:
    """Return a frame as a table: numbers with three decimals, bold where `best` is true, undefined as a hyphen."""
    names = list(map(str, frame.columns))
    titles = [name if name in names_kept else TITLES.get(name, name.replace("_", " ")) for name in names]
    rows = [
        [_cell(value, is_p=name in P_VALUES) for name, value in zip(names, line, strict=True)]
        for line in frame.itertuples(index=False)
    ]
    flags = {} if best is None else {str(name): column for name, column in best.items()}
    bold = {(row, names.index(name)) for name, column in flags.items() for row in np.flatnonzero(column).tolist()}
    return PaperTable(titles, rows, sum(map(OF_NAMES.count, names)), bold, note)


def _cell(value: object, *, is_p: bool) -> str:
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return "<0.001" if is_p and value < 0.0005 else f"{value:.3f}"
    return str(value)


def _in_latex(text: str, *, is_bold: bool) -> str:
    escaped = latex_escaped(text).replace("±", r"$\pm$").replace("<", "$<$").replace(STAR, "$^{*}$")
    signed = re.sub(r"^-(?=\d)", "$-$", escaped)
    return rf"\textbf{{{signed}}}" if is_bold else signed


def _in_markdown(text: str) -> str:
    return re.sub(r"([\\|*_<`\[])", r"\\\1", in_one_line(text))


def title_of(measure: str) -> str:
    """Return the name of a measure in tables and figures, with its unit.

    >>> title_of("seconds"), title_of("adjusted_rand"), title_of("coherence:largest")
    ('seconds (s)', 'adjusted rand', 'coherence (largest)')
    """
    name, _, clusters = measure.replace("_", " ").partition(":")
    unit = clusters or UNITS.get(measure)
    return f"{name} ({unit})" if unit else name


def mean_and_interval(mean: float, low: float, high: float) -> str:
    """Return a mean with its interval: with plus and minus, or both ends where the range of the measure cuts one off.

    >>> mean_and_interval(0.9, 0.85, 0.95), mean_and_interval(0.98, 0.9, 1.0)
    ('0.900 ± 0.050', '0.980 [0.900, 1.000]')
    """
    if math.isnan(mean):
        return "-"
    if math.isnan(low):
        return f"{mean:.3f}"
    if math.isclose(high - mean, mean - low, rel_tol=1e-6, abs_tol=1e-12):
        return f"{mean:.3f} ± {high - mean:.3f}"
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"
