"""Labels of 100 clusters, and of the sections or topics above clusters, as a reader judged them, old and new.

``python -m experiments.labels.judged`` prints for each corpus how many labels were judged printable, wincing, or noise:
old ones, from before names of sections covered their parts and clusters were named by nouns, and new ones. The 100
clusters were drawn at random from default runs over five corpora; of the levels above, all 48 labels of six runs over
English texts. One reader of the project saw the labels in random order, those of clusters with the titles of three
representatives; results/judged.csv has every label with its judgement.
"""

from __future__ import annotations

import pathlib

import pandas as pd

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "judged.csv"
JUDGEMENTS = ["printable", "wince", "noise"]


def main() -> None:
    """Print the table."""
    kept = pd.read_csv(RESULTS)
    groups = ["level", "corpus", "labels"]
    table = kept.groupby(groups, sort=False)["judgement"].value_counts().unstack(fill_value=0)[JUDGEMENTS]
    print(table.to_string())
    levels = ["level", "labels"]
    total = kept.groupby(levels, sort=False)["judgement"].value_counts(normalize=True).unstack(fill_value=0)[JUDGEMENTS]
    print(f"\nall\n{total.round(2).to_string()}")


if __name__ == "__main__":
    main()
