"""The labels that each recipe gives; `python -m tests.golden.recipes` writes those of an unreleased one again."""

from __future__ import annotations

import json
from pathlib import Path

import doccluster

KEPT = Path(__file__).with_suffix(".json")
ASKED = {
    "stories": {"n_clusters": 32, "random_state": 7},
    "fast topics": {"n_clusters": 8, "random_state": 7, "quality": "fast"},
}


def labels_of(version: str) -> dict[str, list[int]]:
    """Return the labels of the sample by a recipe, for each of the ways it is asked."""
    corpus = doccluster.load_sample()
    runs = {name: doccluster.run(corpus, compatible=version, **asked) for name, asked in ASKED.items()}
    return {name: run.partition.labels.tolist() for name, run in runs.items()}


if __name__ == "__main__":
    KEPT.write_text(json.dumps({"1.0": labels_of("1.0")}) + "\n", encoding="utf-8")
