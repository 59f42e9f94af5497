"""Fit on half of the stories of the newsroom sample, assign the rest: `python -m experiments.new_documents`.

A run is made of four fifths of the articles of 16 of the 32 stories, and of nothing else. The articles left out are
then assigned: those of the 16 stories should fit a cluster, those of the other 16 should be new. Ten divisions are
drawn.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from doccluster.clustering.task import leave_one_out_similarity
from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.main_line import run_pipeline
from doccluster.results.run_folder import load_run

NEWSROOM = Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom" / "articles.jsonl"
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2)
N_DIVISIONS = 10


def divide(articles: list[dict[str, str]], seed: int) -> tuple[list[dict[str, str]], ...]:
    """Return the articles a run is made of, those left out of its stories, and those of other stories."""
    rng = np.random.default_rng(seed)
    stories = sorted({article["story"] for article in articles})
    known = set(rng.permutation(stories)[: len(stories) // 2])
    parts: tuple[list[dict[str, str]], ...] = ([], [], [])
    for article in articles:
        is_kept = rng.random() < 0.8
        parts[2 if article["story"] not in known else 0 if is_kept else 1].append(article)
    return parts


def texts_of(articles: list[dict[str, str]]) -> list[str]:
    return [f"{article['title']}\n\n{article['text']}" for article in articles]


def measure(articles: list[dict[str, str]], seed: int, min_df: int) -> list[tuple[float, float, float]]:
    """Return for each share the threshold, and how many of the known and of the new articles it gets wrong."""
    used, left_out, others = divide(articles, seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        k = len({article["story"] for article in used})
        vectorizer = {"min_df": min_df}
        run_pipeline(
            texts_of(used), n_clusters=k, output=place, report=False, measures=["silhouette"], vectorizer=vectorizer
        )
        run = load_run(place)
        known = leave_one_out_similarity(run.partition.labels, run.similarity)
        found = []
        for share in SHARES:
            threshold = float(np.nanquantile(known, share))
            wrong = assign_documents(place, texts_of(left_out), threshold=threshold)["new"].mean()
            missed = 1 - assign_documents(place, texts_of(others), threshold=threshold)["new"].mean()
            found.append((threshold, float(wrong), float(missed)))
    return found


def main() -> None:
    articles = [json.loads(line) for line in NEWSROOM.read_text(encoding="utf-8").splitlines()]
    print(f"mean of {N_DIVISIONS} divisions of the newsroom sample: half of its stories known, half new\n")
    print("min_df  share below  threshold  known called new  new called known")
    for min_df in (1, 2):
        table = np.array([measure(articles, seed, min_df) for seed in range(N_DIVISIONS)]).mean(axis=0)
        for share, (threshold, wrong, missed) in zip(SHARES, table, strict=True):
            mark = "  (default)" if share == 0.1 else ""
            print(f"{min_df:>6}  {share:>11.2f}  {threshold:>9.3f}  {wrong:>16.1%}  {missed:>16.1%}{mark}")


if __name__ == "__main__":
    main()
