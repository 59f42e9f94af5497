"""``python -m experiments.streams learn|evaluate|speed [--corpora FOLDER] [--keep]``.

``learn`` learns the weights of the join on the first halves in time of BASIL, of "In the news" in ten languages and of
the bundled sample, prints them, and with ``--keep`` writes them to doccluster/streams/join_weights.json.
``evaluate`` prints what the stories found are worth on the second halves, beside the peers, and with ``--keep`` writes
results/scores.csv and the page docs/explanation/stories.md.
``speed`` prints how many made articles a second go into a store on disk, in processor time of one core.
"""

from __future__ import annotations

import argparse
import json
import pathlib

import numpy as np

from doccluster.streams.joining import FEATURES
from experiments.streams.labelled import LANGUAGES, ROOT, LabelledStream, basil, itn, newsroom
from experiments.streams.learning import choose_constant, examples, fit
from experiments.streams.replaying import RememberingReader

WEIGHTS = ROOT / "doccluster" / "streams" / "join_weights.json"
SHRINKS = (0.003, 0.01, 0.03)
SOURCES = (
    "the first halves in time of BASIL 2010-14, of In the news 2018-23 in ten languages, and of the newsroom sample"
)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments.streams")
    parser.add_argument("what", choices=["learn", "evaluate", "speed"])
    parser.add_argument("--corpora", type=pathlib.Path, default=ROOT.parent / "shared" / "corpora")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    if given.what == "learn":
        learn(given.corpora, keep=given.keep)
    elif given.what == "speed":
        from experiments.streams.speed import measure_speed

        measure_speed()
    else:
        from experiments.streams.judging import evaluate_all

        evaluate_all(given.corpora, keep=given.keep)


def learning_streams(folder: pathlib.Path) -> list[LabelledStream]:
    """Return what the weights are learned on."""
    return [basil(folder, among_noise=False), newsroom(), *(itn(folder, language) for language in LANGUAGES)]


def learn(folder: pathlib.Path, *, keep: bool) -> None:
    """Learn the weights: shrinkage and constant are those that are best on whole replays of the first halves."""
    streams, reader = learning_streams(folder), RememberingReader()
    sets = [examples(one, reader) for one in streams]
    for one, (_, right) in zip(streams, sets, strict=True):
        print(f"  {one.name:16} {right.size:5} decisions, {int(right.sum()):4} to join", flush=True)
    best = (-1.0, np.zeros(len(FEATURES)))
    for shrink in SHRINKS:
        weights = fit(sets, shrink=shrink)
        print(f"  shrink {shrink}: {np.round(weights, 2).tolist()}", flush=True)
        shifted, value = choose_constant(weights, streams, reader, lambda line: print(line, flush=True))
        best = max(best, (value, shifted), key=lambda one: one[0])
    rounded = [round(float(one), 2) for one in best[1]]
    print(f"  learned: {dict(zip(FEATURES, rounded, strict=True))}, first halves {best[0]:.4f}")
    if keep:
        told = {"features": list(FEATURES), "coefficients": rounded, "learned_from": SOURCES}
        WEIGHTS.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
