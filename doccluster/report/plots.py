"""Figures for papers: what a run, a choice of k or a comparison looks like, drawn into axes of yours.

Each function returns the matplotlib figure; with ``ax`` it draws into that, with ``path`` it also writes a file (svg,
pdf or png).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from doccluster.errors import InputError
from doccluster.record import Run
from doccluster.report.canvas import Path
from doccluster.report.charts import heat_map, line_chart, silhouette_plot
from doccluster.report.map_plot import map_plot
from doccluster.report.quality import confusion as confusion_of

if TYPE_CHECKING:
    from doccluster.selection import Comparison, Recommendation

__all__ = ["agreement", "confusion", "document_map", "k_curve", "silhouettes"]


def silhouettes(run: Run, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw the cosine silhouette of each document, cluster by cluster (Rousseeuw 1987).

    Raises
    ------
    InputError
        If the run has no silhouette, as with one cluster.
    """
    score = next((one for one in run.evaluation.scores if one.name == "silhouette"), None)
    if score is None or score.per_document is None or np.isnan(score.per_document).all():
        raise InputError("the run has no silhouette", remedy="cluster into two or more, with silhouette among measures")
    return silhouette_plot(score.per_document, run.partition.labels, mean=score.value, ax=ax, path=path)


def confusion(run: Run, truth: str | None = None, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw how many documents of each class each cluster has; the largest 60 clusters and 24 classes.

    Parameters
    ----------
    truth : str, optional
        The column of classes; by default the first that the run was judged against.

    Raises
    ------
    InputError
        If there is no such column, or no document has exactly one class there.
    """
    columns = list(run.documents.labels)
    column = truth or next(iter(run.truth or columns), None)
    if column is None or column not in columns:
        have = f"the run has {', '.join(columns)}" if columns else "the run has no classes"
        raise InputError("names no column of classes", argument="truth", received=truth, remedy=have)
    table = confusion_of(run, column)
    if table is None:
        raise InputError(f"no document has exactly one class in {column!r}", argument="truth")
    return heat_map(
        [row.counts for row in table.rows],
        row_names=[f"{row.number} {row.label}" for row in table.rows],
        column_names=table.classes,
        x_label=table.column,
        scale_label="documents",
        digits=0,
        ax=ax,
        path=path,
    )


def document_map(run: Run, *, color_by: str = "cluster", ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw the documents in the plane (latent semantic analysis, then t-SNE), with labels at the central documents.

    Parameters
    ----------
    color_by : str
        "cluster", or a column of classes; documents with none or several classes are grey.

    Raises
    ------
    InputError
        If there is no such column, or there are fewer than four documents.
    """
    return map_plot(run, color_by=color_by, ax=ax, path=path)


def k_curve(choice: Recommendation | Any, *, ax: Axes | None = None, path: Path | None = None) -> Figure:
    """Draw how far topics and stories come back at each level, and the level that was chosen.

    Parameters
    ----------
    choice : Recommendation, or the Choice that `doccluster.choose_k` returns

    Raises
    ------
    InputError
        If there is no evidence, as with too few documents.
    """
    found = getattr(choice, "recommendation", choice)
    table = found.table
    if table.empty:
        raise InputError("there is no evidence to draw", remedy="give more documents")
    levels = table.pivot(index="resolution", columns="as", values="agreement")
    chosen = table.loc[table["chosen"] == found.granularity, "resolution"]
    return line_chart(
        levels.index,
        {str(name): levels[name] for name in levels},
        title="Which clusters come back",
        x_label="resolution: coarse to fine",
        y_label="agreement of random parts (adjusted Rand)",
        log_x=True,
        chosen=None if chosen.empty else float(chosen.iloc[0]),
        ax=ax,
        path=path,
    )


def agreement(
    comparison: Comparison, *, reference: str = "adjusted_rand", ax: Axes | None = None, path: Path | None = None
) -> Figure:
    """Draw how far each measure without truth ranks the runs of a corpus as an external one does (Spearman).

    Raises
    ------
    InputError
        If fewer than five different runs of a corpus have both measures.
    """
    found = comparison.agreement(reference=reference).dropna(subset="correlation")
    if found.empty:
        raise InputError("no measure has a correlation to draw", remedy="compare five or more runs of a corpus")
    table = found.pivot(index="measure", columns="corpus", values="correlation")
    return heat_map(
        table.to_numpy(dtype=float),
        row_names=[str(name) for name in table.index],
        column_names=[str(name) for name in table.columns],
        title=f"rank correlation with {reference.replace('_', ' ')}",
        value_range=(-1, 1),
        ax=ax,
        path=path,
    )
