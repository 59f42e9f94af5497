"""Labels of 100 clusters, and of the sections or topics above clusters, as a reader judged them, old and new.

``python -m experiments.labels.judged`` prints for each corpus how many labels were judged printable, wincing, or noise:
old ones, from before names of sections covered their parts and clusters were named by nouns, and new ones. The 100
clusters were drawn at random from default runs over five corpora; of the levels above, all 48 labels of six runs over
English texts. One reader of the project saw the labels in random order, those of clusters with the titles of three
representatives; results/judged.csv has every label with its judgement.

Below are two other rules for the labels of parents, beside the one in use: a cover of the parts where they are many
too, and words that many parts share before words of one. Where the labels of eleven runs over six corpora differ, that
reader chose the better one, in random order beside the labels of the parts; results/parents.csv has them all.
"""

from __future__ import annotations

import pathlib

import pandas as pd

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
JUDGEMENTS = ["printable", "wince", "noise"]


def main() -> None:
    """Print the tables."""
    kept = pd.read_csv(RESULTS / "judged.csv")
    groups = ["level", "corpus", "labels"]
    table = kept.groupby(groups, sort=False)["judgement"].value_counts().unstack(fill_value=0)[JUDGEMENTS]
    print(table.to_string())
    levels = ["level", "labels"]
    total = kept.groupby(levels, sort=False)["judgement"].value_counts(normalize=True).unstack(fill_value=0)[JUDGEMENTS]
    print(f"\nall\n{total.round(2).to_string()}")
    parents = pd.read_csv(RESULTS / "parents.csv")
    better = parents.groupby(["rule", "corpus"], sort=False)["better"].value_counts().unstack(fill_value=0)
    print(f"\nwhich label of a parent reads better: the one in use (label), that of another rule\n{better.to_string()}")
    print(f"\nall\n{better.groupby('rule', sort=False).sum().to_string()}")


if __name__ == "__main__":
    main()
