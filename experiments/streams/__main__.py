"""``python -m experiments.streams WHAT [--corpora FOLDER] [--keep] [--days N]``: what is known of the streams of news.

``learn`` learns the weights of the join on the first halves in time of BASIL, of "In the news" in ten languages, of the
bundled sample and of a made stream, prints them, and with ``--keep`` writes them to join_weights.json of the package.
``evaluate`` prints what the stories found are worth on the second halves, beside the peers, and how well the lineage of
made streams is told; with ``--keep`` it writes results/ and the page docs/explanation/stories.md, and with ``--own``
the peers, which do not depend on the stream, have the scores that were kept of them.
``speed`` prints how many made articles a second go into a store on disk, in processor time of two cores and of one.
``growth`` prints what an article costs in stores that hold ten thousand, a hundred thousand and a million already.
``manners`` prints how long one pass over 200 feeds on the loopback address takes with spacing off, and which rules of
politeness a simulated week of them breaks, as the server counts them; then how late the articles of feeds of several
paces are first seen, and how often each is asked for that.
``day`` follows misbehaving feeds for a simulated day, undisturbed and killed ten times at random, and prints
whether the two stores differ.
``paces`` prints what another probability of joining does, and what `--pace` does, to all labelled streams.
``meaning`` prints what an encoder beside the words does to all labelled streams, by the weight that meaning has.
``noise`` prints how well the titles and dates of articles agree that were put together among thousands of others.
``orders`` prints what stories are worth when the same articles are imported in another order, or their titles first.
"""

from __future__ import annotations

import argparse
import json
import pathlib

from doccluster.streams.joining import FEATURES
from experiments.news_stream import make_news_stream
from experiments.streams.labelled import LANGUAGES, ROOT, LabelledStream, basil, itn, newsroom, shortened
from experiments.streams.learning import candidates, choose
from experiments.streams.lineage import as_labelled
from experiments.streams.replaying import RememberingReader

WHAT = ("learn", "evaluate", "speed", "growth", "manners", "day", "paces", "meaning", "noise", "orders")
WEIGHTS = ROOT / "doccluster" / "streams" / "join_weights.json"
SHRINKS = (0.001, 0.01, 0.1)
MADE_SEED = 1  # of the stream that is learned from; others are judged on
SOURCES = (
    "the first halves in time of BASIL 2010-14 and of the newsroom sample, whole and as feeds have them, of In the "
    "news 2018-23 in ten languages, and of a made stream"
)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments.streams")
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--corpora", type=pathlib.Path, default=ROOT.parent / "shared" / "corpora")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--own", action="store_true", help="evaluate the stream alone; of peers, show what was kept")
    parser.add_argument("--days", type=float, help="simulated days: 7 of manners, 1 of day")
    given = parser.parse_args()
    if given.what == "learn":
        learn(given.corpora, keep=given.keep)
    elif given.what == "speed":
        from experiments.streams.speed import measure_speed

        measure_speed()
    elif given.what == "growth":
        from experiments.streams.growth import measure_growth

        measure_growth()
    elif given.what == "manners":
        from experiments.streams.manners import measure_lateness, measure_manners

        measure_manners(given.days or 7.0)
        measure_lateness()
    elif given.what == "paces":
        from experiments.streams.paces import measure_paces

        measure_paces(given.corpora)
    elif given.what == "meaning":
        from experiments.streams.meaning import measure_meaning

        measure_meaning(given.corpora)
    elif given.what == "noise":
        from experiments.streams.noise import measure_noise

        measure_noise(given.corpora)
    elif given.what == "orders":
        from experiments.streams.orders import measure_orders

        measure_orders(given.corpora)
    elif given.what == "day":
        from experiments.streams.day import measure_day

        measure_day(given.days or 1.0)
    else:
        from experiments.streams.judging import evaluate_all

        evaluate_all(given.corpora, keep=given.keep, own=given.own)


def learning_streams(folder: pathlib.Path) -> list[LabelledStream]:
    """Return the streams whose first halves the weights are learned on: whole texts, and what feeds have of them."""
    made = as_labelled(make_news_stream(60, days=15, random_state=MADE_SEED), "made")
    whole, sample = basil(folder, among_noise=False), newsroom()
    short = [shortened(whole, 0), shortened(whole, 20), shortened(whole, 40), shortened(sample, 40)]
    return [whole, sample, made, *short, *(itn(folder, language) for language in LANGUAGES)]


def learn(folder: pathlib.Path, *, keep: bool) -> None:
    """Learn the weights, and print what whole replays of the first halves are worth with each candidate."""
    streams, reader = learning_streams(folder), RememberingReader()
    found = list(candidates(streams, reader, SHRINKS, lambda line: print(line, flush=True)))
    chosen = choose(found)
    rounded = [round(float(one), 2) for one in chosen.weights]
    print(f"  learned: {dict(zip(FEATURES, rounded, strict=True))}, first halves {chosen.value:.4f}")
    if keep:
        told = {"features": list(FEATURES), "coefficients": rounded, "learned_from": SOURCES}
        WEIGHTS.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
