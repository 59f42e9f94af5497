"""What each part of the rule is worth: every set without it, as BCubed F / pair F of the dump."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from contextlib import contextmanager

from doccluster.stories import cleaning, crowd, likeness, looking_again, story_tree, words
from doccluster.stories import dump as dump_module
from experiments.streams.judging import dump
from experiments.streams.labelled import LabelledStream, basil, ecb_plus, itn, newsroom, shortened, vietnamese
from experiments.streams.replaying import judge, replay

# a part, and what is set to what to leave it out or to move it; kernels read some, so they are compiled anew
PARTS = (
    ("the rule", {}),
    ("no background", {(dump_module, "BACKGROUND"): 0.0}),
    ("names x 1", {(likeness, "NAMES"): 1.0}),
    ("words of one article as others", {(likeness, "HALF_ALONE_AT"): 1e12}),
    ("title once", {(words, "TITLE_TIMES"): 1}),
    ("1,800 characters", {(words, "MOST_CHARACTERS"): 1_800, (cleaning, "MOST_CHARACTERS"): 1_800}),
    ("not centred", {(likeness, "N_UNRELATED"): 10**12}),
    ("one outlet as others", {(likeness, "SAME_OUTLET"): 1.0}),
    ("window of 72 hours always", {(crowd, "SPARSE"): 0}),
    ("bar .17 always", {(crowd, "BAR"): 0.17, (crowd, "HALF_BAR_AT"): 0}),
    ("young as old", {(crowd, "YOUNG"): 0.0}),
    ("no growth", {(story_tree, "GROWTH"): 0.0}),
    ("mean alone", {(story_tree, "NEAREST"): 0.0}),
    ("cut at the bar", {(story_tree, "SEVERAL"): 1 << 30}),
    ("not cleaned", {(cleaning, "TIMES"): 1 << 30, (cleaning, "OTHER_TITLE"): -1.0}),
)

STREAM_PARTS = (
    ("the rule", {}),
    ("the low bar at once", {(crowd, "HALF_AT_ONCE"): 1e9}),
    ("a bar of .18 at once", {(crowd, "HALF_AT_ONCE"): 0}),
    ("no inertia", {(looking_again, "STAYS"): 1.0, (looking_again, "CROSSES"): 1.0}),
    ("inertia 1.5 and .7", {(looking_again, "STAYS"): 1.5, (looking_again, "CROSSES"): 0.7}),
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
    for module in {module for module, _ in values} & {story_tree, likeness}:
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
