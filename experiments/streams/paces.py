"""What another probability of joining does, and the paces that an editor can choose, on both halves of streams."""

from __future__ import annotations

import pathlib

import numpy as np

from doccluster.streams.settings import PACES, StreamSettings
from experiments.streams.labelled import LANGUAGES, basil, ecb_plus, itn, newsroom, shortened
from experiments.streams.replaying import RememberingReader, judge, replay

SETTINGS = {
    **{f"join {join}": StreamSettings(join=join) for join in (0.6, 0.5, 0.45, 0.4)},
    **{pace: StreamSettings(**changes) for pace, changes in PACES.items()},
}


def measure_paces(folder: pathlib.Path) -> None:
    """Print pair F of both halves in time for each choice of settings, and their means."""
    reader, sample, labelled = RememberingReader(), newsroom(), basil(folder, among_noise=False)
    streams = [sample, shortened(sample, 40), labelled, *(shortened(labelled, n_words) for n_words in (40, 20, 0))]
    streams += [*(itn(folder, language) for language in LANGUAGES), ecb_plus(folder)]
    print(f"  {'pair F of the first, second half':36}" + "".join(f"{name:>14}" for name in SETTINGS))
    every = []
    for stream in streams:
        own = []
        for settings in SETTINGS.values():
            found = replay(stream, settings=settings, reader=reader).story_of
            own.append([judge(found, stream, half)["pair_f"] for half in stream.halves()])
        every.append(own)
        print(f"  {stream.name:36}" + "".join(f"  {first:.3f} {second:.3f}" for first, second in own), flush=True)
    print(f"  {'mean':36}" + "".join(f"  {first:.3f} {second:.3f}" for first, second in np.mean(every, axis=0)))
