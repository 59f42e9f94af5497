"""The scores of the stream and of its peers on the second halves, as a table and as a page of the docs."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pandas as pd

from experiments.streams.labelled import LANGUAGES, ROOT, LabelledStream, basil, itn, newsroom
from experiments.streams.peers import MOST_DENSE, THRESHOLDS, hdbscan, k_means, single_pass, vectors_of
from experiments.streams.replaying import interval, judge, replay

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PAGE = ROOT / "docs" / "explanation" / "stories.md"
BEGIN, END = "<!-- scores: written by python -m experiments.streams evaluate --keep -->", "<!-- end of scores -->"
WANTED = {
    "BASIL": (0.95, 0.98),
    "BASIL among noise": (0.85, 0.92),
    "ITN en": (0.90, 0.94),
}
STREAM, PASS, MEANS, DENSITY = "the stream", "single pass, best threshold", "spherical k-means", "HDBSCAN"


def evaluate_all(folder: pathlib.Path, *, keep: bool) -> None:
    """Print the scores of every stream; with `keep` write them and the page."""
    rows = []
    for stream in streams(folder):
        for row in scores_of(stream):
            rows.append(row)
            told = {name: round(value, 3) for name, value in row.items() if isinstance(value, float)}
            print(f"  {row['stream']:18} {row['method']:28} {told}", flush=True)
    table = pd.DataFrame(rows)
    means = table[table.method.eq(STREAM) & table.stream.str.startswith("ITN")][["pair_f", "bcubed_f"]].mean()
    print(f"  mean of {len(LANGUAGES)} languages: pair F {means.pair_f:.3f}, BCubed F {means.bcubed_f:.3f}")
    if keep:
        RESULTS.mkdir(exist_ok=True)
        table.to_csv(RESULTS / "scores.csv", index=False, float_format="%.4f")
        write_page(table)


def streams(folder: pathlib.Path) -> Iterator[LabelledStream]:
    """Yield the labelled streams."""
    yield basil(folder, among_noise=False)
    yield basil(folder, among_noise=True)
    for language in ("en", *(one for one in LANGUAGES if one != "en")):
        yield itn(folder, language)
    yield newsroom()


def scores_of(stream: LabelledStream) -> Iterator[dict[str, object]]:
    """Yield the scores of the stream's clustering and of the peers on the stories of the second half."""
    first, second = stream.halves()
    outcome = replay(stream)
    moved = [name for name in stream.story_of if outcome.story_of[name] != outcome.first_story_of[name]]
    row: dict[str, object] = {"stream": stream.name, "method": STREAM, **judge(outcome.story_of, stream, second)}
    for name in ("pair_f", "bcubed_f"):
        row[f"{name}_low"], row[f"{name}_high"] = interval(outcome.story_of, stream, second, name)
    row["moved"] = len(moved) / len(stream.story_of)
    yield row
    vectors = vectors_of(stream)
    if len(stream.articles) <= MOST_DENSE:
        passes = [single_pass(stream, vectors, threshold) for threshold in THRESHOLDS]
        best = max(passes, key=lambda found: judge(found, stream, first)["pair_f"])
        yield {"stream": stream.name, "method": PASS, **judge(best, stream, second)}
        yield {"stream": stream.name, "method": MEANS, **judge(k_means(stream, vectors), stream, second)}
        yield {"stream": stream.name, "method": DENSITY, **judge(hdbscan(stream, vectors), stream, second)}


def write_page(table: pd.DataFrame) -> None:
    """Put the tables into the page, between their marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{_tables(table)}\n{END}{after}", encoding="utf-8")


def _tables(table: pd.DataFrame) -> str:
    lines = ["", "| stream | scored | pair P | pair R | pair F (95 %) | BCubed F (95 %) | fragments | moved | wanted |"]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    ours = table[table.method == STREAM]
    for row in ours.to_dict("records"):
        wanted = WANTED.get(str(row["stream"]))
        told = "" if wanted is None else _verdict(row, wanted)
        lines.append(
            f"| {row['stream']} | {row['n_scored']} | {row['pair_precision']:.3f} | {row['pair_recall']:.3f} "
            f"| {row['pair_f']:.3f} ({row['pair_f_low']:.2f} to {row['pair_f_high']:.2f}) "
            f"| {row['bcubed_f']:.3f} ({row['bcubed_f_low']:.2f} to {row['bcubed_f_high']:.2f}) "
            f"| {row['fragments']:.2f} | {row['moved']:.3f} | {told} |"
        )
    means = ours[ours.stream.str.startswith("ITN")][["pair_f", "bcubed_f"]].mean()
    lines.append(f"| mean of the ten languages | | | | {means.pair_f:.3f} | {means.bcubed_f:.3f} | | | |")
    lines += ["", "| pair F / BCubed F | " + " | ".join([STREAM, PASS, MEANS, DENSITY]) + " |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(table.stream):
        cells = []
        for method in (STREAM, PASS, MEANS, DENSITY):
            found = table[table.stream.eq(name) & table.method.eq(method)]
            cells.append("–" if found.empty else f"{found.pair_f.iloc[0]:.3f} / {found.bcubed_f.iloc[0]:.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _verdict(row: dict[str, float], wanted: tuple[float, float]) -> str:
    parts = [
        f"{wanted[0]:.2f} {'reached' if row['pair_f'] >= wanted[0] else 'missed'}",
        f"{wanted[1]:.2f} {'reached' if row['bcubed_f'] >= wanted[1] else 'missed'}",
    ]
    return ", ".join(parts)
