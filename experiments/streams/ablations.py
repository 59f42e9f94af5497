"""What each part of the rule is worth: every set without it; and half and twice of each bound, as BCubed F / pair F."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from doccluster.stories import dump as dump_module
from doccluster.stories import dump as stories_of_dumps
from doccluster.stories import likeness, looking_again, words
from doccluster.streams.settings import DAY
from experiments.streams.judging import dump
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
from experiments.streams.replaying import Outcome, judge, replay

# a part, and what is set to what to leave it out or to move it; kernels read some, so they are compiled anew
PARTS = (
    ("the rule", {}),
    ("no background", {(dump_module, "BACKGROUND"): 0.0}),
    ("names x 1", {(likeness, "NAMES"): 1.0}),
    ("words of one article as others", {(likeness, "HALF_ALONE_AT"): 1e12}),
    ("title once", {(words, "TITLE_TIMES"): 1}),
    ("1,800 characters", {(words, "MAX_CHARACTERS"): 1_800}),
    ("not centred", {(likeness, "N_UNRELATED"): 10**12}),
    ("one outlet as others", {(likeness, "SAME_OUTLET"): 1.0}),
    ("window of 72 hours always", {(likeness, "SPARSE"): 0}),
    ("bar .17 always", {(likeness, "BAR"): 0.17, (likeness, "HALF_BAR_AT"): 0}),
    ("young as old", {(likeness, "YOUNG"): 0.0}),
    ("no growth", {(stories_of_dumps, "GROWTH"): 0.0}),
    ("mean alone", {(stories_of_dumps, "NEAREST"): 0.0}),
    ("cut at the bar", {(stories_of_dumps, "SEVERAL"): 1 << 30}),
    ("not cleaned", {(words, "TIMES"): 1 << 30, (words, "OTHER_TITLE"): -1.0}),
)

STREAM_PARTS = (
    ("the rule", {}),
    ("the low bar at once", {(likeness, "HALF_AT_ONCE"): 1e9}),
    ("a bar of .18 at once", {(likeness, "HALF_AT_ONCE"): 0}),
    ("no inertia", {(looking_again, "STAYS"): 1.0, (looking_again, "CROSSES"): 1.0}),
    ("inertia 1.5 and .7", {(looking_again, "STAYS"): 1.5, (looking_again, "CROSSES"): 0.7}),
)

# bounds on work and on memory, of a dump and of a stream, in the order of the modules
BOUNDS = (
    *((words, "RUN", dump), (words, "REMEMBERED", dump)),
    *((likeness, "N_SAMPLED", dump), (likeness, "FLOOR", dump), (likeness, "MAX_LINKS", dump)),
    *((looking_again, name, partial(replay, batch=DAY)) for name in ("KEPT", "CENTRE", "OF_LATE", "COLD")),
)


@contextmanager
def changed(values: dict[tuple[object, str], float]) -> Iterator[None]:
    """Let constants of the rule have other values, in what is compiled too."""
    former = {key: getattr(*key) for key in values}
    try:
        for (module, name), value in values.items():
            setattr(module, name, value)
        _compile_anew(values)
        yield
    finally:
        for (module, name), value in former.items():
            setattr(module, name, value)
        _compile_anew(values)


def _compile_anew(values: dict[tuple[object, str], float]) -> None:
    for module in {module for module, _ in values} & {stories_of_dumps, likeness}:
        for kernel in vars(module).values():
            if hasattr(kernel, "recompile"):
                kernel.recompile()


def sets(folder: pathlib.Path) -> Iterator[LabelledStream]:
    """Yield the sets on which parts are judged."""
    yield newsroom()
    yield shortened(basil(folder, among_noise=False), 0)
    yield vietnamese(folder)
    yield shortened(vietnamese(folder), 0)
    yield itn(folder, "en")
    yield ecb_plus(folder)


def measure_parts(folder: pathlib.Path) -> None:
    """Print a table of all parts on all sets, of a dump and of a stream."""
    for title, parts, find in (("a dump", PARTS, dump), ("a stream", STREAM_PARTS, replay)):
        chosen = list(sets(folder))
        print(f"| {title} | " + " | ".join(stream.name for stream in chosen) + " |")
        print("|---" * (len(chosen) + 1) + "|")
        for name, values in parts:
            with changed(values):
                cells = []
                for stream in chosen:
                    scores = judge(find(stream).story_of, stream)
                    cells.append(f"{scores['bcubed_f']:.3f} / {scores['pair_f']:.3f}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def measure_bounds(folder: pathlib.Path) -> None:
    """Print a table of bounds at half and at twice their value, on three labelled sets and on news_feeds_may.

    The last has no labels: what is found there is compared with what the rule finds.
    """
    labelled, feeds = (newsroom(), vietnamese(folder), itn(folder, "en")), news_feeds_may(folder)
    columns = (*(stream.name for stream in labelled), "feeds: as the rule", "of several", "s for 1,000")
    print(f"| bound | {' | '.join(columns)} |\n" + "|---" * (len(columns) + 1) + "|")
    of_rule = {}
    for way, find in (("a dump", dump), ("a stream", partial(replay, batch=DAY))):
        of_rule[way] = find(feeds).story_of
        print(_bound_row(f"the rule, {way}", find, labelled, replace(feeds, story_of=of_rule[way])), flush=True)
    for module, name, find in BOUNDS:
        stories = of_rule["a dump" if find is dump else "a stream"]
        usual = getattr(module, name)
        for value in (usual / 2, usual * 2):
            value = value if isinstance(usual, float) else int(value)
            with changed({(module, name): value}):
                print(_bound_row(f"{name} {value:,}", find, labelled, replace(feeds, story_of=stories)), flush=True)


def _bound_row(
    name: str, find: Callable[[LabelledStream], Outcome], labelled: Sequence[LabelledStream], feeds: LabelledStream
) -> str:
    scores = [judge(find(stream).story_of, stream) for stream in labelled]
    cells = [f"{of_set['bcubed_f']:.3f} / {of_set['pair_f']:.3f}" for of_set in scores]
    outcome = find(feeds)
    sizes = np.unique(list(outcome.story_of.values()), return_counts=True)[1]
    agreement, seconds = judge(outcome.story_of, feeds)["bcubed_f"], np.mean(outcome.seconds)
    return f"| {name} | {' | '.join(cells)} | {agreement:.3f} | {(sizes > 1).sum():,} | {seconds:.2f} |"
