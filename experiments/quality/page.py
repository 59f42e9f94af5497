"""docs/evidence/quality.md from the kept results: the tables and the picture between their marks."""

from __future__ import annotations

import math
import pathlib
import re
from typing import Any

import pandas as pd
from scipy import stats

from experiments.quality.algorithms import ALGORITHMS
from experiments.quality.corpora import CLUTO

TITLES = {
    "newsgroups": "20 Newsgroups",
    "reuters": "Reuters-21578, single topic",
    "stackoverflow": "StackOverflow titles",
    "itn": "ITN, English news",
}
PLAIN = "spherical k-means"
MEASURES = ["nmi", "adjusted_rand", "clusters", "seconds", "wall_seconds", "megabytes", "times_plain"]
PICTURE = "quality-cluto.svg"
HEAD = "NMI | adjusted Rand | clusters | seconds | times plain | on the clock | MB | seeds |"


def write_page(runs: pd.DataFrame, folder: pathlib.Path) -> None:
    """Print the tables, and write them and the picture into the page."""
    own = with_ratios(runs)
    page = folder / "quality.md"
    text = page.read_text(encoding="utf-8")
    for name, table in {"seven": seven_table(own), "others": others_table(own)}.items():
        print(table, end="\n\n")
        text = put_between(text, name, table)
    page.write_text(text, encoding="utf-8")
    draw(of_seven(own), folder / PICTURE)


def put_between(text: str, name: str, table: str) -> str:
    """Return the text with a table between the marks of this name."""
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
    return pattern.sub(lambda _: f"{marks[0]}\n{table}\n{marks[1]}", text)


def with_ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with their seconds of the processor over those of plain k-means on that corpus, in order."""
    plain = runs[runs["algorithm"] == PLAIN].groupby("corpus")["seconds"].mean()
    known = list(ALGORITHMS)
    place = runs["algorithm"].map({name: number for number, name in enumerate(known)})
    table = runs.assign(times_plain=runs["seconds"] / runs["corpus"].map(plain), place=place)
    return table.sort_values(["place", "seed"], kind="stable")


def of_seven(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the seven sets of each algorithm that has them all, and half of a 95 % interval.

    The mean over the sets is taken for each seed; the interval is Student's over the seeds, nan for one seed.
    """
    own = runs[runs["corpus"].isin(CLUTO) & runs["nmi"].notna()]
    counts = own.groupby(["algorithm", "seed"], sort=False)["corpus"].nunique()
    whole = own.set_index(["algorithm", "seed"]).loc[counts[counts == len(CLUTO)].index].reset_index()
    by_seed = whole.groupby(["algorithm", "seed"], sort=False)[MEASURES].mean().reset_index()
    return means(by_seed.groupby("algorithm", sort=False))


def means(grouped: Any) -> pd.DataFrame:
    """Return the means of groups of seeds, how many they are, and half of the interval of the two agreements."""
    table: pd.DataFrame = grouped[MEASURES].mean()
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
    lines = [f"| algorithm | {HEAD}", "|---" * 9 + "|"]
    lines += [f"| {name} | {cells(row)} |" for name, row in of_seven(runs).iterrows()]
    return "\n".join(lines)


def others_table(runs: pd.DataFrame) -> str:
    """Return the table of the other corpora, means over the seeds there are."""
    lines = [f"| corpus | algorithm | {HEAD}", "|---" * 10 + "|"]
    for corpus, title in TITLES.items():
        own = runs[runs["corpus"] == corpus]
        for name, row in means(own.groupby("algorithm", sort=False)).iterrows():
            lines.append(f"| {title} | {name} | {cells(row)} |")
    return "\n".join(lines)


def cells(row: pd.Series) -> str:
    """Return the cells of a line; a fit that was ended says after how many seconds."""
    if math.isnan(row["nmi"]):
        return f"not finished | | | over {row['seconds']:.0f} | | | | "
    return " | ".join(
        (
            with_interval(row["nmi"], row["nmi_half"]),
            with_interval(row["adjusted_rand"], row["adjusted_rand_half"]),
            f"{row['clusters']:.0f}",
            f"{row['seconds']:.1f}",
            f"{row['times_plain']:.1f}",
            f"{row['wall_seconds']:.0f}" if row["wall_seconds"] >= 10 else f"{row['wall_seconds']:.1f}",
            whole(row["megabytes"]),
            f"{row['seeds']:.0f}",
        )
    )


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
