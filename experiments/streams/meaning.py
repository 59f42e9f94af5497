"""What an encoder beside the words does to stories: pair F and BCubed F of both halves, by the weight of meaning."""

from __future__ import annotations

import pathlib

import numpy as np

from doccluster.streams.article_meaning import ArticleMeaning
from doccluster.streams.joining import FEATURES, shipped_coefficients
from doccluster.vectors.encoders import encode, get_encoder
from experiments.streams.labelled import LANGUAGES, basil, ecb_plus, itn, newsroom, shortened
from experiments.streams.replaying import RememberingReader, judge, replay

WEIGHTS = (1.2, 2.4, 3.6, 5.0)
PLACE = FEATURES.index("meaning_lead")


def measure_meaning(folder: pathlib.Path, encoder: str = "static") -> None:
    """Print scores without meaning, and with each weight of it; the words keep the weights that are shipped."""
    model, reader, sample, whole = (
        get_encoder(encoder),
        RememberingReader(),
        newsroom(),
        basil(folder, among_noise=False),
    )
    kept = {"name": model.name, "digest": model.digest, "dimensions": encode(model, ["a"]).shape[1]}
    streams = [sample, shortened(sample, 40), whole, *(shortened(whole, n_words) for n_words in (40, 20, 0))]
    streams += [*(itn(folder, language) for language in LANGUAGES), ecb_plus(folder)]
    print(f"  {'pair F / BCubed F':36}{'words':>32}" + "".join(f"{weight:>32}" for weight in WEIGHTS))
    every = []
    for stream in streams:
        own = []
        for weight in (None, *WEIGHTS):
            weights = shipped_coefficients().copy()
            weights[PLACE] = weight or 0.0
            meaning = None if weight is None else ArticleMeaning(kept, encoder)
            found = replay(stream, coefficients=weights, reader=reader, meaning_of=meaning).story_of
            scores = [judge(found, stream, half) for half in stream.halves()]
            own.append([one[name] for one in scores for name in ("pair_f", "bcubed_f")])
        every.append(own)
        _print(stream.name, own)
    _print("mean", np.mean(every, axis=0).tolist())
    print(
        "  mean of the first halves: " + ", ".join(f"{one:.4f}" for one in np.mean(every, axis=0)[:, :2].mean(axis=1))
    )


def _print(name: str, rows: list[list[float]]) -> None:
    told = (f"{row[0]:.3f} / {row[1]:.3f}, {row[2]:.3f} / {row[3]:.3f}" for row in rows)
    print(f"  {name:36}" + "".join(f"{one:>32}" for one in told), flush=True)
