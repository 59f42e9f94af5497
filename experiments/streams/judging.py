"""The scores of the stream and of its peers on the second halves, as a table and as a page of the docs."""

from __future__ import annotations

import pathlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from doccluster.streams.settings import DAY
from experiments.news_stream import make_news_stream
from experiments.streams.labelled import LANGUAGES, ROOT, LabelledStream, basil, ecb_plus, itn, newsroom, shortened
from experiments.streams.lineage import KINDS, as_labelled, score_copies, score_events, tell, true_events
from experiments.streams.peers import (
    MOST_MEANS,
    RADII,
    REACHES,
    THRESHOLDS,
    dbstream,
    hdbscan,
    k_means,
    single_pass,
    text_clust,
    vectors_of,
    whole_run,
)
from experiments.streams.replaying import interval, judge, replay, second_at_once

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PAGE = ROOT / "docs" / "explanation" / "stories.md"
BEGIN, END = "<!-- scores: written by python -m experiments.streams evaluate --keep -->", "<!-- end of scores -->"
# DBSTREAM takes longest by far, then a whole run
WITH_DBSTREAM = ("BASIL", "ITN en", "newsroom sample")
WITH_RUN = (*WITH_DBSTREAM, "BASIL among noise")
MADE_SEEDS = (2, 3)
MADE_STORIES = 200
WANTED = {
    "BASIL": (0.95, 0.98),
    "BASIL among noise": (0.85, 0.92),
    "ITN en": (0.90, 0.94),
}
STREAM, PASS, TEXT_CLUST, DBSTREAM, MEANS, DENSITY, RUN = METHODS = (
    "the stream", "single pass", "TextClust", "DBSTREAM", "spherical k-means", "HDBSCAN", "run",
)  # fmt: skip


def evaluate_all(folder: pathlib.Path, *, keep: bool, own: bool = False) -> None:
    """Print the scores of every stream; with `keep` write them and the page.

    With `own` the peers, which do not depend on the stream, have the scores that were kept of them.
    """
    rows: list[dict[str, object]] = []
    kept = pd.read_csv(RESULTS / "scores.csv") if own else None
    for stream in streams(folder):
        outcome = [own_scores(stream)]
        if kept is None:
            outcome += peer_scores(stream)
        else:
            outcome += kept[kept.stream.eq(stream.name) & kept.method.ne(STREAM)].to_dict("records")
        for row in outcome:
            rows.append(row)
            told = {name: round(value, 3) for name, value in row.items() if isinstance(value, float)}
            print(f"  {row['stream']:18} {row['method']:28} {told}", flush=True)
    table = pd.DataFrame(rows)
    lineage = [line for seed in MADE_SEEDS for line in lineage_scores(seed)]
    means = table[table.method.eq(STREAM) & table.stream.str.startswith("ITN")][["pair_f", "bcubed_f"]].mean()
    print(f"  mean of {len(LANGUAGES)} languages: pair F {means.pair_f:.3f}, BCubed F {means.bcubed_f:.3f}")
    print(f"{_tables(table)}{_lineage_table(lineage)}", flush=True)
    if keep:
        RESULTS.mkdir(exist_ok=True)
        table.to_csv(RESULTS / "scores.csv", index=False, float_format="%.4f")
        pd.DataFrame(lineage).to_csv(RESULTS / "lineage.csv", index=False, float_format="%.4f")
        write_page(table, lineage)


def lineage_scores(seed: int) -> Iterator[dict[str, object]]:
    """Yield the scores of the told lineage of a made stream, kind by kind, and print them."""
    made = make_news_stream(MADE_STORIES, random_state=seed)
    stream = as_labelled(made, f"made {seed}")
    told = tell(stream)
    moved = sum(told.story_of[name] != told.first_story_of[name] for name in told.story_of) / len(told.story_of)
    precision, recall = score_copies(made, told.family_of)
    print(f"  made stream {seed}: {len(made.articles):,} articles, copies P {precision:.4f} R {recall:.4f}", flush=True)
    for score in score_events(true_events(made), told.events, {one.id: one.time for one in stream.articles}):
        line = {"seed": seed, **vars(score), "precision": score.precision, "recall": score.recall, "f": score.f}
        line |= {"copies_precision": precision, "copies_recall": recall, "moved": moved}
        print(
            f"    {score.kind:8} true {score.n_true:4}, told {score.n_told:4}, right {score.n_right:4}, F {score.f:.3f}"
        )
        yield line


def streams(folder: pathlib.Path) -> Iterator[LabelledStream]:
    """Yield the labelled streams."""
    yield basil(folder, among_noise=False)
    yield basil(folder, among_noise=True)
    for language in ("en", *(one for one in LANGUAGES if one != "en")):
        yield itn(folder, language)
    yield newsroom()
    for n_words in (40, 0):
        yield shortened(basil(folder, among_noise=False), n_words)
    yield ecb_plus(folder)


def own_scores(stream: LabelledStream) -> dict[str, object]:
    """Return the scores of the stream's clustering on the stories of the second half."""
    _, second = stream.halves()
    outcome = replay(stream)
    moved = [name for name in stream.story_of if outcome.story_of[name] != outcome.early_story_of[name]]
    row: dict[str, object] = {"stream": stream.name, "method": STREAM, **judge(outcome.story_of, stream, second)}
    for name in ("pair_f", "bcubed_f"):
        row[f"{name}_low"], row[f"{name}_high"] = interval(outcome.story_of, stream, second, name)
    row["long"] = share_in_long_stories(outcome.story_of, stream)
    row["moved"], row["second"] = len(moved) / len(stream.story_of), second_at_once(outcome, second)
    return row


