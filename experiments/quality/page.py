"""docs/explanation/quality.md from the kept results: the tables and the picture between their marks."""

from __future__ import annotations

import math
import pathlib
import re

import pandas as pd
from scipy import stats

CLUTO = ("tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1")
TITLES = {
    "reuters": "Reuters-21578, single topic",
    "stackoverflow": "StackOverflow titles",
    "newsgroups": "20 Newsgroups",
}
MEASURES = ["nmi", "adjusted_rand", "seconds", "megabytes"]
PICTURE = "quality-cluto.svg"


def write_page(runs: pd.DataFrame, folder: pathlib.Path) -> None:
    """Print the tables, and write them and the picture into the page."""
    parts = {"seven": seven_table(runs), "others": others_table(runs)}
    page = folder / "quality.md"
    text = page.read_text(encoding="utf-8")
    for name, table in parts.items():
        print(table, end="\n\n")
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
        text = pattern.sub(lambda _, table=table, marks=marks: f"{marks[0]}\n{table}\n{marks[1]}", text)
    page.write_text(text, encoding="utf-8")
    draw(of_seven(runs), folder / PICTURE)


def of_seven(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the seven sets of each algorithm that has them all, and half of a 95 % interval.

    The mean over the sets is taken for each seed; the interval is Student's over the seeds, nan for one seed.
    """
    own = runs[runs["corpus"].isin(CLUTO)]
    counts = own.groupby(["algorithm", "seed"], sort=False)["corpus"].nunique()
    whole = own.set_index(["algorithm", "seed"]).loc[counts[counts == len(CLUTO)].index].reset_index()
    by_seed = whole.groupby(["algorithm", "seed"], sort=False)[MEASURES].mean().reset_index()
    grouped = by_seed.groupby("algorithm", sort=False)
    table = grouped[MEASURES].mean()
    table["seeds"] = grouped.size()
    for measure in ("nmi", "adjusted_rand"):
        spread = grouped[measure].std() / table["seeds"] ** 0.5
        table[f"{measure}_half"] = [
            float(stats.t.ppf(0.975, n - 1) * s) if n > 1 else math.nan
            for s, n in zip(spread, table["seeds"], strict=True)
        ]
    return table


def seven_table(runs: pd.DataFrame) -> str:
    """Return the table of the means over the seven CLUTO sets."""
    lines = ["| algorithm | NMI | adjusted Rand | seconds | MB | seeds |", "|---|---|---|---|---|---|"]
    for name, row in of_seven(runs).iterrows():
        cells = (
            with_interval(row["nmi"], row["nmi_half"]),
            with_interval(row["adjusted_rand"], row["adjusted_rand_half"]),
            f"{row['seconds']:.1f}",
            whole(row["megabytes"]),
            f"{row['seeds']:.0f}",
        )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def others_table(runs: pd.DataFrame) -> str:
    """Return the table of the other corpora, means over the seeds there are."""
    lines = ["| corpus | algorithm | NMI | adjusted Rand | seconds | MB | seeds |", "|---|---|---|---|---|---|---|"]
    for corpus, title in TITLES.items():
        own = runs[runs["corpus"] == corpus]
        grouped = own.groupby("algorithm", sort=False)
        for name, row in grouped[MEASURES].mean().iterrows():
            numbers = (
                f"{row['nmi']:.3f} | {row['adjusted_rand']:.3f} | {row['seconds']:.1f} | {whole(row['megabytes'])}"
            )
            lines.append(f"| {title} | {name} | {numbers} | {grouped.size()[name]} |")
    return "\n".join(lines)


def whole(value: float) -> str:
    """Return a whole number, nothing where it was not measured."""
    return "" if math.isnan(value) else f"{value:.0f}"


def with_interval(mean: float, half: float) -> str:
    """Return a mean and half of its interval, where there is one."""
    return f"{mean:.3f}" if math.isnan(half) else f"{mean:.3f} ± {half:.3f}"


def draw(table: pd.DataFrame, path: pathlib.Path) -> None:
    """Draw the agreement of each algorithm against its time."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "quality"
    from matplotlib import pyplot

    ordered = table.sort_values("nmi")
    figure, axes = pyplot.subplots(figsize=(8, 0.3 * len(ordered) + 1))
    ours = ["#888888" if "scikit-learn" in name else "#1f5f99" for name in ordered.index]
    axes.barh(range(len(ordered)), ordered["nmi"], xerr=ordered["nmi_half"].fillna(0), color=ours, ecolor="#333333")
    axes.set_yticks(range(len(ordered)), ordered.index)
    axes.set_xlabel("NMI with the classes, mean of seven CLUTO sets (grey: scikit-learn)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
