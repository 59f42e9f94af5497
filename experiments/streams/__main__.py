"""``python -m experiments.streams WHAT [--corpora FOLDER] [--keep] [--days N]``: what is known of the streams of news.

``evaluate`` prints what the stories of the rule are worth, in a dump and in a stream, beside a pass with one threshold
and a first-come rule; with ``--keep`` it writes results/stories.csv.
``table`` prints the kept scores as the table of the documentation.
``parts`` prints what each part of the rule is worth, ``bounds`` what half and twice of each bound on work does.
``agreement`` prints how far a store of news_feeds_may and a run of it agree.
``copies`` prints how many stories several copies of news_feeds_may have, each later and with other words.
``lineage`` prints how well the lineage of made streams is told.
``draw`` draws stories of news_feeds_may to be judged by reading, blind to what found them; ``--beside FILE`` adds those
that another version found, a JSON object of article to story. ``judged`` counts what reading said of them.
``speed`` prints how many made articles a second go into a store on disk, in processor time of two cores and of one.
``growth`` prints what an article costs in stores that hold ten thousand, a hundred thousand and a million already.
``manners`` prints how long one pass over 200 feeds on the loopback address takes with spacing off, and which rules of
politeness a simulated week of them breaks, as the server counts them; then how late the articles of feeds of several
paces are first seen, and how often each is asked for that.
``day`` follows misbehaving feeds for a simulated day, undisturbed and killed ten times at random, and prints
whether the two stores differ.
``orders`` prints what stories are worth when the same articles are imported in another order, or their titles first.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import tempfile

from experiments.streams.labelled import ROOT

WHAT = (
    "evaluate",
    "table",
    "parts",
    "bounds",
    "agreement",
    "copies",
    "lineage",
    "draw",
    "judged",
    "speed",
    "growth",
    "manners",
    "day",
    "orders",
)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments.streams")
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--corpora", type=pathlib.Path, default=ROOT.parent / "shared" / "corpora")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--beside", type=pathlib.Path)
    parser.add_argument("--days", type=float, help="simulated days: 7 of manners, 1 of day")
    given = parser.parse_args()
    if given.what == "speed":
        from experiments.streams.speed import measure_speed

        measure_speed()
    elif given.what == "growth":
        from experiments.streams.growth import measure_growth

        measure_growth()
    elif given.what == "manners":
        from experiments.streams.manners import measure_manners

        measure_manners(given.days or 7.0)
    elif given.what == "orders":
        from experiments.streams.orders import measure_orders

        measure_orders(given.corpora)
    elif given.what == "day":
        from experiments.streams.day import measure_day

        measure_day(given.days or 1.0)
    elif given.what in ("parts", "bounds"):
        with tempfile.TemporaryDirectory() as folder:  # what is compiled with other constants is kept nowhere else
            os.environ["NUMBA_CACHE_DIR"] = folder
            from experiments.streams.ablations import measure_bounds, measure_parts

            measure = measure_parts if given.what == "parts" else measure_bounds
            measure(given.corpora)
    elif given.what == "agreement":
        from experiments.streams.agreement import measure_agreement

        measure_agreement(given.corpora)
    elif given.what == "copies":
        from experiments.streams.copies import measure_copies

        measure_copies(given.corpora.resolve())
    elif given.what == "lineage":
        from experiments.streams.lineage import measure_lineage

        measure_lineage()
    elif given.what == "draw":
        from experiments.streams.reading import draw_stories

        draw_stories(given.corpora, given.beside, keep=given.keep)
    elif given.what == "table":
        from experiments.streams.judging import print_table

        print_table()
    elif given.what == "judged":
        from experiments.streams.reading import count_judgements

        count_judgements()
    else:
        from experiments.streams.judging import evaluate_all

        evaluate_all(given.corpora, keep=given.keep)


if __name__ == "__main__":
    main()
