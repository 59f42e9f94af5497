"""The figure of the row `scaling`: seconds of an iteration against documents, clusters and entries, on log axes."""

from __future__ import annotations

import pathlib
from collections import defaultdict

from experiments.benchmarks.harness import ROOT

FIGURE = ROOT / "docs" / "evidence" / "performance-scaling.svg"
ITERATIONS = 10
Point = dict[str, float]


def points_of(results: list[dict[str, str]]) -> dict[tuple[str, int], Point]:
    """Return the figures of each matrix and number of clusters, the newest of each name."""
    points: dict[tuple[str, int], Point] = defaultdict(dict)
    for line in results:
        if line["row"] == "scaling" and line["contender"] != "harness":
            name, k = line["contender"].split(", k=")
            points[name, int(k)][line["figure"]] = float(line["value"])
    return dict(points)


def draw(points: dict[tuple[str, int], Point], path: pathlib.Path = FIGURE) -> pathlib.Path:
    """Draw three panels, one for each quantity that the cost grows with, and return the file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "doccluster"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
    names = sorted(
        {name for name, _ in points}, key=lambda name: next(p["entries"] for (n, _), p in points.items() if n == name)
    )
    ks = sorted({k for _, k in points})
    for panel, quantity in ((panels[0], "documents"), (panels[2], "entries")):
        for k in ks:
            made = sorted(
                (points[name, k][quantity], points[name, k]["seconds"]) for name in names if (name, k) in points
            )
            panel.plot(*zip(*made, strict=True), marker="o", label=f"k = {k}")
        panel.set(xscale="log", yscale="log", xlabel=f"{quantity} (log scale)")
        panel.legend(frameon=False)
    for name in names:
        made = [(k, points[name, k]["seconds"]) for k in ks if (name, k) in points]
        panels[1].plot(*zip(*made, strict=True), marker="o", label=name)
    panels[1].set(xscale="log", yscale="log", xlabel="clusters (log scale)")
    panels[1].set_xticks(ks, [str(k) for k in ks])
    panels[1].minorticks_off()
    panels[1].legend(frameon=False)
    panels[0].set_ylim(top=15 * max(point["seconds"] for point in points.values()))  # room for the legends
    panels[0].set_ylabel(f"seconds of {ITERATIONS} iterations (log scale)")
    for panel in panels:
        panel.grid(alpha=0.25)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path
