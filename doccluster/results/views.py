"""Views of a run that its methods return: they print themselves, show in a notebook, and know nothing of the run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from doccluster.base.paths import write_page
from doccluster.base.plain_values import ShortRepr
from doccluster.base.text_table import latex_escaped, latex_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Prevalence(ShortRepr):
    """The share of each cluster in each group of documents.

    Attributes
    ----------
    by : str
        The column whose values are the groups, or "year", "month" or "day".
    group_sizes : mapping of group to the number of its documents
    table : DataFrame, one row for each cluster and group
        cluster, label, group, n (documents in both), share (of the group, 0 to 1), low and high (95 % interval by
        Wilson), bootstrap_low and bootstrap_high (95 %, over documents), lift (share divided by the share in all
        groups), p (two-sided, hypergeometric: does the group have more or fewer than the others), p_holm (corrected
        for the number of rows). Of a run in parts a document counts in each cluster by its share: n is a sum of
        shares, documents are drawn as wholes, and p is of 9,999 permutations of them.
    notes : tuple of str
        Which documents or groups were left out, and why.
    """

    by: str
    group_sizes: dict[str, int]
    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    def shares(self) -> pd.DataFrame:
        """Return the shares with a row for each cluster and a column for each group."""
        return self._grid("share")

    def _grid(self, column: str) -> pd.DataFrame:
        return self.table.pivot(index="cluster", columns="group", values=column)[list(self.group_sizes)]

    def to_pandas(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    def to_latex(self) -> str:
        """Return a LaTeX table (package booktabs) of the shares in percent; a star marks p_holm below 0.05."""
        groups = list(self.group_sizes)
        shares, p_values = (self._grid(column).to_numpy() for column in ("share", "p_holm"))
        labels = self.table["label"].iloc[:: len(groups)].tolist()
        rows = [
            [str(cluster), latex_escaped(label)]
            + [f"{100 * share:.1f}" + ("$^*$" if p < 0.05 else "") for share, p in zip(*cells, strict=True)]
            for cluster, (label, *cells) in enumerate(zip(labels, shares, p_values, strict=True))
        ]
        return latex_table(("cluster", "label", *groups), rows, alignment="rl" + "r" * len(groups))


@dataclass(frozen=True, repr=False)
class InlineReport:
    """The report of a run as a value: a notebook shows it inline, in a frame that can reach nothing around it.

    Attributes
    ----------
    page : str
        The whole page, as `write_report` writes it.
    height : int
        Of the frame, in pixels.
    """

    page: str
    height: int = 720

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file and return its path.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        return write_page(self.page, path, what="report")

    def __repr__(self) -> str:
        return f"InlineReport({len(self.page):,} characters)"

    def _repr_html_(self) -> str:
        # without allow-same-origin the page has no access to the notebook, whatever a document has put into it
        return (
            '<iframe title="doccluster report" sandbox="allow-scripts allow-popups allow-downloads" '
            f'srcdoc="{escape(self.page)}" style="width:100%;height:{self.height}px;border:1px solid #ccc"></iframe>'
        )
