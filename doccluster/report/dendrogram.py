"""How the clusters of a run join into their sections (or topics), and these with one another."""

from __future__ import annotations

import numpy as np

from doccluster.base.text_table import shortened
from doccluster.clustering.nesting import joins_of, products_of_sums
from doccluster.report.svg import CATEGORIES, MARGIN, MAX_NAME_LETTERS, TEXT_SIZE, Floats, SvgFigure, drawn_width
from doccluster.results.record import Run
from doccluster.results.tree import TreeLevel

MAX_LEAVES = 48  # that one screen holds
ROW_HEIGHT = 14.0


def leaves_of(run: Run) -> TreeLevel | None:
    """Return the clusters of the run, or those of the finest level above that one screen holds; None without any."""
    levels = run.levels[len(run.around.coarser) :: -1]
    return next((level for level in levels if 1 < level.n_clusters <= MAX_LEAVES), None)


def joins_on(run: Run, level: TreeLevel) -> Floats:
    """Return the joins of the clusters of a level, first inside what they are part of on the coarsest level.

    As `scipy.cluster.hierarchy` takes them; heights are what the criterion I2 of the tf-idf rows loses.
    """
    groups = level.parents_on(run.levels[0]) if run.around.coarser else np.zeros(level.n_clusters, dtype=np.int64)
    return joins_of(products_of_sums(run.vectors.documents.unit, level.labels, level.n_clusters), groups)


def dendrogram_of(run: Run, level: TreeLevel) -> SvgFigure:
    """Return the figure: names on the left, joins to the right of them, branches inside a section in its colour."""
    from scipy.cluster import hierarchy

    k, joins = level.n_clusters, joins_on(run, level)
    names = [shortened(cluster.label, MAX_NAME_LETTERS) for cluster in level.clusters]
    figure = SvgFigure(height=2 * MARGIN + ROW_HEIGHT * k)
    left = 3 * MARGIN + max(map(drawn_width, names))
    right_of = (figure.width - MARGIN - left) / max(float(joins[-1, 2]), np.finfo(float).tiny)
    x, y = np.full(2 * k - 1, left), np.empty(2 * k - 1)
    y[hierarchy.leaves_list(joins)] = MARGIN + ROW_HEIGHT * (np.arange(k) + 0.5)
    for leaf, name in enumerate(names):
        figure.write(left - MARGIN, y[leaf] + 0.36 * TEXT_SIZE, name, anchor="end")
    sections = level.parents_on(run.levels[0]).tolist() if run.around.coarser else [0] * k
    sections += [-1] * (k - 1)  # of joins: -1 where they join several
    for node, (first, second, height, _) in enumerate(joins.tolist(), k):
        a, b = int(first), int(second)
        x[node], y[node] = left + height * right_of, (y[a] + y[b]) / 2
        sections[node] = sections[a] if sections[a] == sections[b] else -1
        # the last of the colours is a grey, as that of joins of several sections
        colour = "muted" if sections[node] < 0 else CATEGORIES[sections[node] % (len(CATEGORIES) - 1)]
        path = f"M{x[a]:.1f} {y[a]:.1f}H{x[node]:.1f}V{y[b]:.1f}H{x[b]:.1f}"
        figure.draw(path, stroke=colour, width=1.2)
    return figure
