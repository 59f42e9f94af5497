"""The labels that the defaults give the sample; `python -m tests.golden.sample_labels` writes them again.

Where they change after a release, the changelog says "labels change".
"""

from __future__ import annotations

import json
from pathlib import Path

import doccluster

KEPT = Path(__file__).with_suffix(".json")
SETTINGS = {
    "stories": {"n_clusters": 32, "random_state": 7},
    "fast topics": {"n_clusters": 8, "random_state": 7, "quality": "fast"},
}


def sample_labels() -> dict[str, list[int]]:
    """Return the labels of the sample by each of the settings."""
    corpus = doccluster.load_sample()
    runs = {name: doccluster.run(corpus, **settings) for name, settings in SETTINGS.items()}
    return {name: run.partition.labels.tolist() for name, run in runs.items()}


if __name__ == "__main__":
    KEPT.write_text(json.dumps(sample_labels()) + "\n", encoding="utf-8")