def share_in_long_stories(found: Mapping[str, str], stream: LabelledStream) -> float:
    """Return the share of all articles that are in stories of more than 30 days."""
    times: dict[str, list[int]] = defaultdict(list)
    for one in stream.articles:
        times[found[one.id]].append(one.time)
    return sum(len(own) for own in times.values() if max(own) - min(own) > 30 * DAY) / len(stream.articles)


def peer_scores(stream: LabelledStream) -> Iterator[dict[str, object]]:
    """Yield the scores of the peers on the stories of the second half, each with what is best on the first."""
    first, second = stream.halves()
    vectors = vectors_of(stream)
    tried = {
        PASS: [single_pass(stream, vectors, threshold) for threshold in THRESHOLDS],
        TEXT_CLUST: [text_clust(stream, radius) for radius in RADII],
        DENSITY: [hdbscan(stream, vectors)],
    }
    means = k_means(stream, vectors)
    if means is None:
        print(f"  {stream.name}: the means of {MEANS} would take more than {MOST_MEANS >> 30} GiB", flush=True)
    else:
        tried[MEANS] = [means]
    if stream.name in WITH_DBSTREAM:
        tried[DBSTREAM] = [dbstream(stream, vectors, reach) for reach in REACHES]
    if stream.name in WITH_RUN:
        tried[RUN] = [whole_run(stream)]
    for method, partitions in tried.items():
        best = max(partitions, key=lambda found: judge(found, stream, first)["pair_f"])
        yield {"stream": stream.name, "method": method, **judge(best, stream, second)}


def write_page(table: pd.DataFrame, lineage: Sequence[Mapping[str, Any]]) -> None:
    """Put the tables into the page, between their marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{_tables(table)}{_lineage_table(lineage)}\n{END}{after}", encoding="utf-8")


def _tables(table: pd.DataFrame) -> str:
    names = (
        *("stream", "scored", "pair P", "pair R", "pair F (95 %)", "BCubed P", "BCubed R", "BCubed F (95 %)", "ARI"),
        *("fragments", "second", "moved", "30 days", "wanted"),
    )
    lines = ["", f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    ours = table[table.method == STREAM]
    for row in ours.to_dict("records"):
        wanted = WANTED.get(str(row["stream"]))
        told = "" if wanted is None else _verdict(row, wanted)
        lines.append(
            f"| {row['stream']} | {int(row['n_scored'])} | {row['pair_precision']:.3f} | {row['pair_recall']:.3f} "
            f"| {row['pair_f']:.3f} ({row['pair_f_low']:.2f} to {row['pair_f_high']:.2f}) "
            f"| {row['bcubed_precision']:.3f} | {row['bcubed_recall']:.3f} "
            f"| {row['bcubed_f']:.3f} ({row['bcubed_f_low']:.2f} to {row['bcubed_f_high']:.2f}) "
            f"| {row['adjusted_rand']:.3f} "
            f"| {row['fragments']:.2f} | {row['second']:.2f} | {row['moved']:.3f} | {row['long']:.3f} | {told} |"
        )
    means = ours[ours.stream.str.startswith("ITN")][["pair_f", "bcubed_f"]].mean()
    lines.append(f"| mean of the ten languages | | | | {means.pair_f:.3f} | | | {means.bcubed_f:.3f} | | | | | | |")
    lines += ["", "| pair F / BCubed F | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for name in dict.fromkeys(table.stream):
        cells = []
        for method in METHODS:
            found = table[table.stream.eq(name) & table.method.eq(method)]
            cells.append("–" if found.empty else f"{found.pair_f.iloc[0]:.3f} / {found.bcubed_f.iloc[0]:.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _lineage_table(lineage: Sequence[Mapping[str, Any]]) -> str:
    lines = ["", "| event | true | told | right | precision | recall | F | median hours until told |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for kind in (*KINDS, "all"):
        own = [line for line in lineage if line["kind"] == kind]
        true, told, right = (sum(line[name] for line in own) for name in ("n_true", "n_told", "n_right"))
        hours = "" if kind == "all" else f"{np.mean([line['delay'] for line in own]):.1f}"
        lines.append(
            f"| {kind} | {true} | {told} | {right} | {right / max(1, told):.3f} | {right / max(1, true):.3f} "
            f"| {2 * right / max(1, true + told):.3f} | {hours} |"
        )
    exact = ", ".join(
        f"{line['copies_precision']:.4f} and {line['copies_recall']:.4f}" for line in lineage[:: len(KINDS) + 1]
    )
    moved = ", ".join(f"{line['moved']:.3f}" for line in lineage[:: len(KINDS) + 1])
    lines += ["", f"Precision and recall of pairs of copies in the two streams: {exact}. Moved: {moved}."]
    return "\n".join([*lines, ""])


def _verdict(row: dict[str, float], wanted: tuple[float, float]) -> str:
    parts = [
        f"{wanted[0]:.2f} {'reached' if row['pair_f'] >= wanted[0] else 'missed'}",
        f"{wanted[1]:.2f} {'reached' if row['bcubed_f'] >= wanted[1] else 'missed'}",
    ]
    return ", ".join(parts)
