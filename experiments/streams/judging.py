"""What the stories of the rule are worth, in a dump and in a stream, beside the pass and the first-come rule.

``python -m experiments.streams evaluate`` prints one table for all labelled sets, their titles and 60 words of each.
"""

from __future__ import annotations

import pathlib
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from doccluster.stories import NewsArticles, find_stories
from doccluster.streams.settings import DAY
from experiments.streams.labelled import (
    LabelledStream,
    basil,
    ecb_plus,
    itn,
    news_feeds_may,
    newsroom,
    shortened,
    vietnamese,
)
from experiments.streams.passes import single_pass
from experiments.streams.replaying import Outcome, judge, replay

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
KEPT = RESULTS / "stories.csv"
FIRST_COME = 0.21  # the threshold of the first-come rule


def streams(folder: pathlib.Path) -> Iterator[LabelledStream]:
    """Yield the sets: the labelled ones whole and as feeds have them, and news_feeds_may."""
    whole = [newsroom(), basil(folder, among_noise=False), vietnamese(folder), itn(folder, "en"), ecb_plus(folder)]
    for stream in whole:
        yield stream
        if any(one.title for one in stream.articles):
            yield shortened(stream, 60)
            yield shortened(stream, 0)
    yield news_feeds_may(folder)
    yield shortened(basil(folder, among_noise=True), 60)


def dump(stream: LabelledStream) -> Outcome:
    """Return the stories of all articles at once, as `run` finds them."""
    articles = stream.articles
    begun = time.process_time()
    labels = find_stories(
        NewsArticles(
            [one.title for one in articles],
            [one.text for one in articles],
            [one.source for one in articles],
            np.array([one.time for one in articles], dtype=np.int64),
        ),
        n_threads=1,
    )
    seconds = 1000 * (time.process_time() - begun) / len(articles)
    story_of = {one.id: str(label) for one, label in zip(articles, labels.tolist(), strict=True)}
    return Outcome(story_of, dict(story_of), seconds=[seconds])


def ways(stream: LabelledStream) -> Iterator[tuple[str, Outcome]]:
    """Yield the stories of each way to find them."""
    yield "rule, dump", dump(stream)
    yield "rule, stream", replay(stream)
    if not stream.story_of:  # what an archive costs
        yield "rule, stream by days", replay(stream, batch=DAY)
    yield "pass .25", single_pass(stream, 0.25)
    yield "pass .20", single_pass(stream, 0.20)
    yield "first come", single_pass(stream, FIRST_COME, is_first_come=True)


def row_of(stream: LabelledStream, way: str, outcome: Outcome) -> dict[str, object]:
    """Return the scores of a way on a set as a line of the table."""
    row: dict[str, object] = {"set": stream.name, "way": way}
    if stream.story_of:
        row |= judge(outcome.story_of, stream)
        first = judge(outcome.early_story_of, stream)
        row |= {"first_bcubed_f": first["bcubed_f"], "first_pair_f": first["pair_f"]}
    sizes = Counter(outcome.story_of.values())
    row |= {"stories": len(sizes), "of several": sum(size > 1 for size in sizes.values())}
    row |= {"largest": max(sizes.values()), "changed": len(outcome.changed) / len(stream.articles)}
    return row | {"seconds": " ".join(f"{one:.2f}" for one in outcome.seconds)}


def evaluate_all(folder: pathlib.Path, *, keep: bool) -> None:
    """Print the scores of every way on every set; with `keep` write them to results/, set by set."""
    rows = []
    for stream in streams(folder):
        for way, outcome in ways(stream):
            rows.append(row_of(stream, way, outcome))
            print(_line(rows[-1]), flush=True)
        if keep:
            RESULTS.mkdir(exist_ok=True)
            pd.DataFrame(rows).to_csv(KEPT, index=False, float_format="%.4f")


def print_table() -> None:
    """Print the kept scores as the table of docs/explanation/stories.md: a line for each set that has labels."""
    rows = pd.read_csv(KEPT).dropna(subset=["bcubed_f"])
    columns = ("dump", "stream, last", "first", "changed", "pass .25", "pass .20", "first come")
    print(f"| set | {' | '.join(columns)} |\n" + "|---" * (len(columns) + 1) + "|")
    for name, lines in rows.groupby("set", sort=False):
        of_way = lines.set_index("way")
        whole, replayed = of_way.loc["rule, dump"], of_way.loc["rule, stream"]
        cells = [
            _pair(whole["bcubed_f"], whole["pair_f"]),
            _pair(replayed["bcubed_f"], replayed["pair_f"]),
            _pair(replayed["first_bcubed_f"], replayed["first_pair_f"]),
            f"{replayed['changed']:.1%}",
            *(_pair(*of_way.loc[way, ["bcubed_f", "pair_f"]]) for way in columns[4:]),
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def _pair(bcubed_f: float, pair_f: float) -> str:
    return f"{bcubed_f:.3f} / {pair_f:.3f}"


def _line(row: dict[str, object]) -> str:
    scores = ""
    if "bcubed_f" in row:
        scores = _pair(row["bcubed_f"], row["pair_f"])
        if row["way"] == "rule, stream":
            scores += f", first {_pair(row['first_bcubed_f'], row['first_pair_f'])}"
    return (
        f"| {row['set']} | {row['way']} | {scores} | {row['stories']:,} | {row['of several']:,} | {row['largest']} "
        f"| {row['changed']:.1%} | {row['seconds']} |"
    )
