"""Labels of 100 clusters as a reader judged them, old and new beside each other.

``python -m experiments.labels.judged`` prints for each corpus how many labels were judged printable, wincing, or noise,
before words that are counted or stand in brackets were left out (old) and after (new). The 100 clusters were drawn at
random from default runs over five corpora. One reader of the project saw the titles of three representatives and both
labels in random order; results/judged.csv has every label with its judgement.
"""

from __future__ import annotations

import pathlib

import pandas as pd

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "judged.csv"
JUDGEMENTS = ["printable", "wince", "noise"]


def main() -> None:
    """Print the table."""
    kept = pd.read_csv(RESULTS)
    table = kept.groupby(["corpus", "labels"])["judgement"].value_counts().unstack(fill_value=0)[JUDGEMENTS]
    print(table.to_string())
    total = kept.groupby("labels")["judgement"].value_counts(normalize=True).unstack(fill_value=0)[JUDGEMENTS]
    print(f"\nall\n{total.round(2).to_string()}")


if __name__ == "__main__":
    main()
